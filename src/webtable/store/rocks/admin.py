"""Administration of an embedded store: a cluster of one server, which is this process.

The regions of a table are the ranges between its split keys; they share the table's files, so
maintenance of one of them is maintenance of all. What needs several servers is rejected.
"""

# ruff: noqa: D102 - the methods have their contract in store/admin.py

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise

from webtable.errors import AlreadyExists, FamilyNotFound, InvalidRequest, NotFound
from webtable.store.admin import Admin, check_namespace_name, region_name
from webtable.store.admin_results import (
    ClusterReport,
    CompactionState,
    FamilyStats,
    Namespace,
    Region,
    RegionServer,
    TableStats,
)
from webtable.store.rocks.compaction import compact_family, compact_in_steps, purge_row
from webtable.store.rocks.files.database import Database
from webtable.store.rocks.files.verify_blocks import check_blocks
from webtable.store.rocks.open_tables import OpenFamily, OpenTable
from webtable.store.rocks.table_catalog import TableCatalog
from webtable.store.rocks.visibility import current_ms

__all__ = ["EmbeddedAdmin"]

SERVER = "embedded"
_DEFAULT_NAMESPACE = "default"
# The attribute of a table or family, as in HBase: milliseconds for which delete markers stay.
_PURGE_AFTER = "hbase.hstore.time.to.purge.deletes"
_LEVELS = 7  # RocksDB's default


class EmbeddedAdmin(Admin):
    """What can be looked after in one process. See `Admin` for the contract."""

    def __init__(
        self, database: Database, catalog: TableCatalog, translated: AbstractContextManager[None]
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._translated = translated
        self._opened_ms = int(time.time() * 1000)
        self._compacting: list[tuple[str, CompactionState]] = []
        self._lock = threading.Lock()

    # Tables and namespaces

    def enable_table(self, table: str) -> None:
        with self._translated:
            self._catalog.set_enabled(table, is_enabled=True)

    def disable_table(self, table: str) -> None:
        with self._translated:
            self._catalog.set_enabled(table, is_enabled=False)

    def is_enabled(self, table: str) -> bool:
        with self._translated:
            self._catalog.follow()
            self._catalog.existing(table)
            return table in self._catalog.tables

    def namespaces(self) -> list[Namespace]:
        with self._translated:
            self._catalog.follow()
            counts = dict.fromkeys({_DEFAULT_NAMESPACE, *self._catalog.namespaces}, 0)
            for name in self._catalog.names():
                namespace = name.rpartition(":")[0] or _DEFAULT_NAMESPACE
                # Stores made before namespaces were written down have tables in them.
                counts[namespace] = counts.get(namespace, 0) + 1
        return sorted(Namespace(*item) for item in counts.items())

    def create_namespace(self, name: str, properties: Mapping[str, str] | None = None) -> None:
        if properties:
            raise _unsupported("keeps no properties of namespaces", "give the name alone")
        if check_namespace_name(name) in {each.name for each in self.namespaces()}:
            raise AlreadyExists("namespace", name)
        with self._translated:
            self._catalog.set_namespace(name, is_there=True)

    def drop_namespace(self, name: str) -> None:
        check_namespace_name(name)
        tables = {each.name: each.tables for each in self.namespaces()}
        if name == _DEFAULT_NAMESPACE:
            raise InvalidRequest(
                f"namespace '{name}' is the store's own", hint="it cannot be dropped"
            )
        if name not in tables:
            raise NotFound("namespace", name, tables)
        if tables[name]:
            raise InvalidRequest(
                f"namespace '{name}' still has tables ({tables[name]:,})",
                hint="drop its tables first",
            )
        with self._translated:
            self._catalog.set_namespace(name, is_there=False)

    # Regions

    def regions(self, table: str | None = None, *, server: str | None = None) -> list[Region]:
        if server is not None:
            _check_server(server)
        with self._translated:
            self._catalog.follow()
            names = self._catalog.names() if table is None else [table]
            return [region for name in names for region in self._regions(name)]

    def _regions(self, name: str) -> list[Region]:
        table = self._catalog.existing(name)
        stats = _stats(table)
        bounds = [b"", *(bytes.fromhex(key) for key in table.entry.splits), b""]
        alone = len(bounds) == 2  # else RocksDB has only the sum of their sizes
        is_open = name in self._catalog.tables
        return [
            Region(
                table=name,
                name=f"{name},{number}",
                start=start,
                stop=stop,
                server=SERVER if is_open else None,
                size_bytes=stats.disk_bytes if alone else None,
                full_name=f"{name},{number}".encode(),
                state="OPEN" if is_open else "CLOSED",
                memory_bytes=stats.memory_bytes if alone else None,
                store_files=sum(each.files or 0 for each in stats.families) if alone else None,
                locality=1.0,
                compaction=self._compaction(table),
            )
            for number, (start, stop) in enumerate(pairwise(bounds))
        ]

    def region(self, name: str) -> Region:
        table = region_name(name).rpartition(",")[0]
        with self._translated:
            self._catalog.follow()
            regions = self._regions(table) if table in self._catalog.names() else []
        for region in regions:
            if region.name == name:
                return region
        hint = "" if regions else "`webtable regions` lists the names"
        raise NotFound("region", name, (each.name for each in regions), hint=hint)

    def stats(self, table: str) -> TableStats:
        with self._translated:
            self._catalog.follow()
            return _stats(self._catalog.existing(table))

    def move(self, region: str | Region, server: str | None = None) -> str:
        raise _unsupported("moves no regions", "it is one server; move the directory instead")

    def split(self, table: str, at: bytes | None = None) -> None:
        raise _unsupported("splits no regions", "name the split keys when creating the table")

    def split_region(self, region: str | Region, at: bytes | None = None) -> None:
        raise _unsupported("splits no regions", "name the split keys when creating the table")

    def merge(self, regions: Sequence[str | Region]) -> None:
        raise _unsupported(
            "merges no regions", "their files are shared already; nothing is to be done"
        )

    # Upkeep

    def flush(self, table: str, family: str | None = None) -> None:
        with self._translated:
            opened = self._writable(table)
            names = opened.entry.column_families
            if family is not None and family not in names:
                raise FamilyNotFound(table, family, list(names))
            self._database.flush([names[family]] if family is not None else list(names.values()))

    def flush_region(self, region: str | Region, family: str | None = None) -> None:
        """Flushes the region's table: its regions share their files."""
        self.flush(self._table_of(region), family)

    def flush_server(self, server: str) -> None:
        _check_server(server)
        with self._translated:
            self._catalog.check_writable()
            names = sorted(self._catalog.tables)
        for name in names:
            self.flush(name)

    def compact(
        self, table: str, family: str | None = None, *, major: bool = False, wait: bool = True
    ) -> None:
        """Compacts a table; always waits."""
        with self._translated:
            opened, chosen = self._flushed(table, family)
            with self._compaction_shown(table, "MAJOR" if major else "MINOR"):
                for each in chosen:
                    if major:
                        compact_family(self._database, each, current_ms(), _purge_ms(opened, each))
                    else:
                        self._database.compact(each.rocks)

    def compact_in_steps(self, table: str, family: str) -> Generator[None, None, None]:
        with self._translated:
            opened, (chosen,) = self._flushed(table, family)
            steps = compact_in_steps(
                self._database, chosen, current_ms(), _purge_ms(opened, chosen)
            )
            with self._compaction_shown(table, "MAJOR"):
                for _ in steps:
                    yield

    def _flushed(self, table: str, family: str | None) -> tuple[OpenTable, list[OpenFamily]]:
        """Flushes a table; returns it and its families, or the one that is named."""
        opened = self._writable(table)
        chosen = list(opened.families.values())
        if family is not None:
            chosen = [each for each in chosen if each.schema.name == family]
            if not chosen:
                families = [each.name for each in opened.schema.families]
                raise FamilyNotFound(table, family, families)
        self._database.flush(list(opened.entry.column_families.values()))
        return opened, chosen

    @contextlib.contextmanager
    def _compaction_shown(self, table: str, state: CompactionState) -> Iterator[None]:
        """Shows a compaction in `compaction_state` until the block ends."""
        with self._lock:
            self._compacting.append((table, state))
        try:
            yield
        finally:
            with self._lock:
                self._compacting.remove((table, state))

    def compact_region(
        self,
        region: str | Region,
        family: str | None = None,
        *,
        major: bool = False,
        wait: bool = True,
    ) -> None:
        """Compacts the region's table: its regions share their files."""
        self.compact(self._table_of(region), family, major=major, wait=wait)

    def purge_row(self, table: str, row: bytes) -> bool:
        with self._translated:
            opened = self._writable(table)
            purge_row(self._database, opened.families.values(), row, current_ms())
        return True

    def check_files(self, table: str) -> None:
        with self._translated:
            self._catalog.follow()
            for family in self._catalog.existing(table).families.values():
                check_blocks(table, family)

    def compaction_state(self, table: str) -> CompactionState:
        with self._translated:
            self._catalog.follow()
            return self._compaction(self._catalog.table(table))

    def _compaction(self, table: OpenTable) -> CompactionState:
        # RocksDB does not report its own compactions by table.
        with self._lock:
            states = {state for name, state in self._compacting if name == table.schema.name}
        return "MAJOR_AND_MINOR" if len(states) > 1 else next(iter(states), "NONE")

    # The one server

    def report(self) -> ClusterReport:
        with self._translated:
            self._catalog.follow()
            tables = [*self._catalog.tables.values(), *self._catalog.disabled.values()]
            stats = [_stats(table) for table in tables]
        families = [family for each in stats for family in each.families]
        server = RegionServer(
            name=SERVER,
            address=self._database.path,
            started_ms=self._opened_ms,
            regions=sum(1 + len(table.entry.splits) for table in tables),
            memory_bytes=sum(each.memory_bytes or 0 for each in stats),
            size_bytes=sum(each.disk_bytes or 0 for each in stats),
            store_files=sum(family.files or 0 for family in families),
            reported_ms=int(time.time() * 1000),
        )
        return ClusterReport(
            version=None,
            cluster_id=None,
            master=SERVER,
            backup_masters=(),
            servers=(server,),
            dead_servers=(),
            in_transition=(),
            is_balancing=False,
        )

    def _writable(self, table: str) -> OpenTable:
        self._catalog.check_writable()
        return self._catalog.table(table)

    def _table_of(self, region: str | Region) -> str:
        return self.region(region_name(region)).table


def _purge_ms(table: OpenTable, family: OpenFamily) -> int:
    """Returns for how long the delete markers of a family stay."""
    options = {**table.schema.attributes, **family.schema.attributes}
    purge_after = options.get(_PURGE_AFTER, "0")
    return int(purge_after) if purge_after.isdecimal() else 0


def _unsupported(what: str, instead: str) -> InvalidRequest:
    return InvalidRequest(f"the embedded store {what}", hint=instead)


def _check_server(server: str) -> None:
    if server != SERVER:
        raise NotFound("server", server, [SERVER])


def _stats(table: OpenTable) -> TableStats:
    """Returns RocksDB's own figures of each family."""
    families = []
    for family in table.families.values():
        number = family.rocks.property_int_value
        text = family.rocks.property_value
        levels = (text(f"rocksdb.num-files-at-level{level}") for level in range(_LEVELS))
        families.append(
            FamilyStats(
                family=family.schema.name,
                disk_bytes=number("rocksdb.total-sst-files-size") or 0,
                memory_bytes=number("rocksdb.cur-size-all-mem-tables") or 0,
                cells=number("rocksdb.estimate-num-keys"),
                files=sum(int(level or 0) for level in levels),
            )
        )
    return TableStats(
        table=table.schema.name,
        families=tuple(families),
        disk_bytes=sum(family.disk_bytes or 0 for family in families),
        memory_bytes=sum(family.memory_bytes or 0 for family in families),
    )
