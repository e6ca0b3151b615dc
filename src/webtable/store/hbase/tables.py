"""Tables and namespaces of a cluster, through the master's procedures."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from google.protobuf.message import Message

from webtable.errors import (
    AlreadyExists,
    InvalidRequest,
    NotFound,
    TableNotFound,
    WebTableError,
)
from webtable.store.admin import check_namespace_name
from webtable.store.hbase.descriptors import schema_from_message, schema_to_message
from webtable.store.hbase.names import DEFAULT, SYSTEM
from webtable.store.hbase.procedures import Procedure, Work, on_refusal
from webtable.store.hbase.proto import base_pb2, master_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.load import Namespace
from webtable.store.schema import TableSchema, check_table_name

__all__ = ["TableWork"]


class TableWork(Work):
    """Creates, changes and drops tables and namespaces."""

    def create_table(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        """Creates a table, and its namespace where that is missing.

        Raises:
            TableExists: there is one of that name.
            InvalidRequest: the cluster does not take the schema.
        """
        self._check_writable()
        attempts = self._attempts(schema.name)
        request = master_pb2.CreateTableRequest(
            table_schema=schema_to_message(schema, self._names.message(schema.name)),
            split_keys=splits,
        )
        self._ensure_namespace(schema.name, attempts)
        kind = master_pb2.CreateTableResponse
        what = f"creating table '{schema.name}'"
        self._run(Procedure("CreateTable", request, kind, what), attempts)
        self._cluster.regions.forget(self._names.full(schema.name))

    def alter_table(self, schema: TableSchema) -> None:
        """Makes a table's schema this one; returns when every region has been opened with it."""
        self._check_writable()
        name = self._names.message(schema.name)
        request = master_pb2.ModifyTableRequest(
            table_name=name, table_schema=schema_to_message(schema, name)
        )
        kind = master_pb2.ModifyTableResponse
        self._on_table("ModifyTable", request, kind, "altering", self._attempts(schema.name))

    def truncate_table(self, table: str) -> None:
        """Removes every row, keeping schema and splits; the table is disabled meanwhile.

        One that was disabled before stays so.
        """
        self._check_writable()
        attempts = self._attempts(table)
        was_enabled = self.is_enabled(table)
        self.disable_table(table)
        request = master_pb2.TruncateTableRequest(
            tableName=self._names.message(table), preserveSplits=True
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
        self._cluster.regions.forget(self._names.full(table))

    def drop_table(self, table: str) -> None:
        """Removes a table and its data."""
        self._check_writable()
        attempts = self._attempts(table)
        self.disable_table(table)
        request = master_pb2.DeleteTableRequest(table_name=self._names.message(table))
        kind = master_pb2.DeleteTableResponse
        self._on_table("DeleteTable", request, kind, "dropping", attempts)
        self._cluster.regions.forget(self._names.full(table))

    def disable_table(self, table: str) -> None:
        """Takes a table out of service; see `Admin.disable_table`."""
        self._check_writable()
        request = master_pb2.DisableTableRequest(table_name=self._message(table))
        kind = master_pb2.DisableTableResponse
        with on_refusal("TableNotEnabledException"):
            self._on_table("DisableTable", request, kind, "disabling", self._attempts(table))

    def enable_table(self, table: str) -> None:
        """Puts a table into service; see `Admin.enable_table`."""
        self._check_writable()
        request = master_pb2.EnableTableRequest(table_name=self._message(table))
        kind = master_pb2.EnableTableResponse
        with on_refusal("TableNotDisabledException"):
            self._on_table("EnableTable", request, kind, "enabling", self._attempts(table))

    def is_enabled(self, table: str) -> bool:
        """Whether a table is in service; see `Admin.is_enabled`."""
        full = self._full(table)
        state = self._ask(
            lambda attempts: self._cluster.meta.table_state(full, attempts.deadline), table
        )
        if state is None:
            raise TableNotFound(table, self.list_tables())
        return state == base_pb2.TableState.ENABLED

    def describe_table(self, table: str) -> TableSchema:
        """Returns a table's schema."""
        attempts = self._cluster.attempts(table)
        request = master_pb2.GetTableDescriptorsRequest(table_names=[self._names.message(table)])
        kind = master_pb2.GetTableDescriptorsResponse
        answer = self._cluster.call_master("GetTableDescriptors", request, kind, attempts)
        for found in answer.table_schema:
            return schema_from_message(found, table)
        raise TableNotFound(table, self.list_tables())

    def list_tables(self) -> list[str]:
        """Returns the names of the tables that the store sees, sorted."""
        return self._ask(lambda attempts: self._cluster.regions.known_tables(attempts.deadline))

    # Namespaces

    def namespaces(self) -> list[Namespace]:
        """Returns the cluster's namespaces; see `Admin.namespaces`."""
        names = self._namespace_names(self._cluster.attempts())
        tables = self._ask(lambda attempts: self._cluster.meta.tables(attempts.deadline))
        counts = dict.fromkeys(sorted(names), 0)
        for full in tables:
            namespace = full.decode().rpartition(":")[0] or DEFAULT
            counts[namespace] = counts.get(namespace, 0) + 1
        return [Namespace(name, count) for name, count in counts.items() if name != SYSTEM]

    def create_namespace(self, name: str, properties: Mapping[str, str] | None = None) -> None:
        """Creates a namespace; see `Admin.create_namespace`."""
        self._check_writable()
        check_namespace_name(name)
        with on_refusal("NamespaceExistException", lambda _: AlreadyExists("namespace", name)):
            self._create_namespace(name, self._attempts(), properties)

    def namespace_properties(self, name: str) -> dict[str, str]:
        """Returns a namespace's properties; see `ClusterAdmin.namespace_properties`."""
        request = master_pb2.GetNamespaceDescriptorRequest(namespaceName=check_namespace_name(name))
        kind = master_pb2.GetNamespaceDescriptorResponse
        attempts = self._cluster.attempts()
        with on_refusal("NamespaceNotFoundException", lambda _: self._no_namespace(name)):
            found = self._cluster.call_master("GetNamespaceDescriptor", request, kind, attempts)
        pairs = found.namespaceDescriptor.configuration
        return {pair.name: pair.value for pair in sorted(pairs, key=lambda pair: pair.name)}

    def alter_namespace(self, name: str, properties: Mapping[str, str | None]) -> None:
        """Changes a namespace's properties; see `ClusterAdmin.alter_namespace`."""
        self._check_writable()
        changed: dict[str, str | None] = {**self.namespace_properties(name), **properties}
        request = master_pb2.ModifyNamespaceRequest()
        kept = {key: value for key, value in changed.items() if value is not None}
        _fill_namespace(request.namespaceDescriptor, name, kept)
        kind = master_pb2.ModifyNamespaceResponse
        procedure = Procedure("ModifyNamespace", request, kind, f"altering namespace '{name}'")
        with on_refusal("NamespaceNotFoundException", lambda _: self._no_namespace(name)):
            self._run(procedure, self._attempts())

    def _no_namespace(self, name: str) -> NotFound:
        return NotFound("namespace", name, (each.name for each in self.namespaces()))

    def drop_namespace(self, name: str) -> None:
        """Removes a namespace; see `Admin.drop_namespace`."""
        self._check_writable()
        if check_namespace_name(name) in (DEFAULT, SYSTEM):
            raise InvalidRequest(
                f"namespace '{name}' is the cluster's own", hint="it cannot be dropped"
            )
        known = {each.name: each.tables for each in self.namespaces()}
        if known.get(name):
            raise InvalidRequest(
                f"namespace '{name}' still has tables ({known[name]:,})",
                hint="drop its tables first",
            )
        request = master_pb2.DeleteNamespaceRequest(namespaceName=name)
        kind = master_pb2.DeleteNamespaceResponse
        procedure = Procedure("DeleteNamespace", request, kind, f"dropping namespace '{name}'")
        with on_refusal("NamespaceNotFoundException", lambda _: NotFound("namespace", name, known)):
            self._run(procedure, self._attempts())

    def _ensure_namespace(self, table: str, attempts: Attempts) -> None:
        namespace, _ = self._names.split(table)
        if namespace in self._namespace_names(attempts):
            return
        with on_refusal("NamespaceExistException"):  # somebody else may have been quicker
            self._create_namespace(namespace, attempts)

    def _create_namespace(
        self, name: str, attempts: Attempts, properties: Mapping[str, str] | None = None
    ) -> None:
        request = master_pb2.CreateNamespaceRequest()
        _fill_namespace(request.namespaceDescriptor, name, properties or {})
        kind = master_pb2.CreateNamespaceResponse
        procedure = Procedure("CreateNamespace", request, kind, f"creating namespace '{name}'")
        self._run(procedure, attempts)

    def _namespace_names(self, attempts: Attempts) -> Sequence[str]:
        request = master_pb2.ListNamespacesRequest()
        kind = master_pb2.ListNamespacesResponse
        return self._cluster.call_master("ListNamespaces", request, kind, attempts).namespaceName

    # For all parts

    def _full(self, table: str) -> bytes:
        return self._names.full(check_table_name(table))

    def _message(self, table: str) -> base_pb2.TableName:
        return self._names.message(check_table_name(table))

    def _on_table(
        self, method: str, request: Message, kind: type[Message], doing: str, attempts: Attempts
    ) -> None:
        what = f"{doing} table '{attempts.table}'"
        try:
            self._run(Procedure(method, request, kind, what), attempts)
        except TableNotFound:
            raise TableNotFound(attempts.table, self.list_tables()) from None


def _fill_namespace(
    message: base_pb2.NamespaceDescriptor, name: str, properties: Mapping[str, str]
) -> None:
    message.name = name.encode()
    for key, value in properties.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise InvalidRequest(
                f"property {key!r:.60} of namespace '{name}' is {value!r:.60}",
                hint="names and values are text",
            )
        message.configuration.add(name=key, value=value)
