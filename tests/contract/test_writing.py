"""Puts, increments, appends, atomic mixes of one row, and commits over many rows."""

from __future__ import annotations

import random
import time

import pytest

from webtable import (
    ALL_VERSIONS,
    Append,
    Cell,
    Delete,
    Durability,
    Increment,
    Mutation,
    Put,
    Row,
    Store,
    Table,
)
from webtable.errors import FamilyNotFound, InvalidRequest, TableNotFound

from .conftest import Rows

HIGHEST = 2**63 - 1


def test_a_put_without_a_timestamp_is_stamped_with_the_time(table: Table, rows: Rows) -> None:
    before = time.time_ns() // 1_000_000
    table.put(rows(), {b"one:a": b"1", b"three:b": b"2"})
    after = time.time_ns() // 1_000_000
    found = table.get(rows())
    assert found is not None
    (stamp,) = {cell.timestamp for cell in found}
    assert before <= stamp <= after


def test_the_greatest_timestamp_means_now(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"one:a": b"1"}, timestamp=HIGHEST)
    found = table.get(rows())
    assert found is not None
    assert abs(found.cells[0].timestamp - time.time_ns() // 1_000_000) < 60_000


@pytest.mark.parametrize("stamp", [0, 1, HIGHEST - 1])
def test_timestamps_at_the_edges(table: Table, rows: Rows, stamp: int) -> None:
    table.put(rows(), {b"every:a": b"1"}, timestamp=stamp)
    found = table.get(rows(), [b"every:a"], timestamp=stamp)
    assert found is not None
    assert found.cells == [Cell(b"every:a", stamp, b"1")]


def test_the_newest_timestamp_wins_not_the_latest_write(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"three:a": b"new"}, timestamp=20)
    table.put(rows(), {b"three:a": b"late"}, timestamp=10)
    found = table.get(rows())
    assert found is not None
    assert found.value(b"three:a") == b"new"


def test_the_same_version_written_again_is_replaced(table: Table, rows: Rows) -> None:
    for value in (b"first", b"second", b""):
        table.put(rows(), {b"three:a": value}, timestamp=10)
        found = table.get(rows(), versions=ALL_VERSIONS)
        assert found is not None
        assert found.cells == [Cell(b"three:a", 10, value)]


@pytest.mark.parametrize("durability", ["sync", "wal", "none"])
def test_every_durability_stores(table: Table, rows: Rows, durability: Durability) -> None:
    table.put(rows(), {b"one:a": b"1"}, durability=durability)
    assert table.increment(rows(), b"one:n", durability=durability) == 1
    table.delete(rows(), [b"one:a"], durability=durability)
    found = table.get(rows())
    assert found is not None
    assert list(found.values()) == [b"one:n"]


def test_increments_start_at_zero_and_go_both_ways(table: Table, rows: Rows) -> None:
    assert table.increment(rows(), b"one:n") == 1
    assert table.increment(rows(), b"one:n", 41) == 42
    assert table.increment(rows(), b"one:n", -50) == -8
    assert table.increment(rows(), b"one:n", 0) == -8
    found = table.get(rows())
    assert found is not None
    assert found.value(b"one:n") == (-8).to_bytes(8, "big", signed=True)


def test_increments_wrap_around_as_64_bit_numbers_do(table: Table, rows: Rows) -> None:
    assert table.increment(rows(), b"one:n", HIGHEST) == HIGHEST
    assert table.increment(rows(), b"one:n", 1) == -(2**63)
    assert table.increment(rows(), b"one:n", -1) == HIGHEST


@pytest.mark.parametrize("value", [b"", b"7", b"1234567", b"123456789"])
def test_a_counter_has_eight_bytes(table: Table, rows: Rows, value: bytes) -> None:
    table.put(rows(), {b"one:n": value})
    with pytest.raises(InvalidRequest) as caught:
        table.increment(rows(), b"one:n")
    assert caught.value.code == "invalid-request"
    assert table.get(rows(), [b"one:n"]).value(b"one:n") == value  # type: ignore[union-attr]


def test_a_counter_can_be_put_as_bytes(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"three:n": (99).to_bytes(8, "big")}, timestamp=10)
    assert table.increment(rows(), b"three:n") == 100
    found = table.get(rows(), versions=ALL_VERSIONS)
    assert found is not None
    assert [cell.value for cell in found] == [(100).to_bytes(8, "big"), (99).to_bytes(8, "big")]


def test_an_increment_is_newer_than_what_it_adds_to(table: Table, rows: Rows) -> None:
    future = time.time_ns() // 1_000_000 + 1_000_000_000
    table.put(rows(), {b"three:n": (1).to_bytes(8, "big")}, timestamp=future)
    assert table.increment(rows(), b"three:n") == 2
    assert table.increment(rows(), b"three:n") == 3
    found = table.get(rows(), versions=ALL_VERSIONS)
    assert found is not None
    assert [cell.timestamp - future for cell in found] == [2, 1, 0]


def test_an_increment_after_a_delete_starts_again(table: Table, rows: Rows) -> None:
    table.increment(rows(), b"three:n", 5)
    table.delete(rows(), [b"three:n"])
    later = time.time_ns() // 1_000_000 + 1000
    table.put(rows(), {b"three:n": (10).to_bytes(8, "big")}, timestamp=later)
    assert table.increment(rows(), b"three:n") == 11


def test_a_program_that_seeds_its_random_numbers_loses_no_increment(
    table: Table, rows: Rows
) -> None:
    """A server drops a write whose nonce it has seen; nonces must not follow the caller's seed."""
    for count in (1, 2, 3):
        random.seed(7)
        assert table.increment(rows(), b"one:n") == count


def test_several_counters_in_one_step(table: Table, rows: Rows) -> None:
    row = rows()
    table.increment(row, b"three:b", 10)
    found = table.mutate(row, [Increment(row, {b"three:b": 5, b"one:a": 1})])
    assert found is not None
    assert found.values() == {b"one:a": (1).to_bytes(8, "big"), b"three:b": (15).to_bytes(8, "big")}


def test_appends(table: Table, rows: Rows) -> None:
    assert table.append(rows(), b"three:a", b"one") == b"one"
    assert table.append(rows(), b"three:a", b", two") == b"one, two"
    assert table.append(rows(), b"three:a", b"") == b"one, two"
    found = table.get(rows())
    assert found is not None
    assert found.value(b"three:a") == b"one, two"
    table.delete(rows())


def test_one_step_over_all_families(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"three:old": b"1", b"every:n": (5).to_bytes(8, "big")}, timestamp=10)
    found = table.mutate(
        row,
        [
            Put(row, {b"one:a": b"put"}),
            Delete(row).column(b"three:old"),
            Increment(row, {b"every:n": 2}),
            Append(row, {b"every:t": b"text"}),
        ],
    )
    assert found is not None
    assert found.key == row
    assert found.values() == {b"every:n": (7).to_bytes(8, "big"), b"every:t": b"text"}
    now = table.get(row)
    assert now is not None
    assert now.values() == {
        b"every:n": (7).to_bytes(8, "big"),
        b"every:t": b"text",
        b"one:a": b"put",
    }


def test_puts_and_deletes_return_nothing(table: Table, rows: Rows) -> None:
    row = rows()
    assert table.mutate(row, [Put(row, {b"one:a": b"1"}), Delete(row).column(b"one:b")]) is None


def test_a_step_that_fails_leaves_the_row_alone(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:text": b"not a number"}, timestamp=10)
    before = table.get(row)
    with pytest.raises(InvalidRequest):
        table.mutate(row, [Put(row, {b"three:a": b"1"}), Increment(row, {b"one:text": 1})])
    with pytest.raises(FamilyNotFound):
        table.mutate(row, [Put(row, {b"three:a": b"1"}), Put(row, {b"nope:a": b"1"})])
    assert table.get(row) == before


def test_a_delete_wins_over_a_put_of_the_same_step_and_time(table: Table, rows: Rows) -> None:
    row = rows()
    table.mutate(row, [Delete(row).column(b"one:a"), Put(row, {b"one:a": b"lost"})])
    assert table.get(row) is None
    table.mutate(
        row, [Delete(row).column(b"one:b", 10), Put(row, {b"one:b": b"kept"}, timestamp=11)]
    )
    found = table.get(row)
    assert found is not None
    assert found.values() == {b"one:b": b"kept"}


def test_commits_over_rows_and_tables_or_a_clear_no(
    store: Store, rows: Rows, new_name: str
) -> None:
    writes: list[tuple[str, Mutation]] = [
        ("shared", Put(rows(b"a"), {b"one:n": b"1"})),
        ("shared", Increment(rows(b"b"), {b"one:n": 2})),
    ]
    table = store.table("shared")
    if not store.capabilities.atomic_commits:
        with pytest.raises(InvalidRequest):
            store.commit(writes)
        assert list(table.scan(prefix=rows(b""))) == []
        return
    answers = store.commit(writes)
    assert answers[0] is None
    assert isinstance(answers[1], Row)
    assert answers[1].value(b"one:n") == (2).to_bytes(8, "big")
    with pytest.raises(FamilyNotFound):
        store.commit(
            [
                ("shared", Put(rows(b"c"), {b"one:n": b"1"})),
                ("shared", Put(rows(), {b"nope:": b""})),
            ]
        )
    with pytest.raises(TableNotFound):
        store.commit(
            [("shared", Put(rows(b"c"), {b"one:n": b"1"})), (new_name, Put(rows(), {b"one:": b""}))]
        )
    assert rows.names(table.scan(prefix=rows(b""))) == [b"a", b"b"]
