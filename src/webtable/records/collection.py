"""`Collection`: the records of one class in one table of a store.

    visits = Collection(store, Visit)
    visits.put(Visit("example.org", now, url="/"))
    for visit in visits.scan(prefix=("example.org",)):
        …

A key is the tuple of a record's key values; ranges and prefixes are tuples of the first of them,
and compare as tuples do in Python. Records of one entity are in one partition, so a scan that fixes
the whole entity key reads there alone; any other reads all partitions and merges them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from webtable.errors import InvalidRequest
from webtable.index import build_and_verify
from webtable.index.entry_reader import ReadCounts
from webtable.index.indexed_table import IndexedTable
from webtable.records.declaration_catalog import declared_table, open_indexes, open_table
from webtable.records.field_types import KeyValue
from webtable.records.indexes import Covered, FieldIndex
from webtable.records.reading.decoder_choice import decode_keys, decode_rows
from webtable.records.reading.index_found_records import FoundRecords
from webtable.records.reading.key_range_reader import KeyRange, RangeReader
from webtable.records.record import Record, declaration_of
from webtable.records.record_writer import IndexedWriter, PlainWriter, RowWriter
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Durability, check_durability
from webtable.store.scan import Get
from webtable.store.store import Store

__all__ = ["Collection", "KeyTuple"]

R = TypeVar("R", bound=Record)
KeyTuple = tuple[KeyValue, ...]

BATCH_ROWS = 1_000
"""How many records are sent at a time."""


class Collection(Generic[R]):
    """The records of one class. Share it between threads; it lives as long as its store.

    Opening it creates the table where it does not exist, with a region for each partition.

    Raises:
        SchemaMismatch: the table belongs to a class that disagrees with this one.
    """

    def __init__(self, store: Store, record: type[R], *, create: bool = True) -> None:
        declaration = declaration_of(record)
        if declaration.table is None:
            raise InvalidRequest(
                f"record class {declaration.name} has no table", hint='add table="…" to its line'
            )
        self.record = record
        self._declaration = declaration
        self._plan = declaration.plan
        self.table = open_table(store, declared_table(declaration), create=create)
        self._reader = RangeReader(self.table, declaration, is_remote=store.capabilities.cluster)
        self._indexes = {index.name: index for index in declaration.indexes}
        self._indexed: IndexedTable | None = None
        self._writer: RowWriter = PlainWriter(self.table, store.location)
        if self._indexes:
            self._indexed = open_indexes(store, declaration, create=create)
            self._writer = IndexedWriter(self._indexed)

    def __repr__(self) -> str:
        return f"Collection({self.record.__name__} in {self.table!r})"

    # One record, or some by their keys

    def get(self, *key: KeyValue) -> R | None:
        """Returns the record with this key, None when it does not exist."""
        row = self.table.get(self._declaration.row_key(key), (b"a",))
        return None if row is None else self._one(row)

    def get_many(self, keys: Iterable[Sequence[KeyValue]]) -> list[R | None]:
        """Returns the records with these keys in their order, None for those that do not exist."""
        rows = [self._declaration.row_key(key) for key in _tuples(keys)]
        found = self.table.get_many(rows, (b"a",))
        return [None if row is None else self._one(row) for row in found]

    def exists(self, *key: KeyValue) -> bool:
        """Whether there is a record with this key."""
        get = Get(self._declaration.row_key(key), (b"a",), filter=self._reader.keys_filter)
        row = self.table.get_many([get])[0]
        return row is not None and self._reader.is_record(row)

    def _one(self, row: Row) -> R | None:
        records: list[R] = decode_rows(self._plan, (row,))
        return records[0] if records else None

    # Writing

    def put(self, record: R, *, durability: Durability = "wal") -> None:
        """Stores a record whole: fields that are None are deleted.

        Raises:
            InvalidRequest: a field cannot be stored; nothing was written.
        """
        self._writer.put([self._declaration.put(record)], check_durability(durability))

    def put_many(self, records: Iterable[R], *, durability: Durability = "wal") -> int:
        """Stores records and returns their number. Each is atomic, all together are not.

        A list or tuple is checked as a whole first; anything else a thousand at a time: records
        before a record that cannot be stored are stored then. Of several with one key the last
        counts.

        Raises:
            InvalidRequest: a field cannot be stored.
            BatchError: the store rejected some.
        """
        check_durability(durability)
        count = 0
        put = self._declaration.put
        if isinstance(records, list | tuple):
            waiting = [put(record) for record in records]
            for at in range(0, len(waiting), BATCH_ROWS):
                self._writer.put(waiting[at : at + BATCH_ROWS], durability)
            return len(waiting)
        source = iter(records)
        while puts := [put(record) for record in itertools.islice(source, BATCH_ROWS)]:
            self._writer.put(puts, durability)
            count += len(puts)
        return count

    def delete(self, *key: KeyValue, durability: Durability = "wal") -> None:
        """Deletes the record with this key, if it exists."""
        self.delete_many([key], durability=durability)

    def delete_many(
        self, keys: Iterable[Sequence[KeyValue]], *, durability: Durability = "wal"
    ) -> None:
        """Deletes the records with these keys."""
        rows = [self._declaration.row_key(key) for key in _tuples(keys)]
        for at in range(0, len(rows), BATCH_ROWS):
            self._writer.delete(rows[at : at + BATCH_ROWS], check_durability(durability))

    # Many records, in order

    def scan(
        self,
        *,
        prefix: Sequence[KeyValue] = (),
        start: Sequence[KeyValue] = (),
        stop: Sequence[KeyValue] = (),
        reverse: bool = False,
        limit: int | None = None,
        offset: int = 0,
        ordered: bool = True,
    ) -> Iterator[R]:
        """Yields records in the order of their keys.

        Args:
            prefix: only keys that begin with these values, for example the whole entity key.
            start: only keys that are not before this tuple, which may be the beginning of one.
            stop: only keys that are before this tuple.
            reverse: from the last to the first.
            limit: how many records at most.
            offset: how many records to leave out first; they are read all the same.
            ordered: False lets records of different partitions come as they come, which is quicker.
        """
        keys = KeyRange(self._declaration, prefix, start, stop)
        pieces = self._reader.pieces(keys, reverse=reverse, ordered=ordered, limit=limit)
        plan = self._plan
        decoded = (decode_rows(plan, rows) for rows in pieces)
        return _part(itertools.chain.from_iterable(decoded), offset, limit)

    def entity(self, *entity_key: KeyValue, reverse: bool = False) -> Iterator[R]:
        """Yields the records of one entity in order, from its one partition.

        Raises:
            InvalidRequest: that is not the whole entity key.
        """
        size = self._declaration.entity_size
        if len(entity_key) != size:
            names = ", ".join(field.name for field in self._declaration.keys[:size])
            raise InvalidRequest(
                f"an entity key of {self.record.__name__} has the fields {names};"
                f" {len(entity_key)} values were given",
                hint="for the beginning of a key use scan(prefix=…)",
            )
        return self.scan(prefix=entity_key, reverse=reverse)

    def keys(
        self,
        *,
        prefix: Sequence[KeyValue] = (),
        start: Sequence[KeyValue] = (),
        stop: Sequence[KeyValue] = (),
        reverse: bool = False,
        limit: int | None = None,
        offset: int = 0,
        ordered: bool = True,
    ) -> Iterator[KeyTuple]:
        """Yields the keys of records only, see `scan`; a cluster sends nothing else."""
        keys = KeyRange(self._declaration, prefix, start, stop)
        pieces = self._reader.pieces(
            keys, reverse=reverse, ordered=ordered, limit=limit, keys_only=True
        )
        plan = self._plan
        found = (decode_keys(plan, rows) for rows in pieces)
        return _part(itertools.chain.from_iterable(found), offset, limit)

    # By an index

    def find(
        self,
        index: str,
        *,
        prefix: Sequence[KeyValue] = (),
        start: Sequence[KeyValue] = (),
        stop: Sequence[KeyValue] = (),
        reverse: bool = False,
        limit: int | None = None,
        where: Callable[[Covered], bool] | None = None,
    ) -> FoundRecords[R]:
        """Yields the records that an index has in a range, in its order, each once.

        Tuples are of the index's fields, and after all of them of the key's. A record is shown
        if it has these values at the moment when it is read.

        Args:
            where: decides by the fields that the index covers whether to read a record.

        Raises:
            StaleIndex: the index is being built, see `build_index`.
        """
        by, indexed = self._index(index)
        scan = by.scan(prefix, start, stop, reverse=reverse, limit=limit)
        if scan is None:
            return FoundRecords(self._declaration, None)
        found = indexed.find(by.name, scan, columns=(b"a",), where=by.where(where))
        return FoundRecords(self._declaration, found)

    def lookup(self, index: str, *values: KeyValue) -> R | None:
        """Returns the record that has these values in a unique index, None when none has."""
        by, indexed = self._index(index)
        if not by.is_unique:
            raise InvalidRequest(f"index '{by.name}' is not unique", hint="use find")
        hit = indexed.lookup(by.name, by.key(values), columns=(b"a",))
        return None if hit is None or hit.found is None else self._one(hit.found)

    def explain(
        self,
        index: str,
        *,
        prefix: Sequence[KeyValue] = (),
        start: Sequence[KeyValue] = (),
        stop: Sequence[KeyValue] = (),
    ) -> build_and_verify.Explanation:
        """Runs `find` and returns what was read for it."""
        by, indexed = self._index(index)
        scan = by.scan(prefix, start, stop, reverse=False, limit=None)
        if scan is None:
            return build_and_verify.Explanation(by.name, by.index.table, b"", b"", ReadCounts())
        return build_and_verify.explain(indexed, by.name, scan)

    def build_index(self, index: str) -> int:
        """Adds the records that were there before an index, and makes it ready to be read.

        Every process that writes must declare the index by then. Returns how many rows were read.
        """
        by, indexed = self._index(index)
        return build_and_verify.build(indexed, by.name)

    def verify(self, *, repair: bool = False) -> build_and_verify.Report:
        """Compares the indexes with the records, while others write; see `upkeep.verify`."""
        if self._indexed is None:
            return build_and_verify.Report(is_repaired=repair)
        return build_and_verify.verify(self._indexed, repair=repair)

    def _index(self, name: str) -> tuple[FieldIndex, IndexedTable]:
        by = self._indexes.get(name)
        if by is None or self._indexed is None:
            names = ", ".join(self._indexes) or "none"
            raise InvalidRequest(
                f"{self.record.__name__} has no index '{name}'", hint=f"its indexes: {names}"
            )
        return by, self._indexed


def _part(found: Iterator[Any], offset: int, limit: int | None) -> Iterator[Any]:
    if offset < 0 or (limit is not None and limit < 0):
        raise InvalidRequest(
            f"offset {offset} or limit {limit} is negative", hint="leave it out for none"
        )
    if not offset and limit is None:
        return found
    return itertools.islice(found, offset, None if limit is None else offset + limit)


def _tuples(keys: Iterable[Sequence[KeyValue]]) -> Iterator[Sequence[KeyValue]]:
    for key in keys:
        if not isinstance(key, tuple | list):
            raise InvalidRequest(
                f"key {key!r:.80} is not a tuple", hint="write (value,) even for a single field"
            )
        yield key
