"""Measures whether a store of pages has outgrown its setup, and gives advice.

The limits are those of the design for one machine and readable keys. The cost of each check is
bounded, so the checks also run on a large store.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable

import msgspec

from webtable.pages import schema
from webtable.pages.asking.queries import PageQueries
from webtable.pages.keys import SaltedKeys
from webtable.pages.page_table import PageTable
from webtable.result_base import Value
from webtable.store.scan import Scan

__all__ = ["Finding", "examine"]

MOST_PAGES = 100_000
MOST_DOMAINS = 100
MOST_SECONDS = 0.5
MOST_BYTES = 10**12
MOST_INDEX_SHARE = 0.4
MOST_CAPTURES = 5_000
CHECKED_ROWS = 20_000
_DOMAIN = re.compile(rb"(.+?)_\d{8}_")
_KEYS_ONLY = "FirstKeyOnlyFilter() AND KeyOnlyFilter()"


class Finding(Value, msgspec.Struct, frozen=True):
    """One check of a store.

    Attributes:
        check: the name of the check.
        measured: the measured value, as text.
        limit: the limit of that value, as text.
        is_fine: whether the value is within the limit.
        advice: what to do where it is not.
    """

    check: str
    measured: str
    limit: str
    is_fine: bool
    advice: str


def examine(pages: PageTable) -> list[Finding]:
    """Measures a store of pages and returns the result of each check."""
    return [
        _pages(pages),
        _domains(pages),
        _latency(pages),
        *_storage(pages),
        _wide_rows(pages),
        _losses(pages),
    ]


def _losses(pages: PageTable) -> Finding:
    """Whether the store lost writes when its machine stopped, see `Store.losses`."""
    losses = pages.store.losses()
    cells = sum(loss.cells for loss in losses)
    days = sorted({time.strftime("%Y-%m-%d", time.gmtime(loss.at)) for loss in losses})
    return Finding(
        "lost writes",
        f"{cells:,} cells, found on {', '.join(days)}" if losses else "none",
        "none",
        not losses,
        "the machine stopped before they reached the disk: load the last files again and run"
        " `webtable verify`, then remove the file LOST of the store",
    )


def _pages(pages: PageTable) -> Finding:
    scan = Scan(limit=MOST_PAGES + 1, filter=_KEYS_ONLY)
    count = sum(1 for _ in pages.store.table("webtable_url_idx").scan(scan))
    advice = "make a store with salted keys, best on a cluster, and load it from an export"
    return _count(pages, "pages", count, MOST_PAGES, advice)


def _count(pages: PageTable, what: str, count: int, most: int, advice: str) -> Finding:
    """Returns whether a count is one that readable keys are for."""
    is_salted = isinstance(pages.keys, SaltedKeys)
    return Finding(
        what,
        f"{count:,}" if count <= most else f"more than {most:,}",
        "any number with salted keys" if is_salted else f"{most:,}",
        is_salted or count <= most,
        advice,
    )


def _domains(pages: PageTable) -> Finding:
    """Counts registered domains by jumping from one to the next in the index by domain."""
    table = pages.store.table("webtable_domain_idx")
    count, start = 0, b""
    while count <= MOST_DOMAINS:
        row = next(table.scan(Scan(start=start, limit=1, filter=_KEYS_ONLY)), None)
        if row is None:
            break
        count += 1
        found = _DOMAIN.match(row.key)
        # Behind all days of this domain. A host may contain `_` too, but rarely digits after it.
        start = row.key + b"\0" if found is None else found[1] + b"_:"
    advice = "check how pages are spread over domains (`webtable pages`); salted keys spread them"
    return _count(pages, "domains", count, MOST_DOMAINS, advice)


def _latency(pages: PageTable) -> Finding:
    queries = PageQueries(pages)
    slowest, name = 0.0, ""
    for query in (queries.largest, queries.errors, queries.modified):
        seconds = min(_seconds(query) for _ in range(3))
        if seconds >= slowest:
            slowest, name = seconds, query.__name__
    return Finding(
        "slowest query",
        f"{slowest * 1000:.1f} ms ({name})",
        f"{MOST_SECONDS * 1000:.0f} ms",
        slowest <= MOST_SECONDS,
        "compact the index tables (`webtable compact`); on a cluster check `webtable regions`",
    )


def _seconds(query: Callable[[], object]) -> float:
    began = time.perf_counter()
    query()
    return time.perf_counter() - began


def _storage(pages: PageTable) -> list[Finding]:
    sizes = {name: pages.store.table(name).stats().disk_bytes for name in pages.store.tables()}
    content = sizes.get(schema.TABLE)
    indexes = [sizes.get(index.table) for index in pages.rows.indexes.values()]
    if content is None or None in indexes:
        return []
    entries = sum(size for size in indexes if size is not None)
    total = sum(size for size in sizes.values() if size is not None)
    share = entries / content if content else 0.0
    return [
        Finding(
            "storage",
            f"{total / 1e9:,.1f} GB" if total >= 10**9 else f"{total / 1e6:,.1f} MB",
            f"{MOST_BYTES / 1e9:,.0f} GB",
            total <= MOST_BYTES,
            "shorten TTLs or versions (`webtable table alter`), and compact",
        ),
        Finding(
            "indexes to pages",
            f"{share:.0%}",
            f"{MOST_INDEX_SHARE:.0%}",
            share <= MOST_INDEX_SHARE or content < 10**8,
            "compact the index tables: replaced entries leave delete markers",
        ),
    ]


def _wide_rows(pages: PageTable) -> Finding:
    scan = Scan(columns=(schema.CAPTURES.encode(),), filter="KeyOnlyFilter()")
    rows = itertools.islice(pages.rows.table.scan(scan), CHECKED_ROWS)
    most, checked, where = 0, 0, b""
    for row in rows:
        checked += 1
        if len(row.raw_cells) > most:
            most, where = len(row.raw_cells), row.key
    shown = where.decode("ascii", "backslashreplace")
    return Finding(
        "most captures of a page",
        f"{most:,} ({shown})" if most else "none",
        f"{MOST_CAPTURES:,}",
        most <= MOST_CAPTURES,
        "every capture enlarges its row, and a row is never split; crawl that page less often"
        + ("" if checked < CHECKED_ROWS else f" (only {CHECKED_ROWS:,} pages were checked)"),
    )
