"""Each rule of the leases is needed: without it, some schedule breaks a promise."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.simulation.leases_world import Broken, SteadyClock, play
from webtable.errors import RetryableError
from webtable.operations.jobs import leases
from webtable.operations.jobs.leases import Lease, Sightings, StoredLease
from webtable.operations.operational_state import OperationalState

LIMIT = 20_000


def broken_by(*, first: int = 0, **changes: Any) -> str:
    """Returns what the first schedule that breaks a promise says, from a seed on."""
    for seed in range(first, first + LIMIT):
        try:
            play(seed, **changes)
        except Broken as broken:
            return str(broken).partition("\n")[0]
    raise AssertionError(f"{LIMIT:,} schedules pass without the rule")


def test_a_lease_is_taken_only_when_it_did_not_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "is_abandoned", lambda unmoved_ms: True)
    assert "after it was moved" in broken_by()


def test_a_holder_stops_by_its_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "may_act", lambda since_sent_ms: True)
    assert "acts" in broken_by()


def test_a_holder_counts_from_before_it_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    class FromTheResponse(Lease):
        def renew(self) -> None:
            super().renew()
            self._sent_ms = self._leases.clock.elapsed_ms()

    monkeypatch.setattr(leases, "Lease", FromTheResponse)
    assert "acts" in broken_by()


def test_a_holder_reads_its_clock_again_after_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    class Once(Lease):
        def confirm(self) -> None:
            if not leases.may_act(self._leases.clock.elapsed_ms() - self._sent_ms):
                self.renew()

    monkeypatch.setattr(leases, "Lease", Once)
    assert "acts" in broken_by(first=600)


def test_a_lease_is_written_only_from_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def swap(state: OperationalState, kind: str, name: str, old: bytes | None, new: bytes) -> bool:
        number = leases.decode(kind, name, new).number
        if old is not None and leases.decode(kind, name, old).number == number:
            old = state.get(kind, name)
        return state.put_if(kind, name, old, new)

    monkeypatch.setattr(leases, "swap", swap)
    assert "became" in broken_by()


def test_a_holder_adopts_only_its_own_late_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "is_mine", lambda stored, own: True)
    assert broken_by()


def test_an_unknown_outcome_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def swap(state: OperationalState, kind: str, name: str, old: bytes | None, new: bytes) -> bool:
        try:
            return state.put_if(kind, name, old, new)
        except RetryableError:
            return True

    monkeypatch.setattr(leases, "swap", swap)
    assert broken_by()


def test_every_write_moves_the_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(lease: StoredLease) -> bytes:
        return msgspec.json.encode(msgspec.structs.replace(lease, beat=0))

    monkeypatch.setattr(leases, "encode", encode)
    assert broken_by()


def test_a_lease_that_moved_is_watched_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unmoved_ms(self: Sightings, name: str, value: bytes) -> int:
        now_ms = self._clock.elapsed_ms()
        return now_ms - self._seen.setdefault(name, (value, now_ms))[1]

    monkeypatch.setattr(Sightings, "unmoved_ms", unmoved_ms)
    assert "after it was moved" in broken_by()


def test_times_of_day_are_not_compared() -> None:
    class Settable(SteadyClock):
        def elapsed_ms(self) -> int:
            return self.now_ms()

    assert broken_by(make_clock=Settable)


def test_holders_have_different_names() -> None:
    assert "two processes" in broken_by(has_tokens=False)


def test_numbers_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "next_number", lambda old: max(old, 1))
    assert broken_by()
