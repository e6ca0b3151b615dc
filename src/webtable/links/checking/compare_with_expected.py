"""Compares the link index with its expected content, both as streams in the order of the keys.

The keys of the comparison are `<name> 00 <shard> <qualifier>` for a link or a member, `<name> 00
<shard>` for the number of a shard, and `<uri> 00 !` for the row of a page. The expected content
comes as sorted lines, see `expected_index.py`. A row is never read whole: a page may have more
links to it than fit into memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from webtable.links import schema
from webtable.links.cell_encoding import GONE
from webtable.links.checking.expected_index import (
    PAGE_MARK,
    PageLine,
    parse_page_line,
    state_of_line,
)
from webtable.links.checking.external_sort import Sorter
from webtable.links.link_index import LinkIndex
from webtable.store.filtering.filters import ColumnPaginationFilter, ColumnRangeFilter, FilterList
from webtable.store.table import Table

__all__ = ["Finding", "Kind", "compare_domains", "compare_links", "wide_cells"]

Kind: TypeAlias = Literal[
    "links", "link", "count", "incount", "rank", "inlinks", "member", "domain"
]
"""What is wrong. `links`: the links of a page. `link`: one link to it. `count`: the number of links
in a shard. `incount`: their total. `rank`: the rank by that total. `inlinks`: the number in the
page's own row. `member`: whether a domain has a URI. `domain`: how many URIs it has."""

_PIECE = 2_000
_HEADER = 2  # bytes of `p:` and `d:`


class Finding(NamedTuple):
    """A difference between the index and the stored pages.

    Attributes:
        name: the URI whose row is wrong, or the domain.
        source: the source of a link that is wrong.
        shard: the shard that has the cell.
        domain: the domain that has a member.
    """

    kind: Kind
    name: bytes
    what: str
    source: bytes = b""
    shard: int = 0
    domain: bytes = b""


OnFinding: TypeAlias = Callable[[Finding], None]
Key: TypeAlias = bytes


def wide_cells(table: Table, prefix: bytes, family: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yields row, qualifier and value of every cell of a family, however wide its rows are."""
    skip = len(family) + 1
    piece = ColumnPaginationFilter(_PIECE, 0)
    for row in table.scan(prefix=prefix, columns=(family,), filter=piece):
        cells = row.raw_cells
        while True:
            for column, _, value, _ in cells:
                yield row.key, column[skip:], value
            if len(cells) < _PIECE:
                break
            rest = ColumnRangeFilter(cells[-1][0][skip:], False, None, True)
            found = table.get(row.key, (family,), filter=FilterList((rest, piece)))
            if found is None:
                break
            cells = found.raw_cells


def _states(table: Table, prefix: bytes, family: bytes) -> Iterator[tuple[Key, bytes]]:
    """Yields the states of the index with their keys."""
    for row, qualifier, value in wide_cells(table, prefix, family):
        yield row[_HEADER:] + qualifier, value


def _numbers(
    table: Table, prefix: bytes, columns: tuple[bytes, ...]
) -> Iterator[tuple[Key, bytes]]:
    """Yields the numbers of shards and pages; the number of a crawled page begins with `*`."""
    for row in table.scan(prefix=prefix, columns=columns):
        values = row.values()
        if row.key[-2:-1] == b"\0":
            value = values.get(columns[0])
            if value is not None:
                yield row.key[_HEADER:], value
        elif len(columns) > 1:
            is_crawled = b"*" if schema.AT in values else b""
            yield row.key[_HEADER:] + b"\0!", is_crawled + values.get(schema.INCOUNT, b"")


def _joined(
    expected: Iterable[tuple[Key, bytes]], found: Iterable[tuple[Key, bytes]]
) -> Iterator[tuple[Key, bytes | None, bytes | None]]:
    """Yields each key of the two streams once, with the value of each stream."""
    expected, found = iter(expected), iter(found)
    one, other = next(expected, None), next(found, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            yield one[0], one[1], None
            one = next(expected, None)
        elif one is None or other[0] < one[0]:
            yield other[0], None, other[1]
            other = next(found, None)
        else:
            yield one[0], one[1], other[1]
            one, other = next(expected, None), next(found, None)


# Links


def compare_links(
    index: LinkIndex, lines: Iterable[bytes], members: Sorter, on_finding: OnFinding
) -> int:
    """Compares states and numbers of links with sorted lines of the expected ones.

    Args:
        members: a line for each URI that is crawled or linked to is added to it.
        on_finding: called with each difference.

    Returns the expected number of links.
    """
    table = index.table
    found = heapq.merge(
        _numbers(table, b"p:", (schema.COUNT, schema.AT, schema.INCOUNT)),
        _states(table, b"p:", schema.INLINKS.encode()),
    )
    comparison = _Links(index, members, on_finding)
    for key, expected, stored in _joined(map(_keyed, lines), found):
        comparison.compare(key, expected, stored)
    comparison.end()
    return comparison.links


def _keyed(line: bytes) -> tuple[Key, bytes]:
    end = line.index(b"\0", line.index(b"\0") + 1)
    return line[:end], line[end + 1 :]


class _Links:
    """Compares both streams key by key and reports the differences."""

    def __init__(self, index: LinkIndex, members: Sorter, on_finding: OnFinding) -> None:
        self._index = index
        self._members = members
        self._on_finding = on_finding
        self.links = 0
        self._uri = self._shard = b""
        self._page: PageLine | None = None
        self._row = b""  # the number in the page's row of the index
        self._count = b""
        self._live = self._total = 0

    def compare(self, key: Key, expected: bytes | None, found: bytes | None) -> None:
        """Compares the two values of a key."""
        uri, _, place = key.partition(b"\0")
        if uri != self._uri:
            self.end()
            self._uri = uri
        if place == PAGE_MARK:
            self._page = None if expected is None else parse_page_line(expected)
            self._row = found or b""
            return
        if place[:1] != self._shard:
            self._end_shard()
            self._shard = place[:1]
        if len(place) == 1:
            self._count = found or b""
        else:
            self._compare_link(
                place[1:], None if expected is None else state_of_line(expected), found
            )

    def _compare_link(self, source: bytes, expected: bytes | None, found: bytes | None) -> None:
        is_live = expected is not None and expected != GONE
        self._live += is_live
        if expected == found or (expected is None and found == GONE):
            return
        shown = source.decode("utf-8", "replace")
        if is_live:
            what = f"the link from {shown} is missing"
            if found is not None and found != GONE:
                what = f"the link from {shown} has another anchor or rel: {found[1:]!r:.60}"
        elif expected is None or found is not None:
            what = f"there should be no link from {shown}"
        else:
            what = f"the removed link from {shown} is missing"
        self._on_finding(Finding("link", self._uri, what, source, int(self._shard, 16)))

    def _end_shard(self) -> None:
        if self._shard and (self._count or b"0") != b"%d" % self._live:
            what = f"the number of links is {self._count.decode() or 'missing'}, not {self._live}"
            self._on_finding(Finding("count", self._uri, what, shard=int(self._shard, 16)))
        self._total += self._live
        self._shard = self._count = b""
        self._live = 0

    def end(self) -> None:
        """Ends the comparison of a URI."""
        self._end_shard()
        uri, page, total = self._uri, self._page, self._total
        if uri:
            self.links += total
            self._end_uri(uri, page, total)
        self._page, self._row, self._total = None, b"", 0

    def _end_uri(self, uri: bytes, page: PageLine | None, total: int) -> None:
        is_here = page is not None or total > 0
        number = b"%d" % total if is_here else b""
        if self._row[:1] == b"*" and page is None:
            self._on_finding(
                Finding("links", uri, "the index has its links, but the page is not stored")
            )
        if self._row.lstrip(b"*") != number:
            is_now = self._row.lstrip(b"*").decode() or "missing"
            what = f"the number of links to it is {is_now}, not {number.decode() or 'none'}"
            self._on_finding(Finding("incount", uri, what))
        if page is not None and (page.inlinks != number or page.counted != number):
            stored = page.inlinks if page.inlinks != number else page.counted
            is_now = stored.decode() or "missing"
            what = f"the number of links in its own row is {is_now}, not {total}"
            self._on_finding(Finding("inlinks", uri, what))
        if is_here:
            shard = schema.shard_of(uri, self._index.shards)
            line = b"%b\0%x%b\n" % (self._index.domains.of(uri), shard, uri)
            self._members.add([line], len(line))


# Domains


def compare_domains(index: LinkIndex, members: Sorter, on_finding: OnFinding) -> int:
    """Compares the URIs of domains, and their numbers, with sorted lines of the expected ones.

    Returns the expected number of URIs.
    """
    found = heapq.merge(
        _numbers(index.table, b"d:", (schema.PAGE_COUNT,)),
        _states(index.table, b"d:", schema.MEMBERS.encode()),
    )
    lines = ((line[:-1], b"+") for line in members.lines())
    shard_row, count, here, total = b"", b"", 0, 0

    def end() -> None:
        if shard_row and (count or b"0") != b"%d" % here:
            what = f"the number of pages is {count.decode() or 'missing'}, not {here}"
            on_finding(Finding("domain", shard_row[:-2], what, shard=int(shard_row[-1:], 16)))

    for key, expected, stored in _joined(lines, found):
        row_end = key.index(b"\0") + 2
        if key[:row_end] != shard_row:
            end()
            shard_row, count, here = key[:row_end], b"", 0
        if len(key) == row_end:
            count = stored or b""
            continue
        is_here = expected is not None
        here += is_here
        total += is_here
        if is_here != (stored == b"+"):
            domain, shard = shard_row[:-2], int(shard_row[-1:], 16)
            what = "does not have it" if is_here else "should not have it"
            what = f"domain {domain.decode()} {what}"
            on_finding(Finding("member", key[row_end:], what, shard=shard, domain=domain))
    end()
    return total
