"""Tables of the embedded engine: creating, changing, dropping them, their sizes and upkeep.

A change of tables is one atomic write of the catalog. RocksDB column families are created before it
and dropped after it, so a crash in between leaves only a column family that no table names;
the next writer removes those.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import msgspec
from rocksdict import WriteBatch

from webtable.errors import ReadOnly, StoreClosed, TableExists, TableNotFound
from webtable.store.engine import FamilyStats, Region, TableStats
from webtable.store.rocks.catalog import (
    CATALOG_KEY,
    FamilyNotes,
    OpenFamily,
    OpenTable,
    TableEntry,
    decode_entry,
    encode_entry,
    is_table_key,
    table_key,
)
from webtable.store.rocks.compaction import compact_family
from webtable.store.rocks.database import Database
from webtable.store.rocks.follower import FellBehind
from webtable.store.schema import TableSchema

__all__ = ["RocksAdmin"]

# The attribute of a table or family, as in HBase: milliseconds for which delete markers stay.
_PURGE_AFTER = "hbase.hstore.time.to.purge.deletes"
_LEVELS = 7  # RocksDB's default
_PATIENCE_SECONDS = 20.0
_FOLLOW_SECONDS = 0.1  # how far a reader in another process may lag behind without being told


class RocksAdmin:
    """The catalog of one store, open."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # One lock for tables and writes: a write may have to note something about its table.
        self._lock = database.commits
        self._followed = 0.0
        self.tables: dict[str, OpenTable] = {}
        self._notes: dict[str, FamilyNotes] = {}
        if database.read_only:
            self._load_followed()
        else:
            self._load()
            self._drop_orphans()

    # The catalog

    def _load(self) -> None:
        root = self._database.root
        counter = self._read_counter()
        tables = {}
        seeker = root.iter()
        seeker.seek(table_key(""))
        while seeker.valid() and is_table_key(seeker.key()):
            entry = decode_entry(seeker.value())
            tables[entry.schema.name] = self._opened(entry)
            seeker.next()
        seeker.status()
        self._counter = counter
        self.tables = tables  # at once: threads look into it without a lock

    def _load_followed(self) -> None:
        """Loads the catalog of a store that somebody else changes meanwhile."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._load()
            except FellBehind:
                if time.monotonic() > deadline:
                    raise
                self._database.reopen()
            else:
                return

    def _read_counter(self) -> int:
        return int(self._database.root.get(CATALOG_KEY) or b"0")

    def _opened(self, entry: TableEntry) -> OpenTable:
        families = {}
        for schema in entry.schema.families:
            column_family = entry.column_families[schema.name]
            notes = self._notes.setdefault(
                column_family,
                FamilyNotes(
                    is_tagged=schema.name in entry.tagged,
                    # A reader beside a writer learns too late of the first marker.
                    is_marked=schema.name in entry.marked or self._database.read_only,
                ),
            )
            self._database.compress(column_family, schema.compression)
            rocks, handle = self._database.family(column_family)
            families[schema.name.encode()] = OpenFamily(schema, rocks, handle, notes)
        return OpenTable(entry, families)

    def _drop_orphans(self) -> None:
        named = {
            name for table in self.tables.values() for name in table.entry.column_families.values()
        }
        for name in self._database.family_names():
            if name not in named:
                self._database.drop_family(name)

    def _store(self, entry: TableEntry | None, name: str) -> None:
        """Writes a table's entry, or removes it, and moves the counter, in one step."""
        batch = WriteBatch(raw_mode=True)
        if entry is None:
            batch.delete(table_key(name))
        else:
            batch.put(table_key(name), encode_entry(entry))
        batch.put(CATALOG_KEY, b"%d" % self._counter)
        self._database.write(batch, "sync")
        if entry is None:
            self.tables.pop(name)
        else:
            self.tables[name] = self._opened(entry)

    def _new_families(self, schema: TableSchema, names: Sequence[str]) -> dict[str, str]:
        """Creates RocksDB column families for families of a table; returns their names."""
        self._counter += 1
        created = {}
        for family in schema.families:
            if family.name in names:
                created[family.name] = f"{schema.name}/{family.name}/{self._counter}"
                self._database.create_family(created[family.name])
        return created

    # What the engine asks

    def check_open(self) -> None:
        """Makes sure that the store is open.

        Raises:
            StoreClosed: it is not.
        """
        if self._database.is_closed:
            raise StoreClosed(self._database.path)

    def check_writable(self) -> None:
        """Makes sure that the store was opened for writing.

        Raises:
            ReadOnly: it was not.
        """
        if self._database.read_only:
            raise ReadOnly(
                f"store '{self._database.path}' was opened for reading only",
                hint="open it without read_only to write",
            )

    def table(self, name: str) -> OpenTable:
        """Returns an open table.

        Raises:
            TableNotFound: there is none of that name.
        """
        table = self.tables.get(name)
        if table is None:
            self.check_open()
            raise TableNotFound(name, self.tables)
        return table

    def follow(self, *, now: bool = False) -> None:
        """Lets a reader beside a writer catch up, now or when it was some time ago."""
        self.check_open()
        if not self._database.read_only:
            return
        if not now and time.monotonic() - self._followed < _FOLLOW_SECONDS:
            return
        with self._lock:
            if not self._database.catch_up() or self._read_counter() != self._counter:
                self._database.reopen()
                self._load_followed()
            self._followed = time.monotonic()

    def release(self) -> None:
        """Lets go of all tables: RocksDB stays open, and locked, while a handle is."""
        for table in self.tables.values():
            table.release()
        self.tables = {}

    # Changing tables

    def create(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        """Creates a table."""
        with self._lock:
            self.check_open()
            self.check_writable()
            if schema.name in self.tables:
                raise TableExists(schema.name)
            names = [family.name for family in schema.families]
            created = self._new_families(schema, names)
            self._store(
                TableEntry(schema, tuple(key.hex() for key in splits), created), schema.name
            )

    def alter(self, schema: TableSchema) -> None:
        """Makes a table's schema this one."""
        with self._lock:
            self.check_open()
            self.check_writable()
            entry = self.table(schema.name).entry
            old = dict(entry.column_families)
            kept = {
                family.name: old.pop(family.name)
                for family in schema.families
                if family.name in old
            }
            added = [family.name for family in schema.families if family.name not in kept]
            created = self._new_families(schema, added)
            tagged = tuple(each for each in entry.tagged if each in kept)
            marked = tuple(each for each in entry.marked if each in kept)
            changed = TableEntry(schema, entry.splits, {**kept, **created}, tagged, marked)
            self._store(changed, schema.name)
            self._drop_families(list(old.values()))

    def truncate(self, name: str) -> None:
        """Removes a table's rows, by giving it new column families."""
        with self._lock:
            self.check_open()
            self.check_writable()
            entry = self.table(name).entry
            created = self._new_families(entry.schema, list(entry.column_families))
            self._store(TableEntry(entry.schema, entry.splits, created), name)
            self._drop_families(list(entry.column_families.values()))

    def drop(self, name: str) -> None:
        """Removes a table."""
        with self._lock:
            self.check_open()
            self.check_writable()
            entry = self.table(name).entry
            self._counter += 1
            self._store(None, name)
            self._drop_families(list(entry.column_families.values()))

    def note_tagged(self, table: OpenTable, family: OpenFamily) -> None:
        """Notes for good that the puts of a family are tagged from now on; see `keys.py`."""
        with self._lock:
            entry = self.table(table.schema.name).entry
            tagged = tuple({*entry.tagged, family.schema.name})
            self._store(msgspec.structs.replace(entry, tagged=tagged), table.schema.name)
            family.notes.is_tagged = True
            table.places.clear()

    def note_marked(self, table: OpenTable, family: OpenFamily) -> None:
        """Notes for good that a family may have markers of the whole family from now on."""
        with self._lock:
            entry = self.table(table.schema.name).entry
            marked = tuple({*entry.marked, family.schema.name})
            self._store(msgspec.structs.replace(entry, marked=marked), table.schema.name)
            family.notes.is_marked = True

    def _drop_families(self, names: Sequence[str]) -> None:
        for name in names:
            self._database.drop_family(name)

    # Upkeep and sizes

    def flush(self, table: OpenTable) -> None:
        """Writes a table's memory to files."""
        self._database.flush(list(table.entry.column_families.values()))

    def major_compact(self, table: OpenTable, now_ms: int) -> None:
        """Rewrites a table without what no read can see."""
        self.flush(table)
        for family in table.families.values():
            options = {**table.schema.attributes, **family.schema.attributes}
            purge_after = options.get(_PURGE_AFTER, "0")
            purge_after_ms = int(purge_after) if purge_after.isdecimal() else 0
            compact_family(self._database, family, now_ms, purge_after_ms)

    def stats(self, table: OpenTable) -> TableStats:
        """Returns RocksDB's own figures of each family."""
        families = []
        for family in table.families.values():
            number = family.rocks.property_int_value
            families.append(
                FamilyStats(
                    family=family.schema.name,
                    disk_bytes=number("rocksdb.total-sst-files-size") or 0,
                    memory_bytes=number("rocksdb.cur-size-all-mem-tables") or 0,
                    cells=number("rocksdb.estimate-num-keys"),
                    files=sum(
                        int(family.rocks.property_value(f"rocksdb.num-files-at-level{level}") or 0)
                        for level in range(_LEVELS)
                    ),
                )
            )
        return TableStats(table.schema.name, tuple(families))

    def regions(self, table: OpenTable) -> list[Region]:
        """Returns the ranges between the table's split keys; RocksDB knows their size together."""
        bounds = [b"", *(bytes.fromhex(key) for key in table.entry.splits), b""]
        size = sum(family.disk_bytes for family in self.stats(table).families)
        return [
            Region(
                table=table.schema.name,
                name=f"{table.schema.name},{number}",
                start=start,
                stop=stop,
                server="embedded",
                size_bytes=size if len(bounds) == 2 else None,
            )
            for number, (start, stop) in enumerate(pairwise(bounds))
        ]
