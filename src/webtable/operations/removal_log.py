"""The removal log: what was removed from a store and when, in a chain of hashes.

Entries are appended to the operational state of the store, kind `removal`, and never changed. They
name no URL. The name of an entry is its number, twelve digits from 000000000001 on; the value is

    {"at": …, "state": …, "kind": …, "target": …, "length": …, "pages": …, "captures": …,
     "bytes": …, "blocked": …, "previous": …, "hash": …}

as JSON without blanks, in this order. `previous` is the hash of the entry before, and empty in the
first one. `hash` is the SHA-256, in hex, of the value without its last field: of all bytes before
`,"hash"`. So an entry that was changed, inserted or lost is found by the entries after it; the last
ones can be cut off unseen, unless their hash was recorded elsewhere. On-disk: changing this needs
a new format version. Frozen by tests/operations/test_removal_log.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from webtable.errors import CheckFailed
from webtable.operations.operational_state import OperationalState
from webtable.result_base import Value

__all__ = ["Check", "LogEntry", "RemovalLog"]

KIND = "removal"
_ATTEMPTS = 1_000
_DIGITS = 12


class LogEntry(Value, msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the removal log.

    Attributes:
        at: the time of the entry.
        state: `begun` before anything is removed, and `done` afterwards, with the counts.
            `unblocked`: an entry of the block list was removed.
        kind: `url`, `domain` or `prefix`.
        target: the SHA-256 of the row key, of the reversed host, or of the prefix.
        length: how many characters a prefix has.
        pages, captures, bytes: what was removed.
        blocked: whether it may not be stored again.
        previous: the hash of the entry before.
        hash: that of this entry.
    """

    at: str
    state: Literal["begun", "done", "unblocked"]
    kind: str
    target: str
    length: int = 0
    pages: int = 0
    captures: int = 0
    bytes: int = 0
    blocked: bool = False
    previous: str = ""
    hash: str = ""


class Check(NamedTuple):
    """Whether the chain is whole; `broken` is the number of the first entry that is not."""

    entries: int
    broken: int | None
    why: str = ""


class RemovalLog:
    """The removal log of a store."""

    def __init__(self, state: OperationalState) -> None:
        self._state = state

    def append(self, entry: LogEntry) -> LogEntry:
        """Appends an entry; returns it with its hashes. Several processes may append.

        Raises:
            CheckFailed: others appended at every one of many attempts.
        """
        for _ in range(_ATTEMPTS):
            last = self._state.items(KIND)[-1:]
            number = int(last[0][0]) + 1 if last else 1
            previous = _decoded(last[0][1]).hash if last else ""
            chained = _chained(msgspec.structs.replace(entry, previous=previous))
            value = msgspec.json.encode(chained)
            if self._state.put_if(KIND, f"{number:0{_DIGITS}}", None, value):
                return chained
        raise CheckFailed(
            f"other processes appended to the removal log {_ATTEMPTS} times", hint="try again"
        )

    def entries(self) -> Iterator[LogEntry]:
        """Yields the entries, the oldest first.

        Raises:
            CorruptData: an entry does not decode.
        """
        for _, value in self._state.items(KIND):
            yield _decoded(value)

    def check(self) -> Check:
        """Checks the chain of hashes."""
        previous, count = "", 0
        for expected, (name, value) in enumerate(self._state.items(KIND), 1):
            count += 1
            if name != f"{expected:0{_DIGITS}}":
                return Check(count, expected, "it is missing")
            try:
                entry = msgspec.json.decode(value, type=LogEntry)
            except msgspec.MsgspecError:
                return Check(count, expected, "it does not decode")
            if entry.previous != previous:
                return Check(count, expected, "it does not follow the entry before it")
            if msgspec.json.encode(_chained(entry)) != value:
                return Check(count, expected, "its content was changed")
            previous = entry.hash
        return Check(count, None)


def _chained(entry: LogEntry) -> LogEntry:
    """Returns the entry with its own hash."""
    head, _, _ = msgspec.json.encode(msgspec.structs.replace(entry, hash="")).rpartition(b',"hash"')
    return msgspec.structs.replace(entry, hash=hashlib.sha256(head).hexdigest())


def _decoded(value: bytes) -> LogEntry:
    try:
        return msgspec.json.decode(value, type=LogEntry)
    except msgspec.MsgspecError as exc:
        from webtable.errors import CorruptData

        raise CorruptData(
            f"an entry of the removal log does not decode: {value!r:.80}",
            hint="`webtable remove log --verify` names it",
        ) from exc
