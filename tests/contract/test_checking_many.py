"""check_and_mutate_many: conditional steps of many rows, each for itself."""

from __future__ import annotations

import pytest

from webtable import Check, Conditional, Delete, Increment, Put, Table
from webtable.errors import FamilyNotFound, InvalidRequest, WebTableError

from .conftest import Rows

REV, OTHER = b"one:rev", b"three:other"


def made(outcomes: list[object]) -> list[bool]:
    assert not any(isinstance(each, WebTableError) for each in outcomes), outcomes
    return [bool(each) for each in outcomes]


def test_each_step_is_made_if_its_own_condition_holds(table: Table, rows: Rows) -> None:
    keys = [rows(b"%02d" % number) for number in range(40)]
    for number, key in enumerate(keys):
        if number % 2:
            table.put(key, {REV: b"%d" % number, OTHER: b"old"})
    steps = [
        Conditional(
            key,
            Check.equal(REV, b"%d" % (number if number % 4 == 1 else 0), unique=True)
            if number % 2
            else Check.absent(REV, unique=True),
            [Put(key, {REV: b"new %d" % number}), Put(key, {OTHER: b"new"}, timestamp=5)],
        )
        for number, key in enumerate(keys)
    ]
    outcomes = table.check_and_mutate_many(steps)
    assert made([*outcomes]) == [number % 4 != 3 for number in range(40)]
    for number, found in enumerate(table.get_many(keys)):
        assert found is not None
        is_made = number % 4 != 3
        assert found.value(REV) == (b"new %d" % number if is_made else b"%d" % number)
        assert found.value(OTHER) == (b"new" if number % 2 == 0 else b"old")
    # Made again, none holds: each step has changed the cell that it checks.
    again = made([*table.check_and_mutate_many(steps)])
    assert again == [False] * 40


def test_deletes_counters_and_checks_that_are_not_unique(table: Table, rows: Rows) -> None:
    gone, counted, plain = rows(b"a"), rows(b"b"), rows(b"c")
    for key in (gone, counted, plain):
        table.put(key, {REV: b"1"}, timestamp=1)
    outcomes = table.check_and_mutate_many(
        [
            Conditional(gone, Check.equal(REV, b"1", unique=True), [Delete(gone)]),
            Conditional(counted, Check.equal(REV, b"1"), [Increment(counted, {OTHER: 3})]),
            Conditional(plain, Check.equal(REV, b"1"), [Put(plain, {REV: b"2"}, timestamp=2)]),
        ]
    )
    assert made([*outcomes]) == [True, True, True]
    assert table.get(gone) is None
    found = table.get(counted)
    assert found is not None
    assert found.value(OTHER) == (3).to_bytes(8, "big")
    changed = table.get(plain)
    assert changed is not None
    assert changed.value(REV) == b"2"


def test_a_step_that_fails_leaves_the_others_be(table: Table, rows: Rows) -> None:
    first, wrong, last = rows(b"a"), rows(b"b"), rows(b"c")
    outcomes = table.check_and_mutate_many(
        Conditional(key, Check.absent(REV, unique=True), [Put(key, {column: b"1"})])
        for key, column in ((first, REV), (wrong, b"none:rev"), (last, REV))
    )
    assert isinstance(outcomes[1], FamilyNotFound)
    assert made([outcomes[0], outcomes[2]]) == [True, True]


def test_none_and_one(table: Table, rows: Rows) -> None:
    assert table.check_and_mutate_many([]) == []
    row = rows()
    step = Conditional(row, Check.absent(REV, unique=True), [Put(row, {REV: b"1"})])
    assert made([*table.check_and_mutate_many([step])]) == [True]
    assert made([*table.check_and_mutate_many([step])]) == [False]


def test_steps_that_would_get_in_each_others_way_are_rejected(table: Table, rows: Rows) -> None:
    row, other = rows(b"a"), rows(b"b")
    step = Conditional(row, Check.absent(REV), [Put(row, {REV: b"1"})])
    with pytest.raises(InvalidRequest, match="one row"):
        table.check_and_mutate_many([step, step])
    with pytest.raises(InvalidRequest, match="atomic step"):
        table.check_and_mutate_many([Conditional(row, step.check, [Put(other, {REV: b"1"})])])
    assert table.get(row) is None
