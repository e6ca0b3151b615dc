"""All indexes of pages, and the format of their keys.

Each is a table of entries `ref:rowkey` = the row key of the page. With readable keys:

    webtable_time_idx     20260901_120000_com.example_about             last_modified, to the second
    webtable_size_idx     0010KB_medium_000000004711_com.example_about  size in bytes
    webtable_link_idx     inlinks_05_000000000004_com.example_about     links to it, and
                          outlinks_10_000000000007_com.example_about    links on it, if
                                                                        it is good HTML
    webtable_url_idx      9c1185a5c5e9fc54_com.example_about            MD5 of the URL
    webtable_domain_idx   com.example_20260901_120000_com.example_about registered domain, and time
    webtable_status_idx   200_com.example_about                         status
    webtable_digest_idx   sha1:3I42H…_com.example_about                 digest; `shared:` of the
                          row `sha1:3I42H…_`: several pages have it; and
                          ~sha1:3I42H…_com.example_about                a body that a revisit waits
                                                                        for
    webtable_change_idx   0001788264000000_com.example_about            revision of the last change

With salted keys an entry begins with its bucket, the first hex digit of the salt of its row, and a
colon:

    webtable_time_idx     a:20260901_120000_a1:com.example/about
    webtable_size_idx     a:0010KB_medium_000000004711_a1:com.example/about
    webtable_link_idx     a:inlinks_05_000000000004_a1:com.example/about
    webtable_url_idx      a:9c1185a5c5e9fc54_a1:com.example/about
    webtable_domain_idx   a:com.example_20260901_120000_a1:com.example/about
    webtable_status_idx   a:200_a1:com.example/about
    webtable_digest_idx   sha1:3I42H…_a1:com.example/about
                          ~sha1:3I42H…_a1:com.example/about
    webtable_change_idx   a:0001788264000000_a1:com.example/about

So writes of one day go to 16 regions, and a read merges 16 ranges. Digest entries have no bucket,
since digests are evenly distributed: pages with the same digest are next to each other.
`webtable.pages.upgrading.index_rebuild` knows what earlier formats had.
On-disk: changing this needs a new format version. Frozen by tests/pages/test_indexes.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from webtable.index.indexed_table import Entry, Facts, Index
from webtable.pages.columns import (
    CHANGED,
    DIGEST,
    INLINKS,
    LAST_MODIFIED,
    OUTLINKS,
    SIZE,
    STATUS,
    TYPE,
    URL,
    WAITS,
)
from webtable.pages.keys import KeyScheme, SaltedKeys, reversed_host
from webtable.pages.public_suffixes import Suffixes
from webtable.pages.storing.content_revision import DIGITS
from webtable.pages.urls import split_url

__all__ = [
    "BUCKETS",
    "BUCKET_BYTES",
    "BUCKET_SPLITS",
    "BY_TIME",
    "CHANGES",
    "DIGESTS",
    "LINK_BUCKETS",
    "SIZE_BUCKETS",
    "WAITING",
    "link_bucket",
    "page_indexes",
    "size_bucket",
]

Parts: TypeAlias = Sequence[bytes]
"""The parts of the keys of a page's entries between the bucket and the row key."""

DIGESTS = "webtable_digest_idx"
CHANGES = "webtable_change_idx"
WAITING = b"~"
"""What the entries of awaited bodies begin with; they follow all others of the digest index."""
BY_TIME = ("webtable_time_idx", "webtable_domain_idx")
"""The indexes whose entries are in the order of time."""
BUCKETS = tuple(b"%x:" % digit for digit in range(16))
"""What entries begin with in a store with salted keys."""
BUCKET_BYTES = 2
BUCKET_SPLITS = tuple(b"%x" % digit for digit in range(1, 16))
"""Where an index table with buckets is split: one region for each."""
COVER = b"rowkey"
SIZE_BUCKETS = ("0001KB_small", "0010KB_medium", "0100KB_large", "1000KB_huge")
"""The buckets of sizes; their names sort by size."""
LINK_BUCKETS = ("00", "02", "05", "10", "99")

_DIGITS = 12
_BASE32 = "234567ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGEST_SPLITS = tuple(f"sha1:{letter}".encode() for letter in _BASE32[2::2])
_COUNTS = (("inlinks", INLINKS), ("outlinks", OUTLINKS))
_CACHED_HOSTS = 10_000
_TIME_SIGNS = bytes.maketrans(b"T", b"_")
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


def page_indexes(keys: KeyScheme, suffixes: Suffixes) -> list[Index]:
    """Returns the indexes of a store."""
    is_salted = isinstance(keys, SaltedKeys)
    splits = BUCKET_SPLITS if is_salted else ()

    def declared(name: str, parts: Callable[[Facts], Parts], *columns: bytes) -> Index:
        def entries(row: bytes, facts: Facts) -> list[Entry]:
            return [Entry(b"%b_%b" % (part, row), COVER) for part in parts(facts)]

        def entries_in_bucket(row: bytes, facts: Facts) -> list[Entry]:
            digit = row[:1]
            return [Entry(b"%b:%b_%b" % (digit, part, row), COVER) for part in parts(facts)]

        found = entries_in_bucket if is_salted else entries
        return Index(f"webtable_{name}_idx", found, columns=columns, family="ref", splits=splits)

    def by_digest(row: bytes, facts: Facts) -> list[Entry]:
        digest, waits = facts.get(DIGEST), facts.get(WAITS)
        found = [Entry(b"%b_%b" % (digest, row), COVER)] if digest else []
        if waits:
            found += [Entry(b"%b%b_%b" % (WAITING, each, row), COVER) for each in waits.split()]
        return found

    @lru_cache(_CACHED_HOSTS)
    def domain_of(host: str) -> bytes:
        return reversed_host(suffixes.registered_domain(host)).encode()

    def by_domain(facts: Facts) -> Parts:
        url, times = facts.get(URL), _by_time(facts)
        if not url or not times:
            return ()
        return (b"%b_%b" % (domain_of(split_url(url.decode()).host), times[0]),)

    return [
        declared("time", _by_time, LAST_MODIFIED),
        declared("size", _by_size, SIZE),
        declared("link", _by_links, INLINKS, OUTLINKS, STATUS, TYPE),
        declared("url", _by_url, URL),
        declared("domain", by_domain, URL, LAST_MODIFIED),
        declared("status", lambda facts: _present(facts, STATUS), STATUS),
        declared("change", _by_change, CHANGED),
        Index(
            DIGESTS,
            by_digest,
            columns=(DIGEST, WAITS),
            family="ref",
            grouped=True,
            splits=_DIGEST_SPLITS if is_salted else (),
        ),
    ]


def _present(facts: Facts, column: bytes) -> Parts:
    value = facts.get(column)
    return (value,) if value else ()


def _by_time(facts: Facts) -> Parts:
    value = facts.get(LAST_MODIFIED)  # such as 2026-09-01T12:00:00Z
    return (value.translate(_TIME_SIGNS, b"-:Z"),) if value else ()


def _by_change(facts: Facts) -> Parts:
    value = facts.get(CHANGED)
    return (value[:DIGITS],) if value else ()


def _by_size(facts: Facts) -> Parts:
    value = facts.get(SIZE)
    if not value:
        return ()
    size = int(value)
    return (f"{size_bucket(size)}_{size:0{_DIGITS}}".encode(),)


def _by_links(facts: Facts) -> Parts:
    parts: list[bytes] = []
    for kind, column in _COUNTS:
        # Errors, redirects and images have no links; a query for dead ends must not return them.
        if (value := facts.get(column)) and (column != OUTLINKS or _is_good_html(facts)):
            count = int(value)
            parts.append(f"{kind}_{link_bucket(count)}_{count:0{_DIGITS}}".encode())
    return parts


def _is_good_html(facts: Facts) -> bool:
    return facts.get(STATUS, b"")[:1] == b"2" and facts.get(TYPE) in HTML_TYPES


def _by_url(facts: Facts) -> Parts:
    value = facts.get(URL)
    if not value:
        return ()
    return (hashlib.md5(value, usedforsecurity=False).hexdigest()[:16].encode(),)
