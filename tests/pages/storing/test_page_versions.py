"""Captures in any order amount to the same history."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from webtable.pages.storing.page_versions import (
    CaptureNote,
    Versions,
    counting,
    last_modified,
    versions_to_put,
)


def note(
    time: int, digest: str, *, status: int = 200, header: int | None = None, revisit: bool = False
) -> CaptureNote:
    return CaptureNote(time, digest, status, 10, "text/html", "", header, revisit)


NOTES = st.builds(note, st.integers(1, 8), st.sampled_from("abc"), header=st.none())
HISTORIES = st.lists(NOTES, min_size=1, max_size=8, unique_by=lambda each: (each.time, each.digest))


def digest_of(each: CaptureNote) -> str:
    return each.digest


class Model:
    """A page's versions, as they are after captures have come one by one."""

    def __init__(self) -> None:
        self.notes: list[CaptureNote] = []
        self.versions: dict[int, str] = {}

    def add(self, *new: CaptureNote) -> int:
        self.notes += new
        brought = {each.digest for each in new if not each.is_revisit}
        puts = versions_to_put(
            counting(self.notes),
            Versions(self.versions),
            {each.time for each in new},
            digest_of,
            lambda identity: identity in brought or identity in self.versions.values(),
        )
        self.versions.update(puts)
        return len(puts)

    def at(self, time: int) -> str | None:
        holds = Versions(self.versions).visible(time)
        return None if holds is None else self.versions[holds]


@given(HISTORIES, st.randoms(use_true_random=False))
def test_reads_as_of_any_second_do_not_depend_on_the_order(
    notes: list[CaptureNote], chance: random.Random
) -> None:
    chance.shuffle(notes)
    model = Model()
    for each in notes:
        model.add(each)
    at_once = Model()
    at_once.add(*notes)
    for time in range(10):
        counted = [each for each in counting(notes) if each.time <= time]
        expected = counted[-1].digest if counted else None
        assert model.at(time) == expected
        assert at_once.at(time) == expected


@given(HISTORIES)
def test_equal_neighbours_share_a_version_when_they_come_in_order(notes: list[CaptureNote]) -> None:
    model = Model()
    for each in sorted(notes):
        model.add(each)
    digests = [each.digest for each in counting(notes)]
    changes = sum(1 for at, digest in enumerate(digests) if at == 0 or digests[at - 1] != digest)
    # One more where several captures of one second came, and the last was as the second before.
    assert changes <= len(model.versions) <= changes + len(notes) - len(digests)


@given(HISTORIES)
def test_what_is_there_already_puts_nothing(notes: list[CaptureNote]) -> None:
    model = Model()
    model.add(*notes)
    for each in notes:
        puts = versions_to_put(
            counting(notes), Versions(model.versions), {each.time}, digest_of, lambda identity: True
        )
        assert puts == []


def test_an_older_capture_in_between_leaves_the_next_one_what_it_had() -> None:
    model = Model()
    model.add(note(1, "a"), note(3, "a"))
    assert model.versions == {1: "a"}
    model.add(note(2, "b"))
    assert model.versions == {1: "a", 2: "b", 3: "a"}


def test_captures_in_between_that_come_together_leave_the_next_one_what_it_had() -> None:
    model = Model()
    model.add(note(1, "a"), note(5, "a"))
    model.add(note(2, "b"), note(4, "b"))
    assert model.versions == {1: "a", 2: "b", 5: "a"}


def test_a_capture_without_a_version_leaves_the_next_one_what_it_had() -> None:
    model = Model()
    model.add(note(1, "a"), note(3, "c", revisit=True), note(5, "a"))
    assert model.versions == {1: "a"}
    model.add(note(2, "b"))
    assert model.versions == {1: "a", 2: "b", 5: "a"}


@given(HISTORIES, st.randoms(use_true_random=False))
def test_reads_do_not_depend_on_what_comes_together(
    notes: list[CaptureNote], chance: random.Random
) -> None:
    chance.shuffle(notes)
    parts, at_once, left = Model(), Model(), list(notes)
    while left:
        size = chance.randrange(1, len(left) + 1)
        parts.add(*left[:size])
        left = left[size:]
    at_once.add(*notes)
    assert [parts.at(time) for time in range(10)] == [at_once.at(time) for time in range(10)]


def test_of_one_second_the_greatest_digest_counts() -> None:
    model = Model()
    model.add(note(1, "b"))
    assert model.add(note(1, "a")) == 0
    assert model.add(note(1, "c")) == 1
    assert model.versions == {1: "c"}


def test_last_modified_is_what_the_header_says() -> None:
    assert last_modified([note(5, "a", header=3)]) == 3
    assert last_modified([note(5, "a", header=5)]) == 5


def test_last_modified_is_the_start_of_the_run_without_a_header_to_believe() -> None:
    assert last_modified([note(5, "a", header=6)]) == 5
    run = [note(1, "a"), note(2, "b"), note(3, "a", header=1), note(4, "a")]
    assert last_modified(run) == 3
    assert last_modified(run[:3]) == 1
    assert last_modified(run[:2]) == 2
