"""Copies crawls and gives their responses the headers that servers behind a cache send.

Crawls that a program made have few headers. A real response has fifteen to twenty: most are equal
on all pages of a site, and some, such as request ids and cookies, are random and do not compress.
"""

from __future__ import annotations

import gzip
import random
import re
import uuid
import zlib
from collections.abc import Iterable
from pathlib import Path

from benchmarks.links_recrawl import response_members

__all__ = ["write_long_heads"]

_LENGTH = re.compile(rb"(?im)^Content-Length:.*\r\n")
_BLOCK_DIGEST = re.compile(rb"(?im)^WARC-Block-Digest:.*\r\n")
_EQUAL = b"""\
Connection: keep-alive
Vary: Accept-Encoding, Cookie
Cache-Control: public, max-age=600, s-maxage=86400
X-Frame-Options: SAMEORIGIN
X-Content-Type-Options: nosniff
Strict-Transport-Security: max-age=31536000; includeSubDomains; preload
Content-Security-Policy: default-src 'self'; script-src 'self' https://cdn.example.net
Alt-Svc: h3=":443"; ma=86400
Accept-Ranges: bytes
""".replace(b"\n", b"\r\n")


def write_long_heads(files: Iterable[Path], folder: Path) -> None:
    """Writes the responses of WARC files into files of a new folder, with more headers."""
    folder.mkdir()
    draw = random.Random(1)
    for number, path in enumerate(files):
        with (folder / f"{number}.warc.gz").open("wb") as file:
            for member in response_members(path):
                pack = zlib.compressobj(1, wbits=31)
                file.write(pack.compress(_with_headers(gzip.decompress(member), draw)))
                file.write(pack.flush())


def _with_headers(record: bytes, draw: random.Random) -> bytes:
    head, _, rest = record.partition(b"\r\n\r\n")
    http, _, body = rest[:-4].partition(b"\r\n\r\n")
    block = http + b"\r\n" + _EQUAL + _different(draw) + b"\r\n" + body
    head = _LENGTH.sub(b"", _BLOCK_DIGEST.sub(b"", head + b"\r\n"))
    return head + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"


def _different(draw: random.Random) -> bytes:
    request = uuid.UUID(int=draw.getrandbits(128))
    cache = draw.choice(("HIT", "MISS", "DYNAMIC"))
    return (
        f"Age: {draw.randrange(86_400)}\r\nX-Cache: {cache}\r\nX-Request-Id: {request}\r\n"
        f"Set-Cookie: session={draw.getrandbits(128):032x}; Path=/; Secure; HttpOnly\r\n"
    ).encode()
