"""Many reads or writes at once: grouped by region and server, several groups under way at a time.

What fails is tried again by itself, entry by entry. Mutations of one row keep their order: where a
row appears more than once, a server gets its groups one after the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from webtable.errors import WebTableError
from webtable.store.hbase.cluster import CLIENT, Cluster
from webtable.store.hbase.connection import Call
from webtable.store.hbase.messages import fill_get, fill_mutation, has_nonce, result_row
from webtable.store.hbase.meta import Place
from webtable.store.hbase.proto import base_pb2, client_pb2
from webtable.store.hbase.retry import Remedy, forgotten, is_untouched, remedy_for, translate
from webtable.store.hbase.wire import RpcError, Server, inner_error
from webtable.store.model import Row
from webtable.store.mutation import Append, Delete, Durability, Mutation, Put
from webtable.store.scan import Get

__all__ = ["Multi"]

GROUP_WRITES = 1_000
GROUP_BYTES = 1 << 20
GROUPS_UNDER_WAY = 4
LEAST_READS = 10
LEAST_WRITES = 100
_BY_NAME = base_pb2.RegionSpecifier.REGION_NAME


class _Group:
    """Entries that travel together: one call, for some regions of one server."""

    def __init__(self, nonce_group: int, most_entries: int) -> None:
        self._most_entries = most_entries
        self.request = client_pb2.MultiRequest(nonceGroup=nonce_group)
        self.parts: list[bytes] = []
        self.members: list[tuple[Place, list[int]]] = []
        self.size = 0
        self.entries = 0
        self.call: Call | None = None

    def new_entry(self, place: Place, index: int) -> client_pb2.Action:
        """Returns the message to write an entry into."""
        if not self.members or self.members[-1][0] is not place:
            self.members.append((place, []))
            region = self.request.regionAction.add().region
            region.type = _BY_NAME
            region.value = place.name
        self.members[-1][1].append(index)
        self.entries += 1
        action = self.request.regionAction[-1].action.add()
        action.index = index
        return action

    def drop_entry(self, parts: int) -> None:
        """Takes back the newest entry, and what it wrote after so many parts."""
        del self.parts[parts:]
        del self.request.regionAction[-1].action[-1]
        self.members[-1][1].pop()
        self.entries -= 1

    @property
    def is_full(self) -> bool:
        """Whether it should be sent before another entry is added."""
        return self.entries >= self._most_entries or self.size >= GROUP_BYTES

    def indexes(self) -> Iterator[tuple[int, Place]]:
        """Yields the entries' positions in the whole bulk call."""
        for place, indexes in self.members:
            for index in indexes:
                yield index, place


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
        self._are_reads = bool(entries) and isinstance(entries[0], Get)
        rows = {entry.row for entry in entries}
        self._in_order = len(rows) < len(entries) and not self._are_reads
        self.outcomes: list[Row | WebTableError | None] = [None] * len(entries)

    def run(self) -> None:
        """Works through all entries.

        Raises:
            WebTableError: for a reason that holds for every entry.
        """
        pending = list(range(len(self._entries)))
        while pending:
            self._failures, self._unsent = [], []
            if self._in_order:
                pending, self._unsent = self._first_of_each_row(pending)
            waiting = len(self._unsent)
            under_way: dict[Server, deque[_Group]] = {}
            for server, placed in self._by_server(pending).items():
                self._send_all(server, placed, under_way.setdefault(server, deque()))
            for groups in under_way.values():
                while groups:
                    self._collect(groups.popleft())
            if len(self._failures) + len(self._unsent) - waiting < len(pending):
                self._attempts = self._cluster.attempts(self._shown)  # it moves: more time
            pending = sorted(self._try_again() + self._unsent)

    def _first_of_each_row(self, pending: list[int]) -> tuple[list[int], list[int]]:
        """Returns the entries to send now, and those that must wait for others of their row.

        Puts and deletes of one row may go together: a server does them in order or not at all. So
        may increments, whose order does not matter. What is of another kind waits, as a server
        goes on to it also where what came before has failed.
        """
        now, later = [], []
        kinds: dict[bytes, type] = {}
        for index in pending:
            entry = self._entries[index]
            kind = Put if isinstance(entry, Delete) else type(entry)
            before = kinds.get(entry.row)
            if before is None or (before is kind and kind is not Append):
                kinds[entry.row] = kind
                now.append(index)
            else:
                kinds[entry.row] = object  # fits none that comes after it
                later.append(index)
        return now, later

    def _by_server(self, pending: list[int]) -> dict[Server, list[tuple[Place, int]]]:
        regions, deadline = self._cluster.regions, self._attempts.deadline
        by_region: dict[bytes, list[tuple[Place, int]]] = {}
        # A row is looked for once, lest an entry finds what the one before it did not.
        found: dict[bytes, Place | RpcError] = {}
        for index in pending:
            row = self._entries[index].row
            place = found.get(row)
            if place is None:
                try:
                    place = regions.locate(self._table, row, deadline)
                except RpcError as exc:
                    place = exc
                if self._in_order:
                    found[row] = place
            if isinstance(place, RpcError):
                self._failures.append((index, None, place))
                continue
            lost = self._lost.get(index)
            if lost is not None and index in self._nonces and lost.process != place.process:
                self.outcomes[index] = forgotten(row, self._shown)
                continue
            by_region.setdefault(place.name, []).append((place, index))
        by_server: dict[Server, list[tuple[Place, int]]] = {}
        for placed in by_region.values():
            by_server.setdefault(placed[0][0].server, []).extend(placed)
        return by_server

    def _send_all(
        self, server: Server, placed: list[tuple[Place, int]], groups: deque[_Group]
    ) -> None:
        most = GROUP_WRITES
        if not self._in_order:
            # A server works through a group in one thread, so it is done sooner with several; and
            # while it works on one, the next is made here.
            least = LEAST_READS if self._are_reads else LEAST_WRITES
            most = min(max(len(placed) // GROUPS_UNDER_WAY, least), GROUP_WRITES)
        group = _Group(self._cluster.nonce_group, most)
        for at, (place, index) in enumerate(placed):
            if group.is_full:
                if not self._send(server, group, groups):
                    self._unsent.extend(index for _, index in placed[at:])
                    return
                group = _Group(self._cluster.nonce_group, most)
            parts = len(group.parts)
            try:
                self._fill(group, place, index)
            except WebTableError as exc:
                group.drop_entry(parts)
                self.outcomes[index] = exc
        if group.entries:
            self._send(server, group, groups)

    def _fill(self, group: _Group, place: Place, index: int) -> None:
        action = group.new_entry(place, index)
        entry = self._entries[index]
        if isinstance(entry, Get):
            fill_get(action.get, entry)
            return
        nonce = 0
        if has_nonce(entry):
            # Kept for every try, so that a server which did it already does not do it again.
            nonce = self._nonces.setdefault(index, self._cluster.nonce())
        group.size += fill_mutation(action.mutation, group.parts, entry, self._durability, nonce)

    def _send(self, server: Server, group: _Group, groups: deque[_Group]) -> bool:
        """Sends a group, waiting for older ones first; returns whether to go on."""
        while len(groups) >= GROUPS_UNDER_WAY:
            self._collect(groups.popleft())
        timeout = self._attempts.deadline.attempt()
        try:
            connection = self._cluster.connections.to(server, CLIENT, timeout)
            cells = b"".join(group.parts)
            group.call = connection.submit("Multi", group.request, timeout, cells)
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
        try:
            timeout = self._attempts.deadline.attempt()
            answer = group.call.wait(client_pb2.MultiResponse, timeout)
            frame, at = answer.frame, answer.block_at
            for result, (place, indexes) in zip(
                answer.message.regionActionResult, group.members, strict=False
            ):
                if result.HasField("exception"):
                    error = inner_error(result.exception, place.server)
                    self._failures.extend((index, place, error) for index in indexes)
                    continue
                for each in result.resultOrException:
                    if each.HasField("exception"):
                        error = inner_error(each.exception, place.server)
                        self._failures.append((each.index, place, error))
                    elif each.HasField("result"):
                        self.outcomes[each.index], at = result_row(each.result, frame, at)
        except RpcError as exc:
            self._failures.extend((index, place, exc) for index, place in group.indexes())

    def _try_again(self) -> list[int]:
        """Does what the failures ask for, and returns the entries to send again."""
        again: list[tuple[int, RpcError]] = []
        worst: RpcError | None = None
        moved: dict[bytes, tuple[Place, RpcError]] = {}
        for index, place, error in self._failures:
            remedy = remedy_for(error)
            if place is not None and not is_untouched(error):
                self._lost[index] = place
            if remedy is Remedy.FAIL:
                self.outcomes[index] = self._given_up(index, error)
                continue
            again.append((index, error))
            if worst is None or remedy is not Remedy.RESEND_NOW:
                worst = error
            if remedy is Remedy.RELOCATE and place is not None:
                moved[place.name] = (place, error)
        if worst is None:
            return []
        for place, error in moved.values():
            self._cluster.regions.failed(place, error, self._attempts.deadline)
        try:
            self._attempts.failed(worst)
        except WebTableError:
            for index, error in again:
                self.outcomes[index] = self._given_up(index, error)
            return []
        return [index for index, _ in again]

    def _given_up(self, index: int, error: RpcError) -> WebTableError:
        return translate(error, self._shown, maybe_applied=index in self._lost)
