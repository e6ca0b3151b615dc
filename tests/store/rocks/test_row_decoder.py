"""Entries of RocksDB cut into rows, in plain Python and compiled, in pieces of any size."""

from __future__ import annotations

import bisect
import importlib
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable import ALL_VERSIONS, compiled
from webtable.errors import CorruptData
from webtable.store.cells_and_rows import RawCell
from webtable.store.rocks import range_reader
from webtable.store.rocks import row_decoder as plain
from webtable.store.rocks.cell_keys import TAGGED, encode_key, encode_tagged, escape
from webtable.store.rocks.open_tables import FamilyNotes, OpenFamily
from webtable.store.schema import Family

Entries: TypeAlias = list[tuple[bytes, bytes]]
Rows: TypeAlias = list[tuple[bytes, list[RawCell]]]

COMPILED = compiled.load("webtable.store.rocks", "row_decoder").COMPILED
PUT, MARKERS = 4, (8, 10, 12, 14)

cells = st.tuples(
    st.sampled_from([b"a", b"b", b"\x00\x01", b"long row"]),
    st.sampled_from([b"", b"p", b"q", b"q\x00", b"r"]),
    st.integers(0, 5),
    st.sampled_from([PUT, PUT, PUT, PUT, TAGGED, *MARKERS]),
    st.binary(max_size=3),
)


def entries_of(drawn: list[tuple[bytes, bytes, int, int, bytes]]) -> Entries:
    entries = {}
    for row, qualifier, timestamp, kind, value in drawn:
        if kind in (10, 14):
            qualifier = b""  # markers of a family stand there
        stored = {PUT: value, TAGGED: encode_tagged(value)}.get(kind, b"")
        entries[encode_key(row, qualifier, timestamp, kind)] = stored
    return sorted(entries.items())


def open_family(versions: int) -> OpenFamily:
    notes = FamilyNotes(is_tagged=False, is_marked=True)
    no_database: Any = None
    return OpenFamily(Family(name="f", versions=versions), no_database, no_database, notes)


def forms() -> list[ModuleType]:
    if not COMPILED:
        return [plain]
    return [plain, importlib.import_module("webtable.store.rocks._row_decoder")]


def cut(
    form: ModuleType, entries: Entries, view: range_reader.View, most: int, **more: object
) -> Rows:
    """Returns the rows of entries, cut in pieces of `most` rows."""
    wanted = more.get("wanted")
    family = open_family(versions=3)
    read = range_reader.FamilyRead(family, wanted)  # type: ignore[arg-type]
    cutter = form.RowCutter(
        family,
        wanted,
        view.matcher(read),
        entries,
        is_simple=view.is_simple(family),
        may_seek=False,
    )
    rows: Rows = []
    while not cutter.is_over:
        piece = cutter.take(most)
        assert len(piece) <= most + 1, "the last row may come with the one before"
        rows += piece
    return rows


@given(
    st.lists(cells, max_size=40),
    st.sampled_from([1, ALL_VERSIONS]),
    st.sampled_from([None, (escape(b"q") + b"\x00",), (b"\x00", escape(b"q\x00") + b"\x00")]),
)
def test_every_form_and_every_size_of_pieces_gives_the_same(
    drawn: list[tuple[bytes, bytes, int, int, bytes]],
    versions: int,
    wanted: tuple[bytes, ...] | None,
) -> None:
    entries, view = entries_of(drawn), range_reader.View(versions)
    expected = cut(plain, entries, view, 1000, wanted=wanted)
    assert [row for row, _ in expected] == sorted({row for row, _ in expected})
    for form in forms():
        for most in (1, 2, 1000):
            assert cut(form, entries, view, most, wanted=wanted) == expected


class Seeker:
    """Entries in a list, with the methods of an iterator of RocksDB."""

    def __init__(self, entries: Entries) -> None:
        self._entries, self._at = entries, 0

    def seek(self, target: bytes) -> None:
        self._at = bisect.bisect_left(self._entries, (target, b""))

    def valid(self) -> bool:
        return self._at < len(self._entries)

    def key(self) -> bytes:
        return self._entries[self._at][0]

    def value(self) -> bytes:
        return self._entries[self._at][1]

    def next(self) -> None:
        self._at += 1

    def status(self) -> None:
        pass


@given(
    st.lists(cells, max_size=40),
    st.sampled_from([b"", escape(b"p"), escape(b"q\x00")]),
    st.sampled_from([None, escape(b"q") + b"\x00", escape(b"r") + b"\x00"]),
    st.sampled_from([None, 0, 1, 2]),
)
def test_every_form_reads_the_same_piece_of_a_row(
    drawn: list[tuple[bytes, bytes, int, int, bytes]],
    low: bytes,
    high: bytes | None,
    most: int | None,
) -> None:
    only_puts = [each for each in drawn if each[3] == PUT]
    for entries in (entries_of(drawn), entries_of(only_puts)):
        for row in (b"a", b"b", b"\x00\x01", b"long row"):
            prefix = escape(row) + b"\x00"
            plain_cells, *others = [
                form.read_piece(open_family(3), Seeker(entries), prefix, (low, high, most))
                for form in forms()
            ]
            assert all(each == plain_cells for each in others)
            if plain_cells is not None:
                rows = dict(cut(plain, entries, range_reader.NEWEST, 1000))
                inside = [
                    cell
                    for cell in rows.get(prefix, [])
                    if low <= (name := escape(cell[0][2:]) + b"\x00")
                    and (high is None or name < high)
                ]
                assert plain_cells == inside[:most]
            else:
                assert most == 0 or len(entries) > len(entries_of(only_puts)) or low


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.__name__)
def test_rows_with_other_columns_than_the_one_before(form: ModuleType) -> None:
    wide = [(b"1", b"a"), (b"1", b"b"), (b"1", b"c")]
    entries = [
        (encode_key(row, qualifier, 7), qualifier + row)
        for row, qualifier in [*wide, (b"2", b"b"), (b"3", b"a"), (b"3", b"c"), (b"4", b"")]
    ]
    assert cut(form, entries, range_reader.NEWEST, 10) == [
        (b"1\x00", [(b"f:a", 7, b"a1", 4), (b"f:b", 7, b"b1", 4), (b"f:c", 7, b"c1", 4)]),
        (b"2\x00", [(b"f:b", 7, b"b2", 4)]),
        (b"3\x00", [(b"f:a", 7, b"a3", 4), (b"f:c", 7, b"c3", 4)]),
        (b"4\x00", [(b"f:", 7, b"4", 4)]),
    ]


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.__name__)
@pytest.mark.parametrize("key", [b"", b"\x00", b"no end", b"row\x00short", b"\x00" * 30])
def test_what_is_no_key_is_damage(form: ModuleType, key: bytes) -> None:
    with pytest.raises(CorruptData, match="not the key of a cell"):
        cut(form, [(key, b"")], range_reader.NEWEST, 1)


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.__name__)
def test_large_rows_come_few_at_a_time(form: ModuleType) -> None:
    family = open_family(versions=1)
    read = range_reader.FamilyRead(family, None)
    entries = [(encode_key(b"%04d" % n, b"q", 1), b"x" * 20_000) for n in range(50)]
    matcher = range_reader.NEWEST.matcher(read)
    cutter = form.RowCutter(family, None, matcher, entries, is_simple=True, may_seek=False)
    assert len(cutter.take(50)) < 5
