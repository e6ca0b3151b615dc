"""Tables of a cluster, through the master's procedures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from google.protobuf.message import Message

from webtable.errors import TableNotFound, WebTableError
from webtable.store.hbase.admin.master_client import MasterClient, Procedure, on_rejection
from webtable.store.hbase.admin.namespaces import NamespaceAdmin
from webtable.store.hbase.admin.schema_messages import schema_from_message, schema_to_message
from webtable.store.hbase.proto import base_pb2, master_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.schema import TableSchema

__all__ = ["TableAdmin"]


class TableAdmin:
    """Creates, changes and drops tables; see `Engine` and `Admin` for the contract."""

    def __init__(self, master: MasterClient, namespaces: NamespaceAdmin) -> None:
        self._master = master
        self._namespaces = namespaces

    def create_table(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        """Creates a table, and its namespace where that is missing.

        Raises:
            TableExists: a table of that name exists.
            InvalidRequest: the cluster rejects the schema.
        """
        self._master.check_writable()
        attempts = self._master.change_attempts(schema.name)
        request = master_pb2.CreateTableRequest(
            table_schema=schema_to_message(schema, self._master.names.message(schema.name)),
            split_keys=splits,
        )
        self._namespaces.ensure(schema.name, attempts)
        kind = master_pb2.CreateTableResponse
        what = f"creating table '{schema.name}'"
        self._master.run(Procedure("CreateTable", request, kind, what), attempts)
        self._master.cluster.regions.forget(self._master.names.full(schema.name))

    def alter_table(self, schema: TableSchema) -> None:
        """Makes a table's schema this one; returns when every region has been opened with it."""
        self._master.check_writable()
        name = self._master.names.message(schema.name)
        request = master_pb2.ModifyTableRequest(
            table_name=name, table_schema=schema_to_message(schema, name)
        )
        kind = master_pb2.ModifyTableResponse
        self._on_table(
            "ModifyTable", request, kind, "altering", self._master.change_attempts(schema.name)
        )

    def truncate_table(self, table: str) -> None:
        """Removes every row, keeping schema and splits; the table is disabled meanwhile.

        One that was disabled before stays so.
        """
        self._master.check_writable()
        attempts = self._master.change_attempts(table)
        was_enabled = self.is_enabled(table)
        self.disable_table(table)
        request = master_pb2.TruncateTableRequest(
            tableName=self._master.names.message(table), preserveSplits=True
        )
        kind = master_pb2.TruncateTableResponse
        try:
            self._on_table("truncateTable", request, kind, "truncating", attempts)
        except WebTableError:
            with contextlib.suppress(WebTableError):
                if was_enabled:
                    self.enable_table(table)
            raise
        if not was_enabled:  # the procedure ends with a table in service
            self.disable_table(table)
        self._master.cluster.regions.forget(self._master.names.full(table))

    def drop_table(self, table: str) -> None:
        """Removes a table and its data."""
        self._master.check_writable()
        attempts = self._master.change_attempts(table)
        self.disable_table(table)
        request = master_pb2.DeleteTableRequest(table_name=self._master.names.message(table))
        kind = master_pb2.DeleteTableResponse
        self._on_table("DeleteTable", request, kind, "dropping", attempts)
        self._master.cluster.regions.forget(self._master.names.full(table))

    def disable_table(self, table: str) -> None:
        """Takes a table out of service; see `Admin.disable_table`."""
        with on_rejection("TableNotEnabledException"):
            request, kind = master_pb2.DisableTableRequest, master_pb2.DisableTableResponse
            self._set_state(table, "DisableTable", request, kind, "disabling")

    def enable_table(self, table: str) -> None:
        """Puts a table into service; see `Admin.enable_table`."""
        with on_rejection("TableNotDisabledException"):
            request, kind = master_pb2.EnableTableRequest, master_pb2.EnableTableResponse
            self._set_state(table, "EnableTable", request, kind, "enabling")

    def _set_state(
        self,
        table: str,
        method: str,
        request: Callable[..., Message],
        kind: type[Message],
        doing: str,
    ) -> None:
        self._master.check_writable()
        named = request(table_name=self._master.name_message(table))
        self._on_table(method, named, kind, doing, self._master.change_attempts(table))

    def is_enabled(self, table: str) -> bool:
        """Whether a table is in service; see `Admin.is_enabled`."""
        state = self.state(table)
        if state is None:
            raise TableNotFound(table, self._master.table_names())
        return state == base_pb2.TableState.ENABLED

    def state(self, table: str) -> int | None:
        """Returns the state of a table, a `TableState` of HBase; None where it does not exist."""
        full, meta = self._master.full_name(table), self._master.cluster.meta
        return self._master.retry(lambda attempts: meta.table_state(full, attempts.deadline), table)

    def describe_table(self, table: str) -> TableSchema:
        """Returns a table's schema."""
        attempts = self._master.cluster.attempts(table)
        request = master_pb2.GetTableDescriptorsRequest(
            table_names=[self._master.names.message(table)]
        )
        kind = master_pb2.GetTableDescriptorsResponse
        response = self._master.cluster.call_master("GetTableDescriptors", request, kind, attempts)
        for found in response.table_schema:
            return schema_from_message(found, table)
        raise TableNotFound(table, self._master.table_names())

    def _on_table(
        self, method: str, request: Message, kind: type[Message], doing: str, attempts: Attempts
    ) -> None:
        what = f"{doing} table '{attempts.table}'"
        try:
            self._master.run(Procedure(method, request, kind, what), attempts)
        except TableNotFound:
            raise TableNotFound(attempts.table, self._master.table_names()) from None
