"""A put that clears: columns deleted in the same atomic step as others are stored."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Rows
from webtable import Delete, Put, Scan, Store, Table
from webtable.errors import FamilyNotFound, InvalidRequest, WebTableError
from webtable.store.mutation import Check


def test_a_batch_of_puts_that_clear(table: Table, rows: Rows) -> None:
    for name in (b"1", b"2"):
        table.put(rows(name), {b"three:old": b"x", b"three:stays": b"y"}, timestamp=1_000)
    with table.batch() as batch:
        batch.add(Put(rows(b"1"), {b"three:new": b"n"}, clears=(b"three:old", b"three:none")))
        batch.add(Put(rows(b"2"), {b"three:new": b"n"}))
        batch.add(Put(rows(b"3"), {b"three:new": b"n"}, clears=[b"three:old"]))
    found = {rows.name(row): row.values() for row in table.scan(prefix=rows.prefix)}
    assert found == {
        b"1": {b"three:new": b"n", b"three:stays": b"y"},
        b"2": {b"three:new": b"n", b"three:old": b"x", b"three:stays": b"y"},
        b"3": {b"three:new": b"n"},
    }


def test_every_version_up_to_the_time_of_the_put_is_cleared(table: Table, rows: Rows) -> None:
    row = rows()
    for timestamp in (100, 200, 300):
        table.put(row, {b"three:q": b"%d" % timestamp}, timestamp=timestamp)
    table.mutate(row, [Put(row, {b"one:p": b"p"}, timestamp=200, clears=[b"three:q"])])
    found = table.get(row, versions=3)
    assert found is not None
    assert [(cell.column, cell.timestamp) for cell in found] == [
        (b"one:p", 200),
        (b"three:q", 300),
    ]


def test_a_conditional_put_that_clears(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:a": b"1", b"one:b": b"2"}, timestamp=1_000)
    put = Put(row, {b"one:a": b"3"}, clears=[b"one:b"])
    assert not table.check_and_mutate(row, Check.equal(b"one:a", b"9"), put)
    assert table.check_and_mutate(row, Check.equal(b"one:a", b"1"), put)
    found = table.get(row)
    assert found is not None
    assert found.values() == {b"one:a": b"3"}


def test_it_leaves_the_marker_that_a_delete_leaves(table: Table, rows: Rows) -> None:
    table.mutate(rows(b"1"), [Put(rows(b"1"), {b"one:p": b"p"}, timestamp=5, clears=[b"one:q"])])
    delete = Delete(rows(b"2"), timestamp=5).column(b"one:q")
    table.mutate(rows(b"2"), [Put(rows(b"2"), {b"one:p": b"p"}, timestamp=5), delete])
    one, two = table.scan(Scan(prefix=rows.prefix, raw=True))
    assert one.raw_cells == two.raw_cells
    assert len(one) == 2


def test_what_cannot_be_cleared_stores_nothing(store: Store, table: Table, rows: Rows) -> None:
    row = rows()
    with pytest.raises(InvalidRequest, match="both stores and clears"):
        Put(row, {b"one:q": b"v"}, clears=[b"one:q"])
    with pytest.raises(InvalidRequest, match="b'one' names only a family"):
        Put(row, {b"one:q": b"v"}, clears=[b"one"])
    with pytest.raises(WebTableError) as refused:
        table.mutate(row, [Put(row, {b"one:q": b"v"}, clears=[b"none:q"])])
    assert isinstance(refused.value, FamilyNotFound)
    assert table.get(row) is None
