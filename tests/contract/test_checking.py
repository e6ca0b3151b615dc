"""check_and_mutate: the six comparisons, absence, time ranges, and any mix of mutations inside."""

from __future__ import annotations

import time

import pytest

from webtable import (
    Append,
    CellType,
    Check,
    CompareOp,
    Delete,
    Increment,
    Mutation,
    Put,
    Row,
    Table,
)
from webtable.errors import FamilyNotFound, InvalidRequest

from .conftest import Rows

# The given value stands on the left: LESS holds when the given one is less than the stored one.
HOLDS = {
    CompareOp.LESS: lambda given, stored: given < stored,
    CompareOp.LESS_OR_EQUAL: lambda given, stored: given <= stored,
    CompareOp.EQUAL: lambda given, stored: given == stored,
    CompareOp.NOT_EQUAL: lambda given, stored: given != stored,
    CompareOp.GREATER_OR_EQUAL: lambda given, stored: given >= stored,
    CompareOp.GREATER: lambda given, stored: given > stored,
}
GIVEN = (b"\x00", b"b", b"bb", b"bc", b"bbb", b"c", b"\xff")


def values(row: Row | None) -> dict[bytes, bytes]:
    return {} if row is None else row.values()


@pytest.mark.parametrize("op", list(CompareOp))
def test_six_comparisons(table: Table, rows: Rows, op: CompareOp) -> None:
    row = rows()
    table.put(row, {b"one:a": b"bb"})
    for given in GIVEN:
        result = table.check_and_mutate(
            row, Check(b"one:a", op, given), Put(row, {b"one:given": given})
        )
        assert result.success is bool(result) is HOLDS[op](given, b"bb"), given
        assert result.row is None
        assert (values(table.get(row)).get(b"one:given") == given) is result.success


@pytest.mark.parametrize("op", list(CompareOp))
def test_an_absent_column_matches_no_comparison_with_a_value(
    table: Table, rows: Rows, op: CompareOp
) -> None:
    row = rows()
    for given in (b"a", b"\x00"):
        check = Check(b"one:a", op, given)
        assert not table.check_and_mutate(row, check, Put(row, {b"one:b": b"1"}))
    assert table.get(row) is None


def test_put_if_absent(table: Table, rows: Rows) -> None:
    row = rows()
    first = Put(row, {b"one:a": b"first"})
    second = Put(row, {b"one:a": b"second"})
    assert table.check_and_mutate(row, Check.absent(b"one:a"), first)
    assert not table.check_and_mutate(row, Check.absent(b"one:a"), second)
    assert values(table.get(row)) == {b"one:a": b"first"}
    table.delete(row, [b"one:a"])
    later = Put(row, {b"one:b": b"later"})
    assert table.check_and_mutate(row, Check.absent(b"one:a"), later)


def test_an_empty_value_counts_as_absent(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:a": b""})
    assert table.check_and_mutate(row, Check.absent(b"one:a"), Put(row, {b"one:b": b"1"}))


def test_an_empty_given_value(table: Table, rows: Rows) -> None:
    """As in HBase: equal to an empty or absent stored value, nothing else."""
    row = rows()
    put = Put(row, {b"one:seen": b"1"})
    assert table.check_and_mutate(row, Check.equal(b"one:a", b""), put)
    table.put(row, {b"one:a": b"x"})
    assert not table.check_and_mutate(row, Check.equal(b"one:a", b""), put)
    assert table.check_and_mutate(row, Check(b"one:a", CompareOp.NOT_EQUAL, b""), put)
    table.put(row, {b"one:a": b""})
    assert table.check_and_mutate(row, Check.equal(b"one:a", b""), put)


def test_is_present(table: Table, rows: Rows) -> None:
    row = rows()
    check = Check(b"one:a", CompareOp.NOT_EQUAL, None)
    assert not table.check_and_mutate(row, check, Put(row, {b"one:b": b"1"}))
    table.put(row, {b"one:a": b"x"})
    assert table.check_and_mutate(row, check, Put(row, {b"one:b": b"1"}))


def test_the_newest_visible_version_counts(table: Table, rows: Rows) -> None:
    row = rows()
    for stamp in (10, 20, 30):
        table.put(row, {b"three:a": b"%d" % stamp}, timestamp=stamp)
    seen = Put(row, {b"one:seen": b"1"})
    assert table.check_and_mutate(row, Check.equal(b"three:a", b"30"), seen)
    assert not table.check_and_mutate(row, Check.equal(b"three:a", b"20"), seen)
    table.delete(row, [b"three:a"], one_version=True)
    assert table.check_and_mutate(row, Check.equal(b"three:a", b"20"), seen)
    early = Check(b"three:a", CompareOp.EQUAL, b"10", time_range=(0, 20))
    assert table.check_and_mutate(row, early, seen)
    none = Check(b"three:a", CompareOp.EQUAL, None, time_range=(40, 50))
    assert table.check_and_mutate(row, none, seen)


def test_puts_do_not_stand_behind_a_checked_cell_of_the_future(table: Table, rows: Rows) -> None:
    row, future = rows(), time.time_ns() // 1_000_000 + 10**9
    table.put(row, {b"every:a": b"1"}, timestamp=future)
    steps: list[Mutation] = [
        Put(row, {b"every:a": b"2"}),
        Put(row, {b"every:b": b"2"}, timestamp=10),
        Increment(row, {b"every:n": 1}),
        Delete(row).column(b"every:b"),
    ]
    assert table.check_and_mutate(row, Check.equal(b"every:a", b"1"), steps)
    (found,) = table.scan(prefix=row, raw=True, versions=9)
    assert [(c.column, c.timestamp >= future, c.value, c.type) for c in found] == [
        (b"every:a", True, b"2", CellType.PUT),
        (b"every:b", False, b"", CellType.DELETE_COLUMN),
        (b"every:b", False, b"2", CellType.PUT),
        (b"every:n", False, (1).to_bytes(8, "big"), CellType.PUT),
    ]


def test_any_mix_inside(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:rev": b"1", b"three:old": b"x"}, timestamp=10)
    result = table.check_and_mutate(
        row,
        Check.equal(b"one:rev", b"1"),
        [
            Put(row, {b"one:rev": b"2", b"every:facts": b"new"}),
            Delete(row).column(b"three:old"),
            Increment(row, {b"every:n": 5}),
            Append(row, {b"every:log": b"entry"}),
        ],
    )
    assert result
    assert values(result.row) == {b"every:n": (5).to_bytes(8, "big"), b"every:log": b"entry"}
    expected = {
        b"every:facts": b"new",
        b"every:log": b"entry",
        b"every:n": (5).to_bytes(8, "big"),
        b"one:rev": b"2",
    }
    assert values(table.get(row)) == expected
    again = table.check_and_mutate(
        row, Check.equal(b"one:rev", b"1"), [Increment(row, {b"every:n": 5}), Delete(row)]
    )
    assert not again
    assert again.row is None
    assert values(table.get(row)) == expected


@pytest.mark.parametrize("kind", ["put", "delete", "increment", "append"])
def test_a_single_mutation_of_every_kind(table: Table, rows: Rows, kind: str) -> None:
    row = rows()
    table.put(row, {b"one:a": b"1", b"one:b": b"2"}, timestamp=10)
    kinds: dict[str, tuple[Mutation, dict[bytes, bytes]]] = {
        "put": (Put(row, {b"one:b": b"3"}), {}),
        "delete": (Delete(row).column(b"one:b"), {}),
        "increment": (Increment(row, {b"one:n": 4}), {b"one:n": (4).to_bytes(8, "big")}),
        "append": (Append(row, {b"one:b": b"3"}), {b"one:b": b"23"}),
    }
    mutation, answer = kinds[kind]
    assert not table.check_and_mutate(row, Check.equal(b"one:a", b"2"), mutation)
    assert values(table.get(row)) == {b"one:a": b"1", b"one:b": b"2"}
    result = table.check_and_mutate(row, Check.equal(b"one:a", b"1"), mutation)
    assert result
    assert values(result.row) == answer
    assert values(table.get(row)) != {b"one:a": b"1", b"one:b": b"2"}


def test_the_row_itself_may_be_deleted(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:a": b"1", b"three:b": b"2"})
    assert table.check_and_mutate(row, Check.equal(b"one:a", b"1"), Delete(row))
    assert table.get(row) is None


def test_a_failure_inside_leaves_the_row_alone(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:text": b"text"}, timestamp=10)
    check = Check.equal(b"one:text", b"text")
    with pytest.raises(InvalidRequest):
        table.check_and_mutate(
            row, check, [Put(row, {b"one:b": b"1"}), Increment(row, {b"one:text": 1})]
        )
    with pytest.raises(FamilyNotFound):
        table.check_and_mutate(
            row, check, [Put(row, {b"one:b": b"1"}), Put(row, {b"nope:b": b"1"})]
        )
    assert values(table.get(row)) == {b"one:text": b"text"}


def test_the_condition_needs_a_known_family(table: Table, rows: Rows) -> None:
    with pytest.raises(FamilyNotFound):
        table.check_and_mutate(rows(), Check.absent(b"nope:a"), Put(rows(), {b"one:a": b"1"}))
    with pytest.raises(InvalidRequest):
        table.check_and_mutate(rows(), Check.absent(b"one:a"), [])
    with pytest.raises(InvalidRequest):
        table.check_and_mutate(
            rows(), Check.absent(b"one:a"), Put(rows(b"other"), {b"one:a": b"1"})
        )
