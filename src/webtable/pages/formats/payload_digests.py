"""Checks the digests in the headers of records against the payloads of the records.

`WARC-Payload-Digest` is a claim. By the standard it is the digest of the payload without chunking,
but with content codings. Some tools compute it of the payload with chunking, or without any coding.
A claim is right where it matches one of these forms. A wrong claim must not identify a body: two
different bodies with the same wrong claim would count as equal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from webtable.pages.captures import payload_digest

__all__ = ["Checked", "body_digest", "checked", "is_digest_of", "named_digest"]

_SHA1 = re.compile(r"[A-Z2-7]{32}")
_SHA1_HEX = re.compile(r"[0-9a-fA-F]{40}")
_OTHER = re.compile(r"[a-z0-9-]{2,20}:[A-Za-z0-9+/=_-]{8,200}")
_ALGORITHMS = {"md5": 16, "sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64}
"""The algorithms that can be checked, and the length of their digests in bytes."""
# Anyone can make two bodies with the same MD5, so a right MD5 does not identify a body.
_FORGEABLE = frozenset({"md5"})


class Checked(NamedTuple):
    """The digest that identifies a capture, and whether the claim of its record is wrong."""

    digest: str
    is_wrong: bool = False


def named_digest(text: str) -> str:
    """Returns a digest in the form of WARC files, `sha1:` and base32; empty if it is not valid."""
    name, _, value = text.strip().partition(":")
    name = name.lower()
    if name != "sha1":
        return f"{name}:{value}" if _OTHER.fullmatch(f"{name}:{value}") else ""
    if _SHA1_HEX.fullmatch(value):
        return f"sha1:{base64.b32encode(bytes.fromhex(value)).decode()}"
    value = value.upper()
    return f"sha1:{value}" if _SHA1.fullmatch(value) else ""


def checked(text: str, payload: bytes, other_forms: Iterable[bytes] = ()) -> Checked:
    """Returns the digest that identifies a payload: the claim of its record where that is right.

    Otherwise, and without a claim, it is the SHA-1 of the payload. A claim with an algorithm that
    is not in `_ALGORITHMS` is neither right nor wrong.

    Args:
        text: the claim, as the record has it; empty: none.
        other_forms: the payload with fewer codings. They are only computed where they are needed.
    """
    own = payload_digest(payload)
    # Nearly every record has the SHA-1 in this form.
    if text == own or not (claim := named_digest(text)):
        return Checked(own)
    name, _, value = claim.partition(":")
    algorithm = name.replace("-", "")
    wanted = _raw(value, _ALGORITHMS.get(algorithm, 0))
    if not wanted:
        return Checked(own)
    for form in (payload, *other_forms):
        if hashlib.new(algorithm, form, usedforsecurity=False).digest() == wanted:
            return Checked(own if algorithm in _FORGEABLE else claim)
    return Checked(own, is_wrong=True)


def is_digest_of(digest: str, body: bytes) -> bool:
    """Whether `digest` is the digest of a body, in any of the algorithms."""
    return checked(digest, body) == (digest, False)


def body_digest(body: bytes) -> str:
    """Returns the SHA-256 of a body, for bodies that share the digest of their payload."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _raw(value: str, size: int) -> bytes:
    """Returns the bytes of a digest in hexadecimal, base32 or base64; empty if it is not valid."""
    try:
        if not size:
            return b""
        if len(value) == 2 * size:
            return bytes.fromhex(value)
        bare = value.rstrip("=")
        if len(bare) == -(-size * 8 // 5):
            return base64.b32decode(bare.upper() + "=" * (-len(bare) % 8))
        return base64.b64decode(bare.translate(_URL_SAFE) + "=" * (-len(bare) % 4), validate=True)
    except (ValueError, binascii.Error):
        return b""


_URL_SAFE = str.maketrans("-_", "+/")
