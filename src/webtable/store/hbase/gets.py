"""Gets of several threads that go to one server as one call.

What a small get costs a server and a client is mostly what any call costs. So where some gets are
under way on a connection, further ones are held, and when an answer comes they go out together;
each thread gets its own row or its own error. A get that finds the way clear goes at once: none
waits for others to come, only for an answer that is under way anyway.

A server does the gets of one call one after the other. So where the gets themselves take long, as
rows are large or disks are slow, none is held, and each goes alone beside the others.

This module may be running compiled, by Cython from this very file and the C types in `_gets.pxd`;
`pipe` imports the form that is to run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol

from google.protobuf.message import DecodeError

from webtable import compiled
from webtable.store.hbase.messages import answered_row, cut_answer, result_row
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire import NotHBase, RpcError, Server, inner_error
from webtable.store.model import Row

if TYPE_CHECKING:
    from webtable.store.hbase import frames, requests
else:
    frames = compiled.load("webtable.store.hbase", "frames")
    requests = compiled.load("webtable.store.hbase", "requests")

__all__ = ["COMPILED", "Asked", "Gets", "Sent", "body_of", "outcomes", "row_of", "rows_of"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

CALLS_UNDER_WAY = 2
MOST_TOGETHER = 32
TOGETHER_BYTES = 1 << 18
SLOW_SECONDS = 0.0005
SLOW_CALLS = 4
OVERDUE_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 0.2
LAST_PAUSE_SECONDS = 5.0

_SYSTEM = b"hbase:"
_request_frame, _read_varint = frames.request_frame, frames.read_varint
_region_field, _sized, _varint = requests.region_field, requests.sized, requests.varint
_counts_in_results = requests.counts_in_results


class Asked(Protocol):
    """A get that is to be sent: a call of `pipe`."""

    id: int
    region: bytes
    request: bytes
    seconds: float
    is_taken_back: bool


class Sent(NamedTuple):
    """Gets that were sent as one call; `sizes` says how many there are of each region."""

    calls: Sequence[Asked]
    sizes: Sequence[int]
    at: float


class Gets:
    """The gets of one connection: those that are held, and the calls that others went with.

    To be sent from by one thread at a time, and answered by one; held by any.

    Attributes:
        slow_seconds: a get that takes longer is not worth combining, its call is the least of it.
        overdue_seconds: how long the others wait for an answer at most before they go alone.
    """

    def __init__(self) -> None:
        self.slow_seconds = SLOW_SECONDS
        self.overdue_seconds = OVERDUE_SECONDS
        self._held: deque[Asked] = deque()
        self._out: dict[int, Sent] = {}
        self._bytes = 0.0
        self._slow = 0
        self._alone_until = 0.0
        self._pause = FIRST_PAUSE_SECONDS

    def at_once(self, call: Asked) -> bytes:
        """Returns a get as a call of its own where the way is clear; else holds it."""
        if self._held or self._out:
            self._held.append(call)
            return b""
        return self._alone(call)

    def take_back(self, call: Asked) -> bool:
        """Whether a get was still held; it is not any more."""
        try:
            self._held.remove(call)
        except ValueError:
            return False
        return True

    def take_back_all(self) -> list[Asked]:
        """Returns the gets that were held, and forgets the others too."""
        taken: list[Asked] = []
        self._out.clear()
        try:
            while True:
                taken.append(self._held.popleft())
        except IndexError:
            return taken

    def are_due(self) -> bool:
        """Whether to send what is held."""
        held = len(self._held)
        if not held:
            return False
        calls = len(self._out)
        if not calls or (calls < CALLS_UNDER_WAY and held >= self._under_way()):
            return True
        return self._most() < 2 or self._is_overdue()

    def next_frame(self, ids: Iterator[int]) -> bytes:
        """Returns the call that takes the next gets along; nothing where none is held any more."""
        calls: list[Asked] = []
        # Half of them: while the server is at these, the others are made ready here.
        most = min(self._most(), (len(self._held) + self._under_way() + 1) // 2)
        try:
            while not calls or len(calls) < most:
                calls.append(self._held.popleft())
        except IndexError:
            if not calls:
                return b""
        call = calls[0]
        if len(calls) == 1:
            return self._alone(call)
        by_region: dict[bytes, list[Asked]] = {}
        for call in calls:
            by_region.setdefault(call.region, []).append(call)
        ordered: list[Asked] = []
        parts: list[bytes] = []
        seconds = 0.0
        for region, members in by_region.items():
            actions = [_region_field(region)]
            for call in members:
                index = _varint(len(ordered))
                get = _sized(b"\x1a", call.request)
                actions.append(_sized(b"\x1a", b"\x08%b%b" % (index, get)))
                ordered.append(call)
                seconds = max(seconds, call.seconds)
            parts.append(_sized(b"\x0a", b"".join(actions)))
        call_id = next(ids) & 0x7FFFFFFF
        sizes = [len(members) for members in by_region.values()]
        self._out[call_id] = Sent(ordered, sizes, monotonic())
        return _request_frame(call_id, "Multi", b"".join(parts), seconds, b"")

    def answered(self, call_id: int, size: int) -> Sent | None:
        """Returns what was sent as this call, whose answer of so many bytes has come."""
        sent = self._out.pop(call_id, None)
        if sent is None:
            return None
        count = len(sent.calls)
        self._bytes += (size / count - self._bytes) / 4
        if count > 1:
            now = monotonic()
            if now - sent.at <= self.slow_seconds * count:
                self._slow = 0
                self._pause = FIRST_PAUSE_SECONDS
            else:
                # One after the other: a pause of the server's memory makes two of them slow.
                self._slow += 1
                if self._slow >= SLOW_CALLS:
                    self._go_alone(now)
        return sent

    def forget(self, pending: Mapping[int, object]) -> None:
        """Forgets the calls all of whose gets were given up."""
        for call_id, sent in list(self._out.items()):
            if not any(call.id in pending for call in sent.calls):
                self._out.pop(call_id, None)

    def _alone(self, call: Asked) -> bytes:
        self._out[call.id] = Sent([call], (1,), monotonic())
        body = b"%b%b" % (_region_field(call.region), _sized(b"\x12", call.request))
        method = "Get" if call.region.startswith(_SYSTEM) else "Get!"
        return _request_frame(call.id, method, body, call.seconds, b"")

    def _under_way(self) -> int:
        return sum(map(len, [sent.calls for sent in list(self._out.values())]))

    def _most(self) -> int:
        """How many gets may go together now."""
        if self._alone_until and monotonic() < self._alone_until:
            return 1
        size = self._bytes
        return (
            MOST_TOGETHER if size * MOST_TOGETHER <= TOGETHER_BYTES else int(TOGETHER_BYTES / size)
        )

    def _is_overdue(self) -> bool:
        """Whether nobody should wait any longer for what is under way."""
        now = monotonic()
        for sent in list(self._out.values()):
            if now - sent.at > self.overdue_seconds:
                self._go_alone(now)
                return True
        return False

    def _go_alone(self, now: float) -> None:
        self._alone_until = now + self._pause
        self._pause = min(self._pause * 2, LAST_PAUSE_SECONDS)
        self._slow = 0


def body_of(frame: bytes, body_at: int, block_bytes: int, server: Server) -> tuple[bytes, int]:
    """Returns the message of an answer, and where its cell block begins.

    Raises:
        NotHBase: it is unreadable.
    """
    block_at = len(frame) - block_bytes
    try:
        size, start = _read_varint(frame, body_at)
        if start + size > block_at:
            raise IndexError(f"{size} and {block_bytes} bytes in {len(frame)}")
    except IndexError as exc:
        raise NotHBase(f"unreadable answer: {exc}", server, maybe_applied=True) from exc
    return frame[start : start + size], block_at


def row_of(frame: bytes, body_at: int, block_bytes: int, server: Server) -> Row | None:
    """Returns the row that the answer to a get alone holds.

    Raises:
        NotHBase: it is unreadable.
    """
    message, block_at = body_of(frame, body_at, block_bytes, server)
    return answered_row(message, frame, block_at)


def outcomes(
    sent: Sent, frame: bytes, body_at: int, block_bytes: int, server: Server
) -> Sequence[Row | RpcError | None]:
    """Returns what became of each get of a call that was answered."""
    try:
        message, block_at = body_of(frame, body_at, block_bytes, server)
        return rows_of(message, frame, block_at, sent.sizes, server)
    except RpcError as exc:
        return [exc.again() for _ in sent.calls]


def rows_of(
    message: bytes, frame: bytes, at: int, sizes: Sequence[int], server: Server
) -> Sequence[Row | RpcError | None]:
    """Returns what became of each get of a call.

    Raises:
        NotHBase: the answer is unreadable.
    """
    counts = _counts_in_results(message)
    wanted = sum(sizes)
    if counts is not None and len(counts) == wanted:
        return cut_answer(frame, at, counts)
    try:
        response = client_pb2.MultiResponse.FromString(message)
    except DecodeError as exc:
        raise NotHBase(f"unreadable answer: {exc}", server, maybe_applied=True) from exc
    found: dict[int, Row | RpcError | None] = {}
    first = 0
    for result, size in zip(response.regionActionResult, sizes, strict=False):
        if result.HasField("exception"):
            for index in range(first, first + size):
                found[index] = inner_error(result.exception, server)
        for each in result.resultOrException:
            if each.HasField("exception"):
                found[each.index] = inner_error(each.exception, server)
            elif each.HasField("result"):
                found[each.index], at = result_row(each.result, frame, at)
        first += size
    if len(found) < wanted:
        raise NotHBase(f"answers to {len(found)} of {wanted} gets", server, maybe_applied=True)
    return [found.get(index) for index in range(wanted)]
