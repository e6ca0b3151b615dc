"""`TableCatalog`: creates, changes, disables and drops tables and namespaces; opens the tables.

A change of tables is one atomic write of the catalog. RocksDB column families are created before it
and dropped after it, so a crash in between leaves only a column family that no table names;
the next writer removes those.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import msgspec
from rocksdict import WriteBatch

from webtable.errors import ReadOnly, StoreClosed, TableDisabled, TableExists, TableNotFound
from webtable.store.rocks.catalog_entries import (
    CATALOG_KEY,
    DISABLED_KEY,
    NAMESPACE_KEY,
    TableEntry,
    decode_entry,
    encode_entry,
    table_key,
)
from webtable.store.rocks.files.database import Database
from webtable.store.rocks.files.file_options import tuning_of
from webtable.store.rocks.files.follower import FellBehind
from webtable.store.rocks.open_tables import FamilyNotes, OpenFamily, OpenTable
from webtable.store.schema import TableSchema

__all__ = ["TableCatalog"]

_PATIENCE_SECONDS = 20.0
_FOLLOW_SECONDS = 0.1  # how far a follower may lag behind before it checks


class TableCatalog:
    """The catalog of one store, open.

    Attributes:
        tables: those in service, by name; `disabled` has the others.
        namespaces: the names of those that were created, by themselves or with a table.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # One lock for tables and writes: a write may have to note something about its table.
        self._lock = database.commits
        self._followed = 0.0
        self.tables: dict[str, OpenTable] = {}
        self.disabled: dict[str, OpenTable] = {}
        self.namespaces: frozenset[str] = frozenset()
        self._notes: dict[str, FamilyNotes] = {}
        if database.read_only:
            self._load_followed()
        else:
            self._load()
            self._drop_orphans()

    # The catalog

    def _load(self) -> None:
        counter = self._read_counter()
        out_of_service = {name for name, _ in self._entries(DISABLED_KEY)}
        namespaces = frozenset(name for name, _ in self._entries(NAMESPACE_KEY))
        tables: dict[str, OpenTable] = {}
        disabled: dict[str, OpenTable] = {}
        for name, stored in self._entries(table_key("")):
            chosen = disabled if name in out_of_service else tables
            chosen[name] = self._opened(decode_entry(stored))
        self._counter = counter
        self.namespaces = namespaces
        self.disabled = disabled
        self.tables = tables  # in one step: other threads read it without a lock

    def _entries(self, prefix: bytes) -> Iterable[tuple[str, bytes]]:
        seeker = self._database.root.iter()
        seeker.seek(prefix)
        while seeker.valid() and seeker.key().startswith(prefix):
            yield seeker.key()[len(prefix) :].decode(), seeker.value()
            seeker.next()
        seeker.status()

    def _load_followed(self) -> None:
        """Loads the catalog of a store that another process changes meanwhile."""
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
            self._database.tune(column_family, tuning_of(schema))
            rocks, handle = self._database.family(column_family)
            families[schema.name.encode()] = OpenFamily(schema, rocks, handle, notes)
        return OpenTable(entry, families)

    def _drop_orphans(self) -> None:
        opened = [*self.tables.values(), *self.disabled.values()]
        named = {name for table in opened for name in table.entry.column_families.values()}
        for name in self._database.family_names():
            if name not in named:
                self._database.drop_family(name)
                # The change that would have stored its number was interrupted. The name must not
                # come again: to read a list of files that has it twice ends a follower's process.
                number = name.rpartition("/")[2]
                self._counter = max(self._counter, int(number) if number.isdecimal() else 0)

    def _store(self, entry: TableEntry | None, name: str) -> None:
        """Writes a table's entry, or removes it, and moves the counter, in one step."""
        batch = WriteBatch(raw_mode=True)
        if entry is None:
            batch.delete(table_key(name))
            batch.delete(DISABLED_KEY + name.encode())
        else:
            batch.put(table_key(name), encode_entry(entry))
        namespace = name.rpartition(":")[0]
        is_new = bool(namespace) and namespace not in self.namespaces
        if is_new:
            batch.put(NAMESPACE_KEY + namespace.encode(), b"")
        self._write(batch)
        if is_new:
            self.namespaces |= {namespace}
        tables = self.disabled if name in self.disabled else self.tables
        if entry is None:
            tables.pop(name)
        else:
            tables[name] = self._opened(entry)

    def _write(self, batch: WriteBatch) -> None:
        """Writes a change of the catalog for good."""
        batch.put(CATALOG_KEY, b"%d" % self._counter)
        self._database.write(batch, "sync")

    def _new_families(self, schema: TableSchema, names: Sequence[str]) -> dict[str, str]:
        """Creates RocksDB column families for families of a table; returns their names."""
        self._counter += 1
        created = {}
        for family in schema.families:
            if family.name in names:
                created[family.name] = f"{schema.name}/{family.name}/{self._counter}"
                self._database.create_family(created[family.name], tuning_of(family))
        return created

    # Calls of the engine

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
            TableNotFound: no table has that name.
            TableDisabled: it is out of service.
        """
        table = self.tables.get(name)
        if table is None:
            self.check_open()
            if name in self.disabled:
                raise TableDisabled(name)
            raise TableNotFound(name, self.names())
        return table

    def existing(self, name: str) -> OpenTable:
        """Returns a table, in service or not.

        Raises:
            TableNotFound: no table has that name.
        """
        table = self.disabled.get(name)
        return self.table(name) if table is None else table

    def names(self) -> list[str]:
        """Returns the names of all tables, sorted."""
        return sorted([*self.tables, *self.disabled])

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
        """Releases all tables: RocksDB stays open, and locked, while a handle is open."""
        for table in (*self.tables.values(), *self.disabled.values()):
            table.release()
        self.tables, self.disabled = {}, {}

    # Changing tables

    def create(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        """Creates a table."""
        with self._lock:
            self.check_open()
            self.check_writable()
            if schema.name in self.tables or schema.name in self.disabled:
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
            entry = self.existing(schema.name).entry
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
            entry = self.existing(name).entry
            created = self._new_families(entry.schema, list(entry.column_families))
            self._store(TableEntry(entry.schema, entry.splits, created), name)
            self._drop_families(list(entry.column_families.values()))

    def drop(self, name: str) -> None:
        """Removes a table."""
        with self._lock:
            self.check_open()
            self.check_writable()
            entry = self.existing(name).entry
            self._counter += 1
            self._store(None, name)
            self._drop_families(list(entry.column_families.values()))

    def set_enabled(self, name: str, *, is_enabled: bool) -> None:
        """Puts a table into service, or takes it out."""
        with self._lock:
            self.check_open()
            self.check_writable()
            table = self.existing(name)
            if is_enabled == (name in self.tables):
                return
            self._counter += 1
            key = DISABLED_KEY + name.encode()
            batch = WriteBatch(raw_mode=True)
            if is_enabled:
                batch.delete(key)
            else:
                batch.put(key, b"")
            self._write(batch)
            if is_enabled:
                self.tables[name] = table
                del self.disabled[name]
            else:
                self.disabled[name] = table
                del self.tables[name]

    def set_namespace(self, name: str, *, is_there: bool) -> None:
        """Creates a namespace, or removes it."""
        with self._lock:
            self.check_open()
            self.check_writable()
            self._counter += 1
            batch = WriteBatch(raw_mode=True)
            if is_there:
                batch.put(NAMESPACE_KEY + name.encode(), b"")
            else:
                batch.delete(NAMESPACE_KEY + name.encode())
            self._write(batch)
            self.namespaces = self.namespaces | {name} if is_there else self.namespaces - {name}

    def note_tagged(self, table: OpenTable, family: OpenFamily) -> None:
        """Notes for good that the puts of a family are tagged from now on; see `cell_keys.py`."""
        with self._lock:
            self._note(table, family, "tagged")
            family.notes.is_tagged = True
            table.places.clear()

    def note_marked(self, table: OpenTable, family: OpenFamily) -> None:
        """Notes for good that a family may have markers of the whole family from now on."""
        with self._lock:
            self._note(table, family, "marked")
            family.notes.is_marked = True

    def _note(self, table: OpenTable, family: OpenFamily, field: str) -> None:
        name = table.schema.name
        entry = self.table(name).entry
        noted = tuple({*getattr(entry, field), family.schema.name})
        self._store(msgspec.structs.replace(entry, **{field: noted}), name)

    def _drop_families(self, names: Sequence[str]) -> None:
        for name in names:
            self._database.drop_family(name)
