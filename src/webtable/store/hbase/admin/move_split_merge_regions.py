"""Moves, splits and merges of regions, and regions out of service, through the master."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, RegionBusy, UsageError
from webtable.store.admin import check_regions
from webtable.store.admin_results import Region
from webtable.store.hbase.admin.master_client import (
    MasterClient,
    Procedure,
    on_rejection,
    wait_for,
)
from webtable.store.hbase.admin.region_list import OPEN, RegionList, RegionRow, ServerId, gone
from webtable.store.hbase.admin.region_maintenance import RegionMaintenance
from webtable.store.hbase.admin.servers import ServerAdmin
from webtable.store.hbase.proto import base_pb2, chores_pb2, master_pb2, status_pb2
from webtable.store.hbase.retry import Attempts, Deadline
from webtable.store.hbase.wire.errors_and_responses import RemoteError
from webtable.store.mutation import check_row_key

__all__ = ["RegionAdmin"]

MOVE_PATIENCE_SECONDS = 10.0
MOVE_PAUSE_SECONDS = 0.5
_PASSING = re.compile("snapshot|in transition|not OPEN|not online|Unexpected state", re.IGNORECASE)


class RegionAdmin:
    """Moves, splits, merges and assigns regions; see `Admin` for the contract of each method."""

    def __init__(
        self,
        master: MasterClient,
        region_list: RegionList,
        servers: ServerAdmin,
        maintenance: RegionMaintenance,
    ) -> None:
        self._master = master
        self._region_list = region_list
        self._servers = servers
        self._maintenance = maintenance

    def move(self, region: str | Region, server: str | None = None) -> str:
        """Moves a region; see `Admin.move`."""
        self._master.check_writable()
        row = self._region_list.find_open(region)
        attempts = self._master.change_attempts(self._master.shown_name(row.table))
        target = self._target(row, server)
        if row.server == target:
            return str(target)
        request = master_pb2.MoveRegionRequest(
            region=row.specifier, dest_server_name=target.message()
        )
        kind = master_pb2.MoveRegionResponse
        patience = Deadline(MOVE_PATIENCE_SECONDS)
        while True:
            with (
                _while_it_changes(),
                on_rejection("UnknownRegionException", lambda _: gone(row.encoded_name)),
            ):
                self._master.call("MoveRegion", request, kind, attempts)
            arrived = self._arrived(row, attempts)
            if arrived == target or patience.remaining() < 0:
                break
            # The master reports success also when it moves nothing, as to a server just started.
            time.sleep(MOVE_PAUSE_SECONDS)
        self._master.cluster.regions.forget(row.table)
        if arrived != target:
            raise RegionBusy(
                f"region '{row.encoded_name}' could not be opened by {target}, it is on {arrived}",
                hint="try again, or read the log of that server",
            )
        return str(arrived)

    def _target(self, row: RegionRow, server: str | None) -> ServerId:
        if server is not None:
            return self._servers.live_server(server)
        others = [
            (len(each.server_load.region_loads), ServerId.of(each.server))
            for each in self._master.cluster_status(status_pb2.LIVE_SERVERS).live_servers
            if ServerId.of(each.server) != row.server
        ]
        if not others:
            raise InvalidRequest(
                f"there is no other server to move region '{row.encoded_name}' to",
                hint="start another region server",
            )
        return min(others)[1]

    def _arrived(self, row: RegionRow, attempts: Attempts) -> ServerId:
        now = [row]

        def is_open() -> bool:
            now[0] = self._region_list.find(row.region(attempts.table, None))
            return now[0].server is not None

        wait_for(is_open, attempts, f"moving region '{row.encoded_name}'")
        arrived = now[0].server
        assert arrived is not None
        return arrived

    def split(self, table: str, at: bytes | None = None) -> None:
        """Splits a region of a table, or all of them; see `Admin.split`."""
        self._master.check_writable()
        rows = self._region_list.of_enabled_table(table)
        if at is not None:
            check_row_key(at)
            (row,) = [each for each in rows if _has_key(each, at)]
            self._split(row, at)
            return

        def split(row: RegionRow) -> NotSplittable | None:
            try:
                self._split(row, None)
            except NotSplittable as exc:
                return exc
            return None

        rejections = self._master.in_parallel(split, rows)
        if all(rejections):
            raise rejections[0] or AssertionError

    def split_region(self, region: str | Region, at: bytes | None = None) -> None:
        """Splits one region; see `Admin.split_region`."""
        self._master.check_writable()
        if at is not None:
            check_row_key(at)
        self._split(self._region_list.find_open(region), at)

    def _split(self, row: RegionRow, at: bytes | None) -> None:
        if at is not None and (at == row.start or not _has_key(row, at)):
            raise InvalidRequest(
                f"split key {at!r:.80} is not inside region '{row.encoded_name}'"
                f" from {row.start!r:.80} to {row.stop!r:.80}",
                hint="take a row key after its first and before its end",
            )
        if at is None:
            self._maintenance.each_region(
                [row], self._maintenance.flush_place
            )  # only what is in files has a middle
        table = self._master.shown_name(row.table)
        request = master_pb2.SplitTableRegionRequest(region_info=self._described(row), split_row=at)
        what = f"splitting region '{row.encoded_name}' of table '{table}'"
        kind = master_pb2.SplitTableRegionResponse

        def explain(rejection: RemoteError) -> NotSplittable:
            which = f"region '{row.encoded_name}' of table '{table}'"
            if "bestSplit" in rejection.detail:
                hint = "name a row key; there is a middle once its files have several blocks"
                return NotSplittable(f"{which} has no middle to split at", hint=hint)
            return NotSplittable(f"{which} cannot be split: {rejection.detail}", hint=_SHARED)

        with (
            _while_it_changes(),
            on_rejection("UnknownRegionException", lambda _: gone(row.encoded_name)),
            on_rejection("DoNotRetryIOException", explain),
        ):
            self._master.run(
                Procedure("SplitRegion", request, kind, what), self._master.change_attempts(table)
            )
        self._master.cluster.regions.forget(row.table)

    def merge(self, regions: Sequence[str | Region]) -> None:
        """Merges regions; see `Admin.merge`."""
        self._master.check_writable()
        found = [self._region_list.find_open(each) for each in check_regions(regions)]
        rows = sorted(found, key=lambda row: row.start)
        _check_adjacent(rows)
        table = self._master.shown_name(rows[0].table)
        request = master_pb2.MergeTableRegionsRequest(region=[row.specifier for row in rows])
        kind = master_pb2.MergeTableRegionsResponse
        what = f"merging {len(rows)} regions of table '{table}'"

        def explain(rejection: RemoteError) -> InvalidRequest:
            return InvalidRequest(f"HBase rejects the merge: {rejection.detail}", hint=_SHARED)

        with (
            _while_it_changes(),
            on_rejection("UnknownRegionException", lambda _: gone(rows[0].encoded_name)),
            on_rejection("MergeRegionException", explain),
            on_rejection("DoNotRetryIOException", explain),
        ):
            self._master.run(
                Procedure("MergeTableRegions", request, kind, what),
                self._master.change_attempts(table),
            )
        self._master.cluster.regions.forget(rows[0].table)

    # Regions in and out of service

    def assign(self, region: str | Region) -> None:
        """Lets a server open a region; see `ClusterAdmin.assign`."""
        self._master.check_writable()
        row = self._region_list.find(region)
        _check_state(row, is_open=False)
        request = chores_pb2.AssignRegionRequest(region=row.whole_specifier)
        self._change(row, "AssignRegion", request, chores_pb2.AssignRegionResponse, is_open=True)

    def unassign(self, region: str | Region) -> None:
        """Takes a region out of service; see `ClusterAdmin.unassign`."""
        self._master.check_writable()
        row = self._region_list.find(region)
        _check_state(row, is_open=True)
        request = chores_pb2.UnassignRegionRequest(region=row.whole_specifier)
        kind = chores_pb2.UnassignRegionResponse
        self._change(row, "UnassignRegion", request, kind, is_open=False)

    def truncate_region(self, region: str | Region) -> None:
        """Removes a region's rows; see `ClusterAdmin.truncate_region`."""
        self._master.check_writable()
        row = self._region_list.find_open(region)
        table = self._master.shown_name(row.table)
        request = chores_pb2.TruncateRegionRequest(region_info=self._described(row))
        what = f"truncating region '{row.encoded_name}' of table '{table}'"
        kind = chores_pb2.TruncateRegionResponse
        with (
            _while_it_changes(),
            on_rejection("UnknownRegionException", lambda _: gone(row.encoded_name)),
        ):
            self._master.run(
                Procedure("TruncateRegion", request, kind, what),
                self._master.change_attempts(table),
            )
        self._master.cluster.regions.forget(row.table)

    def _change(
        self, row: RegionRow, method: str, request: Message, kind: type[Message], *, is_open: bool
    ) -> None:
        """Requests another state of a region, and waits until it has it."""
        attempts = self._master.change_attempts(self._master.shown_name(row.table))
        listed = row.region(attempts.table, None)
        with on_rejection("UnknownRegionException", lambda _: gone(row.encoded_name)):
            try:
                self._master.call(method, request, kind, attempts)
            except UsageError:
                # Sent again after its response was lost, a request finds its own work done.
                if (
                    not attempts.maybe_applied
                    or (self._region_list.find(listed).state == OPEN) != is_open
                ):
                    raise
        doing = "opening" if is_open else "closing"
        wait_for(
            lambda: (self._region_list.find(listed).state == OPEN) == is_open,
            attempts,
            f"{doing} region '{row.encoded_name}'",
        )
        self._master.cluster.regions.forget(row.table)

    def _described(self, row: RegionRow) -> base_pb2.RegionInfo:
        return base_pb2.RegionInfo(
            region_id=row.region_id,
            table_name=self._master.names.message(self._master.shown_name(row.table)),
            start_key=row.start,
            end_key=row.stop,
        )


_SHARED = (
    "a region fresh from a split or a merge shares files with what it was made from: compact it"
    " (major), then move it or wait some minutes until those are out of use"
)


class NotSplittable(InvalidRequest):
    """A region cannot be split, now or in the middle."""


@contextlib.contextmanager
def _while_it_changes() -> Iterator[None]:
    """Separates temporary rejections from permanent ones; HBase's classes do not."""
    try:
        yield
    except UsageError as exc:
        cause = exc.__cause__
        if not isinstance(cause, RemoteError) or not _PASSING.search(cause.detail):
            raise
        busy = RegionBusy(f"a region is not ready: {cause.detail}", hint="try again later")
        busy.maybe_applied = False
        raise busy from cause


def _check_state(row: RegionRow, *, is_open: bool) -> None:
    if (row.state == OPEN) != is_open:
        what, hint = ("is not in service", "assign it first")
        if not is_open:
            what, hint = ("is in service already", "there is nothing to assign")
        raise InvalidRequest(f"region '{row.encoded_name}' {what}: it is {row.state}", hint=hint)


def _has_key(row: RegionRow, key: bytes) -> bool:
    return row.start <= key and (not row.stop or key < row.stop)


def _check_adjacent(rows: Sequence[RegionRow]) -> None:
    if len({row.name for row in rows}) < 2 or len({row.name for row in rows}) < len(rows):
        raise InvalidRequest(
            "a merge needs at least two regions, each once", hint="name regions that are neighbours"
        )
    for one, other in pairwise(rows):
        if one.table != other.table or one.stop != other.start:
            raise InvalidRequest(
                f"region '{other.encoded_name}' does not follow region '{one.encoded_name}'",
                hint="merge regions of one table where each begins at the end of the one before",
            )
