"""Rows that came in parts, cut at every place where a server may cut them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.hbase.wire.forms import form_of
from webtable.store.cells_and_rows import RawCell, Row
from webtable.store.hbase.ops import row_assembler
from webtable.store.hbase.ops.row_assembler import AT_A_TIME, Batch, ScanResult, Stitching
from webtable.store.hbase.proto import client_pb2


@pytest.fixture(params=["plain", "compiled"])
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Each form of what cuts the rows."""
    codec = form_of("webtable.store.hbase.wire", "cell_codec", request.param)
    monkeypatch.setattr(row_assembler, "Rows", codec.Rows)
    return codec


def answer(
    codec: ModuleType, results: list[tuple[bytes, list[RawCell]]], flags: list[bool]
) -> ScanResult:
    parts = [b"the message"]
    for key, cells in results:
        codec.encode_cells(parts, key, [(cell[0], cell[2]) for cell in cells], 7)
    message = client_pb2.ScanResponse(
        cells_per_result=[len(cells) for _, cells in results], partial_flag_per_result=flags
    )
    return ScanResult(message, b"".join(parts), len(parts[0]))


def taken(batch: Batch) -> list[Row]:
    rows: list[Row] = []
    while few := batch.take():
        rows += few
    return rows


def some_rows(chance: random.Random, number: int) -> list[Row]:
    return [
        Row(
            b"row%05d" % each,
            [
                (b"f:%d" % column, 7, chance.randbytes(chance.choice((0, 3, 3_000))), 4)
                for column in range(chance.randint(1, 4))
            ],
        )
        for each in range(number)
    ]


def cut_apart(
    rows: list[Row], chance: random.Random
) -> Iterator[tuple[list[tuple[bytes, list[RawCell]]], list[bool]]]:
    """Yields the results of responses and which are parts, as a server with a size limit does."""
    room = chance.choice((1, 2, 5, 50, 1_000))
    results: list[tuple[bytes, list[RawCell]]] = []
    flags: list[bool] = []
    for row in rows:
        for number, cell in enumerate(row.raw_cells):
            if not results or results[-1][0] != row.key:
                results.append((row.key, []))
                flags.append(False)
            results[-1][1].append(cell)
            if sum(len(cells) for _, cells in results) >= room:
                # At the end of a row a server need not know yet that it is one.
                flags[-1] = number + 1 < len(row.raw_cells) or chance.random() < 0.5
                yield results, flags
                results, flags = [], []
                room = chance.choice((1, 2, 5, 50, 1_000))
    yield results, flags


@pytest.mark.parametrize("seed", range(60))
def test_rows_are_whole_however_they_were_cut(codec: ModuleType, seed: int) -> None:
    chance = random.Random(seed)
    rows = some_rows(chance, chance.choice((0, 1, 3, 40, 400)))
    answers = list(cut_apart(rows, chance))
    whole = Stitching()
    found: list[Row] = []
    for number, (results, flags) in enumerate(answers):
        is_last = number == len(answers) - 1
        batch = whole.rows(answer(codec, results, flags), is_region_over=is_last)
        length, last_key = len(batch), batch.last_key() if batch else None
        some = taken(batch)
        assert (length, last_key) == (len(some), some[-1].key if some else None)
        assert len(batch) == 0
        found += some
    assert found == rows


def test_only_so_many_rows_are_made_at_a_time(codec: ModuleType) -> None:
    rows = some_rows(random.Random(1), 3 * AT_A_TIME + 1)
    results = [(row.key, list(row.raw_cells)) for row in rows]
    batch = Stitching().rows(answer(codec, results, [False] * len(rows)), is_region_over=False)
    sizes = []
    while few := batch.take():
        sizes.append(len(few))
    assert sizes == [AT_A_TIME] * 3 + [1]


@pytest.mark.parametrize("length", [0, 1, 2, AT_A_TIME, AT_A_TIME + 1, 299, 300, 301])
def test_what_is_too_much_is_cut_off(codec: ModuleType, length: int) -> None:
    rows = some_rows(random.Random(2), 300)
    first, *others = [(row.key, list(row.raw_cells)) for row in rows]
    whole = Stitching()
    before = whole.rows(answer(codec, [(first[0], first[1][:1])], [True]), is_region_over=False)
    assert taken(before) == []
    results = [(first[0], first[1][1:]), *others] if first[1][1:] else others
    flags = [False] * (len(results) - 1) + [True]
    batch = whole.rows(answer(codec, results, flags), is_region_over=True)
    assert len(batch) == 300
    batch.cut(length)
    assert len(batch) == min(length, 300)
    assert taken(batch) == rows[:length]


def test_a_part_that_will_come_again_is_forgotten(codec: ModuleType) -> None:
    (row,) = some_rows(random.Random(3), 1)
    cells = [(b"f:a", 7, b"1", 4), (b"f:b", 7, b"2", 4)]
    whole = Stitching()
    part = answer(codec, [(row.key, cells[:1])], [True])
    assert taken(whole.rows(part, is_region_over=False)) == []
    whole.forget()
    again = answer(codec, [(row.key, cells)], [False])
    assert taken(whole.rows(again, is_region_over=False)) == [Row(row.key, cells)]


def test_rows_inside_the_message(codec: ModuleType) -> None:
    cells = [(b"f:a", 7, b"1", 4), (b"f:b", 7, b"2", 4)]
    mixed = answer(codec, [(b"r1", cells)], [False])
    for key, values, is_partial in ((b"r2", cells[:1], True), (b"r2", cells[1:], False)):
        result = mixed.message.results.add(partial=is_partial)
        for column, timestamp, value, _ in values:
            family, _, qualifier = column.partition(b":")
            result.cell.add(
                row=key,
                family=family,
                qualifier=qualifier,
                timestamp=timestamp,
                value=value,
                cell_type=client_pb2.PUT,
            )
    batch = Stitching().rows(mixed, is_region_over=False)
    assert taken(batch) == [Row(b"r1", cells), Row(b"r2", cells)]


def test_a_response_that_makes_no_sense(codec: ModuleType) -> None:
    cells = [(b"f:a", 7, b"1", 4)]
    with pytest.raises(ValueError, match="1 rows, 2 notes about them"):
        Stitching().rows(answer(codec, [(b"r", cells)], [False, False]), is_region_over=False)
    damaged = answer(codec, [(b"r", cells)], [False])
    with pytest.raises(ValueError, match="no 1 cells of one row"):
        Stitching().rows(damaged._replace(frame=damaged.frame[:-1]), is_region_over=False)
