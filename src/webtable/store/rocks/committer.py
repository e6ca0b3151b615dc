"""`Committer`: the writes of an open database, each one atomic step.

Batches that read nothing are encoded by the caller's thread before they wait for their turn;
everything else is done under the lock `Database.commits`, so that no other write comes between its
reads and its writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webtable.errors import BatchError, InvalidRequest, WebTableError
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import (
    Check,
    CheckResult,
    Conditional,
    Durability,
    Mutation,
    Put,
    Spread,
    Write,
)
from webtable.store.rocks import range_reader
from webtable.store.rocks.commit_timestamps import Stamps
from webtable.store.rocks.files.database import Database
from webtable.store.rocks.mutation_encoder import Encoder, check_mutation, holds, needs_read
from webtable.store.rocks.open_tables import OpenTable
from webtable.store.rocks.single_row_reader import SingleRowReader
from webtable.store.rocks.table_catalog import TableCatalog

__all__ = ["Committer"]


class Committer:
    """Makes mutations of the tables of one database."""

    def __init__(self, database: Database, admin: TableCatalog, rows: SingleRowReader) -> None:
        self._database = database
        self._admin = admin
        self._rows = rows
        self._read_column = rows.read_column
        self._stamps = Stamps()

    def _encoder(self, now_ms: int, *, puts_from_ms: int = 0) -> Encoder:
        return Encoder(self._read_column, self._admin, now_ms, puts_from_ms=puts_from_ms)

    def mutate_many(
        self, table: OpenTable, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        """See `Engine.mutate_many`."""
        if mutations and type(mutations[0]) is not Put and needs_read(mutations[0]):
            return self._mutate_each(table, mutations, durability)
        encoder = self._encoder(self._time_of(table, mutations))
        try:
            is_whole = encoder.add_blind(table, mutations)
        except WebTableError:
            is_whole = False
        if not is_whole:
            return self._mutate_each(table, mutations, durability)
        self._database.write(encoder.batch, durability)
        return [None] * len(mutations)

    def _time_of(self, table: OpenTable, mutations: Sequence[Mutation]) -> int:
        while True:
            with self._database.commits:
                now_ms = self._stamps.take_many([(table.schema.name, mutations)])
            if now_ms:
                return now_ms
            self._stamps.wait()

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
                result = self.mutate_row(table, (mutation,), durability)
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
        self, table: OpenTable, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        """See `Engine.mutate_row`."""
        while True:
            with self._database.commits:
                now_ms = self._stamps.take(table.schema.name, mutations)
                if now_ms:
                    encoder = Encoder(self._read_column, self._admin, now_ms)
                    if len(mutations) == 1 and type(mutations[0]) is Put:
                        encoder.add_blind(table, mutations)
                        self._database.write(encoder.batch, durability)
                        return None
                    results = [encoder.add(table, mutation) for mutation in mutations]
                    self._database.write(encoder.batch, durability)
                    return _joined(results)
            self._stamps.wait()

    def check_and_mutate(
        self, table: OpenTable, step: Conditional, durability: Durability
    ) -> CheckResult:
        """See `Engine.check_and_mutate`."""
        row, check, mutations = step
        for mutation in mutations:
            check_mutation(table, mutation)
        reads = range_reader.select(table, (check.column,) if check.filter is None else ())
        while True:
            with self._database.commits:
                is_met, read_ms = self._checked(reads, row, check)
                if not is_met:
                    return CheckResult(success=False)
                now_ms = self._stamps.take(table.schema.name, mutations)
                if now_ms:
                    # As in HBase: puts are not older than what was read, even if the clock went
                    # back.
                    encoder = self._encoder(now_ms, puts_from_ms=read_ms)
                    results = [encoder.add(table, mutation) for mutation in mutations]
                    self._database.write(encoder.batch, durability)
                    return CheckResult(success=True, row=_joined(results))
            self._stamps.wait()

    def _checked(
        self, reads: Sequence[range_reader.FamilyRead], row: bytes, check: Check
    ) -> tuple[bool, int]:
        """Returns whether a condition holds, and the time of the cell that was checked."""
        view = range_reader.View(1, check.time_range)
        if check.filter is not None:
            found = self._rows.read_filtered(reads, view, row, check.filter, together=True)
            is_met = bool(found)
        else:
            found = self._rows.read(reads, view, row)
            is_met = holds(check, found[0][2] if found else None)
        return is_met, found[0][1] if found else 0

    def commit(
        self,
        tables: Mapping[str, OpenTable],
        writes: Sequence[tuple[str, Write]],
        durability: Durability,
    ) -> list[Row | None]:
        """See `Engine.commit`."""
        by_table: dict[str, list[Write]] = {}
        for name, mutation in writes:
            by_table.setdefault(name, []).append(mutation)
        while True:
            with self._database.commits:
                now_ms = self._stamps.take_many(by_table.items())
                if now_ms:
                    encoder = self._encoder(now_ms)
                    for name, mutations in by_table.items():
                        if not encoder.add_blind(tables[name], mutations):
                            return self._commit_reading(tables, writes, durability, now_ms)
                    self._database.write(encoder.batch, durability)
                    return [None] * len(writes)
            self._stamps.wait()

    def _commit_reading(
        self,
        tables: Mapping[str, OpenTable],
        writes: Sequence[tuple[str, Write]],
        durability: Durability,
        now_ms: int,
    ) -> list[Row | None]:
        """Commits mutations of which some depend on what is stored."""
        _reject_repeated_reads(writes)
        encoder = self._encoder(now_ms)
        results = [encoder.add(tables[name], mutation) for name, mutation in writes]
        self._database.write(encoder.batch, durability)
        return results


def _joined(results: Sequence[Row | None]) -> Row | None:
    """Returns the results of one row's mutations as one row, None without results."""
    rows = [row for row in results if row is not None]
    if len(rows) < 2:
        return rows[0] if rows else None
    newest = {cell[0]: cell for row in rows for cell in row.raw_cells}
    cells = sorted(newest.values(), key=lambda cell: cell[0].partition(b":")[::2])
    return Row(rows[0].key, cells)


def _reject_repeated_reads(writes: Sequence[tuple[str, Write]]) -> None:
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
