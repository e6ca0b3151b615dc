"""The four kinds of delete, of the newest version, and what a marker hides after it was written."""

from __future__ import annotations

import pytest

from webtable import ALL_VERSIONS, Delete, Put, Table
from webtable.errors import InvalidRequest

from .conftest import Rows

STAMPS = (10, 20, 30)


@pytest.fixture
def filled(table: Table, rows: Rows) -> bytes:
    """A row with two columns of family `every` and one of `three`, each at 10, 20 and 30."""
    for stamp in STAMPS:
        table.put(
            rows(), dict.fromkeys((b"every:a", b"every:b", b"three:a"), b"v"), timestamp=stamp
        )
    return rows()


def left(table: Table, row: bytes) -> dict[bytes, list[int]]:
    """What a read of all versions sees: column → timestamps."""
    found = table.get(row, versions=ALL_VERSIONS)
    seen: dict[bytes, list[int]] = {}
    for cell in found or ():
        seen.setdefault(cell.column, []).append(cell.timestamp)
    return seen


def test_a_row(table: Table, filled: bytes) -> None:
    table.delete(filled)
    assert left(table, filled) == {}


def test_a_row_up_to_a_time(table: Table, filled: bytes) -> None:
    table.delete(filled, timestamp=20)
    assert left(table, filled) == {b"every:a": [30], b"every:b": [30], b"three:a": [30]}


def test_a_family(table: Table, filled: bytes) -> None:
    table.delete(filled, [b"every"])
    assert left(table, filled) == {b"three:a": [30, 20, 10]}


def test_a_family_up_to_a_time(table: Table, filled: bytes) -> None:
    table.delete(filled, [b"every"], timestamp=19)
    assert left(table, filled) == {
        b"every:a": [30, 20],
        b"every:b": [30, 20],
        b"three:a": [30, 20, 10],
    }


def test_one_version_of_a_family(table: Table, filled: bytes) -> None:
    table.delete(filled, [b"every"], timestamp=20, one_version=True)
    assert left(table, filled) == {
        b"every:a": [30, 10],
        b"every:b": [30, 10],
        b"three:a": [30, 20, 10],
    }
    with pytest.raises(InvalidRequest):
        table.delete(filled, [b"every"], one_version=True)


def test_a_column(table: Table, filled: bytes) -> None:
    table.delete(filled, [b"every:a"])
    assert left(table, filled) == {b"every:b": [30, 20, 10], b"three:a": [30, 20, 10]}


def test_a_column_up_to_a_time(table: Table, filled: bytes) -> None:
    table.delete(filled, [b"every:a", b"three:a"], timestamp=20)
    assert left(table, filled) == {b"every:a": [30], b"every:b": [30, 20, 10], b"three:a": [30]}


def test_one_version_of_a_column(table: Table, filled: bytes) -> None:
    table.delete(filled, [b"every:a"], timestamp=20, one_version=True)
    assert left(table, filled)[b"every:a"] == [30, 10]
    # A version that is not there takes nothing with it.
    table.delete(filled, [b"every:a"], timestamp=25, one_version=True)
    assert left(table, filled)[b"every:a"] == [30, 10]


def test_the_newest_version_of_a_column(table: Table, filled: bytes) -> None:
    for rest in ([20, 10], [10]):
        table.delete(filled, [b"every:a"], one_version=True)
        assert left(table, filled)[b"every:a"] == rest
    table.delete(filled, [b"every:a"], one_version=True)
    assert left(table, filled) == {b"every:b": [30, 20, 10], b"three:a": [30, 20, 10]}


def test_the_newest_versions_one_by_one_in_one_delete(table: Table, filled: bytes) -> None:
    table.mutate(filled, [Delete(filled).version(b"every:a").version(b"every:a")])
    assert left(table, filled)[b"every:a"] == [10]


def test_several_kinds_in_one_delete(table: Table, filled: bytes) -> None:
    table.mutate(
        filled,
        [Delete(filled).column(b"every:a", 20).version(b"every:b", 30).family(b"three")],
    )
    assert left(table, filled) == {b"every:a": [30], b"every:b": [20, 10]}


def test_the_empty_qualifier_is_not_the_family(table: Table, filled: bytes) -> None:
    table.put(filled, {b"every:": b"v"}, timestamp=20)
    table.delete(filled, [b"every:"])
    assert left(table, filled)[b"every:a"] == [30, 20, 10]
    assert b"every:" not in left(table, filled)


def test_deleting_what_is_not_there_is_no_error(table: Table, rows: Rows) -> None:
    table.delete(rows())
    table.delete(rows(), [b"one:a", b"three"])
    table.delete(rows(), [b"one:a"], one_version=True)
    assert table.get(rows()) is None


@pytest.mark.parametrize("flush", [False, True], ids=["memory", "flushed"])
def test_a_marker_hides_older_puts_that_come_later(table: Table, rows: Rows, flush: bool) -> None:
    row = rows()
    table.delete(row, [b"every:a"], timestamp=20)
    table.delete(row, [b"three"], timestamp=20)
    table.delete(row, [b"every:b"], timestamp=20, one_version=True)
    table.delete(row, [b"one"], timestamp=20, one_version=True)
    if flush:
        table.flush()
    columns = (b"every:a", b"every:b", b"three:a", b"one:a")
    for stamp in (10, 20):
        table.put(row, dict.fromkeys(columns, b"v"), timestamp=stamp)
    assert left(table, row) == {b"every:b": [10], b"one:a": [10]}
    table.put(row, dict.fromkeys(columns, b"v"), timestamp=21)
    assert left(table, row) == {
        b"every:a": [21],
        b"every:b": [21, 10],
        b"one:a": [21],
        b"three:a": [21],
    }


def test_after_a_major_compaction_old_timestamps_are_free_again(table: Table, rows: Rows) -> None:
    row = rows()
    table.delete(row, [b"every:a"], timestamp=20)
    table.put(row, {b"every:a": b"hidden"}, timestamp=10)
    table.major_compact()
    assert left(table, row) == {}
    assert list(table.scan(prefix=row, raw=True, versions=ALL_VERSIONS)) == []
    table.put(row, {b"every:a": b"shown"}, timestamp=10)
    assert left(table, row) == {b"every:a": [10]}


def test_a_delete_and_a_put_of_one_time_whatever_came_first(table: Table, rows: Rows) -> None:
    for name, steps in ((b"a", ("put", "delete")), (b"b", ("delete", "put"))):
        for step in steps:
            if step == "put":
                table.put(rows(name), {b"three:a": b"v"}, timestamp=10)
            else:
                table.delete(rows(name), [b"three:a"], timestamp=10)
        assert left(table, rows(name)) == {}


def test_markers_newer_than_a_time_range_hide_what_is_in_it(table: Table, filled: bytes) -> None:
    table.delete(filled, [b"every:a"], timestamp=25)
    table.delete(filled, [b"three"], timestamp=25)
    found = table.get(filled, time_range=(0, 15))
    assert found is not None
    assert list(found.values()) == [b"every:b"]


def test_markers_of_a_family_with_the_empty_qualifier_in_the_way(table: Table, rows: Rows) -> None:
    """The family's marker sorts among the empty qualifier's versions; it counts all the same."""
    row = rows()
    for stamp in (10, 30):
        table.put(row, {b"every:": b"v", b"every:a": b"v"}, timestamp=stamp)
    table.delete(row, [b"every"], timestamp=20)
    for columns in ([], [b"every"], [b"every:a"], [b"every:", b"every:a"]):
        found = table.get(row, columns, versions=ALL_VERSIONS)
        assert found is not None
        assert {cell.timestamp for cell in found} == {30}


def test_put_again_after_a_delete(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:a": b"first"}, timestamp=10)
    table.delete(row, timestamp=11)
    table.put(row, {b"one:a": b"second"}, timestamp=12)
    found = table.get(row)
    assert found is not None
    assert found.value(b"one:a") == b"second"


def test_deleting_the_newest_version_brings_the_one_before_to_light(
    table: Table, rows: Rows
) -> None:
    """More versions than kept are in the store until a flush or compaction takes them away."""
    row = rows()
    for stamp in STAMPS:
        table.put(row, {b"one:a": b"%d" % stamp}, timestamp=stamp)
    table.delete(row, [b"one:a"], one_version=True)
    assert left(table, row) == {b"one:a": [20]}


def test_after_a_major_compaction_nothing_comes_to_light(table: Table, rows: Rows) -> None:
    row = rows()
    for stamp in STAMPS:
        table.put(row, {b"one:a": b"%d" % stamp}, timestamp=stamp)
    table.major_compact()
    table.delete(row, [b"one:a"], one_version=True)
    assert left(table, row) == {}


def test_a_mix_that_replaces_a_family(table: Table, filled: bytes) -> None:
    table.mutate(
        filled,
        [Delete(filled).family(b"every", 30), Put(filled, {b"every:c": b"v"}, timestamp=31)],
    )
    assert left(table, filled) == {b"every:c": [31], b"three:a": [30, 20, 10]}


@pytest.mark.parametrize("versions", [1, 50], ids=["few", "many"])
def test_a_familys_marker_counts_behind_all_versions_of_the_empty_qualifier(
    table: Table, rows: Rows, versions: int
) -> None:
    row = rows()
    table.put(row, {b"one:a": b"hidden", b"one:b": b"hidden"}, timestamp=10)
    table.delete(row, [b"one"], timestamp=20)
    for stamp in range(30, 31 + versions):
        table.put(row, {b"one:": b"v"}, timestamp=stamp)
    for columns in ([], [b"one"], [b"one:"], [b"one:", b"one:a", b"one:b"]):
        found = table.get(row, columns, versions=ALL_VERSIONS)
        assert found is not None
        assert list(found.values()) == [b"one:"]
        (scanned,) = table.scan(prefix=row, columns=columns)
        assert list(scanned.values()) == [b"one:"]
    assert table.get(row, [b"one:a"]) is None
    table.major_compact()
    (stored,) = table.scan(prefix=row, raw=True, versions=ALL_VERSIONS)
    assert [cell.column for cell in stored] == [b"one:"]
