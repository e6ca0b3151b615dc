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

from webtable.errors import BatchError, InvalidRequest, StoreClosed, WebTableError
from webtable.store.engine import Capabilities, Engine
from webtable.store.filter_text import as_filter
from webtable.store.filters import Filter
from webtable.store.model import RawCell, Row
from webtable.store.mutation import Check, CheckResult, Durability, Mutation, Spread, Write
from webtable.store.rocks import reader
from webtable.store.rocks.admin import RocksAdmin
from webtable.store.rocks.catalog import OpenTable
from webtable.store.rocks.database import Database
from webtable.store.rocks.embedded_admin import EmbeddedAdmin
from webtable.store.rocks.faults import translated
from webtable.store.rocks.filtering.deciding import row_decision
from webtable.store.rocks.filtering.making import make_rule
from webtable.store.rocks.filtering.reading import FamilyCursor, Span, filtered_rows
from webtable.store.rocks.filtering.rules import Rule
from webtable.store.rocks.filtering.whole_rows import WholeRows, plain_pieces
from webtable.store.rocks.keys import escape, row_end
from webtable.store.rocks.visibility import current_ms
from webtable.store.rocks.walking import WHOLE, walk, walk_filtered
from webtable.store.rocks.writer import Encoder, check_mutation, holds, needs_read
from webtable.store.scan import Get, Scan
from webtable.store.schema import TableSchema

__all__ = ["RocksEngine"]

# Asked for by who reads to the end. RocksDB by itself begins with less and grows up to this much,
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
        self._admin = RocksAdmin(database)
        self.admin = EmbeddedAdmin(database, self._admin, self._translated)
        self._scans: weakref.WeakSet[reader.RowPieces] = weakref.WeakSet()
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
                reads = opened.reads.get(get.columns) or reader.select(opened, get.columns)
                if reads is not shared:
                    # Opening an iterator takes as long as a seek: one for all rows read alike.
                    shared, seeker = reads, _seeker(reads)
                view = reader.NEWEST
                if get.versions != 1 or get.time_range is not None:
                    view = reader.View(get.versions, get.time_range)
                if get.filter is not None:
                    filter = as_filter(get.filter)
                    found = None
                    if seeker is not None and reads[0].wanted is None:
                        found = walk_filtered(reads[0].family, view, seeker, get.row, filter)
                    if found is None:
                        found = self._read_filtered(reads, view, get.row, filter)
                    cells = found
                else:
                    cells = self._read_row(reads, view, get.row, seeker)
                rows.append(Row(get.row, cells) if cells else None)
            return rows

    def get(self, table: str, get: Get) -> Row | None:
        """Reads one row: what `get_many` does, for the call that is made most often."""
        if get.versions != 1 or get.time_range is not None or get.filter is not None:
            return self.get_many(table, (get,))[0]
        try:
            opened = self._table(table)
            reads = opened.reads.get(get.columns) or reader.select(opened, get.columns)
            cells = self._read_row(reads, reader.NEWEST, get.row)
        except Exception as exc:
            self._translated.tell(exc)
            raise
        return Row(get.row, cells) if cells else None

    def _read_row(
        self,
        reads: Sequence[reader.FamilyRead],
        view: reader.View,
        row: bytes,
        seeker: Any = None,
    ) -> list[RawCell]:
        prefix = escape(row) + b"\x00"
        seeker = _seeker(reads) if seeker is None else seeker
        if seeker is not None:
            read = reads[0]
            family, wanted = read
            found = None
            if wanted is None:
                if view.is_simple(family):
                    found = walk(family, seeker, prefix, WHOLE)
            elif view is reader.NEWEST:
                found = reader.read_newest(family, wanted, seeker, prefix)
            if found is not None:
                return found
            if wanted is not None:
                return reader.read_columns(read, view, seeker, prefix)
        bounds = ReadOptions()
        bounds.set_iterate_upper_bound(row_end(prefix))

        def open_all() -> list[tuple[Any, Any]]:
            return [
                (
                    read.family.rocks.iter(bounds),
                    read.family.rocks.items(from_key=prefix, read_opt=bounds)
                    if read.wanted is None
                    else None,
                )
                for read in reads
            ]

        opened = open_all() if len(reads) == 1 else self._database.pin(open_all)
        cells: list[RawCell] = []
        for read, (seeker, items) in zip(reads, opened, strict=True):
            if items is None:
                cells += reader.read_columns(read, view, seeker, prefix)
            else:
                for _, found in reader.rows_forward(read, view, items, seeker, prefix):
                    cells += found
        return cells

    def _read_filtered(
        self,
        reads: Sequence[reader.FamilyRead],
        view: reader.View,
        row: bytes,
        filter: Filter,
        *,
        together: bool = False,
    ) -> list[RawCell]:
        prefix = escape(row) + b"\x00"
        bounds = ReadOptions()
        bounds.set_iterate_upper_bound(row_end(prefix))
        span = Span(prefix, bounds, together=together)
        rows = self._filtered(reads, view, span, make_rule(filter))
        return next(rows, (prefix, []))[1]

    def _read_column(
        self, table: OpenTable, row: bytes, column: bytes, versions: int
    ) -> list[RawCell]:
        reads = reader.select(table, (column,))
        return self._read_row(reads, reader.View(versions), row)

    def scan(self, table: str, scan: Scan) -> Iterator[Row]:
        with self._translated:
            opened = self._table(table)
            reads = reader.select(opened, scan.columns)
        view = reader.View(scan.versions, scan.time_range, raw=scan.raw)
        rule = decision = None
        if scan.filter is not None:
            filter = as_filter(scan.filter)
            rule = make_rule(filter, reverse=scan.reverse)
            decision = row_decision(filter, reads, view)

        def open_pieces(span: Span) -> reader.RowPieces:
            if rule is not None and decision is None:
                return reader.as_pieces(self._filtered(reads, view, span, rule))
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
                reads = reader.select(opened, scan.columns)
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

    def _scan(self, scan: Scan, open_pieces: Callable[[Span], reader.RowPieces]) -> Iterator[Row]:
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

    def _open_walks(self, reads: Sequence[reader.FamilyRead], span: Span) -> list[tuple[Any, Any]]:
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

    def _filtered(
        self, reads: Sequence[reader.FamilyRead], view: reader.View, span: Span, rule: Rule
    ) -> reader.RowStream:
        database = self._database

        def open_all() -> list[Any]:
            if database.is_closed:
                raise StoreClosed(self.location)
            return [read.family.rocks.iter(span.bounds) for read in reads]

        cursors = [
            FamilyCursor(read, view, seeker, span)
            for read, seeker in zip(reads, database.pin(open_all), strict=True)
        ]
        return filtered_rows(cursors, rule, span, lambda: database.is_closed)

    # Writing

    def mutate_many(
        self, table: str, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        with self._translated:
            opened = self._writable_table(table)
            encoder = Encoder(self._read_column, self._admin, current_ms())
            try:
                is_whole = encoder.add_blind(opened, mutations)
            except WebTableError:
                is_whole = False
            if not is_whole:
                return self._mutate_each(opened, mutations, durability)
            self._database.write(encoder.batch, durability)
            return [None] * len(mutations)

    def _mutate_each(
        self, table: OpenTable, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        """Makes each mutation for itself, so that one that fails leaves the others be."""
        results: list[Row | None] = []
        errors: list[WebTableError] = []
        positions: list[int] = []
        for position, mutation in enumerate(mutations):
            result = None
            try:
                result = self._mutate_opened(table, (mutation,), durability)
            except WebTableError as error:
                errors.append(error)
                positions.append(position)
            results.append(result)
        if errors:
            raise BatchError(
                f"{len(errors)} of {len(mutations)} mutations of table"
                f" '{table.schema.name}' failed",
                errors,
                positions,
            )
        return results

    def mutate_row(
        self, table: str, row: bytes, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        with self._translated:
            return self._mutate_opened(self._writable_table(table), mutations, durability)

    def _mutate_opened(
        self, table: OpenTable, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        with self._database.commits:
            encoder = Encoder(self._read_column, self._admin, current_ms())
            results = [encoder.add(table, mutation) for mutation in mutations]
            self._database.write(encoder.batch, durability)
        return _joined(results)

    def check_and_mutate(
        self,
        table: str,
        row: bytes,
        check: Check,
        mutations: Sequence[Mutation],
        durability: Durability,
    ) -> CheckResult:
        with self._translated:
            opened = self._writable_table(table)
            for mutation in mutations:
                check_mutation(opened, mutation)
            reads = reader.select(opened, (check.column,) if check.filter is None else ())
            with self._database.commits:
                now_ms = current_ms()
                view = reader.View(1, check.time_range)
                if check.filter is not None:
                    found = self._read_filtered(reads, view, row, check.filter, together=True)
                    is_held = bool(found)
                else:
                    found = self._read_row(reads, view, row)
                    is_held = holds(check, found[0][2] if found else None)
                if not is_held:
                    return CheckResult(success=False)
                # As in HBase: puts do not stand behind what was read, even if the clock went back.
                read_ms = found[0][1] if found else 0
                encoder = Encoder(self._read_column, self._admin, now_ms, puts_from_ms=read_ms)
                results = [encoder.add(opened, mutation) for mutation in mutations]
                self._database.write(encoder.batch, durability)
        return CheckResult(success=True, row=_joined(results))

    def commit(
        self, writes: Sequence[tuple[str, Write]], durability: Durability
    ) -> list[Row | None]:
        with self._translated:
            by_table: dict[str, list[Write]] = {}
            for name, mutation in writes:
                by_table.setdefault(name, []).append(mutation)
            opened = [(self._writable_table(name), by_table[name]) for name in by_table]
            with self._database.commits:
                encoder = Encoder(self._read_column, self._admin, current_ms())
                for table, mutations in opened:
                    if not encoder.add_blind(table, mutations):
                        return self._commit_reading(writes, durability)
                self._database.write(encoder.batch, durability)
            return [None] * len(writes)

    def _commit_reading(
        self, writes: Sequence[tuple[str, Write]], durability: Durability
    ) -> list[Row | None]:
        """Commits mutations of which some depend on what is stored."""
        _refuse_repeated_reads(writes)
        encoder = Encoder(self._read_column, self._admin, current_ms())
        results = [encoder.add(self._writable_table(name), mutation) for name, mutation in writes]
        self._database.write(encoder.batch, durability)
        return results

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
            return self._admin.known(table).schema

    def list_tables(self) -> list[str]:
        with self._translated:
            self._admin.check_open()
            self._admin.follow()
            return self._admin.names()

    def checkpoint(self, path: str) -> None:
        with self._translated:
            self._admin.check_open()
            self._admin.check_writable()
            self._database.checkpoint(path)

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


def _seeker(reads: Sequence[reader.FamilyRead]) -> Any:
    """Returns an iterator for a read of one family, None for any other."""
    return reads[0].family.rocks.iter() if len(reads) == 1 else None


def _joined(results: Sequence[Row | None]) -> Row | None:
    """Returns the results of one row's mutations as one row, None when there are none."""
    rows = [row for row in results if row is not None]
    if len(rows) < 2:
        return rows[0] if rows else None
    newest = {cell[0]: cell for row in rows for cell in row.raw_cells}
    cells = sorted(newest.values(), key=lambda cell: cell[0].partition(b":")[::2])
    return Row(rows[0].key, cells)


def _refuse_repeated_reads(writes: Sequence[tuple[str, Write]]) -> None:
    """A mutation that reads sees what was committed before, not what its own commit writes."""
    rows = [
        (name, each.row)
        for name, each in writes
        if not isinstance(each, Spread) and needs_read(each)
    ]
    if len(set(rows)) < len(rows):
        raise InvalidRequest(
            "a commit has several increments, appends or deletes of the newest version in one row",
            hint="put them into one mutation, or into commits of their own",
        )
