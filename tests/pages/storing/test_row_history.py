"""Histories with indexes: they say what the plain rules say, and one capture more costs little."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import webtable
from tests.pages.conftest import parse
from webtable.index.indexed_table import Change
from webtable.pages.captures import payload_digest
from webtable.pages.columns import BODY_OF
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import encode_note, note_qualifier
from webtable.pages.storing.page_versions import CaptureNote, Versions, counting, rank, run_start
from webtable.pages.storing.row_history import Decided, Histories, RowHistory
from webtable.store.mutation import Put

NOTES = st.builds(
    CaptureNote,
    st.integers(1, 9),
    st.sampled_from("abc"),
    st.just(200),
    st.integers(0, 2),
    st.just("text/html"),
    st.just(""),
    st.none(),
    st.booleans(),
)


@given(st.lists(NOTES, min_size=1, max_size=12), st.integers(0, 12))
def test_the_indexes_are_what_all_captures_amount_to(notes: list[CaptureNote], cache: int) -> None:
    plain: dict[tuple[int, str], CaptureNote] = {}
    for note in notes[:cache]:
        plain[note.time, note.digest] = note
    history = RowHistory(plain)
    for note in notes[cache:]:
        there = plain.get((note.time, note.digest))
        if there is not None and rank(note) <= rank(there):
            continue
        plain[note.time, note.digest] = note
        history.add(note)
        assert history.since == run_start(counting(plain.values()))
    every = plain.values()
    assert history.counted == counting(every)
    assert history.since == run_start(history.counted)
    assert history.newest == max(every, key=lambda note: (note.time, note.digest))
    assert history.waits == any(note.waits_for_body for note in every)
    for digest in "abc":
        mine = [note for note in every if note.digest == digest]
        assert set(history.waiting(digest)) == {n.time for n in mine if n.waits_for_body}
        # A revisit with a size has the body of another URL.
        firsts = [note for note in mine if not note.is_revisit or note.size]
        first = min(firsts, key=lambda n: (n.is_revisit, n.time), default=None)
        assert history.first(digest) == first
        assert history.sizes(digest) >= {n.size for n in mine if not n.waits_for_body}


@given(
    st.dictionaries(st.integers(0, 9), st.sampled_from("ab")),
    st.dictionaries(st.integers(0, 9), st.sampled_from("ab"), max_size=3),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab")), max_size=5),
)
def test_versions_are_found_as_by_a_linear_search(
    stored: dict[int, str], put: dict[int, str], later: list[tuple[int, str]]
) -> None:
    versions, plain = Versions(stored), dict(stored)
    for time, identity in [(-1, ""), *later]:
        if identity:
            versions.put(time, identity)
            plain[time] = identity
        for at in range(10):
            assert versions.visible(at) == max((t for t in plain if t <= at), default=None)
            both = {**plain, **put}
            holds = max((t for t in both if t <= at), default=None)
            found = versions.visible_with(at, put)
            assert found == (None if holds is None else (holds, both[holds]))
        for each in "ab":
            assert versions.last(each) == max((t for t in plain if plain[t] == each), default=None)


def note(time: int) -> CaptureNote:
    return CaptureNote(time, "a", 200, 1, "text/html", "", None, False)


def long_history(size: int) -> RowHistory:
    return RowHistory({(each, "a"): note(each) for each in range(size)})


def test_a_history_is_remembered_for_its_revision_and_for_one_at_a_time() -> None:
    cache = Histories()
    cache.put(b"few", 1, long_history(3))
    assert cache.pop(b"few", 1) is None
    cache.put(b"row", 7, long_history(100))
    assert cache.pop(b"row", 8) is None
    cache.put(b"row", 7, long_history(100))
    history = cache.pop(b"row", 7)
    assert history is not None
    assert cache.pop(b"row", 7) is None
    column = b"captures:" + note_qualifier(note(500))
    values = {column: encode_note(note(500)), BODY_OF: b"a"}
    change = Change(more=[Put(b"row", values, timestamp=500_000)], facts={})
    cache.update(b"row", Decided(7, history, change), 8)
    history = cache.pop(b"row", 8)
    assert history is not None
    assert history.newest == note(500)
    assert history.bodies.visible(600) == 500


def test_the_oldest_histories_are_forgotten() -> None:
    cache = Histories()
    for number in range(30):
        cache.put(b"%d" % number, 1, long_history(10_000))
    assert cache.pop(b"0", 1) is None
    assert cache.pop(b"29", 1) is not None


URL = "https://many.example/"
_PAGES = os.path.join("webtable", "pages")


def capture(number: int, *, is_same: bool, status: int) -> NewCapture:
    body = b"same" if is_same else b"word%d" % number
    fetched = 1_700_000_000 + 60 * number
    about = CaptureNote(
        fetched, payload_digest(body), status, len(body), "text/html", "", None, False
    )
    return NewCapture(URL, about, body, parse(URL, body, "")._replace(context=""))


class Lines:
    """Counts the lines of `webtable.pages` that are run. The engine reads 32 versions first."""

    def __init__(self) -> None:
        self.count = 0

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if _PAGES not in frame.f_code.co_filename:
            return None
        self.count += event == "line"
        return self.trace


@pytest.mark.parametrize("order", ["forward", "backward", "random"])
@pytest.mark.parametrize(("is_same", "status"), [(False, 200), (True, 200), (True, 404)])
def test_a_capture_more_costs_the_same_for_a_page_with_many(
    order: str, is_same: bool, status: int, tmp_path: Path
) -> None:
    captures = [capture(each, is_same=is_same, status=status) for each in range(820)]
    if order == "backward":
        captures.reverse()
    elif order == "random":
        random.Random(1).shuffle(captures)
    costs = []
    with webtable.open(str(tmp_path / "store")) as store:
        pages = PageTable.create(store, parse, profile="archive")
        for start, stop in ((0, 200), (220, 800)):
            pages.store_captures(captures[start:stop])
            lines = Lines()
            before = sys.gettrace()
            sys.settrace(lines.trace)
            for each in captures[stop : stop + 20]:
                pages.store_captures([each])
            sys.settrace(before)
            costs.append(lines.count)
        assert len(pages.captures(URL)) == 820
    # A list of four times the length is halved twice more often.
    assert costs[1] < 1.3 * costs[0], costs
