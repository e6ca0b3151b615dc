"""Measures the size of a store of pages: by family, by index table, by domain.

Sizes are those of the files, so new cells are counted after a flush; `memory_bytes` has the cells
before that. HBase reports sizes by table, not by family.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from typing import NamedTuple

from webtable.pages import schema
from webtable.pages.columns import SIZE, URL
from webtable.pages.page import page_of
from webtable.pages.page_table import PageTable
from webtable.pages.urls import split_url
from webtable.store.admin_results import TableStats
from webtable.store.scan import Scan

__all__ = ["DomainSize", "Part", "domain_sizes", "storage_parts"]

_KEYS_ONLY = "FirstKeyOnlyFilter() AND KeyOnlyFilter()"
_COUNTED = ("webtable_url_idx",)  # one entry for each page


class Part(NamedTuple):
    """A part of a store.

    Attributes:
        entries: pages of the main table, entries of an index, or cells of a family (estimated).
        per_page: bytes on disk per page.
        share: the bytes on disk relative to those of the main table.
    """

    part: str
    disk_bytes: int | None
    memory_bytes: int | None
    entries: int | None
    per_page: float | None
    share: float | None


class DomainSize(NamedTuple):
    """The size of a registered domain: of the newest captures of its pages."""

    domain: str
    pages: int
    body_bytes: int
    average_bytes: float
    largest_bytes: int
    largest: str


def storage_parts(pages: PageTable, derived: Collection[str] = ()) -> list[Part]:
    """Returns the parts of a store: the main table with its families, each index, and the totals.

    Counts pages by reading the keys of one index.

    Args:
        derived: further tables with derived data, such as those of the link index.
    """
    store = pages.store
    main = store.table(schema.TABLE).stats()
    indexes = {index.table for index in pages.rows.indexes.values()}
    others = [name for name in store.tables() if name not in {schema.TABLE, *indexes}]
    tables = {name: store.table(name).stats() for name in (*sorted(indexes), *others)}
    count = _rows(pages, _COUNTED[0])
    base = main.disk_bytes

    def part(name: str, disk: int | None, memory: int | None, entries: int | None) -> Part:
        per_page = disk / count if disk is not None and count else None
        share = disk / base if disk is not None and base else None
        return Part(name, disk, memory, entries, per_page, share)

    found = [part("pages", main.disk_bytes, main.memory_bytes, count)]
    for family in main.families:
        name = f"  {family.family}"
        found.append(part(name, family.disk_bytes, family.memory_bytes, family.cells))
    for name, stats in tables.items():
        entries = _rows(pages, name) if name in indexes else _cells(stats)
        found.append(part(name, stats.disk_bytes, stats.memory_bytes, entries))
    of_indexes = [stats for name, stats in tables.items() if name in {*indexes, *derived}]
    everything = [main, *tables.values()]
    found.append(part("all indexes", *_total(of_indexes), None))
    found.append(part("everything", *_total(everything), None))
    return found


def domain_sizes(pages: PageTable, limit: int = 20) -> list[DomainSize]:
    """Returns the domains with the largest total size of bodies. Reads every page."""
    sizes: dict[str, list[int]] = {}
    largest: dict[str, tuple[int, str]] = {}
    columns = (URL, SIZE)
    for row in pages.rows.table.scan(columns=columns):
        page = page_of(row.key, row.values())
        if page is None:
            continue
        domain = pages.suffixes.registered_domain(split_url(page.url).host)
        total = sizes.setdefault(domain, [0, 0])
        total[0] += 1
        total[1] += page.size
        largest[domain] = max(largest.get(domain, (-1, "")), (page.size, page.url))
    most = heapq.nlargest(limit, sizes.items(), key=lambda each: (each[1][1], each[0]))
    return [
        DomainSize(domain, count, size, size / count, *largest[domain])
        for domain, (count, size) in most
    ]


def _rows(pages: PageTable, table: str) -> int:
    return sum(1 for _ in pages.store.table(table).scan(Scan(filter=_KEYS_ONLY)))


def _cells(stats: TableStats) -> int | None:
    return _sum(family.cells for family in stats.families)


def _total(stats: list[TableStats]) -> tuple[int | None, int | None]:
    return _sum(each.disk_bytes for each in stats), _sum(each.memory_bytes for each in stats)


def _sum(numbers: Iterator[int | None]) -> int | None:
    found = list(numbers)
    return None if None in found else sum(each or 0 for each in found)
