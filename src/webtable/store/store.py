"""`Store`: the tables at one location, and `open_store`, which finds the engine for it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence

from webtable.errors import InvalidRequest
from webtable.store.admin import Admin
from webtable.store.cells_and_rows import Row
from webtable.store.engine import Capabilities, Engine, Loss
from webtable.store.location_secrets import mask_secrets, reject_secrets
from webtable.store.mutation import Durability, Write, check_durability
from webtable.store.schema import Family, TableSchema, check_splits, check_table_name
from webtable.store.table import Table

__all__ = ["Store", "closed_on_error", "open_store"]

_HOST_AND_PORT = re.compile(r"[\w.-]+:\d+")
_NEARLY_A_CLUSTER = re.compile(r"hbase(?::|//|\+\w*)[:/]*")


def open_store(location: str, *, read_only: bool = False, create: bool = True) -> Store:
    """Opens the store at a location.

    Args:
        location: a directory, also as `rocks:DIRECTORY`, for the embedded engine;
            `hbase://host[:2181][,host…][/parent]` or `hbase+masters://host[:16000][,host…]` for
            a cluster, with `?namespace=` to keep several stores on it apart. A directory that
            could be a misspelt cluster is made only as `rocks:DIRECTORY`.
        read_only: open an embedded store beside its writer, for reading. It follows what the
            writer stores; `Store.refresh` makes it follow now.
        create: create the embedded store when it does not exist.

    Raises:
        InvalidRequest: it is no location, a misspelt one, or one with a user or a password.
        StoreNotFound: the store does not exist, and `create` is false.
        StoreLocked: another process has the embedded store open for writing.
        CorruptData, FormatVersionError: files of the store are damaged, or newer than this program.
        ServerUnavailable: the cluster does not respond.
    """
    reject_secrets(location)
    scheme, separator, _ = location.partition("://")
    if separator and scheme in ("hbase", "hbase+masters"):
        from webtable.store.hbase.engine import HBaseEngine

        return Store(HBaseEngine.connect(location, read_only=read_only))
    _check_spelling(location)
    if separator:
        raise InvalidRequest(
            f"location '{mask_secrets(location)}' has an unknown scheme '{scheme}'",
            hint="use a directory, hbase://… or hbase+masters://…",
        )
    from webtable.store.rocks.engine import RocksEngine

    path = location.removeprefix("rocks:")
    if not path:
        raise InvalidRequest("location is empty", hint="name a directory, or hbase://…")
    return Store(RocksEngine.open(path, read_only=read_only, create=create))


def _check_spelling(location: str) -> None:
    """Rejects a misspelt location of a cluster, which would silently create a directory."""
    nearly, shown = _NEARLY_A_CLUSTER.match(location), mask_secrets(location)
    if location.startswith("rocks:") or os.path.exists(location):
        return
    if _HOST_AND_PORT.fullmatch(location):
        meant = f"hbase://{shown}"
    elif nearly:
        scheme = "hbase+masters" if location.startswith("hbase+") else "hbase"
        meant = f"{scheme}://{shown[nearly.end() :] or 'HOST'}"
    else:
        return
    directory = "" if "://" in location else f"; for a new directory 'rocks:{shown}'"
    raise InvalidRequest(
        f"location '{shown}' is neither a directory nor a cluster's",
        hint=f"for a cluster write '{meant}'{directory}",
    )


class Store:
    """The tables at one location. Closes with its `with` block; share it between threads.

    Every method that takes the name of a table raises `TableNotFound` where there is no such table,
    and `InvalidRequest` where it cannot be a name. After `close` every method raises `StoreClosed`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def location(self) -> str:
        """Where the store is."""
        return self._engine.location

    @property
    def capabilities(self) -> Capabilities:
        """What the engine of this store can do beyond the common contract."""
        return self._engine.capabilities

    @property
    def admin(self) -> Admin:
        """Regions, servers, namespaces, snapshots, and the upkeep of files."""
        return self._engine.admin

    def table(self, name: str) -> Table:
        """Returns a table to work with. Costs nothing; that it exists shows at the first use."""
        return Table(self._engine, check_table_name(name))

    def tables(self) -> list[str]:
        """Returns the names of all tables, sorted."""
        return self._engine.list_tables()

    def create_table(
        self, table: str | TableSchema, *families: str | Family, splits: Iterable[bytes] = ()
    ) -> Table:
        """Creates a table from a schema, or from a name and its families.

        Raises:
            TableExists: a table of that name exists.
        """
        if isinstance(table, TableSchema):
            schema = table
        else:
            made = (Family(name=each) if isinstance(each, str) else each for each in families)
            schema = TableSchema(name=table, families=tuple(made))
        self._engine.create_table(schema, check_splits(splits))
        return Table(self._engine, schema.name)

    def alter_table(self, schema: TableSchema) -> None:
        """Changes a table's options and families; a family left out loses its data.

        Start from `describe_table`: `with_family` adds or changes one, `without_family` drops one.

        Raises:
            InvalidRequest: a table cannot have one of the options.
            ReadOnly: the store was opened for reading only.
        """
        self._engine.alter_table(schema)

    def describe_table(self, name: str) -> TableSchema:
        """Returns a table's schema."""
        return self._engine.describe_table(check_table_name(name))

    def truncate_table(self, name: str) -> None:
        """Removes all rows of a table; its schema and regions stay."""
        self._engine.truncate_table(check_table_name(name))

    def drop_table(self, name: str) -> None:
        """Removes a table and its data."""
        self._engine.drop_table(check_table_name(name))

    def commit(
        self, writes: Sequence[tuple[str, Write]], *, durability: Durability = "wal"
    ) -> list[Row | None]:
        """Makes mutations of many rows and tables all together or not at all.

        Only engines with `capabilities.atomic_commits` can; HBase cannot.

        Args:
            writes: the name of a table and a mutation of one of its rows, each.

        Raises:
            InvalidRequest: the engine cannot.
        """
        return self._engine.commit(writes, check_durability(durability))

    def checkpoint(self, path: str) -> None:
        """Writes a consistent copy of the store to a new directory while work goes on."""
        self._engine.checkpoint(path)

    def losses(self) -> list[Loss]:
        """Returns the acknowledged writes that an embedded store lost when its machine stopped.

        Oldest first; empty for almost every store, and always on HBase. Removing the file `LOST`
        of the store forgets them.
        """
        return self._engine.losses()

    def refresh(self) -> None:
        """Lets a read-only store see what its writer has stored by now."""
        self._engine.refresh()

    def close(self) -> None:
        """Closes the store; closing again does nothing."""
        self._engine.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.location!r})"


@contextlib.contextmanager
def closed_on_error(store: Store) -> Iterator[Store]:
    """Closes a store where its block ends with an error; otherwise it stays open."""
    try:
        yield store
    except BaseException:
        store.close()
        raise
