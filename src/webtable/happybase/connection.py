"""`Connection`: the tables of a store by happybase's names, and their administration."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence

from webtable.happybase import errors
from webtable.happybase.conversions import Text, as_bytes, family_of
from webtable.happybase.errors import TTransportException, raised, translated
from webtable.happybase.stores import DEFAULT_HOST, DEFAULT_PORT, Lease, acquire, location_of
from webtable.happybase.table import Table
from webtable.store.schema import TableSchema
from webtable.store.store import Store

__all__ = [
    "COMPAT_MODES",
    "DEFAULT_COMPAT",
    "DEFAULT_HOST",
    "DEFAULT_PORT",
    "DEFAULT_PROTOCOL",
    "DEFAULT_TRANSPORT",
    "Connection",
]

COMPAT_MODES = ("0.90", "0.92", "0.94", "0.96", "0.98")
THRIFT_TRANSPORTS = ("buffered", "framed")
THRIFT_PROTOCOLS = ("binary", "compact")

DEFAULT_TRANSPORT = "buffered"
DEFAULT_COMPAT = "0.98"
DEFAULT_PROTOCOL = "binary"

_HINT = (
    "a bare host is where ZooKeeper runs, not a Thrift gateway; "
    "else give hbase+masters://host for a cluster, or ./directory for an embedded store"
)


class Connection:
    """A connection to a store: a cluster's, or an embedded one.

    Connections of one process to the same place share one store, so a connection costs little;
    unlike happybase's it may be used by several threads at once. It is closed when it is no longer
    referenced, too.

    Args:
        host: a location (`hbase://…`, `hbase+masters://…`), a directory (with a slash in it, or a
            path object), an open `webtable.Store`, or the host on which ZooKeeper runs. The
            default means `WEBTABLE_STORE` where that is set.
        port: ZooKeeper's port, where `host` is a bare name. 9090 is the old gateway's and means
            that none was given.
        timeout: milliseconds that one operation on a cluster may take. None and 0 mean the
            one of the location, or 60 seconds.
        autoconnect: connect now; else `open` has to be called first.
        table_prefix: is put in front of all table names, with the separator in between.
        compat: the older it is, the fewer arguments `Table.scan` takes.
        transport: of Thrift, without effect here; as is `protocol`.
    """

    def __init__(  # noqa: PLR0917 - the signature is happybase's
        self,
        host: str | os.PathLike[str] | Store | None = DEFAULT_HOST,
        port: int | None = DEFAULT_PORT,
        timeout: float | None = None,
        autoconnect: bool = True,
        table_prefix: Text | None = None,
        table_prefix_separator: Text = b"_",
        compat: str = DEFAULT_COMPAT,
        transport: str = DEFAULT_TRANSPORT,
        protocol: str = DEFAULT_PROTOCOL,
    ) -> None:
        _check_choice("transport", transport, THRIFT_TRANSPORTS)
        _check_text("table_prefix", table_prefix, or_none=True)
        _check_text("table_prefix_separator", table_prefix_separator)
        _check_choice("compat", compat, COMPAT_MODES)
        _check_choice("protocol", protocol, THRIFT_PROTOCOLS)
        self.host = host or DEFAULT_HOST
        self.port = port or DEFAULT_PORT
        self.timeout = timeout
        self.table_prefix = None if table_prefix is None else as_bytes(table_prefix)
        self.table_prefix_separator = as_bytes(table_prefix_separator)
        self.compat = compat
        self.transport = Transport(self)
        self._lease: Lease | None = None
        if autoconnect:
            self.open()

    def open(self) -> None:
        """Opens the connection; nothing happens where it is open.

        Raises:
            TTransportException: the store cannot be reached.
        """
        if self._lease is not None:
            return
        if isinstance(self.host, Store):
            self._lease = Lease(self.host)
            return
        with translated():
            location = location_of(self.host, self.port, self.timeout)
        try:
            with translated():
                self._lease = acquire(location)
        except TTransportException as exc:
            if location.startswith("hbase://") and "://" not in str(self.host):
                exc.hint = _HINT
            raise

    def close(self) -> None:
        """Closes the connection, and the store with the last one to it."""
        lease, self._lease = self._lease, None
        if lease is not None:
            with translated():
                lease.release()

    def _refresh_thrift_client(self) -> None:
        """Closes the connection, so that `open` starts a new one; programs call the two."""
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_lease", None) is not None:
            self.close()

    @property
    def store(self) -> Store:
        """The store behind the connection, with everything that happybase does not offer.

        Raises:
            TTransportException: the connection is closed.
        """
        if self._lease is None:
            raise raised(
                TTransportException, "the connection is not open", hint="call open() first"
            )
        return self._lease.store

    def table(self, name: Text, use_prefix: bool = True) -> Table:
        """Returns a table to work with. Costs nothing; that it exists shows at the first use."""
        return Table(self._table_name(name) if use_prefix else as_bytes(name), self)

    def tables(self) -> list[bytes]:
        """Returns the table names; with a prefix only those that have it, without it."""
        with translated():
            names = [name.encode() for name in self.store.tables()]
        if self.table_prefix is None:
            return names
        prefix = self._table_name(b"")
        return [name[len(prefix) :] for name in names if name.startswith(prefix)]

    def create_table(
        self, name: Text, families: Mapping[Text, Mapping[str, object] | None]
    ) -> None:
        """Creates a table.

        Args:
            families: each family's name and its options: `max_versions` (3), `compression`
                ("NONE"), `in_memory` (False), `bloom_filter_type` ("NONE"), `block_cache_enabled`
                (False), `time_to_live` in seconds (-1, for ever). The defaults are the gateway's.
                `bloom_filter_vector_size` and `bloom_filter_nb_hashes` have no effect.

        Raises:
            AlreadyExists: a table of that name exists.
            IllegalArgument: HBase would reject a name or an option.
        """
        if not isinstance(families, dict):
            raise TypeError("'families' arg must be a dictionary")
        full_name = self._table_name(name)
        if not families:
            raise ValueError(f"Cannot create table {full_name!r} (no column families specified)")
        with translated():
            made = tuple(family_of(family, options) for family, options in families.items())
            self.store.create_table(TableSchema(name=self._store_name(full_name), families=made))

    def delete_table(self, name: Text, disable: bool = False) -> None:
        """Deletes a table, which must be disabled; `disable` does that first where needed."""
        if disable and self.is_table_enabled(name):
            self.disable_table(name)
        table = self._decoded(name)
        with translated():
            if self.store.admin.is_enabled(table):
                raise raised(
                    errors.IOError, f"table '{table}' is not disabled", hint="pass disable=True"
                )
            self.store.drop_table(table)

    def enable_table(self, name: Text) -> None:
        """Enables a table.

        Raises:
            IOError: it is enabled already.
        """
        table = self._decoded(name)
        with translated():
            if self.store.admin.is_enabled(table):
                raise raised(
                    errors.IOError, f"table '{table}' is not disabled", hint="it is in service"
                )
            self.store.admin.enable_table(table)

    def disable_table(self, name: Text) -> None:
        """Disables a table: it cannot be read or written until it is enabled again.

        Raises:
            IOError: it is disabled already.
        """
        table = self._decoded(name)
        with translated():
            if not self.store.admin.is_enabled(table):
                raise raised(
                    errors.IOError,
                    f"table '{table}' is disabled already",
                    hint="enable_table() puts it in service",
                )
            self.store.admin.disable_table(table)

    def is_table_enabled(self, name: Text) -> bool:
        """Whether a table is enabled."""
        with translated():
            return self.store.admin.is_enabled(self._decoded(name))

    def compact_table(self, name: Text, major: bool = False) -> None:
        """Requests a compaction of a table, and does not wait for it."""
        with translated():
            self.store.admin.compact(self._decoded(name), major=major, wait=False)

    def _table_name(self, name: Text) -> bytes:
        if self.table_prefix is None:
            return as_bytes(name)
        return self.table_prefix + self.table_prefix_separator + as_bytes(name)

    def _decoded(self, name: Text) -> str:
        return self._store_name(self._table_name(name))

    def _store_name(self, full_name: Text) -> str:
        name = as_bytes(full_name).decode(errors="backslashreplace")
        # A table of HBase's default namespace has two names, one of an embedded store has one.
        namespace, _, short = name.rpartition(":")
        if namespace == "default" and not self.store.capabilities.cluster:
            return short
        return name


class Transport:
    """Replaces the Thrift transport of happybase's connections, for programs that call it."""

    def __init__(self, connection: Connection) -> None:
        # Weak, so that a connection without other references is closed at once.
        self._connection = weakref.proxy(connection)

    def is_open(self) -> bool:
        """Whether the connection is open."""
        return self._connection._lease is not None

    def open(self) -> None:
        """Opens the connection."""
        self._connection.open()

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


def _check_choice(name: str, given: str, choices: Sequence[str]) -> None:
    if given not in choices:
        raise ValueError(f"'{name}' must be one of {', '.join(choices)}")


def _check_text(name: str, given: object, *, or_none: bool = False) -> None:
    if not isinstance(given, (str, bytes)) and not (or_none and given is None):
        raise TypeError(f"'{name}' must be a string")
