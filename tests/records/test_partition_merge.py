"""Streams of rows merged into key order: every order, every size, and how much is kept."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.records.reading import partition_merge as module
from webtable.records.reading.partition_merge import Stream, collate, in_turn
from webtable.store.cells_and_rows import Row


class Watched:
    """The rows of one partition, which count how many have been read of them."""

    def __init__(self, keys: list[bytes], partition: int, *, reverse: bool, size: int = 1) -> None:
        ordered = sorted(keys, reverse=reverse)
        self._rows = [
            Row(bytes([partition]) + key, [(b"a:q", 1, b"x" * size, 4)]) for key in ordered
        ]
        self.read = 0
        self.is_closed = False

    def __iter__(self) -> Iterator[Row]:
        try:
            for row in self._rows:
                self.read += 1
                yield row
        finally:
            self.is_closed = True


@given(
    st.lists(st.lists(st.binary(max_size=2), unique=True, max_size=120), min_size=1, max_size=6),
    st.booleans(),
)
def test_the_order_is_that_of_keys(parts: list[list[bytes]], reverse: bool) -> None:
    streams = [
        Stream(iter(Watched(keys, number, reverse=reverse))) for number, keys in enumerate(parts)
    ]
    found = [row.key[1:] for rows in collate(streams, 1, reverse=reverse) for row in rows]
    assert found == sorted((key for keys in parts for key in keys), reverse=reverse)


@pytest.mark.parametrize("reverse", [False, True])
def test_streams_that_are_resumed(reverse: bool) -> None:
    chance = random.Random(3)
    keys = [b"%05d" % number for number in range(3000)]
    parts: list[list[bytes]] = [[] for _ in range(7)]
    for key in keys:
        chance.choice(parts).append(key)

    def stream(number: int, part: list[bytes]) -> Stream:
        rows = list(Watched(part, number, reverse=reverse))

        def resume(last: bytes | None, most: int) -> Iterator[Row]:
            at = 0 if last is None else 1 + next(n for n, r in enumerate(rows) if r.key == last)
            return iter(rows[at : at + most])

        return Stream(resume=resume)

    streams = [stream(number, part) for number, part in enumerate(parts)]
    found = [row.key[1:] for rows in collate(streams, 1, reverse=reverse) for row in rows]
    assert found == sorted(keys, reverse=reverse)


def test_little_is_read_ahead_and_less_where_rows_are_large() -> None:
    for size, most_ahead in ((1, 16 * (2 * module.MOST_ROWS)), (200_000, 16 * 12)):
        watched = [
            Watched([b"%05d" % n for n in range(p, 8000, 16)], p, reverse=False, size=size)
            for p in range(16)
        ]
        handed = 0
        for rows in collate([Stream(iter(each)) for each in watched], 1, reverse=False):
            handed += len(rows)
            ahead = sum(each.read for each in watched) - handed
            if handed > 1000:  # the first pieces do not know yet how large rows are
                assert ahead <= most_ahead
        assert handed == 8000


def test_the_first_rows_cost_few_reads() -> None:
    watched = [
        Watched([b"%05d" % n for n in range(p, 8000, 16)], p, reverse=False) for p in range(16)
    ]
    found = collate([Stream(iter(each)) for each in watched], 1, reverse=False)
    assert len(next(found)) > 0
    assert sum(each.read for each in watched) <= 16 * module.FIRST_ROWS


def test_leaving_closes_every_stream() -> None:
    for merge in (lambda streams: collate(streams, 1, reverse=False), in_turn):
        watched = [Watched([b"%05d" % n for n in range(500)], p, reverse=False) for p in range(4)]
        found = merge([Stream(iter(each)) for each in watched])
        next(found)
        found.close()  # type: ignore[attr-defined]
        assert any(each.read for each in watched)
        assert all(each.is_closed for each in watched if each.read)


def test_without_order_every_row_comes_once() -> None:
    parts = [[b"%05d" % n for n in range(p, 1000, 3)] for p in range(3)]
    streams = [Stream(iter(Watched(part, p, reverse=False))) for p, part in enumerate(parts)]
    found = [row.key[1:] for rows in in_turn(streams) for row in rows]
    assert sorted(found) == list(heapq.merge(*parts))
