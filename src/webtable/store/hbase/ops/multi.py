"""Many reads or writes at once: grouped by region and server, several groups under way at a time.

What fails is tried again by itself, entry by entry. Mutations of one row keep their order: where a
row appears more than once, a server gets its groups one after the other.

If a server rejects one put, it rejects all mutations of that region in the same call. Those
are sent once more, each as an action of its own: as many calls as before, and only the one fails.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence

from google.protobuf.message import DecodeError

from webtable.errors import BatchError, RetryableError, WebTableError, without_errors
from webtable.loggers import SLOW_SECONDS
from webtable.store.cells_and_rows import Row
from webtable.store.hbase.cluster.cluster import CLIENT, Cluster
from webtable.store.hbase.cluster.meta import Place
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import (
    Remedy,
    forgotten,
    is_untouched,
    log_slow,
    remedy_for,
    translate,
)
from webtable.store.hbase.wire.choose_compiled_connection import Call, RpcResponse
from webtable.store.hbase.wire.errors_and_responses import (
    AsBytes,
    NotHBase,
    RemoteError,
    RpcError,
    Server,
    inner_error,
)
from webtable.store.hbase.wire.requests_and_results import (
    action_field,
    done_entries,
    has_nonce,
    nonce_group_field,
    region_action,
    region_field,
    result_row,
    varint,
)
from webtable.store.mutation import Append, Delete, Durability, Mutation, Put
from webtable.store.scan import Get

__all__ = ["Multi"]

GROUP_WRITES = 1_000
GROUP_BYTES = 1 << 20
GROUPS_UNDER_WAY = 4
LEAST_READS = 10
LEAST_WRITES = 100


class _Group:
    """Entries that travel together: one call, for some regions of one server."""

    def __init__(self) -> None:
        self.cells: list[bytes] = []
        self.members: list[tuple[Place, list[int], list[bytes]]] = []
        self.call: Call | None = None

    def new_region(self, place: Place) -> tuple[list[int], list[bytes]]:
        """Returns where the entries of a region go: their positions, and their actions."""
        indexes: list[int] = []
        actions: list[bytes] = []
        self.members.append((place, indexes, actions))
        return indexes, actions

    def request(self, nonce_group: int) -> bytes:
        """Returns the call's message."""
        regions = [
            region_action(region_field(place.name) + b"".join(actions))
            for place, _, actions in self.members
        ]
        return b"".join(regions) + nonce_group_field(varint(nonce_group))

    def indexes(self) -> Iterator[tuple[int, Place]]:
        """Yields the entries' positions in the whole bulk call."""
        for place, indexes, _ in self.members:
            for index in indexes:
                yield index, place

    def is_done(self, entries: list[list[int]] | None) -> bool:
        """Whether these are all of its entries, those of each region."""
        if entries is None or len(entries) != len(self.members):
            return False
        # A server responds in the order of the rows.
        pairs = zip(entries, self.members, strict=True)
        return all(sorted(done) == sorted(indexes) for done, (_, indexes, _) in pairs)


class Multi:
    """One bulk call: its entries, and what became of them.

    `outcomes` has a row, None, or an error for each entry, in the order of the entries.
    """

    def __init__(
        self,
        cluster: Cluster,
        table: str,
        entries: Sequence[Get | Mutation],
        durability: Durability = "wal",
    ) -> None:
        self._cluster = cluster
        self._shown = table
        self._table = cluster.names.full(table)
        self._entries = entries
        self._durability = durability
        self._attempts = cluster.attempts(table)
        self._failures: list[tuple[int, Place | None, RpcError]] = []
        self._unsent: list[int] = []
        self._nonces: dict[int, int] = {}
        self._lost: dict[int, Place] = {}  # where a try may have taken effect
        self._rejected: set[int] = set()  # for good, perhaps because of other entries of the call
        self._alone: set[int] = set()  # to be sent as actions of their own
        self._are_reads = bool(entries) and isinstance(entries[0], Get)
        self._have_nonces = any(map(has_nonce, entries))
        self._is_mixed = self._have_nonces and not all(map(has_nonce, entries))
        self._under_way: dict[Server, deque[_Group]] = {}
        self._sent = self._waiting = 0
        self.rows = {entry.row for entry in entries}
        self._in_order = len(self.rows) < len(entries) and not self._are_reads
        self.outcomes: list[Row | WebTableError | None] = [None] * len(entries)

    def run(self) -> None:
        """Works through all entries.

        Raises:
            WebTableError: for a reason that holds for every entry.
        """
        self.begin()
        self.finish()

    def begin(self) -> None:
        """Sends the entries, waiting for responses only where too many are missing.

        Raises:
            WebTableError: for a reason that holds for every entry.
        """
        self._send_entries(list(range(len(self._entries))))

    def finish(self) -> None:
        """Waits for the responses, and sends again what has to be.

        Raises:
            WebTableError: for a reason that holds for every entry.
        """
        while pending := self._collect_all():
            self._send_entries(pending)

    def renew(self) -> None:
        """Gives the rest as much time as if it began now."""
        self._attempts = self._cluster.attempts(self._shown)

    def wait_longer(self, seconds: float) -> None:
        """Puts off the end of its time."""
        self._attempts.deadline.at += seconds

    def interrupted(self, first: int) -> BatchError:
        """Returns the error for mutations that no caller waits for any more."""
        count = len(self._entries)
        what = f"mutations of table '{self._shown}' were interrupted"
        error = RetryableError(what, hint="see which of them were made, and send the others again")
        return BatchError(f"{count:,} {what}", [error] * count, range(first, first + count))

    def made(self, first: int = 0) -> list[Row | None]:
        """Returns what became of mutations, whose positions count from `first`.

        Raises:
            BatchError: some failed.
        """
        return without_errors(self.outcomes, f"mutations of table '{self._shown}' failed", first)

    def _send_entries(self, pending: list[int]) -> None:
        self._failures, self._unsent = [], []
        if self._in_order or self._is_mixed:
            pending, self._unsent = self._first_of_each_row(pending)
        self._sent, self._waiting = len(pending), len(self._unsent)
        for server, placed in self._by_server(pending).items():
            self._send_all(server, placed, self._under_way.setdefault(server, deque()))

    def _collect_all(self) -> list[int]:
        """Waits for everything that is under way, and returns the entries to send next."""
        for groups in self._under_way.values():
            while groups:
                self._collect(groups.popleft())
        if len(self._failures) + len(self._unsent) - self._waiting < self._sent:
            self.renew()  # it moves: more time
        return sorted(self._try_again() + self._unsent)

    def _first_of_each_row(self, pending: list[int]) -> tuple[list[int], list[int]]:
        """Returns the entries to send now, and those that must wait for others of their row.

        Puts and deletes of one row may go together: a server does them in order or not at all. So
        may increments, whose order does not matter. What is of another kind waits, as a server
        goes on to it also where what came before has failed; and so does what is sent alone.

        Increments and appends never go in one call with puts: a server of HBase 2.6.4 that rejects
        one of the puts may respond to the increments after it with memory that it has freed,
        which crashes it (docs/explain/hbase-differences.md).
        """
        now, later = [], []
        is_mixed, first = self._is_mixed, has_nonce(self._entries[pending[0]])
        kinds: dict[bytes, type] = {}
        for index in pending:
            entry = self._entries[index]
            kind: type = Put if isinstance(entry, Delete) else type(entry)
            if kind is Append or index in self._alone:
                kind = object  # fits none
            before = kinds.get(entry.row)
            fits = before is None or (before is kind and kind is not object)
            if fits and not (is_mixed and has_nonce(entry) != first):
                kinds[entry.row] = kind
                now.append(index)
            else:
                kinds[entry.row] = object
                later.append(index)
        return now, later

    def _by_server(self, pending: list[int]) -> dict[Server, list[tuple[Place, list[int]]]]:
        by_region: dict[bytes, tuple[Place, list[int]]] = {}
        # A row is looked for once, lest an entry finds what the one before it did not.
        found: dict[bytes, Place | RpcError] = {}
        entries, locate = self._entries, self._cluster.regions.locate
        table, deadline = self._table, self._attempts.deadline
        for index in pending:
            row = entries[index].row
            place = found.get(row) if self._in_order else None
            if place is None:
                try:
                    place = locate(table, row, deadline)
                except RpcError as exc:
                    place = exc
                if self._in_order:
                    found[row] = place
            if isinstance(place, RpcError):
                self._failures.append((index, None, place))
                continue
            if self._lost:
                lost = self._lost.get(index)
                if lost is not None and index in self._nonces and lost.process != place.process:
                    self.outcomes[index] = forgotten(row, self._shown)
                    continue
            members = by_region.get(place.name)
            if members is None:
                by_region[place.name] = (place, [index])
            else:
                members[1].append(index)
        by_server: dict[Server, list[tuple[Place, list[int]]]] = {}
        for placed in by_region.values():
            by_server.setdefault(placed[0].server, []).append(placed)
        return by_server

    def _send_all(
        self, server: Server, placed: list[tuple[Place, list[int]]], groups: deque[_Group]
    ) -> None:
        entries = sum(len(indexes) for _, indexes in placed)
        most = self._most_in_a_group(entries)
        left = [(place, deque(indexes)) for place, indexes in placed]
        # The first one of several is small, so that the server soon has something to do.
        is_first = not self._are_reads and entries > most
        while left:
            group = self._next_group(left, LEAST_WRITES if is_first else most)
            is_first = False
            if group.members and not self._send(server, group, groups):
                self._unsent.extend(index for _, indexes in left for index in indexes)
                return

    def _most_in_a_group(self, entries: int) -> int:
        if self._in_order:
            return GROUP_WRITES
        # A server works through a group in one thread, so it is done sooner with several; and
        # while it works on one, the next is made here.
        least = LEAST_READS if self._are_reads else LEAST_WRITES
        return min(max(entries // GROUPS_UNDER_WAY, least), GROUP_WRITES)

    def _next_group(self, left: list[tuple[Place, deque[int]]], most: int) -> _Group:
        """Returns as many of the entries that are left as should travel together."""
        entries, durability = self._entries, self._durability
        group, room = _Group(), GROUP_BYTES
        cells, alone = group.cells, self._alone
        spare = most // 2
        while left and most > 0 and room > 0:
            place, waiting = left[0]
            if most < len(waiting) <= most + spare:
                most = len(waiting)  # to a server, half a region's entries are as much trouble
            indexes, actions = group.new_region(place)
            while waiting and most > 0 and room > 0:
                index = waiting.popleft()
                before = len(cells)
                try:
                    entry = entries[index]
                    nonce = self._nonce_of(index) if self._have_nonces else 0
                    action, size = action_field(cells, index, entry, durability, nonce)
                except WebTableError as exc:
                    del cells[before:]
                    self.outcomes[index] = exc
                    continue
                if alone and indexes and (index in alone or indexes[-1] in alone):
                    indexes, actions = group.new_region(place)
                indexes.append(index)
                actions.append(action)
                most -= 1
                room -= size
            if not indexes:
                group.members.pop()
            if not waiting:
                del left[0]
        return group

    def _nonce_of(self, index: int) -> int:
        # Kept for every try, so that a server which did it already does not do it again.
        if not has_nonce(self._entries[index]):
            return 0
        nonce = self._nonces.get(index)
        if nonce is None:
            nonce = self._nonces[index] = self._cluster.nonce()
        return nonce

    def _send(self, server: Server, group: _Group, groups: deque[_Group]) -> bool:
        """Sends a group, waiting for older ones first; returns whether to go on."""
        while len(groups) >= GROUPS_UNDER_WAY:
            self._collect(groups.popleft())
        deadline = self._attempts.deadline
        try:
            connection = self._cluster.connections.to(server, CLIENT, deadline.attempt())
            request, cells = group.request(self._cluster.nonce_group), b"".join(group.cells)
            group.cells = []
            group.call = connection.submit("Multi", request, deadline.attempt(), cells)
        except RpcError as exc:
            self._failures.extend((index, place, exc) for index, place in group.indexes())
            return False
        if self._in_order:
            failures = len(self._failures)
            self._collect(group)
            return len(self._failures) == failures
        groups.append(group)
        return True

    def _collect(self, group: _Group) -> None:
        assert group.call is not None
        server = group.members[0][0].server
        try:
            began = time.monotonic()
            response = group.call.wait(AsBytes, self._attempts.deadline.attempt())
            waited = time.monotonic() - began
            if waited > SLOW_SECONDS:
                log_slow("Multi", self._shown, server, waited)
            if not self._have_nonces and group.is_done(done_entries(response.message)):
                return
            try:
                rows, failures = self._read(response, group)
            except (DecodeError, ValueError) as exc:
                raise NotHBase(f"unreadable response: {exc}", server, maybe_applied=True) from exc
            for index, row in rows.items():
                self.outcomes[index] = row
            self._failures.extend(failures)
        except RpcError as exc:
            exc.server = exc.server or server
            self._failures.extend((index, place, exc) for index, place in group.indexes())

    def _read(
        self, response: RpcResponse[AsBytes], group: _Group
    ) -> tuple[dict[int, Row | None], list[tuple[int, Place | None, RpcError]]]:
        """Returns what became of a group: results and failures, one or the other of each entry.

        Raises:
            DecodeError: the response is unreadable.
            ValueError: it is the response to another call.
            NotHBase: its cells are unreadable.
        """
        results = client_pb2.MultiResponse.FromString(response.message).regionActionResult
        rows: dict[int, Row | None] = {}
        failures: list[tuple[int, Place | None, RpcError]] = []
        at = response.block_at
        for result, (place, indexes, _) in zip(results, group.members, strict=True):
            if result.HasField("exception"):
                error = inner_error(result.exception, place.server)
                failures.extend((index, place, error) for index in indexes)
                self._rejected.update(indexes if len(indexes) > 1 else ())
                continue
            done = sorted(each.index for each in result.resultOrException)
            if done != sorted(indexes):
                raise ValueError(f"{len(done)} results for {len(indexes)} entries, or others")
            for each in result.resultOrException:
                if each.HasField("exception"):
                    error = inner_error(each.exception, place.server)
                    failures.append((each.index, place, error))
                    if len(indexes) > 1 and self._is_rejected_with_others(each.index, error):
                        self._rejected.add(each.index)
                    continue
                row, at = result_row(each.result, response.frame, at)
                if has_nonce(self._entries[each.index]):
                    if each.index in self._lost:
                        # The value that a server gives for a resend may be gone, or an older one.
                        row = None
                    elif row is None:
                        raise ValueError("an increment or append without its new value")
                rows[each.index] = row
        return rows, failures

    def _try_again(self) -> list[int]:
        """Does what the failures need, and returns the entries to send again."""
        again: list[tuple[int, RpcError]] = []
        alone: list[int] = []
        worst: RpcError | None = None
        moved: dict[bytes, tuple[Place, RpcError]] = {}
        for index, place, error in self._failures:
            remedy = remedy_for(error)
            if place is not None and not is_untouched(error):
                self._lost[index] = place
            is_alone = index in self._alone or not isinstance(error, RemoteError)
            if remedy is Remedy.FAIL and index in self._rejected and not is_alone:
                alone.append(index)
                continue
            if remedy is Remedy.FAIL:
                self.outcomes[index] = self._given_up(index, error)
                continue
            again.append((index, error))
            if worst is None or remedy is not Remedy.RESEND_NOW:
                worst = error
            if remedy is Remedy.RELOCATE and place is not None:
                moved[place.name] = (place, error)
        self._rejected.clear()
        self._alone.update(alone)
        if worst is None:
            return alone
        for place, error in moved.values():
            self._cluster.regions.failed(place, error, self._attempts.deadline)
        try:
            self._attempts.failed(worst)
        except WebTableError:
            for index, error in again:
                self.outcomes[index] = self._given_up(index, error)
            return alone
        return alone + [index for index, _ in again]

    def _is_rejected_with_others(self, index: int, error: RemoteError) -> bool:
        # Puts and deletes of a region are made together; only unknown families are reported for
        # each.
        together = isinstance(self._entries[index], Put | Delete)
        return together and error.java_class != "NoSuchColumnFamilyException"

    def _given_up(self, index: int, error: RpcError) -> WebTableError:
        entry = self._entries[index]
        return translate(
            error,
            self._shown,
            maybe_applied=index in self._lost,
            is_write=not self._are_reads,
            mutations=() if isinstance(entry, Get) else (entry,),
        )
