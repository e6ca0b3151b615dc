"""Bad input: the same error, with the same code, from every engine, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from webtable import Append, Check, CompareOp, Delete, Get, Increment, Put, Scan, Store, Table
from webtable.errors import FamilyNotFound, InvalidRequest, TableNotFound, WebTableError

from .conftest import Rows

ROW_CALLS: dict[str, Callable[[Table, bytes], Any]] = {
    "get": lambda table, row: table.get(row),
    "get_many": lambda table, row: table.get_many([b"fine", row]),
    "put": lambda table, row: table.put(row, {b"one:a": b"1"}),
    "delete": lambda table, row: table.delete(row),
    "increment": lambda table, row: table.increment(row, b"one:a"),
    "append": lambda table, row: table.append(row, b"one:a", b"1"),
    "check": lambda table, row: table.check_and_mutate(
        row, Check.absent(b"one:a"), Put(row, {b"one:a": b"1"})
    ),
    "batch": lambda table, row: table.batch().put(row, {b"one:a": b"1"}),
}

COLUMN_CALLS: dict[str, Callable[[Table, bytes, bytes], Any]] = {
    "get": lambda table, row, column: table.get(row, [column]),
    "get_many": lambda table, row, column: table.get_many([row], [b"one", column]),
    "scan": lambda table, row, column: table.scan(prefix=row, columns=[column]),
    "put": lambda table, row, column: table.put(row, {column: b"1", b"one:a": b"1"}),
    "delete": lambda table, row, column: table.delete(row, [column]),
    "increment": lambda table, row, column: table.increment(row, column),
    "append": lambda table, row, column: table.append(row, column, b"1"),
    "mutate": lambda table, row, column: table.mutate(
        row, [Put(row, {b"one:a": b"1"}), Delete(row).column(column)]
    ),
    "check": lambda table, row, column: table.check_and_mutate(
        row, Check.absent(column), Put(row, {b"one:a": b"1"})
    ),
    "guarded": lambda table, row, column: table.check_and_mutate(
        row, Check.absent(b"one:a"), Put(row, {column: b"1"})
    ),
}

TABLE_CALLS: dict[str, Callable[[Store, str], Any]] = {
    "get": lambda store, name: store.table(name).get(b"row"),
    "get_many": lambda store, name: store.table(name).get_many([b"row"]),
    "scan": lambda store, name: store.table(name).scan(),
    "put": lambda store, name: store.table(name).put(b"row", {b"f:a": b"1"}),
    "delete": lambda store, name: store.table(name).delete(b"row"),
    "increment": lambda store, name: store.table(name).increment(b"row", b"f:a"),
    "append": lambda store, name: store.table(name).append(b"row", b"f:a", b"1"),
    "mutate": lambda store, name: store.table(name).mutate(b"row", [Put(b"row", {b"f:a": b"1"})]),
    "check": lambda store, name: store.table(name).check_and_mutate(
        b"row", Check.absent(b"f:a"), Put(b"row", {b"f:a": b"1"})
    ),
    "schema": lambda store, name: store.table(name).schema(),
    "regions": lambda store, name: store.table(name).regions(),
    "stats": lambda store, name: store.table(name).stats(),
    "flush": lambda store, name: store.table(name).flush(),
    "major_compact": lambda store, name: store.table(name).major_compact(),
    "describe": lambda store, name: store.describe_table(name),
    "truncate": lambda store, name: store.truncate_table(name),
    "drop": lambda store, name: store.drop_table(name),
}


@pytest.mark.parametrize("call", ROW_CALLS)
@pytest.mark.parametrize("row", [b"", b"k" * 32_768], ids=["empty", "long"])
def test_row_keys_that_are_none(table: Table, row: bytes, call: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        ROW_CALLS[call](table, row)
    assert caught.value.code == "invalid-request"
    assert "row key" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("call", COLUMN_CALLS)
def test_an_unknown_family(table: Table, rows: Rows, call: str) -> None:
    with pytest.raises(FamilyNotFound) as caught:
        COLUMN_CALLS[call](table, rows(), b"thre:a")
    assert caught.value.code == "family-not-found"
    # It names the family, the table, and the one that was probably meant.
    assert "'thre'" in str(caught.value)
    assert "'shared'" in str(caught.value)
    assert "did you mean 'three'" in str(caught.value)
    assert table.get(rows()) is None


@pytest.mark.parametrize("call", ["get", "get_many", "scan", "delete"])
def test_an_unknown_family_as_a_whole(table: Table, rows: Rows, call: str) -> None:
    with pytest.raises(FamilyNotFound):
        COLUMN_CALLS[call](table, rows(), b"thre")


@pytest.mark.parametrize("call", COLUMN_CALLS)
@pytest.mark.parametrize("column", [b"", b":a", "one:a"], ids=["empty", "no-family", "text"])
def test_columns_that_are_none(table: Table, rows: Rows, call: str, column: Any) -> None:
    with pytest.raises(InvalidRequest):
        COLUMN_CALLS[call](table, rows(), column)
    assert table.get(rows()) is None


@pytest.mark.parametrize("call", ["put", "increment", "append", "mutate", "check", "guarded"])
def test_a_family_alone_is_no_column_to_write(table: Table, rows: Rows, call: str) -> None:
    with pytest.raises(InvalidRequest):
        COLUMN_CALLS[call](table, rows(), b"one")
    assert table.get(rows()) is None


@pytest.mark.parametrize("call", TABLE_CALLS)
def test_an_unknown_table(store: Store, call: str) -> None:
    with pytest.raises(TableNotFound) as caught:
        TABLE_CALLS[call](store, "sharde")
    assert caught.value.code == "table-not-found"
    assert "'sharde'" in str(caught.value)
    assert "did you mean 'shared'" in str(caught.value)


def test_altering_an_unknown_table(store: Store, table: Table, new_name: str) -> None:
    schema = table.schema()
    unknown = type(schema)(name=new_name, families=schema.families)
    with pytest.raises(TableNotFound):
        store.alter_table(unknown)


@pytest.mark.parametrize("stamp", [-1, -(2**63), 2**63, 2**64, 1.5, "1"])
def test_timestamps_that_are_none(table: Table, rows: Rows, stamp: Any) -> None:
    row = rows()
    calls: list[Callable[[], object]] = [
        lambda: table.put(row, {b"one:a": b"1"}, timestamp=stamp),
        lambda: table.delete(row, timestamp=stamp),
        lambda: table.delete(row, [b"one:a"], timestamp=stamp),
        lambda: Delete(row).family_version(b"one", stamp),
        lambda: Delete(row).version(b"one:a", stamp),
    ]
    for call in calls:
        with pytest.raises(InvalidRequest):
            call()
    assert list(table.scan(prefix=row, raw=True)) == []


@pytest.mark.parametrize("bounds", [(-1, 5), (5, 4), (0, 2**63)])
def test_time_ranges_that_are_none(table: Table, rows: Rows, bounds: tuple[int, int]) -> None:
    with pytest.raises(InvalidRequest):
        table.get(rows(), time_range=bounds)
    with pytest.raises(InvalidRequest):
        table.scan(time_range=bounds)
    with pytest.raises(InvalidRequest):
        table.get(rows(), time_range=(0, 1), timestamp=3)


def test_requests_that_are_none(table: Table, rows: Rows) -> None:
    row = rows()
    calls: list[Callable[[], object]] = [
        lambda: table.get(row, versions=0),
        lambda: table.scan(versions=-1),
        lambda: table.scan(limit=-1),
        lambda: table.scan(raw=True, columns=[b"one:a"]),
        lambda: table.scan(Scan(), limit=3),
        lambda: table.get(row, b"one:a"),  # type: ignore[arg-type]
        lambda: table.put(row, {}),
        lambda: table.put(row, {b"one:a": b"1"}, ttl_ms=0),
        lambda: table.increment(row, b"one:a", 2**63),
        lambda: table.mutate(row, []),
        lambda: table.mutate(row, [Put(rows(b"other"), {b"one:a": b"1"})]),
        lambda: table.batch(size=0),
        lambda: table.put("row", {b"one:a": b"1"}),  # type: ignore[arg-type]
        lambda: Increment(row, {}),
        lambda: Append(row, {}),
        lambda: Get(b""),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(InvalidRequest) as caught:
            call()
        assert caught.value.hint, number
    assert list(table.scan(prefix=rows(b""), raw=True)) == []


@pytest.mark.parametrize(
    "condition",
    [
        lambda: Check(b"one:a", CompareOp.LESS, cast("bytes", "text")),
        lambda: Check(b"one:a", cast("CompareOp", "about"), b"1"),
        lambda: Check(b"one:a", CompareOp.EQUAL, b"1", time_range=(5, 1)),
    ],
    ids=["value", "comparison", "time range"],
)
def test_conditions_that_are_none(table: Table, rows: Rows, condition: Callable[[], Check]) -> None:
    row = rows(b"r")
    table.put(row, {b"one:a": b"1"})
    with pytest.raises(InvalidRequest) as caught:
        table.check_and_mutate(row, condition(), Delete(row))
    assert caught.value.hint
    assert table.get(row) is not None


def test_errors_are_of_one_tree(table: Table, rows: Rows) -> None:
    with pytest.raises(WebTableError) as caught:
        table.get(rows(), [b"nope"])
    assert isinstance(caught.value, FamilyNotFound)
