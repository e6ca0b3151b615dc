"""The judge itself: histories that are right pass, and each way of being wrong is found out."""

from __future__ import annotations

import pytest

from tests.faults.checker import (
    ChainEnd,
    Final,
    check,
    check_chain,
    check_counter,
    check_row,
    check_scan,
    check_text,
)
from tests.faults.history import History, Joined, Outcome, Read, ScanSeen, Step, Tally, Write

DONE, REFUSED, FAILED, UNKNOWN = Outcome.DONE, Outcome.REFUSED, Outcome.FAILED, Outcome.UNKNOWN

WRITES = [
    Write(1, 0, 1, DONE),
    Write(2, 2, 3, UNKNOWN),
    Write(3, 4, 5, FAILED),
    Write(None, 6, 7, DONE),
    Write(5, 8, 9, DONE),
]


@pytest.mark.parametrize(
    "reads",
    [
        [],
        [Read(None, -2, -1)],  # before anything
        [Read(None, 0.1, 0.5), Read(1, 0.1, 0.5)],  # while the first is under way
        [Read(1, 1.5, 1.8)],
        [Read(1, 3.1, 3.2), Read(2, 3.3, 3.4)],  # one that may come, even late
        [Read(1, 4.1, 4.2), Read(None, 6.5, 6.6), Read(None, 7.1, 7.2)],
        [Read(None, 7.5, 8.5), Read(5, 7.5, 8.5), Read(5, 10, 11)],
    ],
)
def test_right_reads(reads: list[Read]) -> None:
    assert list(check_row(WRITES, reads)) == []


@pytest.mark.parametrize(
    "reads",
    [
        [Read(None, 1.5, 1.8)],  # an acknowledged write is lost
        [Read(2, 1.5, 1.8)],  # from the future
        [Read(3, 5.5, 5.8)],  # one that certainly failed
        [Read(4, 10, 11)],  # never written
        [Read(1, 7.1, 7.2)],  # a deleted row is back
        [Read(None, 10, 11)],  # the last write is lost
        [Read(2, 3.1, 3.2), Read(1, 3.3, 3.4)],  # back to older
    ],
)
def test_wrong_reads(reads: list[Read]) -> None:
    assert len(list(check_row(WRITES, reads))) == 1


STABLE = frozenset((b"a", b"c", b"e"))


@pytest.mark.parametrize(
    "scan",
    [
        ScanSeen(b"", b"", None, False, True, (b"a", b"b", b"c", b"e")),
        ScanSeen(b"", b"", None, True, True, (b"e", b"c", b"a")),
        ScanSeen(b"b", b"e", None, False, True, (b"c",)),
        ScanSeen(b"", b"", 2, False, True, (b"a", b"b")),
        ScanSeen(b"", b"", 2, True, True, (b"e", b"c")),
        ScanSeen(b"", b"", 0, False, True, ()),
        ScanSeen(b"", b"", None, False, False, (b"e", b"a", b"c")),
    ],
)
def test_right_scans(scan: ScanSeen) -> None:
    assert list(check_scan(scan, STABLE)) == []


@pytest.mark.parametrize(
    "scan",
    [
        ScanSeen(b"", b"", None, False, True, (b"a", b"e")),  # missed
        ScanSeen(b"", b"", None, False, True, (b"a", b"c", b"c", b"e")),  # repeated
        ScanSeen(b"", b"", None, False, True, (b"c", b"a", b"e")),  # out of order
        ScanSeen(b"", b"", None, True, True, (b"a", b"c", b"e")),
        ScanSeen(b"b", b"e", None, False, True, (b"a", b"c")),  # outside
        ScanSeen(b"b", b"e", None, False, True, (b"c", b"e")),
        ScanSeen(b"", b"", 1, False, True, (b"a", b"c")),  # too many
        ScanSeen(b"", b"", 2, False, True, (b"a", b"e")),  # missed before the limit
        ScanSeen(b"", b"", 4, False, True, (b"a", b"c")),  # ended too early
        ScanSeen(b"", b"", None, False, False, (b"e", b"a", b"c", b"a")),
    ],
)
def test_wrong_scans(scan: ScanSeen) -> None:
    assert len(list(check_scan(scan, STABLE))) == 1


TALLIES = [Tally(1, 0, 1, DONE), Tally(None, 2, 3, UNKNOWN), Tally(None, 2, 3, FAILED)]


@pytest.mark.parametrize(
    ("more", "final"),
    [
        ([], 1),
        ([], 2),
        ([Tally(2, 4, 5, DONE)], 2),
        ([Tally(3, 4, 5, DONE)], 3),
        ([Tally(3, 4, 6, DONE), Tally(2, 4, 6, DONE)], 3),
    ],
)
def test_right_counters(more: list[Tally], final: int) -> None:
    assert list(check_counter([*TALLIES, *more], final)) == []


@pytest.mark.parametrize(
    ("more", "final"),
    [
        ([], 0),  # lost
        ([], 3),  # counted twice
        ([Tally(3, 4, 5, DONE), Tally(3, 4, 5, DONE)], 3),  # one result for two
        ([Tally(3, 4, 5, DONE), Tally(2, 6, 7, DONE)], 3),  # back to older
        ([Tally(1, 4, 5, DONE)], 2),
        ([Tally(4, 4, 5, DONE)], 2),  # a result that no step explains
        ([Tally(None, 4, 5, DONE)], 2),
    ],
)
def test_wrong_counters(more: list[Tally], final: int) -> None:
    assert list(check_counter([*TALLIES, *more], final)) != []


JOINED = [
    Joined(b"a;", b"a;", 0, 1, DONE),
    Joined(b"b;", None, 2, 3, UNKNOWN),
    Joined(b"c;", None, 2, 3, FAILED),
    Joined(b"d;", b"a;b;d;", 4, 5, DONE),
]


def test_right_texts() -> None:
    assert list(check_text(JOINED, b"a;b;d;")) == []
    assert list(check_text(JOINED[:3], b"a;")) == []


@pytest.mark.parametrize(
    "final",
    [
        b"a;b;",  # lost
        b"a;b;d;d;",  # twice
        b"a;b;b;d;",
        b"a;b;c;d;",  # one that certainly failed
        b"a;b;d;e;",  # never written
        b"a;b;d;e",
        b"d;a;b;",  # the later one first
        b"a;d;b;",  # not the returned value
        b"",
    ],
)
def test_wrong_texts(final: bytes) -> None:
    assert list(check_text(JOINED, final)) != []


STEPS = [
    Step(b"a;", b"", 0, 1, DONE),
    Step(b"b;", b"", 0.5, 1.5, REFUSED),
    Step(b"c;", b"a;", 2, 3, UNKNOWN),
    Step(b"d;", b"a;", 4, 5, FAILED),
    Step(b"e;", b"c;", 6, 7, DONE),
    Step(b"f;", b"c;", 6.5, 7.5, REFUSED),
]
LINE = {b"a;": b"", b"c;": b"a;", b"e;": b"c;"}


def test_right_chains() -> None:
    assert list(check_chain(STEPS, ChainEnd(b"e;", LINE))) == []
    assert list(check_chain(STEPS, ChainEnd(b"e;", LINE, b"a;c;e;", 3))) == []
    assert list(check_chain(STEPS[:4], ChainEnd(b"a;", {b"a;": b""}, b"a;", 1))) == []
    assert list(check_chain([], ChainEnd(b"", {}))) == []


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ([], ChainEnd(b"c;", {b"a;": b"", b"c;": b"a;"})),  # a success is lost
        ([], ChainEnd(b"e;", LINE | {b"b;": b""})),  # a refusal that was none, and a fork
        ([], ChainEnd(b"e;", LINE | {b"x;": b"e;"})),  # never written
        ([], ChainEnd(b"c;", LINE)),  # the last one is not at the end
        ([], ChainEnd(b"e;", LINE | {b"e;": b"a;"})),  # after something else than was expected
        ([], ChainEnd(b"e;", LINE, b"a;c;c;e;", 3)),  # one of them twice
        ([], ChainEnd(b"e;", LINE, b"a;c;e;", 4)),
        ([Step(b"g;", b"e;", 8, 9, REFUSED)], ChainEnd(b"e;", LINE)),  # its condition held
        ([Step(b"g;", b"a;", 1.1, 1.2, REFUSED)], ChainEnd(b"e;", LINE)),
        ([Step(b"g;", b"e;", 8, 9, FAILED)], ChainEnd(b"g;", LINE | {b"g;": b"e;"})),
    ],
)
def test_wrong_chains(more: list[Step], end: ChainEnd) -> None:
    assert list(check_chain([*STEPS, *more], end)) != []


def test_a_whole_history() -> None:
    history = History()
    history.stable = STABLE
    for write in WRITES:
        history.wrote(b"r", write)
    history.saw(b"r", Read(5, 10, 11))
    history.scanned(ScanSeen(b"", b"", None, False, True, (b"a", b"c", b"e")))
    for tally in TALLIES:
        history.tallied(b"n", tally)
    for joined in JOINED:
        history.joined_to(b"t", joined)
    for step in STEPS:
        history.stepped(b"c", step)
    final = Final({b"n": 1}, {b"t": b"a;b;d;"}, {b"c": ChainEnd(b"e;", LINE)})
    assert check(history, final) == []
    assert history.counts()["puts done"] == 3
    wrong = Final({b"n": 3}, {b"t": b"a;b;"}, {b"c": ChainEnd(b"c;", LINE)})
    history.saw(b"r", Read(1, 10, 11))
    history.saw(b"x", Read(1, 10, 11))  # a row that was never written
    history.scanned(ScanSeen(b"", b"", None, False, True, (b"a", b"e")))
    history.complain("it hangs")
    kinds = {text.split()[0] for text in check(history, wrong)}
    assert kinds == {"it", "row", "scan", "counter", "text", "chain"}
