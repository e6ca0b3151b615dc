"""The queue of processes that wait to write an embedded store."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys

import pytest

from tests.operations.jobs.clock import HandClock
from webtable.operations.jobs import waiting_writers
from webtable.operations.jobs.leases import TAKE_AFTER_MS
from webtable.operations.jobs.waiting_writers import (
    KIND,
    WaitingWriter,
    WriterQueue,
    is_process_alive,
)
from webtable.operations.operational_state import OperationalState
from webtable.operations.sqlite_state import SqliteState


@pytest.fixture
def state(tmp_path: object) -> OperationalState:
    return SqliteState(str(tmp_path))


def test_a_process_waits_until_its_block_ends(state: OperationalState) -> None:
    queue = WriterQueue(state)
    assert not queue.is_waiting()
    with WaitingWriter(state):
        assert queue.is_waiting()
        with WaitingWriter(state):
            assert len(state.items(KIND)) == 2
        assert queue.is_waiting()
    assert not queue.is_waiting()
    assert not state.items(KIND)


def test_the_bytes_of_an_entry_are_frozen(state: OperationalState) -> None:
    with WaitingWriter(state):
        ((name, value),) = state.items(KIND)
    assert re.fullmatch(rf"{re.escape(socket.gethostname())}:{os.getpid()}:[0-9a-f]{{16}}", name)
    assert value == b'{"moves":1}'


def test_an_entry_moves_and_is_put_again_if_it_was_removed(
    state: OperationalState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_writers, "MOVE_SECONDS", 0)
    with WaitingWriter(state) as entry:
        entry.move()
        ((name, value),) = state.items(KIND)
        assert value == b'{"moves":2}'
        assert state.delete_if(KIND, name, value)
        entry.move()
        assert list(state.items(KIND)) == [(name, b'{"moves":3}')]


def test_the_entry_of_a_dead_process_of_this_machine_is_removed(state: OperationalState) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    name = f"{socket.gethostname()}:{child.pid}:01"
    assert state.put_if(KIND, name, None, b'{"moves":1}')
    assert not WriterQueue(state).is_waiting()
    assert not state.items(KIND)
    assert not is_process_alive(child.pid)
    assert is_process_alive(os.getpid())
    assert is_process_alive(1)  # of another user, or not


def test_an_entry_of_another_machine_counts_for_a_minute_after_it_moved(
    state: OperationalState,
) -> None:
    clock = HandClock()
    queue = WriterQueue(state, clock=clock)
    assert state.put_if(KIND, "elsewhere:1:01", None, b'{"moves":1}')
    assert queue.is_waiting()
    clock.pass_ms(TAKE_AFTER_MS - 1)
    assert queue.is_waiting()
    assert state.put_if(KIND, "elsewhere:1:01", b'{"moves":1}', b'{"moves":2}')
    clock.pass_ms(TAKE_AFTER_MS - 1)
    assert queue.is_waiting()
    clock.pass_ms(TAKE_AFTER_MS)
    assert not queue.is_waiting()
    assert not state.items(KIND)
