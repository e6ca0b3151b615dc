"""Namespaces of a cluster, through the master's procedures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webtable.errors import AlreadyExists, InvalidRequest, NotFound
from webtable.store.admin import check_namespace_name
from webtable.store.admin_results import Namespace
from webtable.store.hbase.admin.master_client import MasterClient, Procedure, on_rejection
from webtable.store.hbase.cluster.table_names import DEFAULT, SYSTEM
from webtable.store.hbase.proto import base_pb2, master_pb2
from webtable.store.hbase.retry import Attempts

__all__ = ["NamespaceAdmin"]


class NamespaceAdmin:
    """Creates, changes and drops namespaces; see `Admin` for the contract of each method."""

    def __init__(self, master: MasterClient) -> None:
        self._master = master

    def namespaces(self) -> list[Namespace]:
        """Returns the cluster's namespaces; see `Admin.namespaces`."""
        names = self._names(self._master.cluster.attempts())
        tables = self._master.retry(
            lambda attempts: self._master.cluster.meta.tables(attempts.deadline)
        )
        counts = dict.fromkeys(sorted(names), 0)
        for full in tables:
            namespace = full.decode().rpartition(":")[0] or DEFAULT
            counts[namespace] = counts.get(namespace, 0) + 1
        return [Namespace(name, count) for name, count in counts.items() if name != SYSTEM]

    def create_namespace(self, name: str, properties: Mapping[str, str] | None = None) -> None:
        """Creates a namespace; see `Admin.create_namespace`."""
        self._master.check_writable()
        check_namespace_name(name)
        with on_rejection("NamespaceExistException", lambda _: AlreadyExists("namespace", name)):
            self._create(name, self._master.change_attempts(), properties)

    def namespace_properties(self, name: str) -> dict[str, str]:
        """Returns a namespace's properties; see `ClusterAdmin.namespace_properties`."""
        request = master_pb2.GetNamespaceDescriptorRequest(namespaceName=check_namespace_name(name))
        kind = master_pb2.GetNamespaceDescriptorResponse
        attempts = self._master.cluster.attempts()
        with on_rejection("NamespaceNotFoundException", lambda _: self.not_found(name)):
            found = self._master.cluster.call_master(
                "GetNamespaceDescriptor", request, kind, attempts
            )
        pairs = found.namespaceDescriptor.configuration
        return {pair.name: pair.value for pair in sorted(pairs, key=lambda pair: pair.name)}

    def alter_namespace(self, name: str, properties: Mapping[str, str | None]) -> None:
        """Changes a namespace's properties; see `ClusterAdmin.alter_namespace`."""
        self._master.check_writable()
        changed: dict[str, str | None] = {**self.namespace_properties(name), **properties}
        request = master_pb2.ModifyNamespaceRequest()
        kept = {key: value for key, value in changed.items() if value is not None}
        _fill_namespace(request.namespaceDescriptor, name, kept)
        kind = master_pb2.ModifyNamespaceResponse
        procedure = Procedure("ModifyNamespace", request, kind, f"altering namespace '{name}'")
        with on_rejection("NamespaceNotFoundException", lambda _: self.not_found(name)):
            self._master.run(procedure, self._master.change_attempts())

    def not_found(self, name: str) -> NotFound:
        """Returns the error for a namespace that does not exist; it lists those that do."""
        return NotFound("namespace", name, (each.name for each in self.namespaces()))

    def drop_namespace(self, name: str) -> None:
        """Removes a namespace; see `Admin.drop_namespace`."""
        self._master.check_writable()
        if check_namespace_name(name) in (DEFAULT, SYSTEM):
            raise InvalidRequest(
                f"namespace '{name}' is the cluster's own", hint="it cannot be dropped"
            )
        existing = {each.name: each.tables for each in self.namespaces()}
        if existing.get(name):
            raise InvalidRequest(
                f"namespace '{name}' still has tables ({existing[name]:,})",
                hint="drop its tables first",
            )
        request = master_pb2.DeleteNamespaceRequest(namespaceName=name)
        kind = master_pb2.DeleteNamespaceResponse
        procedure = Procedure("DeleteNamespace", request, kind, f"dropping namespace '{name}'")
        with on_rejection(
            "NamespaceNotFoundException", lambda _: NotFound("namespace", name, existing)
        ):
            self._master.run(procedure, self._master.change_attempts())

    def ensure(self, table: str, attempts: Attempts) -> None:
        """Creates the namespace of a table where it does not exist."""
        namespace, _ = self._master.names.split(table)
        if namespace in self._names(attempts):
            return
        with on_rejection(
            "NamespaceExistException"
        ):  # another client may have created it meanwhile
            self._create(namespace, attempts)

    def _create(
        self, name: str, attempts: Attempts, properties: Mapping[str, str] | None = None
    ) -> None:
        request = master_pb2.CreateNamespaceRequest()
        _fill_namespace(request.namespaceDescriptor, name, properties or {})
        kind = master_pb2.CreateNamespaceResponse
        procedure = Procedure("CreateNamespace", request, kind, f"creating namespace '{name}'")
        self._master.run(procedure, attempts)

    def _names(self, attempts: Attempts) -> Sequence[str]:
        request = master_pb2.ListNamespacesRequest()
        kind = master_pb2.ListNamespacesResponse
        return self._master.cluster.call_master(
            "ListNamespaces", request, kind, attempts
        ).namespaceName


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
