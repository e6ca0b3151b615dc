"""`put`, `delete`, batches and counters."""

from __future__ import annotations

import struct
import time
from typing import Any

import pytest

from tests.happybase.conftest import Flavour, Whole, counting


class Stop(Exception):
    """What a test raises inside a batch."""


def test_put_replaces_columns_one_by_one(table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1", b"f:b": b"2"})
    table.put(key, {b"f:b": b"3", b"g:": b"4"})
    assert table.row(key) == {b"f:a": b"1", b"f:b": b"3", b"g:": b"4"}


def test_put_of_nothing_does_nothing(table: Any, key: bytes) -> None:
    table.put(key, {})
    assert table.row(key) == {}


def test_put_without_the_log(table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1"}, wal=False)
    assert table.row(key) == {b"f:a": b"1"}


def test_put_at_a_timestamp(table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"new"}, timestamp=20)
    table.put(key, {b"f:a": b"old"}, timestamp=10)
    assert table.cells(key, b"f:a", include_timestamp=True) == [(b"new", 20), (b"old", 10)]


def test_put_rejected(flavour: Flavour, connection: Any, table: Any, key: bytes) -> None:
    errors = flavour.errors
    with pytest.raises(errors.IOError):
        table.put(key, {b"nope:a": b"1"})
    with pytest.raises(errors.IOError):
        connection.table("nowhere").put(key, {b"f:a": b"1"})
    for row, column, timestamp in (
        (b"", b"f:a", None),
        (b"x" * 40_000, b"f:a", None),
        (key, b"f", None),  # a family is not a column
        (key, b"f:a", -1),
    ):
        with pytest.raises(errors.TException):
            table.put(row, {column: b"1"}, timestamp=timestamp)
    assert table.row(key) == {}


def test_delete_row(table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1", b"g:b": b"2"})
    table.delete(key)
    assert table.row(key) == {}
    table.delete(key)  # once more does no harm


@pytest.mark.parametrize(
    ("columns", "left"),
    [
        ([b"f:a"], [b"f:", b"f:b", b"g:z"]),
        (["f:a", b"g"], [b"f:", b"f:b"]),
        ([b"f"], [b"g:z"]),
        ([b"f:"], [b"f:a", b"f:b", b"g:z"]),  # the empty qualifier, not the family
        ([b"f:missing"], [b"f:", b"f:a", b"f:b", b"g:z"]),
        ([], [b"f:", b"f:a", b"f:b", b"g:z"]),
    ],
)
def test_delete_columns(table: Any, key: bytes, columns: Any, left: list[bytes]) -> None:
    table.put(key, {b"f:a": b"1", b"f:b": b"2", b"f:": b"e", b"g:z": b"3"})
    table.delete(key, columns)
    assert sorted(table.row(key)) == left


def test_delete_up_to_a_timestamp(table: Any, key: bytes) -> None:
    for timestamp in (10, 20, 30):
        table.put(key, {b"f:a": b"%d" % timestamp, b"g:a": b"%d" % timestamp}, timestamp=timestamp)
    table.delete(key, [b"f:a"], timestamp=20)
    assert table.cells(key, b"f:a") == [b"30"]
    assert table.cells(key, b"g:a") == [b"30", b"20", b"10"]
    table.delete(key, timestamp=29)
    assert table.row(key) == {b"f:a": b"30", b"g:a": b"30"}
    assert table.cells(key, b"g:a") == [b"30"]


def test_writes_of_one_millisecond(table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1"}, timestamp=20)
    table.put(key, {b"f:a": b"2"}, timestamp=20)
    assert table.cells(key, b"f:a") == [b"2"]
    table.delete(key, timestamp=20)
    table.put(key, {b"f:a": b"3"}, timestamp=20)
    assert table.row(key) == {}  # what is not newer than a delete stays hidden

    ahead = int(time.time() * 1000) + 60_000
    table.put(key, {b"f:n": bytes(8)}, timestamp=ahead)
    table.counter_inc(key, b"f:n")
    [(_, timestamp)] = table.cells(key, b"f:n", versions=1, include_timestamp=True)
    assert timestamp == ahead + 1
    table.delete(key)
    assert list(table.row(key)) == [b"f:n"]


def test_delete_rejected(flavour: Flavour, table: Any, key: bytes) -> None:
    with pytest.raises(flavour.errors.IOError):
        table.delete(key, [b"nope:a"])
    with pytest.raises(flavour.errors.TException):
        table.delete(b"")


def test_batch_sends_at_the_end_of_its_block(table: Any, key: bytes) -> None:
    table.put(key + b"old", {b"f:a": b"1", b"f:b": b"2"})
    with table.batch() as batch:
        batch.put(key + b"1", {b"f:a": b"1"})
        batch.put(key + b"2", {"f:a": "2"}, wal=False)
        batch.delete(key + b"old", [b"f:a"])
        assert table.row(key + b"1") == {}
    assert list(table.scan(row_prefix=key)) == [
        (key + b"1", {b"f:a": b"1"}),
        (key + b"2", {b"f:a": b"2"}),
        (key + b"old", {b"f:b": b"2"}),
    ]


def test_batch_can_be_sent_again_and_again(table: Any, key: bytes) -> None:
    batch = table.batch()
    assert batch.send() is None
    batch.put(key, {b"f:a": b"1"})
    batch.send()
    assert table.row(key) == {b"f:a": b"1"}
    table.delete(key)
    batch.send()  # what was sent is not sent again
    assert table.row(key) == {}


def test_batch_at_a_timestamp(table: Any, key: bytes) -> None:
    with table.batch(timestamp=50) as batch:
        batch.put(key, {b"f:a": b"1"})
    table.put(key, {b"f:b": b"2"}, timestamp=60)
    assert table.row(key, include_timestamp=True) == {b"f:a": (b"1", 50), b"f:b": (b"2", 60)}
    with table.batch(timestamp=50) as batch:
        batch.delete(key)
    assert table.row(key) == {b"f:b": b"2"}


def test_a_later_put_of_a_column_wins(table: Any, key: bytes) -> None:
    with table.batch() as batch:
        batch.put(key, {b"f:a": b"1", b"f:b": b"1"})
        batch.put(key, {b"f:a": b"2"})
    assert table.row(key) == {b"f:a": b"2", b"f:b": b"1"}
    assert table.cells(key, b"f:a") == [b"2"]


@pytest.mark.parametrize("timestamp", [None, 50])
def test_deletes_come_after_puts_whatever_was_first(
    table: Any, key: bytes, timestamp: int | None
) -> None:
    with table.batch(timestamp=timestamp) as batch:
        batch.delete(key + b"1")
        batch.put(key + b"1", {b"f:a": b"1"})
        batch.put(key + b"2", {b"f:a": b"1", b"f:b": b"2"})
        batch.delete(key + b"2", [b"f:a"])
    assert table.row(key + b"1") == {}
    assert table.row(key + b"2") == {b"f:b": b"2"}


def test_batch_size_counts_columns(table: Any, key: bytes) -> None:
    batch = table.batch(batch_size=3)
    batch.put(key + b"1", {b"f:a": b"", b"f:b": b""})
    assert table.row(key + b"1") == {}
    batch.put(key + b"2", {b"f:a": b"", b"f:b": b""})
    assert len(table.rows([key + b"1", key + b"2"])) == 2
    batch.put(key + b"3", {b"f:a": b""})
    batch.delete(key + b"other")  # a row counts as its families, of which there are two
    assert table.row(key + b"3") == {b"f:a": b""}
    batch.put(key + b"4", {b"f:a": b""})
    batch.delete(key + b"other", [b"f:a"])
    assert table.row(key + b"4") == {}


@pytest.mark.parametrize(("transaction", "expected"), [(True, {}), (False, {b"f:a": b"1"})])
def test_an_exception_stops_only_transactions(
    table: Any, key: bytes, transaction: bool, expected: dict[bytes, bytes]
) -> None:
    def put_and_stop() -> None:
        with table.batch(transaction=transaction) as batch:
            batch.put(key, {b"f:a": b"1"})
            raise Stop

    with pytest.raises(Stop):
        put_and_stop()
    assert table.row(key) == expected


def test_transaction_without_an_exception(table: Any, key: bytes) -> None:
    with table.batch(transaction=True) as batch:
        batch.put(key, {b"f:a": b"1"})
    assert table.row(key) == {b"f:a": b"1"}


def test_what_failed_stays_in_the_batch(flavour: Flavour, table: Any, key: bytes) -> None:
    batch = table.batch()
    batch.put(key + b"bad", {b"nope:a": b"1"})
    batch.put(key + b"good", {b"f:a": b"1"})
    for _ in range(2):
        with pytest.raises(flavour.errors.IOError):
            batch.send()
        assert table.row(key + b"good") == {b"f:a": b"1"}  # rows are apart from one another
        table.put(key + b"good", {b"f:a": b"2"})  # which the second try changes back


def test_a_batch_can_be_emptied(table: Any, key: bytes) -> None:
    with table.batch() as batch:
        batch.put(key, {b"f:a": b"1", b"f:b": b"2"})
        batch.delete(key, [b"g:a"])
        assert batch._mutation_count == 3  # programs read it, and remove what failed
        batch._reset_mutations()
        assert batch._mutation_count == 0
        batch.put(key, {b"f:c": b"3"})
    assert table.row(key) == {b"f:c": b"3"}


def test_deleting_a_row_reads_the_families_once(
    flavour: Flavour, connection: Any, table: Any, key: bytes
) -> None:
    nowhere = connection.table("nowhere").batch()
    nowhere.delete(key, [b"f:a"])  # columns are not checked
    with pytest.raises(flavour.errors.IOError):
        nowhere.delete(key)  # at once, not when it is sent
    with pytest.raises(flavour.errors.IOError):
        connection.table("nowhere").delete(key)
    asked = counting(flavour, table)
    assert sorted(asked._column_family_names()) == [b"f", b"g"]
    with asked.batch() as batch:
        batch.delete(key)
        batch.delete(key + b"2")
        assert batch._mutation_count == 4
    assert asked.count == 2


def test_bad_batch_arguments(table: Any) -> None:
    for size in (0, -1):
        with pytest.raises(ValueError, match="'batch_size' must be > 0"):
            table.batch(batch_size=size)
    with pytest.raises(TypeError, match="'transaction' cannot be used when 'batch_size' is"):
        table.batch(batch_size=5, transaction=True)
    with pytest.raises(TypeError, match="'timestamp' must be an integer or None"):
        table.batch(timestamp="now")
    with pytest.raises(TypeError):
        table.batch(batch_size="5")


def test_counters(table: Any, key: bytes) -> None:
    assert table.counter_get(key, b"f:n") == 0
    assert table.row(key) == {b"f:n": bytes(8)}  # asking made it
    assert table.counter_inc(key, "f:n", 5) == 5
    assert table.counter_inc(key, b"f:n") == 6
    assert table.counter_dec(key, b"f:n") == 5
    assert table.counter_dec(key, b"f:n", value=7) == -2
    assert table.counter_inc(key, b"f:n", value=-3) == -5
    assert table.counter_set(key, b"f:n", 42) is None
    assert table.counter_get(key, b"f:n") == 42
    table.counter_set(key, b"f:n")
    assert table.counter_get(key, b"f:n") == 0
    assert table.row(key) == {b"f:n": bytes(8)}


def test_counters_by_other_whole_numbers(table: Any, key: bytes) -> None:
    table.counter_set(key, b"f:n", Whole(5))
    assert table.counter_inc(key, b"f:n", Whole(3)) == 8
    assert table.counter_dec(key, b"f:n", Whole(10)) == -2


def test_counter_of_a_family_has_an_empty_qualifier(table: Any, key: bytes) -> None:
    assert table.counter_inc(key, b"f") == 1
    assert table.row(key) == {b"f:": struct.pack(">q", 1)}


def test_counters_wrap_around(table: Any, key: bytes) -> None:
    table.counter_set(key, b"f:n", 2**63 - 1)
    assert table.counter_inc(key, b"f:n") == -(2**63)


def test_counter_rejected(flavour: Flavour, table: Any, key: bytes) -> None:
    table.put(key, {b"f:n": b"abc"})
    with pytest.raises(flavour.errors.IOError):
        table.counter_inc(key, b"f:n")
    with pytest.raises(flavour.errors.IOError):
        table.counter_inc(key, b"nope:n")
    for value in (2**63, 1.5, "1"):
        with pytest.raises(struct.error):
            table.counter_set(key, b"f:n", value)
    assert table.row(key) == {b"f:n": b"abc"}
