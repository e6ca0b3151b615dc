"""Leases: a value of operational state that one process at a time may change.

A lease is a counter that its holder moves. The value has that counter and the content that the
lease protects, so a single compare-and-set proves that a writer still holds the lease and writes.

    kind:name    JSON: {"number": 3, "beat": 17, "holder": "host:pid:token", "content": …}

    number   grows by one each time the lease is taken, and never goes back
    beat     grows with each write of one holder
    holder   empty where the lease was given back

On-disk: changing this needs a new format version. Frozen by tests/operations/jobs/test_leases.py.

Another process takes a lease after it has seen the same value for `TAKE_AFTER_MS` on its own
monotonic clock; times of day are never compared. A holder stops earlier, `KEEP_FOR_MS` after it
sent its last successful write. A holder that was paused for longer may still act once, between two
calls. Then its next write fails, because the value has changed: no two writes of one lease have
the same bytes. So what a holder does elsewhere must be idempotent, or part of the content.
`tests/simulation/test_leases_rules.py` shows that each of these rules is needed.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator

import msgspec

from webtable.errors import ConflictError, CorruptData, RetryableError
from webtable.index.write_protocol import Clock, SystemClock, new_token
from webtable.operations.operational_state import OperationalState

__all__ = [
    "BEAT_MS",
    "KEEP_FOR_MS",
    "TAKE_AFTER_MS",
    "Lease",
    "LeaseLost",
    "Leases",
    "Sightings",
    "StoredLease",
    "process_name",
]

TAKE_AFTER_MS = 60_000
"""A lease that did not move for so long may be taken."""
KEEP_FOR_MS = 45_000
"""A holder acts for so long after a write; the rest allows for clocks of different speed."""
BEAT_MS = 10_000
"""A holder moves its lease this often."""

_ATTEMPTS = 5


class LeaseLost(ConflictError):
    """Another process took the lease, because its counter did not move for a minute."""

    code = "lease-lost"


class StoredLease(msgspec.Struct, frozen=True):
    """A lease as it is stored; see the top of the module."""

    number: int
    beat: int
    holder: str
    content: msgspec.Raw

    @property
    def process(self) -> str:
        """The holder as `host:pid`; empty where the lease is free."""
        return self.holder.rpartition(":")[0]


def is_abandoned(unmoved_ms: int) -> bool:
    """A lease that did not move for so long belongs to a process that died, or stands still."""
    return unmoved_ms >= TAKE_AFTER_MS


def may_act(since_sent_ms: int) -> bool:
    """A holder acts only for some time after it sent its last successful write."""
    return since_sent_ms < KEEP_FOR_MS


def next_number(old: int) -> int:
    """Each holder has a greater number than all before it, which fences what they still do."""
    return old + 1


def is_mine(stored: StoredLease, own: StoredLease) -> bool:
    """Whether a value that this holder did not expect is a late write of its own."""
    return (stored.number, stored.holder) == (own.number, own.holder)


def process_name() -> str:
    """Returns the name of this process: its host and its number."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Sightings:
    """For how long this process has seen values unmoved, by its own monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[bytes, int]] = {}

    def unmoved_ms(self, name: str, value: bytes) -> int:
        """Returns for how long a value that was just read has been the same."""
        now_ms = self._clock.elapsed_ms()
        before, since_ms = self._seen.get(name, (b"", now_ms))
        if before != value:
            since_ms = now_ms
        self._seen[name] = (value, since_ms)
        return now_ms - since_ms


class Leases:
    """The leases of one kind, for one process. Threads may share it, each with other names.

    Args:
        process, token: make the name of a holder.
    """

    def __init__(
        self,
        state: OperationalState,
        kind: str,
        *,
        clock: Clock | None = None,
        process: Callable[[], str] = process_name,
        token: Callable[[], bytes] = new_token,
    ) -> None:
        self.state = state
        self.kind = kind
        self.clock: Clock = clock or SystemClock()
        self._process = process
        self._token = token
        self._sightings = Sightings(self.clock)

    def read(self, name: str) -> StoredLease | None:
        """Returns a lease as it is stored; None if it was never taken."""
        raw = self.state.get(self.kind, name)
        return None if raw is None else decode(self.kind, name, raw)

    def read_all(self) -> Iterator[tuple[str, StoredLease]]:
        """Yields all leases of this kind by their names."""
        for name, raw in self.state.items(self.kind):
            yield name, decode(self.kind, name, raw)

    def take(
        self, name: str, change: Callable[[StoredLease | None], bytes]
    ) -> tuple[Lease, StoredLease | None] | None:
        """Takes a lease that is free, or that this process has seen unmoved for long enough.

        Returns the lease and what was stored before; None where another process holds it, or is
        quicker. Call it again and again: each call sees whether the lease has moved.

        Args:
            change: returns the new content, as JSON, from what is stored.
        """
        raw = self.state.get(self.kind, name)
        old = None if raw is None else decode(self.kind, name, raw)
        # The monotonic clock is read after the value was: the holder had sent it before.
        is_held = raw is not None and old is not None and bool(old.holder)
        if is_held and not is_abandoned(self._sightings.unmoved_ms(name, raw or b"")):
            return None
        number = next_number(0 if old is None else old.number)
        holder = f"{self._process()}:{self._token().hex()}"
        new = StoredLease(number, 0, holder, msgspec.Raw(change(old)))
        sent_ms = self.clock.elapsed_ms()
        if not swap(self.state, self.kind, name, raw, encode(new)):
            return None
        return Lease(self, name, new, sent_ms), old


class Lease:
    """A lease that this process holds. Two threads may share it: one works, one moves it.

    Attributes:
        process: the name of this process.
    """

    def __init__(self, leases: Leases, name: str, stored: StoredLease, sent_ms: int) -> None:
        self._leases = leases
        self._name = name
        self._stored = stored
        self._sent_ms = sent_ms
        self._lock = threading.Lock()
        self.process = stored.process

    @property
    def number(self) -> int:
        """The number that fences what this holder does: later holders have greater ones."""
        return self._stored.number

    @property
    def content(self) -> bytes:
        """The content as this holder has read or written it last."""
        return bytes(self._stored.content)

    def confirm(self) -> None:
        """Makes sure that the lease is still held; costs nothing for some time after a write.

        Raises:
            LeaseLost: another process has taken it.
        """
        # Again after a write: this process may have been paused while it waited for the response.
        while not may_act(self._leases.clock.elapsed_ms() - self._sent_ms):
            self.renew()

    def renew(self) -> None:
        """Moves the counter. Raises what `save` does."""
        with self._lock:
            self._write(bytes(self._stored.content), self._stored.holder)

    def save(self, content: bytes) -> None:
        """Writes the content, as JSON, and moves the counter.

        Raises:
            LeaseLost: another process has taken the lease; nothing was written.
            RetryableError: it is unknown whether it was written.
        """
        with self._lock:
            self._write(content, self._stored.holder)

    def give_back(self, content: bytes) -> None:
        """Writes the content and ends the lease. Raises what `save` does."""
        with self._lock:
            self._write(content, "")

    def _write(self, content: bytes, holder: str) -> None:
        leases, own = self._leases, self._stored
        for _ in range(_ATTEMPTS):
            old = self._stored
            new = StoredLease(old.number, old.beat + 1, holder, msgspec.Raw(content))
            # Before it is sent: other processes see the new value later than this.
            sent_ms = leases.clock.elapsed_ms()
            done = swap(leases.state, leases.kind, self._name, encode(old), encode(new))
            raw = None if done else leases.state.get(leases.kind, self._name)
            if done or raw == encode(new):
                self._stored, self._sent_ms = new, sent_ms
                return
            found = None if raw is None else decode(leases.kind, self._name, raw)
            if found is None or not is_mine(found, own):
                raise LeaseLost(
                    f"the lease of {leases.kind} '{self._name}' has passed to another process",
                    hint="this process did not move it for a minute; nothing is to be done",
                )
            # A write whose outcome was unknown has taken effect late, or is still under way.
            self._stored = found
        raise RetryableError(
            f"the lease of {leases.kind} '{self._name}' was not written",
            hint="the store does not respond; try again",
        )


def swap(state: OperationalState, kind: str, name: str, old: bytes | None, new: bytes) -> bool:
    """Replaces a value; after an unknown outcome, reads what is stored."""
    try:
        return state.put_if(kind, name, old, new)
    except RetryableError:
        return state.get(kind, name) == new


def encode(lease: StoredLease) -> bytes:
    """Returns the bytes of a lease."""
    return msgspec.json.encode(lease)


def decode(kind: str, name: str, raw: bytes) -> StoredLease:
    """Returns a lease from its bytes.

    Raises:
        CorruptData: they are not those of a lease.
    """
    try:
        return msgspec.json.decode(raw, type=StoredLease)
    except msgspec.DecodeError as exc:
        raise CorruptData(
            f"the lease of {kind} '{name}' does not decode: {exc}",
            hint="use the version of webtable that wrote it, or a newer one",
        ) from exc
