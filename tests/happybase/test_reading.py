"""`row`, `rows` and `cells`."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.happybase.conftest import Flavour, Whole

T = 1_000


@pytest.fixture
def written(table: Any, key: bytes) -> bytes:
    """A row with two versions of one column, and an empty qualifier."""
    table.put(key, {b"f:a": b"1", b"f:b": b"2", b"f:": b"e", b"g:z": b"gz"}, timestamp=T)
    table.put(key, {b"f:a": b"1b"}, timestamp=T + 10)
    return key


def test_row(table: Any, written: bytes) -> None:
    assert table.row(written) == {b"f:": b"e", b"f:a": b"1b", b"f:b": b"2", b"g:z": b"gz"}


def test_missing_row_is_an_empty_dict(table: Any, key: bytes) -> None:
    missing = table.row(key)
    assert missing == {}
    assert type(missing) is dict


def test_the_caller_may_change_what_it_got(table: Any, written: bytes) -> None:
    table.row(written)[b"f:a"] = b"changed"
    assert table.row(written)[b"f:a"] == b"1b"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([b"f"], [b"f:", b"f:a", b"f:b"]),
        ([b"f:"], [b"f:"]),  # not the family: the column with the empty qualifier
        ([b"f:a", b"g:z"], [b"f:a", b"g:z"]),
        ((b"f:a", b"f:missing"), [b"f:a"]),
        ([b"g", b"f:b"], [b"f:b", b"g:z"]),
        (["f:a"], [b"f:a"]),
        ([], [b"f:", b"f:a", b"f:b", b"g:z"]),
        ([b"f:missing"], []),
    ],
)
def test_row_columns(table: Any, written: bytes, columns: Any, expected: list[bytes]) -> None:
    assert sorted(table.row(written, columns)) == expected
    assert sorted(table.row(written, columns=columns, timestamp=T + 11)) == expected


def test_timestamp_is_the_first_that_is_too_new(table: Any, written: bytes) -> None:
    assert table.row(written, timestamp=T) == {}
    assert table.row(written, [b"f:a"], timestamp=T + 10) == {b"f:a": b"1"}
    assert table.row(written, [b"f:a"], timestamp=T + 11) == {b"f:a": b"1b"}
    assert table.row(written, timestamp=0) == {}


def test_include_timestamp(table: Any, written: bytes) -> None:
    found = table.row(written, include_timestamp=True)
    assert found == {
        b"f:": (b"e", T),
        b"f:a": (b"1b", T + 10),
        b"f:b": (b"2", T),
        b"g:z": (b"gz", T),
    }
    assert type(found[b"f:a"]) is tuple


def test_text_is_encoded_as_utf8(table: Any, key: bytes) -> None:
    row = key.decode() + "é"
    table.put(row, {"f:ü": "ö", "f:none": None})
    assert table.row(key + b"\xc3\xa9") == {b"f:\xc3\xbc": b"\xc3\xb6", b"f:none": b""}
    assert table.row(row, ["f:ü"]) == {b"f:\xc3\xbc": b"\xc3\xb6"}


def test_other_kinds_of_bytes(table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": memoryview(b"value"), b"f:b": bytearray(b"other")})
    assert table.row(memoryview(key)) == {b"f:a": b"value", b"f:b": b"other"}
    assert table.cells(bytearray(key), memoryview(b"f:a")) == [b"value"]


def test_rows_in_the_order_of_the_request_without_missing_ones(table: Any, written: bytes) -> None:
    table.put(written + b"2", {b"f:a": b"x"})
    found = table.rows([written + b"2", written + b"missing", written.decode()], [b"f:a"])
    assert found == [(written + b"2", {b"f:a": b"x"}), (written, {b"f:a": b"1b"})]
    assert type(found) is list
    assert type(found[0]) is tuple


def test_rows_requested_twice_come_twice(table: Any, written: bytes) -> None:
    assert table.rows((written, written), (b"f:b",)) == [(written, {b"f:b": b"2"})] * 2


def test_rows_before_a_timestamp(table: Any, written: bytes) -> None:
    table.put(written + b"new", {b"f:a": b"x"}, timestamp=T + 50)
    found = table.rows([written, written + b"new"], timestamp=T + 10, include_timestamp=True)
    assert found == [
        (written, {b"f:": (b"e", T), b"f:a": (b"1", T), b"f:b": (b"2", T), b"g:z": (b"gz", T)})
    ]


def test_no_rows(table: Any) -> None:
    assert table.rows([]) == {}  # of all things


def test_cells_are_newest_first(table: Any, written: bytes) -> None:
    assert table.cells(written, b"f:a") == [b"1b", b"1"]
    assert table.cells(written, "f:a", versions=1) == [b"1b"]
    assert table.cells(written, b"f:a", include_timestamp=True) == [(b"1b", T + 10), (b"1", T)]
    assert table.cells(written, b"f:a", timestamp=T + 10) == [b"1"]
    assert table.cells(written, b"f:a", timestamp=T) == []
    assert table.cells(written, b"f:missing") == []
    assert table.cells(written + b"missing", b"f:a") == []


def test_cells_of_a_family(table: Any, written: bytes) -> None:
    assert table.cells(written, b"f") == [b"e", b"1b", b"1", b"2"]
    assert table.cells(written, b"f:") == [b"e"]


def test_as_many_versions_as_the_family_keeps(table: Any, key: bytes) -> None:
    for number in range(7):
        table.put(key, {b"f:a": b"%d" % number, b"g:a": b"%d" % number}, timestamp=T + number)
    assert table.cells(key, b"f:a") == [b"6", b"5", b"4", b"3", b"2"]
    assert table.cells(key, b"g:a") == [b"6", b"5", b"4"]  # 3, as the gateway had it


def test_put_without_a_timestamp_takes_the_current_time(table: Any, key: bytes) -> None:
    before = time.time() * 1000
    table.put(key, {b"f:a": b"1"})
    [(_, timestamp)] = table.cells(key, b"f:a", include_timestamp=True)
    assert before - 1_000 <= timestamp <= time.time() * 1000 + 1_000


@pytest.mark.parametrize("columns", [b"f:a", "f:a", {b"f:a"}, 5])
def test_columns_must_be_a_list(table: Any, key: bytes, columns: Any) -> None:
    with pytest.raises(TypeError, match="'columns' must be a tuple or list"):
        table.row(key, columns)
    with pytest.raises(TypeError, match="'columns' must be a tuple or list"):
        table.rows([key], columns)


def test_timestamps_may_be_other_whole_numbers(table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1"}, timestamp=Whole(T))
    with table.batch(timestamp=Whole(T + 1), batch_size=Whole(2)) as batch:
        batch.put(key, {b"f:b": b"2"})
    for timestamp, found in ((T, {}), (T + 1, {b"f:a": b"1"})):
        before = Whole(timestamp)
        assert table.row(key, timestamp=before) == found
        assert dict(table.rows([key], timestamp=before)) == ({key: found} if found else {})
        assert table.cells(key, b"f:a", timestamp=before) == list(found.values())
    table.delete(key, [b"f:a"], timestamp=Whole(T))
    assert table.row(key, include_timestamp=True) == {b"f:b": (b"2", T + 1)}


@pytest.mark.parametrize("timestamp", ["1", 1.5])
def test_timestamps_must_be_whole_numbers(table: Any, key: bytes, timestamp: Any) -> None:
    for call in (table.row, lambda row, **more: table.rows([row], **more)):
        with pytest.raises(TypeError, match="'timestamp' must be an integer"):
            call(key, timestamp=timestamp)
    with pytest.raises(TypeError, match="'timestamp' must be an integer"):
        table.cells(key, b"f:a", timestamp=timestamp)
    with pytest.raises(TypeError, match="'timestamp' must be an integer or None"):
        table.put(key, {b"f:a": b"1"}, timestamp=timestamp)


def test_versions_must_be_positive_numbers(table: Any, key: bytes) -> None:
    with pytest.raises(ValueError, match="'versions' argument must be at least 1"):
        table.cells(key, b"f:a", versions=0)
    with pytest.raises(TypeError, match="'versions' argument must be a number or None"):
        table.cells(key, b"f:a", versions="1")


def test_a_bad_row_key_is_an_error_of_the_gateway(flavour: Flavour, table: Any) -> None:
    for row in (b"", b"x" * 40_000):
        with pytest.raises(flavour.errors.TException):
            table.row(row)
    with pytest.raises(flavour.errors.TException):
        table.row(b"row", timestamp=-1)


def test_unknown_family_and_table(flavour: Flavour, connection: Any, table: Any) -> None:
    with pytest.raises(flavour.errors.IOError):
        table.row(b"row", [b"nope:a"])
    nowhere = connection.table("nowhere")
    for call in (nowhere.families, lambda: nowhere.row(b"row"), lambda: nowhere.rows([b"row"])):
        with pytest.raises(flavour.errors.IOError):
            call()
    assert nowhere.regions() == []
