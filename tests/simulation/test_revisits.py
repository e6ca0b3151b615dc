"""Revisits before their body, on a cluster: the writer that comes last completes them."""

from __future__ import annotations

import os

import pytest

from tests.simulation.pages_world import PagesBroken
from tests.simulation.revisits_world import play_revisits
from webtable.pages.storing.capture_writer import CaptureWriter
from webtable.pages.storing.waiting_revisits import WaitingRevisits

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
SCHEDULES = 20_000 if SOAK else 100
TRIES = 2_000


def test_no_revisit_lacks_a_body_that_is_stored() -> None:
    for seed in range(SCHEDULES):
        play_revisits(seed)


def is_broken() -> bool:
    for seed in range(TRIES):
        try:
            play_revisits(seed)
        except PagesBroken:
            return True
    return False


def test_the_writer_of_a_body_looks_for_revisits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WaitingRevisits, "of_bodies", lambda *_: iter(()))
    assert is_broken()


def test_the_writer_of_a_revisit_looks_for_its_body_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CaptureWriter, "_complete_late", lambda *_: None)
    assert is_broken()
