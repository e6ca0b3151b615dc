"""What a user removes or blocks: one URL, a domain with everything under it, or a URL prefix.

A text is read like this:

    example.com                    a host, or a host and a port: a domain
    https://example.com/about      a URL, also without the scheme: example.com/about
    https://example.com/blog/*     a prefix: all URLs that begin with what is before the *
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from webtable.errors import InvalidRequest
from webtable.pages.keys import KeyRange, KeyScheme, reversed_host
from webtable.pages.urls import Site, canonical_url, split_url, typed_site, typed_url

__all__ = ["Target", "TargetKind", "row_hash", "target_of", "target_of_url"]

TargetKind: TypeAlias = Literal["url", "domain", "prefix"]


class Target(NamedTuple):
    """A URL, a domain or a prefix.

    Attributes:
        text: the canonical URL, the host with its port, or the prefix without the `*`.
        hash: the SHA-256, in hex, by which it is stored: of the row key of a URL, of the reversed
            host with its port, or of the prefix.
        length: how many characters the prefix has; 0 for others.
    """

    kind: TargetKind
    text: str
    hash: str
    length: int = 0

    def ranges(self, keys: KeyScheme) -> list[KeyRange]:
        """Returns the ranges of row keys that contain all of its pages, and maybe others."""
        if self.kind == "url":
            row = keys.row_key(self.text)
            return [KeyRange(row, row + b"\0")]
        if self.kind == "domain":
            return keys.host_ranges(typed_site(self.text).host)
        directory = self.text[: self.text.rindex("/") + 1]
        return keys.directory_ranges(directory)

    def matcher(self) -> Callable[[str], bool]:
        """Returns the function that decides whether a canonical URL belongs to it."""
        if self.kind == "domain":
            return typed_site(self.text).has
        if self.kind == "prefix":
            return lambda url: url.startswith(self.text)
        return lambda url: url == self.text


def row_hash(row: bytes) -> str:
    """Returns the hash of a row key, by which a removed page is known."""
    return _hash(row)


def target_of_url(url: str, keys: KeyScheme) -> Target:
    """Returns the target of one canonical URL."""
    return Target("url", url, row_hash(keys.row_key(url)))


def target_of(text: str, keys: KeyScheme, find_url: Callable[[str], str] = typed_url) -> Target:
    """Returns what a typed text means.

    Args:
        find_url: returns the URL of a typed URL, which may lack its scheme.

    Raises:
        InvalidUrl: it is a URL of no page.
        InvalidRequest: the prefix has no whole host.
    """
    text = text.strip()
    if text.endswith("*"):
        return _prefix(text[:-1])
    if "/" in text:
        return target_of_url(find_url(text), keys)
    site = typed_site(text)
    name = f"{site.host}:{site.port}" if site.port else site.host
    return Target("domain", name, domain_hash(site))


def _prefix(typed: str) -> Target:
    whole = typed if "://" in typed else f"https://{typed}"
    if whole.count("/") < 3 or "*" in whole:
        raise InvalidRequest(
            f"'{typed[:80]}*' is not a prefix of URLs",
            hint="give a host, a slash and the beginning of a path, such as example.com/blog/*; "
            "without * it is one URL, and a host alone is a domain",
        )
    if whole.rstrip("/").count("/") == 2:
        raise InvalidRequest(
            f"'{typed[:80]}*' is the prefix of a whole host",
            hint="give the host alone: it is a domain, with everything under it",
        )
    # The end may be a part of a name, so it is put behind the canonical form of what is complete.
    prefix = canonical_url(whole)
    return Target("prefix", prefix, prefix_hash(prefix), len(prefix))


def domain_hash(site: Site) -> str:
    """Returns the hash of a host, or of a host and a port."""
    return _hash(_domain_name(site.host, site.port))


def prefix_hash(prefix: str) -> str:
    """Returns the hash of a prefix."""
    return _hash(prefix.encode())


def domain_hashes(url: str, port: str) -> Iterator[str]:
    """Yields the hashes of all domains that a canonical URL belongs to, with and without port."""
    host = split_url(url).host
    while True:
        yield _hash(_domain_name(host, ""))
        yield _hash(_domain_name(host, port))
        if host.startswith("[") or "." not in host or host.replace(".", "").isdigit():
            return
        host = host.partition(".")[2]


def _domain_name(host: str, port: str) -> bytes:
    name = reversed_host(host)
    return (f"{name}:{port}" if port else name).encode()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
