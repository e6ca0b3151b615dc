"""Row keys of pages, in two schemes; a store has one of them, chosen at its creation.

The key form of a URL begins with its reversed host, so that a domain and its subdomains are next to
each other: `com.example.docs/guide?page=2`. Where the page is not https on the default port,
`:http` and the port follow the host: `com.example:http:8080/guide`. IP addresses are not reversed.

`readable`, for one machine (`_` replaces every `/`, and every character that a key cannot contain):

    com.example_about                             https://example.com/about
    com.example_a_b_c~0f3a5c…                     https://example.com/a_b.c

    Where the URL cannot be restored from the first part, `~` and 20 hex digits of the URL's
    SHA-256 follow.

`salted`, for a cluster:

    a1:com.example/about                          https://example.com/about

    The salt is the first two hex digits of the MD5 of the registered domain: all pages of a domain
    are in one range, and domains are spread over 256 ranges. A key of more than 1,000 bytes is cut
    and ends in 00 and 20 hex digits of the URL's SHA-256.

On-disk: changing this needs a new format version. Frozen by tests/pages/test_keys.py.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import ClassVar, NamedTuple

from webtable.errors import InvalidRequest
from webtable.pages.public_suffixes import Suffixes
from webtable.pages.urls import UrlParts, split_url

__all__ = [
    "SALT_SPLITS",
    "KeyRange",
    "KeyScheme",
    "ReadableKeys",
    "SaltedKeys",
    "from_key_form",
    "is_address",
    "is_suffix",
    "is_under",
    "key_form",
    "key_scheme",
    "reversed_host",
]

SALT_SPLITS = tuple(b"%x0" % digit for digit in range(1, 16))
"""Where a table with salted keys is split: 16 regions."""

_MAX_KEY_BYTES = 1_000
_MAX_READABLE_PATH = 25
_HASH_DIGITS = 20
_CUT_BYTES = _MAX_KEY_BYTES - 1 - _HASH_DIGITS
_CACHED_HOSTS = 65_536
# Paths that can be restored from the key: `/` becomes `_`, and no other `_` occurs.
_REVERSIBLE = re.compile(r"/(?!/)[A-Za-z0-9/-]*")
_UNCLEAN = re.compile(r"[^A-Za-z0-9_-]")


class KeyRange(NamedTuple):
    """Row keys from `start` up to `stop`, which is not among them."""

    start: bytes
    stop: bytes


def key_form(url: str) -> str:
    """Returns the key form of a canonical URL.

    >>> key_form("https://docs.example.com/guide?page=2")
    'com.example.docs/guide?page=2'
    >>> key_form("http://example.com:8080/")
    'com.example:http:8080/'
    """
    parts = split_url(url)
    return _origin(parts) + parts.path


def from_key_form(form: str) -> str:
    """Returns the canonical URL that has a key form.

    >>> from_key_form("com.example:http:8080/")
    'http://example.com:8080/'
    """
    slash = form.index("/")
    return _from_origin(form[:slash]) + form[slash:]


@lru_cache(4_096)
def _from_origin(origin: str) -> str:
    inside = origin.rfind("]") + 1  # the colons of an IPv6 address are no separators
    host, *rest = (origin[:inside] + origin[inside:].replace(":", "\n")).split("\n")
    scheme = "http" if rest[:1] == ["http"] else "https"
    port = "".join(f":{each}" for each in rest if each != "http")
    return f"{scheme}://{reversed_host(host)}{port}"


class KeyScheme(ABC):
    """The scheme of the row keys of a store."""

    name: ClassVar[str]

    @abstractmethod
    def row_key(self, url: str) -> bytes:
        """Returns the row key of the page with a canonical URL."""

    @abstractmethod
    def host_ranges(self, host: str, *, with_subdomains: bool = True) -> list[KeyRange]:
        """Returns the ranges that contain every page of a host, in order.

        They may contain other pages too: the caller checks `is_under`.
        """

    @abstractmethod
    def directory_ranges(self, url: str) -> list[KeyRange]:
        """Returns the ranges that contain every page whose URL begins with this one, in order.

        They may contain other pages too: the caller checks the URL.
        """


class ReadableKeys(KeyScheme):
    """Keys that people can read and type, for stores on one machine."""

    name = "readable"

    def row_key(self, url: str) -> bytes:
        """Returns the row key; see `KeyScheme.row_key`."""
        parts = split_url(url)
        path = parts.path
        key = f"{_origin(parts)}_{_clean(path)[:_MAX_READABLE_PATH]}"
        is_plain = (
            len(path) <= _MAX_READABLE_PATH + 1
            and path != "/home"
            and "_" not in parts.host
            and _REVERSIBLE.fullmatch(path)
        )
        return (key if is_plain else f"{key}~{_digest(url)}").encode()

    def host_ranges(self, host: str, *, with_subdomains: bool = True) -> list[KeyRange]:
        """Returns the ranges of a host; see `KeyScheme.host_ranges`."""
        return _host_ranges("", host, "_", with_subdomains=with_subdomains)

    def directory_ranges(self, url: str) -> list[KeyRange]:
        """Returns the ranges of a directory; see `KeyScheme.directory_ranges`."""
        parts = split_url(url)
        # The last character may be part of a longer name, and more than one slash may be removed
        # at the front.
        cleaned = "" if parts.path.strip("/") == "" else _clean(parts.path)
        return [_prefixed(f"{_origin(parts)}_{cleaned[:_MAX_READABLE_PATH]}")]


class SaltedKeys(KeyScheme):
    """Keys that spread over a cluster, with a domain's pages together."""

    name = "salted"

    def __init__(self, suffixes: Suffixes) -> None:
        self._suffixes = suffixes
        self.salt = lru_cache(_CACHED_HOSTS)(self._salt)

    def _salt(self, host: str) -> str:
        """Returns the first characters of the keys of a host, without the colon."""
        domain = self._suffixes.registered_domain(host)
        return hashlib.md5(domain.encode(), usedforsecurity=False).hexdigest()[:2]

    def row_key(self, url: str) -> bytes:
        """Returns the row key; see `KeyScheme.row_key`."""
        parts = split_url(url)
        key = f"{self.salt(parts.host)}:{_origin(parts)}{parts.path}".encode()
        if len(key) <= _MAX_KEY_BYTES:
            return key
        return b"%b\0%b" % (key[:_CUT_BYTES], _digest(url).encode())

    def host_ranges(self, host: str, *, with_subdomains: bool = True) -> list[KeyRange]:
        """Returns the ranges of a host; see `KeyScheme.host_ranges`."""
        salts = [self.salt(host)]
        if with_subdomains and is_suffix(self._suffixes, host):
            salts = [f"{number:02x}" for number in range(256)]  # each domain below has its own salt
        return [
            each
            for salt in salts
            for each in _host_ranges(f"{salt}:", host, "/", with_subdomains=with_subdomains)
        ]

    def directory_ranges(self, url: str) -> list[KeyRange]:
        """Returns the ranges of a directory; see `KeyScheme.directory_ranges`."""
        parts = split_url(url)
        key = f"{self.salt(parts.host)}:{_origin(parts)}{parts.path}"
        return [_prefixed(key[:_CUT_BYTES])]


def key_scheme(name: str, suffixes: Suffixes) -> KeyScheme:
    """Returns the scheme with a name.

    Raises:
        InvalidRequest: the name is unknown.
    """
    if name == ReadableKeys.name:
        return ReadableKeys()
    if name == SaltedKeys.name:
        return SaltedKeys(suffixes)
    raise InvalidRequest(f"unknown key scheme '{name}'", hint="use readable or salted")


def is_suffix(suffixes: Suffixes, host: str) -> bool:
    """Whether other registered domains are below a host, as below `org` or `co.uk`."""
    if is_address(host):
        return False
    return suffixes.registered_domain(f"x.{host}") != suffixes.registered_domain(host)


def is_under(url: str, host: str, *, with_subdomains: bool = True) -> bool:
    """Whether a canonical URL belongs to a host, or to a subdomain of it."""
    there = split_url(url).host
    return there == host or (with_subdomains and there.endswith(f".{host}"))


def _origin(parts: UrlParts) -> str:
    scheme, host, port, _ = parts
    origin = reversed_host(host)
    if scheme == "http":
        origin += ":http"
    return f"{origin}:{port}" if port else origin


def is_address(host: str) -> bool:
    """Whether a canonical host is an IP address."""
    return host.startswith("[") or host.replace(".", "").isdigit()


@lru_cache(_CACHED_HOSTS)
def reversed_host(host: str) -> str:
    """Returns a host with its last part first; an IP address unchanged."""
    if is_address(host):
        return host
    return ".".join(reversed(host.split(".")))


def _clean(path: str) -> str:
    return _UNCLEAN.sub("_", path.lstrip("/")) or "home"


def _digest(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:_HASH_DIGITS]


def _host_ranges(
    before: str, host: str, separator: str, *, with_subdomains: bool
) -> list[KeyRange]:
    start = before + reversed_host(host)
    # A subdomain, a scheme or port, or the path may follow a host. Between these separators lie
    # digits, which belong to other hosts: example2.com next to example.com.
    following = {separator, ":", "."} if with_subdomains else {separator, ":"}
    return [_prefixed(start + each) for each in sorted(following)]


def _prefixed(prefix: str) -> KeyRange:
    start = prefix.encode()
    return KeyRange(start, start[:-1] + bytes((start[-1] + 1,)))
