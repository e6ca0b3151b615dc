"""`RocksEngine`: the engine contract on an embedded RocksDB database.

Reads take no lock; they open their iterators at one moment and go on from there. Writes are encoded
by the caller's thread and committed one after another.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from rocksdict import ReadOptions

from webtable.errors import StoreClosed
from webtable.store.cells_and_rows import Row
from webtable.store.engine import Capabilities, Engine, Loss
from webtable.store.filtering.filter_language import as_filter
from webtable.store.mutation import CheckResult, Conditional, Durability, Mutation, Write
from webtable.store.rocks import range_reader
from webtable.store.rocks.admin import EmbeddedAdmin
from webtable.store.rocks.cell_keys import escape
from webtable.store.rocks.column_page_shortcut import walk_filtered
from webtable.store.rocks.committer import Committer
from webtable.store.rocks.files.database import Database
from webtable.store.rocks.files.error_translation import translated
from webtable.store.rocks.files.recorded_losses import read_losses
from webtable.store.rocks.filtering.filtered_reader import Span, read_filtered
from webtable.store.rocks.filtering.rule_factory import make_rule
from webtable.store.rocks.filtering.whole_row_decisions import row_decision
from webtable.store.rocks.filtering.whole_row_scan import WholeRows, plain_pieces
from webtable.store.rocks.open_tables import OpenTable
from webtable.store.rocks.single_row_reader import SingleRowReader, seeker_of
from webtable.store.rocks.table_catalog import TableCatalog
from webtable.store.scan import Get, Scan
from webtable.store.schema import TableSchema

__all__ = ["RocksEngine"]

# For reads to the end. RocksDB by itself begins with less and grows up to this much,
# block by block; to begin with it makes a scan of large values a tenth quicker.
_READAHEAD_BYTES = 256 * 1024


class RocksEngine(Engine):
    """A store in one directory."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        atomic_commits=True, checkpoints=True, cluster=False, snapshots=False
    )

    def __init__(self, database: Database) -> None:
        self.location = database.path
        self._translated = translated(database.path, lambda: database.is_closed)
        self._database = database
        self._admin = TableCatalog(database)
        self._rows = SingleRowReader(database)
        self._committer = Committer(database, self._admin, self._rows)
        self.admin = EmbeddedAdmin(database, self._admin, self._translated)
        self._scans: weakref.WeakSet[range_reader.RowPieces] = weakref.WeakSet()
        self._scans_lock = threading.Lock()

    @classmethod
    def open(cls, path: str, *, read_only: bool = False, create: bool = True) -> RocksEngine:
        """Opens or makes the store in a directory; see `webtable.open`."""
        database = Database(path, read_only=read_only, create=create)
        try:
            with translated(path):
                return cls(database)
        except BaseException:
            database.close()
            raise

    # Reading

    def get_many(self, table: str, gets: Sequence[Get]) -> list[Row | None]:
        with self._translated:
            opened = self._table(table)
            rows: list[Row | None] = []
            shared, seeker = None, None
            for get in gets:
                reads = opened.reads.get(get.columns) or range_reader.select(opened, get.columns)
                if reads is not shared:
                    # Opening an iterator takes as long as a seek: one for all rows read alike.
                    shared, seeker = reads, seeker_of(reads)
                view = range_reader.NEWEST
                if get.versions != 1 or get.time_range is not None:
                    view = range_reader.View(get.versions, get.time_range)
                if get.filter is not None:
                    filter = as_filter(get.filter)
                    found = None
                    if seeker is not None and reads[0].wanted is None:
                        found = walk_filtered(reads[0].family, view, seeker, get.row, filter)
                    if found is None:
                        found = self._rows.read_filtered(reads, view, get.row, filter)
                    cells = found
                else:
                    cells = self._rows.read(reads, view, get.row, seeker)
                rows.append(Row(get.row, cells) if cells else None)
            return rows

    def get(self, table: str, get: Get) -> Row | None:
        """Reads one row: what `get_many` does, for the call that is made most often."""
        if get.versions != 1 or get.time_range is not None or get.filter is not None:
            return self.get_many(table, (get,))[0]
        try:
            opened = self._table(table)
            reads = opened.reads.get(get.columns) or range_reader.select(opened, get.columns)
            cells = self._rows.read(reads, range_reader.NEWEST, get.row)
        except Exception as exc:
            self._translated.raise_translated(exc)
            raise
        return Row(get.row, cells) if cells else None

    def scan(self, table: str, scan: Scan) -> Iterator[Row]:
        with self._translated:
            opened = self._table(table)
            reads = range_reader.select(opened, scan.columns)
        view = range_reader.View(scan.versions, scan.time_range, raw=scan.raw)
        rule = decision = None
        if scan.filter is not None:
            filter = as_filter(scan.filter)
            rule = make_rule(filter, reverse=scan.reverse)
            decision = row_decision(filter, reads, view)

        def open_pieces(span: Span) -> range_reader.RowPieces:
            if rule is not None and decision is None:
                rows = read_filtered(self._database, reads, view, span, rule)
                return range_reader.as_pieces(rows)
            opened = self._open_walks(reads, span)
            if rule is None or decision is None:
                return plain_pieces(reads, view, span, opened)
            whole = WholeRows(decision, rule, lambda: self._database.is_closed)
            return whole.pieces(reads, view, span, opened)

        return self._scan(scan, open_pieces)

    def scan_many(self, table: str, scans: Sequence[Scan]) -> list[Iterator[Row]]:
        """Begins several scans. Those that find nothing cost a seek, not iterators of their own."""
        found: list[Iterator[Row]] = []
        with self._translated:
            opened = self._table(table)
            shared, seeker = None, None
            for scan in scans:
                reads = range_reader.select(opened, scan.columns)
                if reads is not shared:
                    shared, seeker = reads, None
                    if len(reads) == 1:
                        seeker = reads[0].family.rocks.iter(ReadOptions())
                start, stop = scan.bounds()
                if seeker is None or scan.reverse or not stop:
                    found.append(self.scan(table, scan))
                    continue
                seeker.seek(escape(start))
                if seeker.valid() and seeker.key() < escape(stop):
                    found.append(self.scan(table, scan))
                else:
                    seeker.status()
                    found.append(iter(()))
        return found

    def _scan(
        self, scan: Scan, open_pieces: Callable[[Span], range_reader.RowPieces]
    ) -> Iterator[Row]:
        start, stop = scan.bounds()
        if scan.limit == 0 or (stop and stop <= start):
            return
        left = -1 if scan.limit is None else scan.limit
        database = self._database
        # RocksDB reads the bound where it lies, so this must live as long as the iterators do.
        bounds = ReadOptions()
        if stop:
            bounds.set_iterate_upper_bound(escape(stop))
        elif scan.limit is None:
            # What reads on to the end would push everything else out of the cache.
            bounds.fill_cache(False)  # type: ignore[call-arg] # the stub forgets it
            bounds.set_readahead_size(_READAHEAD_BYTES)
        with self._translated:
            pieces = open_pieces(Span(escape(start), bounds, scan.reverse, together=scan.reverse))
            with self._scans_lock:
                self._scans.add(pieces)
            for rows in pieces:
                for row in rows:
                    if database.is_closed:
                        raise StoreClosed(self.location)
                    yield row
                    left -= 1
                    if left == 0:
                        return
            if database.is_closed:
                raise StoreClosed(self.location)

    def _open_walks(
        self, reads: Sequence[range_reader.FamilyRead], span: Span
    ) -> list[tuple[Any, Any]]:
        """Returns for each family an iterator to seek with, and one over all that is there."""

        def open_all() -> list[tuple[Any, Any]]:
            if self._database.is_closed:
                raise StoreClosed(self.location)
            return [
                (
                    read.family.rocks.iter(span.bounds),
                    read.family.rocks.items(
                        backwards=span.reverse,
                        from_key=None if span.reverse else span.first,
                        read_opt=span.bounds,
                    ),
                )
                for read in reads
            ]

        return self._database.pin(open_all)

    # Writing

    def mutate_many(
        self, table: str, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        with self._translated:
            return self._committer.mutate_many(self._writable_table(table), mutations, durability)

    def mutate_row(
        self, table: str, row: bytes, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        with self._translated:
            return self._committer.mutate_row(self._writable_table(table), mutations, durability)

    def check_and_mutate(
        self, table: str, step: Conditional, durability: Durability
    ) -> CheckResult:
        with self._translated:
            opened = self._writable_table(table)
            return self._committer.check_and_mutate(opened, step, durability)

    def commit(
        self, writes: Sequence[tuple[str, Write]], durability: Durability
    ) -> list[Row | None]:
        with self._translated:
            opened = {name: self._writable_table(name) for name in dict(writes)}
            return self._committer.commit(opened, writes, durability)

    # Tables

    def create_table(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        with self._translated:
            self._admin.create(schema, splits)

    def alter_table(self, schema: TableSchema) -> None:
        with self._translated:
            self._admin.alter(schema)

    def truncate_table(self, table: str) -> None:
        with self._translated:
            self._admin.truncate(table)

    def drop_table(self, table: str) -> None:
        with self._translated:
            self._admin.drop(table)

    def describe_table(self, table: str) -> TableSchema:
        with self._translated:
            self._admin.follow()
            return self._admin.existing(table).schema

    def list_tables(self) -> list[str]:
        with self._translated:
            self._admin.check_open()
            self._admin.follow()
            return self._admin.names()

    def checkpoint(self, path: str) -> None:
        with self._translated:
            self._admin.check_open()
            self._database.checkpoint(path)

    def losses(self) -> list[Loss]:
        with self._translated:
            return read_losses(self.location)

    def refresh(self) -> None:
        with self._translated:
            self._admin.follow(now=True)

    def close(self) -> None:
        # RocksDB stays open, and locked, while an iterator is; so scans under way end here.
        self._database.is_closed = True
        with self._scans_lock:
            scans = list(self._scans)
        for rows in scans:
            try:
                rows.close()
            except ValueError:
                continue  # Another thread is inside; it ends at its next row.
        self._admin.release()
        with self._translated:
            self._database.close()

    def _table(self, name: str) -> OpenTable:
        if self._database.read_only:
            self._admin.follow()
        return self._admin.table(name)

    def _writable_table(self, name: str) -> OpenTable:
        if self._database.read_only:
            self._admin.check_writable()
        return self._admin.table(name)
