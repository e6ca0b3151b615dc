"""Table names: as a store shows them, and as the cluster has them with their namespace."""

from __future__ import annotations

from webtable.errors import InvalidRequest
from webtable.store.hbase.proto import base_pb2

__all__ = ["Names"]

DEFAULT = "default"
SYSTEM = "hbase"


class Names:
    """Maps names for a store that sees one namespace, or the whole cluster when it is None."""

    def __init__(self, namespace: str | None) -> None:
        self._namespace = namespace
        self._prefix = b"" if namespace in (None, DEFAULT) else f"{namespace}:".encode()

    @property
    def only(self) -> str | None:
        """The one namespace that the store sees; None when it sees all."""
        return self._namespace

    def full(self, table: str) -> bytes:
        """Returns the name as it is in the meta table: `t`, or `namespace:t`.

        Raises:
            InvalidRequest: it names another namespace than the store's.
        """
        if ":" not in table:
            return self._prefix + table.encode()
        namespace, name = self.split(table)
        return (name if namespace == DEFAULT else f"{namespace}:{name}").encode()

    def split(self, table: str) -> tuple[str, str]:
        """Returns namespace and name.

        Raises:
            InvalidRequest: it names another namespace than the store's.
        """
        namespace, colon, name = table.rpartition(":")
        if not colon:
            return self._namespace or DEFAULT, name
        if self._namespace is not None:
            raise InvalidRequest(
                f"table '{table}' is not in the namespace '{self._namespace}' of this store",
                hint="leave out '?namespace=' to reach every table of the cluster",
            )
        return namespace, name

    def shown(self, full: bytes) -> str | None:
        """Returns the name as this store shows it; None when the store does not see the table."""
        namespace, _, name = full.decode().rpartition(":")
        namespace = namespace or DEFAULT
        if self._namespace is not None:
            return name if namespace == self._namespace else None
        if namespace == SYSTEM:
            return None
        return name if namespace == DEFAULT else f"{namespace}:{name}"

    def message(self, table: str) -> base_pb2.TableName:
        """Returns the name as messages carry it."""
        namespace, name = self.split(table)
        return base_pb2.TableName(namespace=namespace.encode(), qualifier=name.encode())
