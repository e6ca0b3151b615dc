"""Scans: ranges, prefixes, direction, limits, versions, raw scans, and scans over many regions."""

from __future__ import annotations

import pytest

from webtable import ALL_VERSIONS, Cell, CellType, Delete, Scan, Store, Table

from .conftest import Rows

LETTERS = [b"a", b"b", b"c", b"d", b"e"]


@pytest.fixture
def letters(table: Table, rows: Rows) -> list[bytes]:
    for letter in LETTERS:
        table.put(rows(letter), {b"one:v": letter, b"three:v": letter}, timestamp=10)
    return LETTERS


def test_start_is_in_and_stop_is_out(table: Table, rows: Rows, letters: list[bytes]) -> None:
    def names(start: bytes, stop: bytes) -> list[bytes]:
        return rows.names(table.scan(start=rows(start), stop=rows(stop)))

    assert names(b"b", b"d") == [b"b", b"c"]
    assert names(b"b\x00", b"d\x00") == [b"c", b"d"]
    assert names(b"", b"~") == letters
    assert names(b"c", b"c") == []
    assert names(b"d", b"b") == []


@pytest.mark.usefixtures("letters")
def test_a_prefix_narrows_start_and_stop(table: Table, rows: Rows) -> None:
    def names(start: bytes = b"", stop: bytes = b"~") -> list[bytes]:
        return rows.names(table.scan(prefix=rows(b""), start=rows(start), stop=rows(stop)))

    assert rows.names(table.scan(prefix=rows(b""))) == names() == LETTERS
    assert names(start=b"c") == [b"c", b"d", b"e"]
    assert names(stop=b"c") == [b"a", b"b"]
    assert names(start=b"b", stop=b"d") == [b"b", b"c"]
    assert rows.names(table.scan(prefix=rows(b"c"), stop=rows(b"b"))) == []


def test_a_prefix_that_ends_in_0xff(table: Table, rows: Rows) -> None:
    for name in (b"p", b"p\xfe", b"p\xff", b"p\xff\x00", b"p\xff\xff", b"p\xff\xff\xff", b"q"):
        table.put(rows(name), {b"one:v": b""})
    assert rows.names(table.scan(prefix=rows(b"p\xff"))) == [
        b"p\xff",
        b"p\xff\x00",
        b"p\xff\xff",
        b"p\xff\xff\xff",
    ]
    assert rows.names(table.scan(prefix=rows(b"p\xff\xff"))) == [b"p\xff\xff", b"p\xff\xff\xff"]


def test_a_prefix_of_only_0xff(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f")
    for key in (b"\xfe\xff", b"\xff", b"\xff\x00", b"\xff\xff\xff"):
        table.put(key, {b"f:": b""})
    assert [row.key for row in table.scan(prefix=b"\xff")] == [
        b"\xff",
        b"\xff\x00",
        b"\xff\xff\xff",
    ]
    assert [row.key for row in table.scan(prefix=b"\xff\xff")] == [b"\xff\xff\xff"]
    backwards = [row.key for row in table.scan(prefix=b"\xff", reverse=True)]
    assert backwards == [b"\xff\xff\xff", b"\xff\x00", b"\xff"]
    assert [row.key for row in table.scan(reverse=True)][-1] == b"\xfe\xff"


def test_a_neighbour_is_not_under_a_prefix(table: Table, rows: Rows) -> None:
    for name in (b"com.example", b"com.example/a", b"com.example2", b"com.exampld"):
        table.put(rows(name), {b"one:v": b""})
    assert rows.names(table.scan(prefix=rows(b"com.example/"))) == [b"com.example/a"]


@pytest.mark.usefixtures("letters")
def test_reverse_gives_the_same_rows_the_other_way_round(table: Table, rows: Rows) -> None:
    """`start` stays the low end, so that a range means the same rows in both directions."""
    backwards = table.scan(start=rows(b"b"), stop=rows(b"e"), reverse=True)
    assert rows.names(backwards) == [b"d", b"c", b"b"]
    assert rows.names(table.scan(prefix=rows(b""), reverse=True)) == LETTERS[::-1]
    assert rows.names(table.scan(prefix=rows(b""), reverse=True, limit=2)) == [b"e", b"d"]
    both = [list(table.scan(prefix=rows(b""), reverse=reverse)) for reverse in (False, True)]
    assert both[0] == both[1][::-1]


def test_reverse_keeps_the_order_of_cells_inside_a_row(table: Table, rows: Rows) -> None:
    for name in (b"a", b"a\x00", b"b"):
        for stamp in (10, 20):
            table.put(rows(name), {b"three:x": b"", b"three:y": b"", b"one:": b""}, timestamp=stamp)
    forward = list(table.scan(prefix=rows(b""), versions=2))
    backward = list(table.scan(prefix=rows(b""), versions=2, reverse=True))
    assert backward == forward[::-1]
    assert len(forward[0]) == 5


@pytest.mark.usefixtures("letters")
def test_limit_counts_rows_with_something_in_them(table: Table, rows: Rows) -> None:
    table.delete(rows(b"a"))
    table.delete(rows(b"c"), [b"one"])
    assert rows.names(table.scan(prefix=rows(b""), limit=2)) == [b"b", b"c"]
    assert rows.names(table.scan(prefix=rows(b""), limit=2, columns=[b"one"])) == [b"b", b"d"]
    assert rows.names(table.scan(prefix=rows(b""), limit=0)) == []
    assert rows.names(table.scan(prefix=rows(b""), limit=99)) == [b"b", b"c", b"d", b"e"]


def test_columns_versions_and_time_range(table: Table, rows: Rows) -> None:
    for stamp in (10, 20, 30):
        table.put(
            rows(b"a"), {b"three:v": b"%d" % stamp, b"three:w": b"", b"one:v": b""}, timestamp=stamp
        )
        table.put(rows(b"b"), {b"one:v": b"%d" % stamp}, timestamp=stamp)

    def cells(**options: object) -> list[tuple[bytes, list[tuple[bytes, int]]]]:
        found = table.scan(Scan(prefix=rows(b""), **options))  # type: ignore[arg-type]
        return [(rows.name(row), [(c.column, c.timestamp) for c in row]) for row in found]

    assert cells(columns=(b"three:v",)) == [(b"a", [(b"three:v", 30)])]
    assert cells(columns=(b"one", b"three:w")) == [
        (b"a", [(b"one:v", 30), (b"three:w", 30)]),
        (b"b", [(b"one:v", 30)]),
    ]
    assert cells(columns=(b"three:v",), versions=2) == [
        (b"a", [(b"three:v", 30), (b"three:v", 20)])
    ]
    assert cells(columns=(b"three",), time_range=(10, 21), versions=9) == [
        (b"a", [(b"three:v", 20), (b"three:v", 10), (b"three:w", 20), (b"three:w", 10)])
    ]
    assert cells(time_range=(31, 99)) == []


def test_a_raw_scan_shows_markers_and_what_they_hide(table: Table, rows: Rows) -> None:
    row = rows()
    for stamp in (10, 20, 30):
        table.put(row, {b"every:a": b"%d" % stamp, b"every:b": b"%d" % stamp}, timestamp=stamp)
    table.mutate(
        row,
        [
            Delete(row)
            .column(b"every:a", 20)
            .version(b"every:b", 30)
            .family_version(b"every", 10)
            .family(b"every", 5)
        ],
    )
    (found,) = table.scan(prefix=row, raw=True, versions=ALL_VERSIONS)
    assert found.cells == [
        Cell(b"every:", 10, b"", CellType.DELETE_FAMILY_VERSION),
        Cell(b"every:", 5, b"", CellType.DELETE_FAMILY),
        Cell(b"every:a", 30, b"30"),
        Cell(b"every:a", 20, b"", CellType.DELETE_COLUMN),
        Cell(b"every:a", 20, b"20"),
        Cell(b"every:a", 10, b"10"),
        Cell(b"every:b", 30, b"", CellType.DELETE),
        Cell(b"every:b", 30, b"30"),
        Cell(b"every:b", 20, b"20"),
        Cell(b"every:b", 10, b"10"),
    ]
    visible = table.get(row, versions=ALL_VERSIONS)
    assert visible is not None
    assert [(cell.column, cell.timestamp) for cell in visible] == [
        (b"every:a", 30),
        (b"every:b", 20),
    ]


def test_a_raw_scan_of_a_deleted_row_has_a_marker_a_family(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"one:a": b"1"}, timestamp=10)
    table.delete(rows(), timestamp=20)
    assert table.get(rows()) is None
    assert list(table.scan(prefix=rows())) == []
    (found,) = table.scan(prefix=rows(), raw=True, versions=ALL_VERSIONS)
    markers = [cell for cell in found if cell.type != CellType.PUT]
    assert [cell.family.decode() for cell in markers] == [f.name for f in table.schema().families]
    assert {(cell.type, cell.timestamp) for cell in markers} == {(CellType.DELETE_FAMILY, 20)}
    (one,) = table.scan(prefix=rows(), raw=True, versions=ALL_VERSIONS, columns=[b"one"])
    assert [cell.type for cell in one] == [CellType.DELETE_FAMILY, CellType.PUT]


def test_raw_scans_with_limits_of_versions_and_time(table: Table, rows: Rows) -> None:
    for stamp in (10, 20, 30):
        table.put(rows(), {b"every:a": b""}, timestamp=stamp)
        table.mutate(rows(), [Delete(rows()).version(b"every:a", stamp)])

    def cells(**options: object) -> list[tuple[int, int]]:
        found = table.scan(Scan(prefix=rows(), raw=True, **options))  # type: ignore[arg-type]
        return [(cell.timestamp, cell.type) for row in found for cell in row]

    assert cells(versions=ALL_VERSIONS) == [(30, 8), (30, 4), (20, 8), (20, 4), (10, 8), (10, 4)]
    assert cells(versions=2, time_range=(0, 30)) == [(20, 8), (20, 4), (10, 8), (10, 4)]
    assert cells(versions=ALL_VERSIONS, time_range=(20, 21)) == [(20, 8), (20, 4)]


def test_a_scan_may_be_left_early_and_others_go_on(table: Table, rows: Rows) -> None:
    with table.batch() as batch:
        for number in range(300):
            batch.put(rows(b"%03d" % number), {b"one:v": b"x" * 100})
    first = table.scan(prefix=rows(b""), batch_rows=10)
    second = table.scan(prefix=rows(b""), batch_rows=7)
    assert rows.name(next(first)) == b"000"
    assert rows.name(next(second)) == b"000"
    del first
    assert len(list(second)) == 299


def test_a_scan_of_more_rows_and_bytes_than_one_response_has(table: Table, rows: Rows) -> None:
    value = b"v" * 3000
    with table.batch() as batch:
        for number in range(2500):
            batch.put(rows(b"%04d" % number), {b"one:a": value, b"three:b": b"%d" % number})
    for reverse in (False, True):
        numbers = range(2500)[::-1] if reverse else range(2500)
        found = table.scan(prefix=rows(b""), reverse=reverse)
        for number, row in zip(numbers, found, strict=True):
            assert rows.name(row) == b"%04d" % number
            assert row.values() == {b"one:a": value, b"three:b": b"%d" % number}
    assert len(list(table.scan(prefix=rows(b""), columns=[b"three"], batch_rows=100))) == 2500


def test_scans_cross_regions_in_order(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f", splits=[b"d", b"b", b"c"])
    keys = [bytes([first, second]) for first in b"abcde" for second in b"0123"]
    with table.batch() as batch:
        for key in keys:
            batch.put(key, {b"f:k": key})
    assert [row.key for row in table.scan()] == keys
    assert [row.key for row in table.scan(reverse=True)] == keys[::-1]
    assert [row.key for row in table.scan(start=b"a2", stop=b"d1")] == keys[2:13]
    assert [row.key for row in table.scan(start=b"a2", stop=b"d1", reverse=True)] == keys[2:13][
        ::-1
    ]
    assert [row.key for row in table.scan(stop=b"c", reverse=True, limit=5)] == keys[3:8][::-1]
    assert [row.key for row in table.scan(start=b"b2", limit=7, batch_rows=2)] == keys[6:13]
    unordered = table.scan(start=b"a2", stop=b"d1", ordered=False, batch_rows=1)
    assert sorted(row.key for row in unordered) == keys[2:13]
    assert [row and row.key for row in table.get_many(keys[::-3])] == keys[::-3]


def test_many_scans_open_at_once_keep_their_own_ranges(table: Table, rows: Rows) -> None:
    with table.batch() as batch:
        for number in range(60):
            batch.put(rows(b"%02d" % number), {b"one:v": b"", b"three:v": b""})
    stops = [
        rows(b"%02d" % number + ending) for number in range(60) for ending in (b"\x00", b"\x01")
    ]
    scans = [table.scan(start=rows(b"00"), stop=stop) for stop in stops]
    assert {rows.name(next(scan)) for scan in scans} == {b"00"}
    assert len(list(table.scan(prefix=rows(b"1")))) == 10
    assert [len(list(scan)) for scan in scans] == [number for number in range(60) for _ in "01"]
