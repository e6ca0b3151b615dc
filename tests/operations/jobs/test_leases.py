"""Leases on both kinds of operational state, with a clock that the test moves."""

from __future__ import annotations

import pytest

from tests.operations.jobs.clock import HandClock
from webtable.errors import CorruptData
from webtable.operations.jobs.leases import (
    KEEP_FOR_MS,
    TAKE_AFTER_MS,
    LeaseLost,
    Leases,
    Sightings,
    StoredLease,
)
from webtable.operations.operational_state import OperationalState


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.node.originalname).replace("_", "-")


def _leases(state: OperationalState, kind: str, clock: HandClock, process: str) -> Leases:
    return Leases(state, kind, clock=clock, process=lambda: process, token=lambda: b"\x01")


def _content(old: StoredLease | None) -> bytes:
    return b"[]" if old is None else bytes(old.content)


def test_a_lease_has_one_holder_until_it_is_given_back(state: OperationalState, kind: str) -> None:
    clock = HandClock()
    one, two = _leases(state, kind, clock, "h:1"), _leases(state, kind, clock, "h:2")
    assert one.read("a") is None
    taken = one.take("a", _content)
    assert taken is not None
    lease, before = taken
    assert (lease.number, lease.content, before) == (1, b"[]", None)
    assert two.take("a", _content) is None
    lease.save(b"[1]")
    stored = two.read("a")
    assert stored is not None
    assert (stored.number, stored.beat, stored.process) == (1, 1, "h:1")
    lease.give_back(b"[2]")
    second = two.take("a", _content)
    assert second is not None
    assert (second[0].number, second[0].content) == (2, b"[2]")
    assert second[1] is not None
    assert second[1].process == ""
    assert [name for name, _ in one.read_all()] == ["a"]


def test_a_lease_that_did_not_move_for_a_minute_is_taken(
    state: OperationalState, kind: str
) -> None:
    clock, other = HandClock(), HandClock()
    one, two = _leases(state, kind, clock, "h:1"), _leases(state, kind, other, "h:2")
    taken = one.take("a", _content)
    assert taken is not None
    paused, _ = taken
    assert two.take("a", _content) is None
    other.pass_ms(TAKE_AFTER_MS - 1)
    assert two.take("a", _content) is None
    paused.renew()
    other.pass_ms(1)
    assert two.take("a", _content) is None  # it has moved
    other.pass_ms(TAKE_AFTER_MS)
    second = two.take("a", _content)
    assert second is not None
    assert second[0].number == 2
    # The holder that was paused writes nothing more.
    for write in (paused.renew, lambda: paused.save(b"[9]"), lambda: paused.give_back(b"[9]")):
        with pytest.raises(LeaseLost, match="has passed to another process"):
            write()
    assert second[0].content == b"[]"
    second[0].save(b"[3]")


def test_a_holder_confirms_after_a_pause(state: OperationalState, kind: str) -> None:
    clock = HandClock()
    taken = _leases(state, kind, clock, "h:1").take("a", _content)
    assert taken is not None
    lease, _ = taken

    def beat() -> int:
        stored = _leases(state, kind, clock, "h:2").read("a")
        assert stored is not None
        return stored.beat

    clock.pass_ms(KEEP_FOR_MS - 1)
    lease.confirm()
    assert beat() == 0
    clock.pass_ms(1)
    lease.confirm()
    assert beat() == 1


def test_the_bytes_of_a_lease_are_frozen(state: OperationalState, kind: str) -> None:
    taken = _leases(state, kind, HandClock(), "host:7").take("a", lambda old: b'{"x": 1}')
    assert taken is not None
    assert state.get(kind, "a") == (
        b'{"number":1,"beat":0,"holder":"host:7:01","content":{"x": 1}}'
    )
    taken[0].give_back(b"{}")
    assert state.get(kind, "a") == b'{"number":1,"beat":1,"holder":"","content":{}}'


def test_a_value_that_is_no_lease_is_damaged(state: OperationalState, kind: str) -> None:
    assert state.put_if(kind, "a", None, b"[]")
    with pytest.raises(CorruptData, match="does not decode"):
        _leases(state, kind, HandClock(), "h:1").take("a", _content)


def test_sightings_begin_again_when_a_value_moves() -> None:
    clock = HandClock()
    sightings = Sightings(clock)
    assert sightings.unmoved_ms("a", b"1") == 0
    clock.pass_ms(5)
    assert sightings.unmoved_ms("a", b"1") == 5
    assert sightings.unmoved_ms("a", b"2") == 0
    assert sightings.unmoved_ms("b", b"2") == 0
