"""Snapshots of tables, through the master."""

from __future__ import annotations

from webtable.errors import (
    AlreadyExists,
    InvalidRequest,
    NotFound,
    RegionBusy,
    TableExists,
    TableNotFound,
    WebTableError,
)
from webtable.store.admin import check_snapshot_name
from webtable.store.admin_results import Snapshot
from webtable.store.hbase.admin.master_client import (
    MasterClient,
    Procedure,
    on_rejection,
    wait_for,
)
from webtable.store.hbase.admin.namespaces import NamespaceAdmin
from webtable.store.hbase.admin.tables import TableAdmin
from webtable.store.hbase.proto import master_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.errors_and_responses import RemoteError

__all__ = ["SnapshotAdmin"]


class SnapshotAdmin:
    """Takes, restores, clones and deletes snapshots; see `Admin` for the contract."""

    def __init__(
        self, master: MasterClient, tables: TableAdmin, namespaces: NamespaceAdmin
    ) -> None:
        self._master = master
        self._tables = tables
        self._namespaces = namespaces

    def snapshots(self) -> list[Snapshot]:
        """Returns the snapshots of the store's tables; see `Admin.snapshots`."""
        found = []
        for each in self._completed(self._master.cluster.attempts()):
            table = self._master.names.shown(each.table.encode())
            if table is not None:
                found.append(
                    Snapshot(
                        name=each.name,
                        table=table,
                        created_ms=each.creation_time or None,
                        owner=each.owner or None,
                        ttl_seconds=each.ttl if 0 < each.ttl < _FOREVER else None,
                    )
                )
        return sorted(found)

    def take_snapshot(
        self,
        name: str,
        table: str,
        *,
        flush: bool = True,
        ttl_seconds: int | None = None,
        max_file_size: int | None = None,
    ) -> None:
        """Takes a snapshot; see `Admin.take_snapshot`."""
        self._master.check_writable()
        check_snapshot_name(name)
        _check_within("time to live", ttl_seconds, _FOREVER - 1)
        _check_within("largest size of files", max_file_size, (1 << 63) - 1)
        enabled = self._tables.is_enabled(table)
        attempts = self._master.change_attempts(table)
        if any(each.name == name for each in self._completed(attempts)):
            raise AlreadyExists("snapshot", name, hint="take another name, or delete it first")
        kinds = master_pb2.SnapshotDescription
        described = kinds(
            name=name,
            table=self._master.full_name(table).decode(),
            type=(kinds.FLUSH if flush else kinds.SKIPFLUSH) if enabled else kinds.DISABLED,
            ttl=ttl_seconds,
            max_file_size=max_file_size,
        )
        request = master_pb2.SnapshotRequest(
            snapshot=described,
            nonce_group=self._master.cluster.nonce_group,
            nonce=self._master.cluster.nonce(),
        )

        what = f"taking snapshot '{name}' of table '{table}'"
        number = 0

        # A request that is sent again after its response was lost may find its own snapshot.
        def exists(_: RemoteError) -> AlreadyExists | None:
            return None if attempts.maybe_applied else AlreadyExists("snapshot", name)

        def busy(rejection: RemoteError) -> RegionBusy | None:
            if attempts.maybe_applied:
                return None
            return RegionBusy(f"{what} was rejected: {rejection.detail}", hint="try again later")

        with (
            on_rejection("SnapshotExistsException", exists),
            on_rejection("SnapshotCreationException", busy),
        ):
            kind = master_pb2.SnapshotResponse
            number = self._master.call("Snapshot", request, kind, attempts).proc_id
        if number > 0:
            self._master.await_procedure(number, what, attempts)
        else:
            self._await_snapshot(described, what, attempts)

    def _await_snapshot(
        self, described: master_pb2.SnapshotDescription, what: str, attempts: Attempts
    ) -> None:
        request = master_pb2.IsSnapshotDoneRequest(snapshot=described)
        kind = master_pb2.IsSnapshotDoneResponse
        attempts.is_patient = True

        def failed(rejection: RemoteError) -> WebTableError:
            return InvalidRequest(f"{what} failed: {rejection.detail}", hint="take it again")

        def is_done() -> bool:
            return self._master.call("IsSnapshotDone", request, kind, attempts).done

        # Another master may have taken over, which has no record of the snapshot.
        with (
            on_rejection("HBaseSnapshotException", failed),
            on_rejection("UnknownSnapshotException", failed),
            on_rejection("SnapshotCreationException", failed),
        ):
            wait_for(is_done, attempts, what)

    def restore_snapshot(self, name: str, *, with_permissions: bool = False) -> None:
        """Restores a table from a snapshot; see `Admin.restore_snapshot`."""
        self._master.check_writable()
        snapshot = self._snapshot(name)
        try:
            is_enabled = self._tables.is_enabled(snapshot.table)
        except TableNotFound:
            is_enabled = False
        if is_enabled:
            raise InvalidRequest(
                f"table '{snapshot.table}' is enabled, so snapshot '{name}' cannot be restored",
                hint="disable it first; what was written since the snapshot will be lost",
            )
        self._restore(snapshot, snapshot.table, with_permissions=with_permissions)

    def clone_snapshot(
        self,
        name: str,
        table: str,
        *,
        with_permissions: bool = False,
        file_tracker: str | None = None,
    ) -> None:
        """Makes a new table of a snapshot; see `Admin.clone_snapshot`."""
        self._master.check_writable()
        snapshot = self._snapshot(name)
        # Over a table that exists the master would restore the snapshot.
        if self._tables.state(table) is not None:
            raise TableExists(table)
        self._namespaces.ensure(table, self._master.change_attempts(table))
        self._restore(snapshot, table, with_permissions=with_permissions, file_tracker=file_tracker)

    def delete_snapshot(self, name: str) -> None:
        """Removes a snapshot; see `Admin.delete_snapshot`."""
        self._master.check_writable()
        snapshot = self._snapshot(name)
        attempts = self._master.change_attempts()
        request = master_pb2.DeleteSnapshotRequest()
        request.snapshot.name = snapshot.name
        kind = master_pb2.DeleteSnapshotResponse

        def gone(_: RemoteError) -> NotFound | None:
            return None if attempts.maybe_applied else NotFound("snapshot", name)

        with on_rejection("SnapshotDoesNotExistException", gone):
            self._master.call("DeleteSnapshot", request, kind, attempts)

    def _restore(
        self,
        snapshot: Snapshot,
        table: str,
        *,
        with_permissions: bool = False,
        file_tracker: str | None = None,
    ) -> None:
        full = self._master.full_name(table)
        request = master_pb2.RestoreSnapshotRequest(
            restoreACL=with_permissions, customSFT=file_tracker
        )
        request.snapshot.name = snapshot.name
        request.snapshot.table = full.decode()
        kind = master_pb2.RestoreSnapshotResponse
        what = f"making table '{table}' from snapshot '{snapshot.name}'"
        self._master.run(
            Procedure("RestoreSnapshot", request, kind, what), self._master.change_attempts(table)
        )
        self._master.cluster.regions.forget(full)

    def _snapshot(self, name: str) -> Snapshot:
        existing = {each.name: each for each in self.snapshots()}
        if name not in existing:
            raise NotFound("snapshot", name, existing)
        return existing[name]

    def _completed(self, attempts: Attempts) -> list[master_pb2.SnapshotDescription]:
        request = master_pb2.GetCompletedSnapshotsRequest()
        kind = master_pb2.GetCompletedSnapshotsResponse
        response = self._master.cluster.call_master(
            "GetCompletedSnapshots", request, kind, attempts
        )
        return list(response.snapshots)


_FOREVER = 2**31 - 1


def _check_within(what: str, value: int | None, most: int) -> None:
    if value is not None and not 0 < value <= most:
        raise InvalidRequest(f"{what} {value} is out of range", hint=f"from 1 to {most}")
