"""Reads wide rows of the link index in pieces: the links to a page, the URIs of a domain.

A page may have a hundred thousand links to it, in one row or in sixteen. Such a row is never read
whole: a piece is a number of columns of each shard, from a source on. Sources of one domain are
side by side, so that internal and external links are ranges of columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from webtable.errors import InvalidRequest
from webtable.links import schema
from webtable.links.cell_encoding import GONE, LinkText, decode_inlink
from webtable.links.link_index import LinkIndex
from webtable.links.schema import shard_row, url_of
from webtable.pages.asking.paged_results import QueryCost
from webtable.pages.keys import reversed_host
from webtable.pages.urls import typed_site
from webtable.store.cells_and_rows import RawCell
from webtable.store.filtering.filters import (
    ColumnPaginationFilter,
    ColumnRangeFilter,
    Filter,
    FilterList,
)
from webtable.store.scan import Get

__all__ = [
    "ALL_LINKS",
    "Kind",
    "LinkPick",
    "LinkReader",
    "Source",
    "check_kind",
    "host_ranges",
]

Kind: TypeAlias = Literal["all", "internal", "external"]
"""Which links: all, those from pages of the same domain, or those from others."""


class LinkPick(NamedTuple):
    """Selects links by kind, and by a domain: of the page that a query says; empty means all."""

    kind: Kind = "all"
    domain: str = ""


ALL_LINKS = LinkPick()


def check_kind(kind: Kind) -> None:
    """Makes sure that links are chosen by a kind that there is.

    Raises:
        InvalidRequest: there is no such kind.
    """
    kinds = get_args(Kind)
    if kind not in kinds:
        raise InvalidRequest(
            f"{kind!r:.80} is not a kind of links", hint=f"use one of {', '.join(kinds)}"
        )


_LEAST, _FIRST, _MOST = 8, 32, 1_024
_INLINKS = (schema.INLINK[:-1],)


class Source(NamedTuple):
    """A page that links to another now, or linked to it once."""

    uri: bytes
    is_live: bool
    links: tuple[LinkText, ...]


class LinkReader:
    """Reads the link index for one query, and adds up the cost in `cost`."""

    def __init__(self, index: LinkIndex, cost: QueryCost) -> None:
        self._index = index
        self.cost = cost

    def sources(
        self,
        uri: bytes,
        picked: LinkPick = ALL_LINKS,
        *,
        start: bytes = b"",
        with_gone: bool = False,
        most: int | None = None,
    ) -> Iterator[Source]:
        """Yields the pages that link to a page, in the order of their URIs.

        Args:
            start: the first URI, inclusive.
            with_gone: also pages that linked to it once.
            most: about how many the caller needs; determines the size of the first reads.
        """
        kind, domain = picked
        site = typed_site(domain) if domain else None
        ranges = self._ranges(uri, kind)
        if site is not None:
            ranges = _overlaps(ranges, host_ranges(reversed_host(site.host).encode()))
        for low, high in ranges:
            if high and start >= high:
                continue
            for column, _, value, _ in self._cells(
                (b"p:", uri, schema.INLINK), max(low, start), high, most
            ):
                source = column[len(schema.INLINK) :]
                if site is not None and not site.has(url_of(source)):
                    continue
                if value == GONE:
                    if with_gone and self.is_kind(uri, source, kind):
                        yield Source(source, False, ())
                elif self.is_kind(uri, source, kind):
                    yield Source(source, *decode_inlink(value))

    def first_sources(self, uris: Sequence[bytes], most: int) -> list[list[Source]]:
        """Returns the first sources of each page; all pages are read together."""
        found: list[list[Source]] = [[] for _ in uris]
        waiting = dict.fromkeys(range(len(uris)), b"")
        size = most
        while waiting:
            pieces = self._pieces([(uris[at], low) for at, low in waiting.items()], size)
            more: dict[int, bytes] = {}
            for at, (cells, end) in zip(waiting, pieces, strict=True):
                live = (cell for cell in cells if cell[2] != GONE)
                for column, _, value, _ in itertools.islice(live, most - len(found[at])):
                    found[at].append(Source(column[len(schema.INLINK) :], *decode_inlink(value)))
                if end is not None and len(found[at]) < most:
                    more[at] = end
            # Continue after the removed links; double the size, since many more may follow.
            waiting, size = more, min(size * 2, _MOST)
        return found

    def _pieces(
        self, starts: Sequence[tuple[bytes, bytes]], size: int
    ) -> Iterator[tuple[list[RawCell], bytes | None]]:
        """Yields the next links to each page from a source on, and the start of the next piece."""
        shards = self._index.shards
        gets = [
            Get(shard_row(b"p:", uri, shard), _INLINKS, filter=_piece(size, low, b""))
            for uri, low in starts
            for shard in range(shards)
        ]
        found = self._index.table.get_many(gets)
        for at in range(0, len(gets), shards):
            pieces = [row.raw_cells for row in found[at : at + shards] if row is not None]
            self.cost.entries += sum(map(len, pieces))
            end = min((piece[-1][0] for piece in pieces if len(piece) == size), default=None)
            cells = [cell for piece in pieces for cell in piece if end is None or cell[0] <= end]
            cells.sort(key=lambda cell: cell[0])
            yield cells, None if end is None else end[len(schema.INLINK) :] + b"\0"

    def is_named(self, uri: bytes) -> bool:
        """Whether any page links to a page, or linked to it once."""
        return next(self.sources(uri, with_gone=True, most=1), None) is not None

    def has_source(self, uri: bytes, kind: Kind) -> bool:
        """Whether any page links to a page."""
        return next(self.sources(uri, LinkPick(kind), most=1), None) is not None

    def count(self, uri: bytes, kind: Kind) -> int:
        """Counts the pages that link to a page.

        Reads internal and external links alternately until one kind ends: the number of the other
        kind is the rest of the total.
        """
        (total,) = self.counts([uri])
        if kind == "all" or not total:
            return total
        inside = self.sources(uri, LinkPick("internal"))
        outside = self.sources(uri, LinkPick("external"))
        for number in itertools.count():
            for each, sources in (("internal", inside), ("external", outside)):
                if next(sources, None) is None:
                    return number if each == kind else total - number
        raise AssertionError

    def counts(self, uris: Sequence[bytes]) -> list[int]:
        """Returns the number of pages that link to each page."""
        rows = [schema.page_row(uri) for uri in uris]
        found = self._index.table.get_many(rows, (schema.INCOUNT,))
        self.cost.entries += len(rows)
        return [0 if row is None else int(row.value(schema.INCOUNT) or 0) for row in found]

    def members(
        self, domain: bytes, *, start: bytes = b"", with_gone: bool = False
    ) -> Iterator[bytes]:
        """Yields the URIs of a domain in order, from a URI on."""
        for column, _, value, _ in self._cells((b"d:", domain, schema.MEMBER), start, b"", None):
            if with_gone or value != GONE:
                yield column[len(schema.MEMBER) :]

    def is_kind(self, one: bytes, other: bytes, kind: Kind) -> bool:
        """Whether a link between two pages has a kind."""
        if kind == "all":
            return True
        return self._index.domains.share_domain(one, other) == (kind == "internal")

    # Ranges and pieces

    def _ranges(self, uri: bytes, kind: Kind) -> list[tuple[bytes, bytes]]:
        """Returns ranges of sources that include all sources of a kind, and maybe others."""
        domain = self._index.domains.of(uri)
        if kind == "all" or (kind == "external" and self._is_suffix(domain)):
            return [(b"", b"")]
        hosts, ports = host_ranges(domain)
        if kind == "internal":
            return [hosts, ports]
        return [(b"", hosts[0]), (hosts[1], ports[0]), (ports[1], b"")]

    def _is_suffix(self, domain: bytes) -> bool:
        """Whether other registered domains end in this one."""
        host = reversed_host(domain.decode())
        return self._index.pages.suffixes.registered_domain(f"x.{host}") != host

    def _cells(
        self, wide: tuple[bytes, bytes, bytes], low: bytes, high: bytes, most: int | None
    ) -> Iterator[RawCell]:
        """Yields the cells of a wide row from one qualifier up to another, of all shards in order.

        `wide` is the kind of row, its name, and the family with its colon.
        """
        kind, name, family = wide
        rows = [shard_row(kind, name, shard) for shard in range(self._index.shards)]
        size = _FIRST if most is None else min(max(most, _LEAST), _MOST)
        while rows:
            each = size if len(rows) == 1 else max(_LEAST, 2 * size // len(rows))
            piece = _piece(each, low, high)
            gets = [Get(row, (family[:-1],), filter=piece) for row in rows]
            found = [
                () if row is None else row.raw_cells for row in self._index.table.get_many(gets)
            ]
            self.cost.entries += sum(map(len, found))
            full = [cells[-1][0] for cells in found if len(cells) == each]
            end = min(full, default=None)
            cells = [cell for piece in found for cell in piece if end is None or cell[0] <= end]
            cells.sort(key=lambda cell: cell[0])
            yield from cells
            if end is None:
                return
            # Shards that are at their end need no more reads.
            rows = [
                row
                for row, piece in zip(rows, found, strict=True)
                if len(piece) == each or (piece and piece[-1][0] > end)
            ]
            low = end[len(family) :] + b"\0"
            size = min(size * 2, _MOST)


def host_ranges(host: bytes) -> list[tuple[bytes, bytes]]:
    """Returns the ranges of URIs with all pages of a host; the host is given reversed."""
    # After a host comes a subdomain or a path (`.`, `/`), or a port or scheme (`:`). Digits sort
    # between these, and belong to other hosts.
    return [(host + b".", host + b"0"), (host + b":", host + b";")]


def _overlaps(
    some: Iterable[tuple[bytes, bytes]], others: Sequence[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """Returns the intersections of two lists of ranges; the second has no open ends."""
    both = [
        (max(low, other_low), min(high or other_high, other_high))
        for low, high in some
        for other_low, other_high in others
    ]
    return sorted((low, high) for low, high in both if low < high)


def _piece(size: int, low: bytes, high: bytes) -> Filter:
    """Returns a filter for a number of columns in a range."""
    if not high:
        return ColumnPaginationFilter(size, low or 0)
    bounds = ColumnRangeFilter(low or None, True, high, False)
    return FilterList((bounds, ColumnPaginationFilter(size, 0)))
