"""The indexes over pages, all of them, and how their keys are made.

Each is a table of entries `ref:rowkey` = the row key of the page. With readable keys:

    webtable_time_idx     20260901_com.example_about                    day of last_modified
    webtable_size_idx     0010KB_medium_000000004711_com.example_about  size in bytes
    webtable_link_idx     inlinks_05_000000000004_com.example_about     links to it, and
                          outlinks_10_000000000007_com.example_about    links on it, if
                                                                        it is good HTML
    webtable_url_idx      9c1185a5c5e9fc54_com.example_about            MD5 of the URL
    webtable_domain_idx   com.example_20260901_com.example_about        registered domain, and day
    webtable_status_idx   200_com.example_about                         status
    webtable_digest_idx   sha1:3I42H…_com.example_about                 digest; `shared:` of the
                          row `sha1:3I42H…_`: several pages have it

With salted keys the salt of the row stands in front, `a1:20260901_a1:com.example/about`, so that
no region gets all that is written today; who reads collates the salts. Not so of digests, which
are spread by nature: pages with the same one lie side by side. In stores of format 1 digests had
salts, too, and there was nothing about several pages.
On-disk: changing this needs a new format version. Frozen by tests/pages/test_indexes.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from webtable.pages.keys import KeyScheme, SaltedKeys, reversed_host
from webtable.pages.suffixes import Suffixes
from webtable.pages.urls import split_url
from webtable.records.index import Entry, Facts, Index

__all__ = [
    "DIGESTS",
    "LINK_BUCKETS",
    "SIZE_BUCKETS",
    "link_bucket",
    "page_indexes",
    "size_bucket",
]

Parts: TypeAlias = Sequence[bytes]
"""What the keys of a page's entries say, between the salt and the row key."""

DIGESTS = "webtable_digest_idx"
COVER = b"rowkey"
SIZE_BUCKETS = ("0001KB_small", "0010KB_medium", "0100KB_large", "1000KB_huge")
"""The seed's buckets, with names that sort by size."""
LINK_BUCKETS = ("00", "02", "05", "10", "99")

_DIGITS = 12
_BASE32 = "234567ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGEST_SPLITS = tuple(f"sha1:{letter}".encode() for letter in _BASE32[2::2])
_URL, _MODIFIED, _SIZE, _STATUS, _DIGEST = (
    b"metadata:url",
    b"metadata:last_modified",
    b"metadata:size",
    b"metadata:status_code",
    b"metadata:digest",
)
_TYPE, _INLINKS, _OUTLINKS = b"metadata:type", b"metadata:inlinks", b"metadata:outlinks"
_COUNTS = (("inlinks", _INLINKS), ("outlinks", _OUTLINKS))
_CACHED_HOSTS = 10_000
HTML_TYPES = (b"text/html", b"application/xhtml+xml")


def size_bucket(size: int) -> str:
    """Returns the bucket of a size in bytes.

    >>> size_bucket(999), size_bucket(1_000), size_bucket(99_999), size_bucket(100_000)
    ('0001KB_small', '0010KB_medium', '0100KB_large', '1000KB_huge')
    """
    return SIZE_BUCKETS[(size >= 1_000) + (size >= 10_000) + (size >= 100_000)]


def link_bucket(count: int) -> str:
    """Returns the bucket of a number of links.

    >>> [link_bucket(count) for count in (0, 1, 2, 3, 5, 6, 10, 11)]
    ['00', '02', '02', '05', '05', '10', '10', '99']
    """
    return LINK_BUCKETS[(count > 0) + (count > 2) + (count > 5) + (count > 10)]


def page_indexes(keys: KeyScheme, suffixes: Suffixes, *, with_groups: bool = True) -> list[Index]:
    """Returns the declarations of all indexes of pages with such keys.

    Args:
        with_groups: whether it is marked which pages have the same body.
    """
    salt_bytes = 3 if isinstance(keys, SaltedKeys) else 0

    def declared(name: str, parts: Callable[[Facts], Parts], *columns: bytes) -> Index:
        def entries(row: bytes, facts: Facts) -> list[Entry]:
            salt = row[:salt_bytes]
            return [Entry(b"%b%b_%b" % (salt, part, row), COVER) for part in parts(facts)]

        return Index(f"webtable_{name}_idx", entries, columns=columns, family="ref")

    def by_digest(row: bytes, facts: Facts) -> list[Entry]:
        digest = facts.get(_DIGEST)
        return [Entry(b"%b_%b" % (digest, row), COVER)] if digest else []

    digests = declared("digest", lambda facts: _present(facts, _DIGEST), _DIGEST)
    if with_groups:
        splits = _DIGEST_SPLITS if salt_bytes else ()
        digests = Index(
            DIGESTS, by_digest, columns=(_DIGEST,), family="ref", grouped=True, splits=splits
        )

    @lru_cache(_CACHED_HOSTS)
    def domain_of(host: str) -> bytes:
        return reversed_host(suffixes.registered_domain(host)).encode()

    def by_domain(facts: Facts) -> Parts:
        url, days = facts.get(_URL), _by_time(facts)
        if not url or not days:
            return ()
        return (b"%b_%b" % (domain_of(split_url(url.decode()).host), days[0]),)

    return [
        declared("time", _by_time, _MODIFIED),
        declared("size", _by_size, _SIZE),
        declared("link", _by_links, _INLINKS, _OUTLINKS, _STATUS, _TYPE),
        declared("url", _by_url, _URL),
        declared("domain", by_domain, _URL, _MODIFIED),
        declared("status", lambda facts: _present(facts, _STATUS), _STATUS),
        digests,
    ]


def _present(facts: Facts, column: bytes) -> Parts:
    value = facts.get(column)
    return (value,) if value else ()


def _by_time(facts: Facts) -> Parts:
    value = facts.get(_MODIFIED)
    return (value[:10].replace(b"-", b""),) if value else ()


def _by_size(facts: Facts) -> Parts:
    value = facts.get(_SIZE)
    if not value:
        return ()
    size = int(value)
    return (f"{size_bucket(size)}_{size:0{_DIGITS}}".encode(),)


def _by_links(facts: Facts) -> Parts:
    parts: list[bytes] = []
    for kind, column in _COUNTS:
        # Errors, redirects and pictures link nowhere; who asks for dead ends does not mean them.
        if (value := facts.get(column)) and (column != _OUTLINKS or _is_good_html(facts)):
            count = int(value)
            parts.append(f"{kind}_{link_bucket(count)}_{count:0{_DIGITS}}".encode())
    return parts


def _is_good_html(facts: Facts) -> bool:
    return facts.get(_STATUS, b"")[:1] == b"2" and facts.get(_TYPE) in HTML_TYPES


def _by_url(facts: Facts) -> Parts:
    value = facts.get(_URL)
    if not value:
        return ()
    return (hashlib.md5(value, usedforsecurity=False).hexdigest()[:16].encode(),)
