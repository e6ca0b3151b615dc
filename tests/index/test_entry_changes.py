"""The quick way to plan puts of indexed rows, in both forms, against the one for any write."""

from __future__ import annotations

import importlib
import random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable import Store, compiled
from webtable.errors import CorruptData, InvalidRequest
from webtable.index import entry_changes as plain
from webtable.index.cell_encoding import Revision, encode_revision
from webtable.index.indexed_table import Change, Entry, Facts, Index, IndexedTable
from webtable.index.row_write_attempt import Moment, RowAttempt
from webtable.index.row_writer import Writer
from webtable.store.mutation import Mutation


def forms() -> list[ModuleType]:
    if compiled.load("webtable.index", "entry_changes") is plain:
        return [plain]
    return [plain, importlib.import_module("webtable.index._entry_changes")]


@pytest.fixture(params=forms(), ids=lambda form: "compiled" if form.COMPILED else "plain")
def form(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def people(embedded: Store) -> IndexedTable:
    embedded.create_table("people", "a")
    table = IndexedTable(
        embedded,
        "people",
        [
            Index("by_city", _by_city, columns=(b"a:city",)),
            Index("by_word", _by_word),
        ],
        columns=(b"a",),
        tokens=lambda: b"sometoke",
    )
    table.create_tables()
    table.check_states()
    return table


def _by_city(row: bytes, facts: Facts) -> list[Entry]:
    city = facts.get(b"a:city")
    return [] if not city else [Entry(city + b"/" + row, city[:1])]


def _by_word(row: bytes, facts: Facts) -> list[Entry]:
    return [Entry(word + b"/" + row) for word in facts.get(b"a:words", b"").split()]


def _generally(people: IndexedTable, items: list[tuple[bytes, Change]], now_ms: int) -> Any:
    writer, revisions = Writer(people), []
    writes: list[tuple[str, Mutation]] = []
    for state, (_, change) in zip(people.read_for(items), items, strict=True):
        attempt = RowAttempt(people, state, change, Moment(now_ms, 0))
        writer._add(writes, attempt)
        revisions.append(attempt.revision.number)
    return revisions, writes


def _sorted(planned: Any) -> Any:
    revisions, writes = planned
    return revisions, sorted((table, repr(mutation)) for table, mutation in writes)


@pytest.mark.parametrize("seed", range(5))
def test_it_plans_what_any_write_would(people: IndexedTable, form: Any, seed: int) -> None:
    chance = random.Random(seed)
    for turn in range(20):
        items = []
        for number in chance.sample(range(8), chance.randint(1, 8)):
            put = {b"a:%d" % turn: b"more"}
            if chance.random() < 0.7:
                put[b"a:city"] = chance.choice([b"", b"Paris", b"Rome", b"Oslo"])
            if chance.random() < 0.7:
                put[b"a:words"] = b" ".join(chance.choices([b"x", b"y", b"z"], k=3))
            items.append((b"row%d" % number, Change(put=put)))
        assert form.is_plain(items)
        now_ms = 1_000 + chance.randint(0, turn)  # the clock may go back
        found = people.read_rows(items)
        quick = form.plan_puts(people, items, found, now_ms)
        assert _sorted(quick) == _sorted(_generally(people, items, now_ms))
        people.store.commit(quick[1])


def test_what_does_more_than_put_values_is_not_plain(form: Any) -> None:
    put = {b"a:city": b"Rome"}
    assert form.is_plain([(b"1", Change(put=put)), (b"2", Change(put=put))])
    assert not form.is_plain([(b"1", Change(put=put)), (b"1", Change(put=put))])
    for other in (
        Change(put=put, delete=(b"a:x",)),
        Change(put=put, facts={}),
        Change(put=put, renew=True),
        Change(),
        lambda _: None,
    ):
        assert not form.is_plain([(b"1", other)])
    for row in (b"", b"x" * 40_000, "text"):
        assert not form.is_plain([(row, Change(put=put))])


def test_what_is_pending_is_left_to_others(people: IndexedTable, form: Any) -> None:
    people.table.put(b"1", {people.pending_column: b"\x01something"})
    item = (b"1", Change(put={b"a:city": b"Rome"}))
    assert form.plan_puts(people, [item], people.read_rows([item]), 5) is None


def test_a_revision_that_cannot_grow_is_left_to_others(people: IndexedTable, form: Any) -> None:
    last = encode_revision(Revision(2**63 - 2, b"sometoke"))
    people.table.put(b"1", {people.revision_column: last})
    item = (b"1", Change(put={b"a:city": b"Rome"}))
    assert form.plan_puts(people, [item], people.read_rows([item]), 5) is None


def test_errors_are_reported(people: IndexedTable, form: Any) -> None:
    item = (b"1", Change(put={b"a:city": b"x" * 40_000}))
    with pytest.raises(InvalidRequest, match="40,002 bytes"):
        form.plan_puts(people, [item], [None], 5)
    people.table.put(b"1", {people.revision_column: b"short"})
    with pytest.raises(CorruptData, match="revision"):
        form.plan_puts(people, [item], people.read_rows([item]), 5)


FACTS = st.dictionaries(
    st.sampled_from([b"a:city", b"a:words"]),
    st.lists(st.sampled_from([b"x", b"y", b"z"]), max_size=4).map(b" ".join),
)


@pytest.mark.parametrize("columns", [(), (b"a:words",)], ids=["of whole rows", "of a column"])
@given(old=FACTS, new=FACTS, puts_all=st.booleans())
def test_which_entries_come_and_go(
    columns: tuple[bytes, ...], old: Facts, new: Facts, puts_all: bool
) -> None:
    index = Index("by_word", _by_word, columns=columns)
    before, after = set(_by_word(b"row", old)), set(_by_word(b"row", new))
    for form in forms():
        moved = form.moved_entries(index, b"row", old, new, puts_all)
        put, removed = ([], []) if moved is None else moved
        assert len(put) == len(set(put)), "each once"
        assert set(put) == (after if puts_all else after - before)
        assert len(removed) == len(set(removed))
        assert set(removed) == before - after
        assert moved is None or put or removed


def test_an_entry_that_cannot_be_stored_moves_nothing(form: Any) -> None:
    index = Index("by_word", _by_word, prefix=b"w/")
    with pytest.raises(InvalidRequest, match="gave the key"):
        form.moved_entries(index, b"row", {}, {b"a:words": b"x"}, False)
    # What is there already is removed, whatever its key.
    moved = form.moved_entries(index, b"row", {b"a:words": b"x"}, {}, False)
    assert moved == ([], [Entry(b"x/row")])
