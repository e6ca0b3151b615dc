"""The four ways to read a row, many rows at once, and the order of what comes back."""

from __future__ import annotations

import pytest

from webtable import ALL_VERSIONS, Cell, Get, Scan, Table
from webtable.errors import InvalidRequest

from .conftest import Rows

EVERY_BYTE = bytes(range(256))


def test_the_four_ways_to_read(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"three:a": b"old", b"one:x": b"x"}, timestamp=10)
    table.put(row, {b"three:a": b"new", b"three:b": b"b"}, timestamp=20)

    whole = table.get(row)
    assert whole is not None
    assert whole.key == row
    assert whole.values() == {b"one:x": b"x", b"three:a": b"new", b"three:b": b"b"}

    family = table.get(row, [b"three"])
    assert family is not None
    assert family.values() == {b"three:a": b"new", b"three:b": b"b"}

    column = table.get(row, [b"three:a"])
    assert column is not None
    assert column.cells == [Cell(b"three:a", 20, b"new")]

    version = table.get(row, [b"three:a"], timestamp=10)
    assert version is not None
    assert version.cells == [Cell(b"three:a", 10, b"old")]


def test_what_is_not_there_is_none(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"three:a": b"1"}, timestamp=10)
    assert table.get(rows(b"no such row")) is None
    assert table.get(rows(), [b"one"]) is None
    assert table.get(rows(), [b"three:b"]) is None
    assert table.get(rows(), [b"three:a"], timestamp=11) is None
    assert table.get(rows(), time_range=(11, 100)) is None
    row = table.get(rows(), [b"three:a", b"three:b"])
    assert row is not None
    assert row.value(b"three:b") is None


def test_cells_come_by_family_qualifier_and_newest_version_first(table: Table, rows: Rows) -> None:
    row = rows()
    for stamp in (20, 30, 10):
        table.put(
            row,
            {b"three:b": b"", b"every:z": b"", b"three:": b"", b"every:a": b""},
            timestamp=stamp,
        )
    found = table.get(row, versions=ALL_VERSIONS)
    assert found is not None
    assert [(cell.column, cell.timestamp) for cell in found] == [
        (column, stamp)
        for column in (b"every:a", b"every:z", b"three:", b"three:b")
        for stamp in (30, 20, 10)
    ]
    # The order in which columns are named does not matter.
    named = table.get(row, [b"three:b", b"every", b"three:"], versions=ALL_VERSIONS)
    assert named == found


def test_a_family_beside_one_of_its_columns_means_the_family(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"three:a": b"1", b"three:b": b"2", b"one:c": b"3"}, timestamp=10)
    for columns in (
        [b"three", b"three:a"],
        [b"three:a", b"three"],
        [b"three:a", b"three:a", b"three"],
    ):
        found = table.get(rows(), columns)
        assert found is not None
        assert found.values() == {b"three:a": b"1", b"three:b": b"2"}


def test_the_column_with_the_empty_qualifier_is_a_column(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"three:": b"empty", b"three:a": b"1"}, timestamp=10)
    found = table.get(rows(), [b"three:"])
    assert found is not None
    assert found.cells == [Cell(b"three:", 10, b"empty")]
    assert found.cells[0].qualifier == b""


@pytest.mark.parametrize("versions", [1, 2, 3, 4, ALL_VERSIONS])
def test_as_many_versions_as_requested_and_kept(table: Table, rows: Rows, versions: int) -> None:
    for stamp in range(1, 6):
        table.put(rows(), {b"three:a": b"", b"every:a": b"", b"one:a": b""}, timestamp=stamp)
    found = table.get(rows(), versions=versions)
    assert found is not None
    assert len(found.versions(b"one:a")) == 1
    assert len(found.versions(b"three:a")) == min(3, versions)
    assert len(found.versions(b"every:a")) == min(5, versions)
    assert found.versions(b"three:a")[0].timestamp == 5


def test_time_ranges_include_their_start_and_not_their_stop(table: Table, rows: Rows) -> None:
    for stamp in (10, 20, 30):
        table.put(rows(), {b"three:a": b"%d" % stamp}, timestamp=stamp)

    def stamps(start: int, stop: int, versions: int = ALL_VERSIONS) -> list[int]:
        found = table.get(rows(), versions=versions, time_range=(start, stop))
        return [] if found is None else [cell.timestamp for cell in found]

    assert stamps(10, 30) == [20, 10]
    assert stamps(11, 31) == [30, 20]
    assert stamps(0, 2**63 - 1) == [30, 20, 10]
    assert stamps(10, 30, versions=1) == [20]
    assert stamps(20, 20) == []
    assert stamps(0, 0) == []


def test_versions_count_inside_the_time_range(table: Table, rows: Rows) -> None:
    """A read as of an earlier time finds a version that newer ones push out of a plain read."""
    for stamp in (10, 20, 30, 40):
        table.put(rows(), {b"every:a": b"%d" % stamp}, timestamp=stamp)
    found = table.get(rows(), versions=2, time_range=(0, 30))
    assert found is not None
    assert [cell.timestamp for cell in found] == [20, 10]


def test_many_rows_come_in_the_order_of_the_request(table: Table, rows: Rows) -> None:
    for number in range(20):
        table.put(rows(b"%02d" % number), {b"one:n": b"%d" % number}, timestamp=10)
    asked = [rows(b"%02d" % number) for number in (19, 3, 77, 3, 0)]
    found = table.get_many(asked)
    assert [row and row.value(b"one:n") for row in found] == [b"19", b"3", None, b"3", b"0"]
    assert [row.key for row in found if row] == [asked[0], asked[1], asked[3], asked[4]]
    assert table.get_many([]) == []


def test_many_rows_each_with_a_request_of_its_own(table: Table, rows: Rows) -> None:
    for stamp in (10, 20):
        table.put(rows(), {b"three:a": b"%d" % stamp, b"three:b": b""}, timestamp=stamp)
    plain, one, old = table.get_many(
        [
            rows(),
            Get(rows(), (b"three:a",), versions=2),
            Get(rows(), (b"three:a",), time_range=(0, 11)),
        ],
        [b"three:b"],
    )
    assert plain is not None
    assert one is not None
    assert old is not None
    assert plain.cells == [Cell(b"three:b", 20, b"")]
    assert [cell.timestamp for cell in one] == [20, 10]
    assert old.cells == [Cell(b"three:a", 10, b"10")]


def test_a_thousand_rows_at_once(table: Table, rows: Rows) -> None:
    keys = [rows(b"%04d" % number) for number in range(1000)]
    with table.batch(size=250) as batch:
        for key in keys:
            batch.put(key, {b"one:k": key})
    found = table.get_many(reversed(keys), [b"one:k"])
    assert [row and row.value(b"one:k") for row in found] == keys[::-1]


def test_rows_qualifiers_and_values_of_any_bytes(table: Table, rows: Rows) -> None:
    names = [
        b"\x00",
        b"\x00\x00",
        b"\x00\x01",
        b"\x00\xff",
        b"\x01",
        b"a\x00b",
        b"a\x01",
        b"\xfe",
        b"\xff",
        b"\xff\xff",
    ]
    for name in names:
        values = {b"one:" + qualifier: qualifier + name + EVERY_BYTE for qualifier in (b"", *names)}
        table.put(rows(name), values, timestamp=10)
    found = list(table.scan(prefix=rows(b"")))
    assert [rows.name(row) for row in found] == sorted(names)
    for row in found:
        assert [cell.qualifier for cell in row] == sorted((b"", *names))
        for cell in row:
            assert cell.value == cell.qualifier + rows.name(row) + EVERY_BYTE
    # Keys that begin with one another stay apart in every kind of read.
    for name in names:
        one = table.get(rows(name), [b"one:" + name])
        assert one is not None
        assert one.values() == {b"one:" + name: name + name + EVERY_BYTE}


def test_colons_in_a_qualifier_belong_to_it(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"one:http://a:80/": b"1", b"one::": b"2"}, timestamp=10)
    found = table.get(rows(), [b"one::", b"one:http://a:80/"])
    assert found is not None
    assert found.values() == {b"one::": b"2", b"one:http://a:80/": b"1"}


def test_empty_and_large_values(table: Table, rows: Rows) -> None:
    large = EVERY_BYTE * (5 * 4096)  # 5 MiB
    table.put(rows(), {b"one:empty": b"", b"one:large": large}, timestamp=10)
    found = table.get(rows())
    assert found is not None
    assert found.value(b"one:empty") == b""
    assert found.value(b"one:large") == large
    assert [row.value(b"one:large") for row in table.scan(prefix=rows())] == [large]


def test_the_longest_row_key_and_a_long_qualifier(table: Table, rows: Rows) -> None:
    longest = rows(b"k" * (32_767 - len(rows.prefix)))
    column = b"one:" + b"q" * 20_000
    table.put(longest, {column: b"1"}, timestamp=10)
    table.put(longest[:-1], {column: b"2"}, timestamp=10)
    found = table.get(longest, [column])
    assert found is not None
    assert found.cells == [Cell(column, 10, b"1")]
    assert [row.key for row in table.scan(prefix=rows(b""))] == [longest[:-1], longest]


def test_a_wide_row(table: Table, rows: Rows) -> None:
    values = {b"one:%05d" % number: b"%d" % number for number in range(5000)}
    table.put(rows(), values, timestamp=10)
    found = table.get(rows())
    assert found is not None
    assert found.values() == values
    some = [b"one:%05d" % number for number in range(0, 5000, 50)]
    picked = table.get(rows(), some)
    assert picked is not None
    assert list(picked.values()) == some


def test_the_nested_form(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"three:a": b"1", b"one:": b"2"}, timestamp=10)
    table.put(rows(), {b"three:a": b"3"}, timestamp=20)
    found = table.get(rows(), versions=2)
    assert found is not None
    nested = {b"one": {b"": {10: b"2"}}, b"three": {b"a": {20: b"3", 10: b"1"}}}
    assert found.nested() == nested
    table.put(rows(b"row\xff"), {b"every:\xc3\xa9": b"\x00\\"}, timestamp=10)
    table.delete(rows(b"row\xff"), [b"every:a"], timestamp=5)
    assert table.nested(prefix=rows(), versions=2) == {
        rows(): nested,
        rows(b"row\xff"): {b"every": {b"\xc3\xa9": {10: b"\x00\\"}}},
    }
    prefix = rows.prefix.decode()
    for raw in (False, True):
        assert table.nested(Scan(prefix=rows(b"row"), raw=raw), text=True) == {
            f"{prefix}row": {"one": {"": {10: "2"}}, "three": {"a": {20: "3"}}},
            f"{prefix}row\\xFF": {"every": {"é": {10: "\x00\\"}}},
        }
    assert table.nested(prefix=rows(b"none")) == {}
    assert table.nested(prefix=rows(b"none"), text=True) == {}


def test_names_that_are_the_same_as_text(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"one:\xff": b"1", b"one:\\xFF": b"2"})
    assert len(table.nested(prefix=rows())[rows()][b"one"]) == 2
    with pytest.raises(InvalidRequest, match="text=True"):
        table.nested(prefix=rows(), text=True)
