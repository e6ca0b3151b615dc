"""Batches: what they send when, in which order, and what they say of what failed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.waiting import wait_for
from webtable import Append, Increment, Put, Store, Table
from webtable.errors import BatchError, FamilyNotFound, InvalidRequest, TableNotFound

from .conftest import Rows


def test_a_batch_sends_when_it_is_full_and_at_its_end(table: Table, rows: Rows) -> None:
    with table.batch(size=3) as batch:
        for number in range(3):
            batch.put(rows(b"%d" % number), {b"one:n": b"%d" % number}, timestamp=10)
        assert len(batch) == 0
        # A cluster may still be at it.
        wait_for(lambda: len(list(table.scan(prefix=rows(b"")))) == 3)
        batch.delete(rows(b"0"))
        batch.delete(rows(b"1"), [b"one:n"], timestamp=9)
        batch.add(Increment(rows(b"counter"), {b"one:n": 3}))
        batch.put(rows(b"4"), {b"one:n": b"4"})
        assert len(batch) == 1
        batch.send()
        assert len(batch) == 0
        assert rows.names(table.scan(prefix=rows(b""))) == [b"1", b"2", b"4", b"counter"]
        batch.put(rows(b"5"), {b"one:n": b"5"})
    assert rows.names(table.scan(prefix=rows(b""))) == [b"1", b"2", b"4", b"5", b"counter"]


def test_a_batch_left_by_an_exception_drops_what_it_did_not_send(table: Table, rows: Rows) -> None:
    def fill_and_fail() -> None:
        with table.batch() as batch:
            batch.put(rows(), {b"one:n": b""})
            raise KeyError

    with pytest.raises(KeyError):
        fill_and_fail()
    assert table.get(rows()) is None


def test_mutations_of_one_row_in_a_batch_keep_their_order(table: Table, rows: Rows) -> None:
    with table.batch() as batch:
        for number in range(50):
            batch.put(rows(), {b"one:n": b"%d" % number}, timestamp=10)
        for letter in (b"a", b"b", b"c"):
            batch.add(Append(rows(), {b"one:text": letter}))
    found = table.get(rows())
    assert found is not None
    assert found.values() == {b"one:n": b"49", b"one:text": b"abc"}


def test_a_batch_names_what_failed_and_stores_the_rest(table: Table, rows: Rows) -> None:
    table.put(rows(b"text"), {b"one:n": b"text"})
    batch = table.batch()
    batch.put(rows(b"good"), {b"one:n": b"1"})
    batch.put(rows(b"bad"), {b"nope:n": b"1"})
    batch.add(Increment(rows(b"text"), {b"one:n": 1}))
    batch.delete(rows(b"bad"), [b"nope"])
    batch.put(rows(b"good too"), {b"one:n": b"1"})
    with pytest.raises(BatchError) as caught:
        batch.send()
    assert caught.value.code == "batch"
    assert caught.value.positions == (1, 2, 3)
    kinds = [type(error) for error in caught.value.exceptions]
    assert kinds == [FamilyNotFound, InvalidRequest, FamilyNotFound]
    assert rows.names(table.scan(prefix=rows(b""))) == [b"good", b"good too", b"text"]


def test_a_batch_of_an_unknown_table(store: Store, new_name: str) -> None:
    batch = store.table(new_name).batch()
    batch.put(b"row", {b"f:q": b""})
    with pytest.raises(TableNotFound):
        batch.send()


def test_a_row_keeps_its_order_from_one_full_batch_to_the_next(table: Table, rows: Rows) -> None:
    with table.batch(size=4) as batch:
        for number in range(90):
            row = rows(b"%d" % (number % 7))
            batch.put(row, {b"one:n": b"%d" % number}, timestamp=10)
            batch.add(Append(row, {b"one:all": b"%d," % number}))
    for first in range(7):
        numbers = [b"%d" % number for number in range(first, 90, 7)]
        found = table.get(rows(b"%d" % first))
        assert found is not None
        together = b"".join(number + b"," for number in numbers)
        assert found.values() == {b"one:n": numbers[-1], b"one:all": together}


def failures(work: Callable[[], None]) -> list[tuple[int, type[Exception]]]:
    """Returns what a step of a batch says has failed."""
    try:
        work()
    except BatchError as error:
        kinds = [type(each) for each in error.exceptions]
        return list(zip(error.positions, kinds, strict=True))
    return []


def test_positions_of_what_failed_count_from_the_first_mutation(table: Table, rows: Rows) -> None:
    batch = table.batch(size=3)
    failed = []
    for number in range(11):
        family = b"nope" if number in (1, 2, 4, 9) else b"one"
        put = Put(rows(b"%02d" % number), {family + b":n": b"1"})
        failed += failures(lambda put=put: batch.add(put))  # type: ignore[misc]
    failed += failures(batch.send)
    # Each error is raised once, and the valid mutations are stored.
    assert sorted(failed) == [(number, FamilyNotFound) for number in (1, 2, 4, 9)]
    stored = [b"%02d" % number for number in (0, 3, 5, 6, 7, 8, 10)]
    assert rows.names(table.scan(prefix=rows(b""))) == stored
    assert failures(batch.send) == []


def test_the_end_of_the_block_reports_all_that_failed(table: Table, rows: Rows) -> None:
    def fill() -> None:
        with table.batch(size=3) as batch:
            for number in range(5):
                family = b"nope" if number in (2, 4) else b"one"
                try:
                    batch.put(rows(b"%d" % number), {family + b":n": b"1"})
                except BatchError as error:  # where a full batch is waited for at once
                    told.extend(error.positions)

    told: list[int] = []
    with pytest.raises(BatchError) as caught:
        fill()
    assert [*told, *caught.value.positions] == [2, 4]
    assert rows.names(table.scan(prefix=rows(b""))) == [b"0", b"1", b"3"]


def test_what_was_sent_is_stored_where_the_block_is_left_by_an_exception(
    table: Table, rows: Rows
) -> None:
    def fill_and_fail() -> None:
        with table.batch(size=3) as batch:
            for number in range(5):
                batch.put(rows(b"%d" % number), {b"one:n": b"1"})
            raise KeyError

    with pytest.raises(KeyError):
        fill_and_fail()
    assert rows.names(table.scan(prefix=rows(b""))) == [b"0", b"1", b"2"]
