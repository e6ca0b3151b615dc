"""The removal log: its bytes, its chain of hashes, and what breaks it."""

from __future__ import annotations

import hashlib
import threading
import uuid

import pytest

from webtable.operations import removal_log
from webtable.operations.operational_state import OperationalState
from webtable.operations.removal_log import LogEntry, RemovalLog

FIRST = (
    '{"at":"2026-09-01T12:00:00Z","state":"done","kind":"url","target":"ab","length":0,"pages":1,'
    '"captures":2,"bytes":3,"blocked":true,"previous":""'
)


def entry(number: int = 1) -> LogEntry:
    return LogEntry(
        at="2026-09-01T12:00:00Z",
        state="done",
        kind="url",
        target="ab",
        pages=number,
        captures=2,
        bytes=3,
        blocked=True,
    )


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"removal-{uuid.uuid4().hex[:8]}"
    monkeypatch.setattr(removal_log, "KIND", name)
    return name


def test_the_stored_bytes(state: OperationalState, kind: str) -> None:
    log = RemovalLog(state)
    log.append(entry())
    digest = hashlib.sha256(FIRST.encode()).hexdigest()
    assert state.items(kind) == [("000000000001", f'{FIRST},"hash":"{digest}"}}'.encode())]
    second = log.append(entry(2))
    assert second.previous == digest
    assert [each.pages for each in log.entries()] == [1, 2]
    assert log.check() == (2, None, "")


def test_threads_append_one_chain(state: OperationalState, kind: str) -> None:
    log = RemovalLog(state)

    def append() -> None:
        for number in range(5):
            log.append(entry(number))

    threads = [threading.Thread(target=append) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.check() == (15, None, "")


def test_what_breaks_the_chain(state: OperationalState, kind: str) -> None:
    log = RemovalLog(state)
    for number in range(4):
        log.append(entry(number))
    values = dict(state.items(kind))
    name = "000000000002"

    def changed(value: bytes) -> tuple[int | None, str]:
        assert state.put_if(kind, name, state.get(kind, name), value)
        found = log.check()
        assert state.put_if(kind, name, value, values[name])
        return found.broken, found.why

    assert changed(values[name].replace(b'"pages":1', b'"pages":7')) == (
        2,
        "its content was changed",
    )
    assert changed(values["000000000003"]) == (2, "it does not follow the entry before it")
    assert changed(b"x") == (2, "it does not decode")
    assert state.delete_if(kind, name, values[name])
    assert log.check()[1:] == (2, "it is missing")
