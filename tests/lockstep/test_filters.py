"""The judge of filters: random reads through random filters give the same on both engines.

A failure prints the data and the read, shrunk, and a `reproduce_failure` line; they can be pasted
into `FOUND`. Sixty sets of data by default, two thousand when WEBTABLE_SOAK is set.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import webtable
from tests.lockstep.filter_draws import with_prefix
from tests.lockstep.filter_reads import Dataset, FilteredRead, Written, datasets
from webtable import ALL_VERSIONS, Check, Delete, Get, Put, Row, Scan, Store, Table
from webtable.errors import WebTableError
from webtable.filters import (
    ColumnCountGetFilter,
    ColumnPaginationFilter,
    ColumnRangeFilter,
    FilterList,
    FuzzyRowFilter,
    KeyOnlyFilter,
    MultipleColumnPrefixFilter,
    MultiRowRangeFilter,
    PageFilter,
    PrefixFilter,
    RowFilter,
    RowRange,
    SingleColumnValueExcludeFilter,
    SingleColumnValueFilter,
    SkipFilter,
    ValueFilter,
    WhileMatchFilter,
)

READS = 12
DATASETS = 2000 if os.environ.get("WEBTABLE_SOAK") else 60


def mutation(write: Written, prefix: bytes) -> Put | Delete:
    row = prefix + write.row
    if write.kind == "put":
        return Put(row, {write.column: write.value}, timestamp=write.timestamp)
    what = write.column.partition(b":")[0] if write.kind == "family" else write.column
    delete = Delete(row)
    getattr(delete, write.kind)(what, write.timestamp)
    return delete


class WideScan(Scan, frozen=True, kw_only=True):
    """A scan that its filter does not narrow, as HBase's own client makes it."""

    def bounds(self) -> tuple[bytes, bytes]:
        return Scan(start=self.start, stop=self.stop, prefix=self.prefix).bounds()


def answer(table: Table, read: FilteredRead, prefix: bytes, kind: type[Scan] = Scan) -> object:
    """Returns what a read gives, in a form that can be compared and is easy to read."""
    wanted = with_prefix(read.filter, prefix)
    try:
        if read.checks:
            assert read.row is not None
            row = prefix + read.row
            check = Check.matches(wanted, time_range=read.time_range)
            mark = Put(row, {b"c:mark": b""}, timestamp=50)
            return table.check_and_mutate(row, check, mark).success
        if read.row is not None:
            get = Get(prefix + read.row, read.columns, read.versions, read.time_range, wanted)
            return shown(row for row in table.get_many([get]) if row is not None)
        return shown(table.scan(scan_of(read, prefix, kind)))
    except WebTableError as error:
        return type(error).__name__


def scan_of(read: FilteredRead, prefix: bytes, kind: type[Scan]) -> Scan:
    return kind(
        prefix=prefix,
        start=prefix + (read.start or b"\x00\x00"),  # not shorter than a prefix in a filter
        stop=prefix + read.stop if read.stop else b"",
        columns=read.columns,
        versions=read.versions,
        time_range=read.time_range,
        limit=read.limit,
        reverse=read.reverse,
        raw=read.raw,
        filter=with_prefix(read.filter, prefix),
    )


def shown(rows: Iterable[Row]) -> list[tuple[bytes, list[tuple[bytes, int, bytes, int]]]]:
    return [
        (row.key[13:], [(c.column, c.timestamp, c.value, int(c.type)) for c in row]) for row in rows
    ]


def run(cluster: Store, embedded: Store, dataset: Dataset) -> None:
    """Writes to both stores, reads both, and compares."""
    prefix = uuid.uuid4().hex[:12].encode() + b"/"
    tables = [store.table(dataset.table) for store in (cluster, embedded)]
    for table in tables:
        with table.batch() as batch:
            for write in dataset.writes:
                batch.add(mutation(write, prefix))
    if dataset.is_flushed:
        tables[0].flush()
    for read in dataset.reads:
        if dataset.is_flushed and (read.raw or read.time_range):
            continue  # they can see what a flush drops
        expected = answer(tables[0], read, prefix, WideScan)
        got = answer(tables[1], read, prefix)
        if expected != got:
            raise AssertionError(
                f"{read!r}\n  HBase    {expected}\n  embedded {got}\n"
                f"  stored   {shown(tables[1].scan(prefix=prefix, raw=True, versions=99))}"
            )


@pytest.mark.hbase
@pytest.mark.timeout(0)  # Shrinking a failure takes its time; hypothesis has a limit of its own.
@settings(
    max_examples=DATASETS,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@given(dataset=datasets(READS))
def test_filters_give_the_same_on_both_engines(
    cluster: Store, embedded: Store, dataset: Dataset
) -> None:
    run(cluster, embedded, dataset)


def put(row: bytes, column: bytes, timestamp: int, value: bytes = b"v") -> Written:
    return Written("put", row, column, timestamp, value)


GRID = tuple(
    put(row, column, timestamp, b"%d" % timestamp)
    for row in (b"a0", b"a1", b"b0")
    for column in (b"a:x", b"b:x", b"b:xy", b"c:x")
    for timestamp in (10, 20)
)
MISSING = SingleColumnValueFilter(b"c:x", "=", b"20", filter_if_missing=True)
FOUND: dict[str, tuple[tuple[Written, ...], FilteredRead]] = {
    "a filter that is done ends each family where it stands": (
        GRID,
        FilteredRead(ColumnCountGetFilter(1), reverse=True),
    ),
    "SKIP and WHILE do not tell their filter that a scan goes backwards": (
        (put(b"a0", b"a:x", 20), put(b"c0", b"a:x", 40)),
        FilteredRead(
            WhileMatchFilter(MultiRowRangeFilter((RowRange(b"a0", b"b1"),))),
            time_range=(20, 21),
            reverse=True,
        ),
    ),
    "a list with a filter that jumps leaves out no row by its key": (
        (put(b"a0", b"a:x", 40), put(b"b0", b"a:x", 20)),
        FilteredRead(
            WhileMatchFilter(
                FilterList((FuzzyRowFilter(((b"a0", b"\1\1"),)), RowFilter("<", b"b")))
            ),
            time_range=(40, 41),
            reverse=True,
        ),
    ),
    "backwards, a list of which one must pass loses columns behind one that was jumped": (
        (put(b"a0", b"c:n", 40), put(b"a0", b"c:x", 20)),
        FilteredRead(FilterList((ColumnRangeFilter(b"x"),), "one"), reverse=True),
    ),
    "a condition reads all families before it decides": (
        (put(b"a0", b"b:x", 20),),
        FilteredRead(SkipFilter(MISSING), row=b"a0", checks=True),
    ),
    "a get reads the families that matter first": (
        (put(b"a0", b"b:x", 20),),
        FilteredRead(SkipFilter(MISSING), row=b"a0"),
    ),
    "SKIP never tells its filter of row keys": (
        GRID,
        FilteredRead(SkipFilter(RowFilter("=", b"a1"))),
    ),
    "a prefix inside SKIP keeps nothing": (GRID, FilteredRead(SkipFilter(PrefixFilter(b"a")))),
    "a row that was trimmed to nothing is not asked about": (
        (put(b"a0", b"c:x", 20, b"other"), put(b"a0", b"a:x", 20)),
        FilteredRead(
            SingleColumnValueExcludeFilter(
                b"c:x", "=", b"v", filter_if_missing=True, latest_version_only=False
            )
        ),
    ),
    "of two column prefixes the longer one hides the shorter": (
        (*GRID, put(b"a0", b"b:xz", 10)),
        FilteredRead(MultipleColumnPrefixFilter((b"x", b"xy"))),
    ),
    "versions are cut after the filter": (
        GRID,
        FilteredRead(ValueFilter("=", b"10"), columns=(b"b:x", b"c:x")),
    ),
    "a page counts rows that are left": (
        GRID,
        FilteredRead(FilterList((ValueFilter("=", b"20"), PageFilter(2))), versions=ALL_VERSIONS),
    ),
    "a list of which one must pass remembers how far each filter wanted to go": (
        GRID,
        FilteredRead(
            FilterList((ColumnPaginationFilter(1, 1), FuzzyRowFilter(((b"b0", b"\1\0"),))), "one"),
            versions=ALL_VERSIONS,
        ),
    ),
    "only what its filter kept is changed by one of several": (
        GRID,
        FilteredRead(
            FilterList(
                (FilterList((RowFilter("=", b"a1"), KeyOnlyFilter())), PrefixFilter(b"a")), "one"
            )
        ),
    ),
}


@pytest.mark.hbase
@pytest.mark.parametrize("name", FOUND)
def test_rules_that_are_easy_to_get_wrong(cluster: Store, embedded: Store, name: str) -> None:
    writes, read = FOUND[name]
    for table in ("limits", "kept"):
        run(cluster, embedded, Dataset(table, writes, False, (read,)))


def test_the_judge_notices_a_difference(embedded: Store, tmp_path: Path) -> None:
    """Against a store that keeps fewer versions, which only a filter on values can tell."""
    read = FilteredRead(ValueFilter("=", b"10"))
    with webtable.open(str(tmp_path / "store")) as other:
        other.create_table("limits", "a", "b", "c")
        run(embedded, other, Dataset("limits", GRID, False, (FilteredRead(KeyOnlyFilter()),)))
        with pytest.raises(AssertionError, match="'b:x', 10"):
            run(embedded, other, Dataset("limits", GRID, False, (read,)))
