"""The maintenance of regions: sizes, flushes and compactions, at the region servers themselves.

All regions of a table are worked on in parallel. A region that is split or merged meanwhile is
replaced by the regions that have its rows now, so that nothing of the table is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from google.protobuf.message import Message

from webtable.errors import FamilyNotFound
from webtable.store.admin_results import CompactionState, FamilyStats, Region, TableStats
from webtable.store.hbase.admin.master_client import MasterClient, wait_for
from webtable.store.hbase.admin.region_list import MEGABYTE, RegionList, RegionRow, compaction_of
from webtable.store.hbase.admin.servers import ServerAdmin
from webtable.store.hbase.admin.tables import TableAdmin
from webtable.store.hbase.cluster.cluster import ADMIN, address_region
from webtable.store.hbase.cluster.meta import Place
from webtable.store.hbase.proto import admin_pb2, base_pb2, status_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.errors_and_responses import RpcError, Server

__all__ = ["RegionMaintenance"]

M = TypeVar("M", bound=Message)
_LOAD_SECONDS = 10.0


class RegionGone(Exception):
    """A region does not exist any more: it was split or merged."""


class RegionMaintenance:
    """Maintains the files of regions; see `Admin` for the contract of each method."""

    def __init__(
        self,
        master: MasterClient,
        tables: TableAdmin,
        region_list: RegionList,
        servers: ServerAdmin,
    ) -> None:
        self._master = master
        self._tables = tables
        self._region_list = region_list
        self._servers = servers

    # Sizes

    def regions(self, table: str | None = None, *, server: str | None = None) -> list[Region]:
        """Returns regions with their load; see `Admin.regions`."""
        rows = (
            self._region_list.of_all_tables()
            if table is None
            else self._region_list.of_table(self._master.full_name(table))
        )
        if server is not None:
            chosen = self._servers.live_server(server)
            rows = [row for row in rows if row.server == chosen]
        name = None if table is None else self._master.name_message(table)
        loads = self._loads(rows, name)
        found = [
            row.region(self._master.shown_name(row.table), loads.get(row.name)) for row in rows
        ]
        return found if table is not None else sorted(found, key=lambda each: each.table)

    def region(self, name: str) -> Region:
        """Returns one region; see `Admin.region`."""
        row = self._region_list.find(name)
        shown = self._master.shown_name(row.table)
        return row.region(shown, self._loads([row], self._master.name_message(shown)).get(row.name))

    def stats(self, table: str) -> TableStats:
        """Returns a table's sizes; HBase does not count its cells.

        HBase reports sizes by region only, in whole megabytes, so a family has one only where it is
        alone in its table.
        """
        names = [family.name for family in self._tables.describe_table(table).families]
        rows = self._region_list.of_table(self._master.full_name(table))
        loads = self._loads(rows, self._master.name_message(table))
        disk = memory = None
        if len(loads) == len(rows):
            disk = sum(load.storefile_size_MB for load in loads.values()) * MEGABYTE
            memory = sum(load.mem_store_size_MB for load in loads.values()) * MEGABYTE
        files = self._files_by_family(table, rows) if disk is not None else {}
        alone = len(names) == 1
        families = [
            FamilyStats(
                family=name,
                disk_bytes=disk if alone else None,
                memory_bytes=memory if alone else None,
                cells=None,
                files=files.get(name, 0) if disk is not None else None,
            )
            for name in names
        ]
        return TableStats(table, tuple(families), disk, memory)

    def compaction_state(self, table: str) -> CompactionState:
        """Returns what is being compacted; see `Admin.compaction_state`."""
        rows = self._region_list.of_enabled_table(table)
        loads = self._loads(rows, self._master.name_message(table)).values()
        states = {compaction_of(load) for load in loads} - {None, "NONE"}
        if not states:
            return "NONE"
        return "MAJOR_AND_MINOR" if len(states) > 1 else states.pop() or "NONE"

    def _loads(
        self, rows: Sequence[RegionRow], table: base_pb2.TableName | None
    ) -> dict[bytes, status_pb2.RegionLoad]:
        """Returns what their servers report about regions just now, of those that respond."""
        servers = sorted({row.server.address for row in rows if row.server is not None})
        wanted = {row.name for row in rows}
        found = self._master.in_parallel(lambda server: self._loads_on(server, table), servers)
        return {name: load for loads in found for name, load in loads.items() if name in wanted}

    def _loads_on(
        self, server: Server, table: base_pb2.TableName | None
    ) -> dict[bytes, status_pb2.RegionLoad]:
        request = admin_pb2.GetRegionLoadRequest(table_name=table)
        kind = admin_pb2.GetRegionLoadResponse
        for _ in range(2):  # a connection that broke while it was idle is made again
            try:
                connection = self._master.cluster.connections.to(server, ADMIN, _LOAD_SECONDS)
                response = connection.call("GetRegionLoad", request, kind, _LOAD_SECONDS)
            except RpcError:
                continue
            return {load.region_specifier.value: load for load in response.message.region_loads}
        return {}

    def _files_by_family(self, table: str, rows: Sequence[RegionRow]) -> dict[str, int]:
        def count(place: Place) -> None:
            for path in self._files(place, self._master.cluster.attempts(table)):
                family = path.split("/")[-2]
                counts[family] = counts.get(family, 0) + 1

        counts: dict[str, int] = {}
        self.each_region(rows, count)
        return counts

    # Flushes

    def flush(self, table: str, family: str | None = None) -> None:
        """Writes what is in memory to files; returns when nothing is left in memory."""
        self._master.check_writable()
        self._flush_rows(self._region_list.of_enabled_table(table), table, family)

    def flush_region(self, region: str | Region, family: str | None = None) -> None:
        """Flushes one region; see `Admin.flush_region`."""
        self._master.check_writable()
        row = self._region_list.find_enabled(region)
        self._flush_rows([row], self._master.shown_name(row.table), family)

    def _flush_rows(self, rows: Sequence[RegionRow], table: str, family: str | None) -> None:
        if family is None:
            self.each_region(rows, self.flush_place)
            return
        chosen = self._family(table, family)

        def flush(place: Place) -> None:
            # No server reports what a single family has in memory: one response has to do.
            request = admin_pb2.FlushRegionRequest(family=chosen)
            kind = admin_pb2.FlushRegionResponse
            self._on_region(
                place, "FlushRegion", request, kind, self._master.change_attempts(table)
            )

        self.each_region(rows, flush)

    def flush_server(self, server: str) -> None:
        """Flushes the regions of one server; see `Admin.flush_server`."""
        self._master.check_writable()
        chosen = self._servers.live_server(server)
        self.each_region(
            [row for row in self._region_list.of_all_tables() if row.server == chosen],
            self.flush_place,
        )

    def flush_place(self, place: Place) -> None:
        """Flushes one region at the server that has it."""
        attempts = self._master.change_attempts(self._master.shown_name(place.table))

        def is_flushed() -> bool:
            request = admin_pb2.FlushRegionRequest()
            kind = admin_pb2.FlushRegionResponse
            response = self._on_region(place, "FlushRegion", request, kind, attempts)
            # "Not flushed" may mean that there was nothing, or that the region could not just now.
            return response.flushed or self._is_memory_empty(place)

        wait_for(is_flushed, attempts, f"flushing table '{attempts.table}'")

    def _is_memory_empty(self, place: Place) -> bool:
        # When the region is no longer there, its size is unknown, and the next call will find it.
        table = self._master.name_message(self._master.shown_name(place.table))
        load = self._loads_on(place.server, table).get(place.name)
        return load is not None and load.mem_store_size_MB == 0  # rounded up: 0 means empty

    # Compactions

    def major_compact(self, table: str) -> None:
        """Flushes and rewrites all files; returns when the old ones are out of use."""
        self.compact(table, major=True)

    def compact(
        self, table: str, family: str | None = None, *, major: bool = False, wait: bool = True
    ) -> None:
        """Compacts a table; see `Admin.compact`."""
        self._master.check_writable()
        rows = self._region_list.of_enabled_table(table)
        self._compact_rows(rows, table, family, major=major, wait=wait)

    def compact_region(
        self,
        region: str | Region,
        family: str | None = None,
        *,
        major: bool = False,
        wait: bool = True,
    ) -> None:
        """Compacts one region; see `Admin.compact_region`."""
        self._master.check_writable()
        row = self._region_list.find_enabled(region)
        self._compact_rows(
            [row], self._master.shown_name(row.table), family, major=major, wait=wait
        )

    def _compact_rows(
        self,
        rows: Sequence[RegionRow],
        table: str,
        family: str | None,
        *,
        major: bool,
        wait: bool,
    ) -> None:
        families = [] if family is None else [self._family(table, family)]
        # A compaction keeps what scanners that are still open could read.
        self._master.cluster.finish_background()

        def work(place: Place) -> None:
            if major:
                self.flush_place(place)
            if not wait:
                self._request(place, families, self._master.change_attempts(table), major=major)
            elif major:
                self._rewrite(place, families)
            else:
                attempts = self._master.change_attempts(table)
                self._request(place, families, attempts, major=False)
                self._wait_until_idle(place, attempts)

        self.each_region(rows, work)

    def _rewrite(self, place: Place, families: Sequence[bytes]) -> None:
        attempts = self._master.change_attempts(self._master.shown_name(place.table))
        old = self._files(place, attempts, families)
        if not old:
            return

        def is_compacted() -> bool:
            # A compaction that runs already keeps a major one from starting. So: let it end,
            # start ours, let that end, and trust it only when every old file is removed.
            self._wait_until_idle(place, attempts)
            self._request(place, families, attempts, major=True)
            self._wait_until_idle(place, attempts)
            return old.isdisjoint(self._files(place, attempts, families))

        wait_for(is_compacted, attempts, f"the compaction of table '{attempts.table}'")

    def _request(
        self, place: Place, families: Sequence[bytes], attempts: Attempts, *, major: bool
    ) -> None:
        kind = admin_pb2.CompactRegionResponse
        request = admin_pb2.CompactRegionRequest(major=major)
        if families:
            request.family = families[0]
        self._on_region(place, "CompactRegion", request, kind, attempts)

    def _wait_until_idle(self, place: Place, attempts: Attempts) -> None:
        def is_idle() -> bool:
            request = admin_pb2.GetRegionInfoRequest(compaction_state=True)
            kind = admin_pb2.GetRegionInfoResponse
            response = self._on_region(place, "GetRegionInfo", request, kind, attempts)
            return response.compaction_state == kind.NONE

        wait_for(is_idle, attempts, f"the compaction of table '{attempts.table}'")

    def _files(
        self, place: Place, attempts: Attempts, families: Sequence[bytes] = ()
    ) -> frozenset[str]:
        request = admin_pb2.GetStoreFileRequest(family=families)
        kind = admin_pb2.GetStoreFileResponse
        response = self._on_region(place, "GetStoreFile", request, kind, attempts)
        return frozenset(response.store_file)

    def _family(self, table: str, family: str) -> bytes:
        families = [each.name for each in self._tables.describe_table(table).families]
        if family not in families:
            raise FamilyNotFound(table, family, families)
        return family.encode()

    # Regions that are split or merged meanwhile

    def each_region(self, rows: Sequence[RegionRow], work: Callable[[Place], None]) -> None:
        """Does some work in regions, and in their successors when they were split or merged."""

        def one(row: RegionRow) -> list[RegionRow]:
            try:
                work(row.place() or self._located(row))
            except RegionGone:
                return [
                    other for other in self._region_list.of_table(row.table) if _overlap(row, other)
                ]
            return []

        waiting = list(rows)
        while waiting:
            gone = self._master.in_parallel(one, waiting)
            # Two that were merged leave one successor.
            waiting = list({row.name: row for found in gone for row in found}.values())

    def _located(self, region: RegionRow | Place) -> Place:
        """Returns where a region is now, as soon as some server has it."""

        def find(attempts: Attempts) -> Place:
            return self._master.cluster.regions.locate(
                region.table, region.start, attempts.deadline
            )

        place = self._master.retry(find, self._master.shown_name(region.table))
        if place.name != region.name:
            raise RegionGone(region.name)
        return place

    def _on_region(
        self, place: Place, method: str, request: Message, kind: type[M], attempts: Attempts
    ) -> M:
        """Calls the server of exactly this region, wherever it goes.

        Raises:
            RegionGone: it was split or merged away.
        """
        deadline = attempts.deadline
        while True:
            try:
                address_region(request, place)
                server = place.server
                connection = self._master.cluster.connections.to(server, ADMIN, deadline.attempt())
                return connection.call(method, request, kind, deadline.attempt()).message
            except RpcError as exc:
                self._master.cluster.recover(place, exc, attempts)
            place = self._located(place)


def _overlap(one: RegionRow, other: RegionRow) -> bool:
    begins_before = not one.stop or other.start < one.stop
    return begins_before and (not other.stop or one.start < other.stop)
