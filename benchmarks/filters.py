"""The group `filters`: scans through filters in the embedded store, against the bare scan.

All times are processor time: the peer is the same program, so other work on the machine must not
count. A rate is the number of cells of the table, read or skipped, divided by the time of the scan;
so a filter that skips most of a table is many times as fast as the bare scan.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import webtable
from benchmarks.harness import Bench, Target, rates
from webtable import Table
from webtable.filters import (
    ColumnPrefixFilter,
    ColumnRangeFilter,
    Filter,
    FilterList,
    FirstKeyOnlyFilter,
    PrefixFilter,
    SingleColumnValueFilter,
    ValueFilter,
)

__all__ = ["run"]

BARE = "bare scan"
STATUS = b"f:q4"
SCANS = 3


class Case(NamedTuple):
    """A filter, the rows that it keeps, and the target speed relative to the bare scan."""

    filter: Filter | None
    rows: int
    target: Target | None = None


def run(bench: Bench) -> None:
    """Measures filters over narrow rows and over wide ones."""
    scale = 10 if bench.is_quick else 1
    with webtable.open(str(bench.scratch / "filters")) as store:
        count = 100_000 // scale
        narrow = store.create_table("narrow", "f")
        _fill(narrow, _narrow_rows(count))
        _compare(bench, f"{count:,} × 5", narrow, count * 5, _narrow_cases(count))
        count = 2_000 // scale
        wide = store.create_table("wide", "f")
        _fill(wide, _wide_rows(count))
        _compare(bench, f"{count:,} × 300", wide, count * 300, _wide_cases(count))


def _narrow_cases(count: int) -> dict[str, Case]:
    half = Target(0.5)
    one = SingleColumnValueFilter(STATUS, "=", b"07", filter_if_missing=True)
    some = SingleColumnValueFilter(STATUS, "<", b"50")
    all_of_them = SingleColumnValueFilter(STATUS, "!=", b"none")
    prefix = PrefixFilter(b"com.example07")
    return {
        "SingleColumnValueFilter, 1 row of 100 passes": Case(one, count // 100, half),
        "SingleColumnValueFilter, half passes": Case(some, count // 2, half),
        "SingleColumnValueFilter, all pass": Case(all_of_them, count, half),
        "two of them by AND": Case(FilterList((some, all_of_them)), count // 2, half),
        "two of them by OR": Case(FilterList((some, all_of_them), "one"), count, half),
        "PrefixFilter, 1 row of 100": Case(prefix, count // 100, Target(20)),
        "ValueFilter, all pass": Case(ValueFilter("!=", b"none"), count),
        "FirstKeyOnlyFilter": Case(FirstKeyOnlyFilter(), count),
    }


def _wide_cases(count: int) -> dict[str, Case]:
    early = SingleColumnValueFilter(b"f:q000", "=", b"07")
    return {
        "ColumnPrefixFilter, 1 column": Case(ColumnPrefixFilter(b"q150"), count, Target(3)),
        "ColumnRangeFilter, 3 columns": Case(
            ColumnRangeFilter(b"q150", True, b"q152", True), count, Target(3)
        ),
        "FirstKeyOnlyFilter": Case(FirstKeyOnlyFilter(), count, Target(3)),
        "SingleColumnValueFilter, first column, 1 row of 100 passes": Case(
            early, count // 100, Target(0.5)
        ),
    }


def _narrow_rows(count: int) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    for number in range(count):
        values = {b"f:q%d" % at: b"%032d" % (number * 7 + at) for at in range(4)}
        key = b"com.example%02d/page/%06d" % (number // 10 % 100, number)
        yield key, values | {STATUS: b"%02d" % (number % 100)}


def _wide_rows(count: int) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    for number in range(count):
        values = {b"f:q%03d" % at: b"%032d" % (number * 7 + at) for at in range(1, 300)}
        yield b"%06d" % number, values | {b"f:q000": b"%02d" % (number % 100)}


def _fill(table: Table, rows: Iterator[tuple[bytes, dict[bytes, bytes]]]) -> None:
    with table.batch(size=100) as batch:
        for key, values in rows:
            batch.put(key, values, timestamp=1_700_000_000_000)
    table.flush()


def _compare(bench: Bench, name: str, table: Table, cells: int, cases: Mapping[str, Case]) -> None:
    count = sum(1 for _ in table.scan())
    measured: dict[str, list[float]] = defaultdict(list)
    for turn in range(bench.rounds):
        bench.say(f"filters: {name}, round {turn + 1} of {bench.rounds}")
        work: dict[str, list[Callable[[], int]]] = {
            each: [partial(_scan, table, case, cells)] * SCANS
            for each, case in {BARE: Case(None, count), **cases}.items()
        }
        for each, rate in rates(work, turn=turn, clock=time.process_time).items():
            measured[each].append(rate)
    for each, case in cases.items():
        peers = {BARE: (measured[BARE], case.target)}
        bench.compare(f"filters {name}: {each}", "cells/s", measured[each], peers)


def _scan(table: Table, case: Case, cells: int) -> int:
    found = seen = 0
    for row in table.scan(filter=case.filter):
        found += 1
        seen += len(row.raw_cells)
    assert found == case.rows, f"{case.filter} kept {found} rows of {case.rows}"
    assert seen, case.filter
    return cells
