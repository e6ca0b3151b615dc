"""The seam: what an engine under a store must do. Two engines stand behind it, RocksDB and HBase.

The contract, for every engine:

- Data is `(row, family, qualifier, timestamp) → bytes`, in byte order, versions newest first.
  HBase 2.6 is the specification of what is visible; the contract suite runs over every engine.
- A row is atomic: a mutation, and the mutations of one `mutate_row` or `check_and_mutate`, become
  visible together over all families, or not at all. Several rows are not, except in `commit`.
- A missing row is a result (`None`), not an error. An unknown table is `TableNotFound`, an
  unknown family `FamilyNotFound`, before anything of that entry is written.
- What a call acknowledged is durable as its `Durability` promises. A call that raised may or may
  not have taken effect only where the error is a `RetryableError`.
- Requests come already checked for form (`Get`, `Scan`, `Put` … check themselves).
- An engine may be used by many threads at once. Errors are those of `webtable.errors` only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from webtable.errors import BatchError, WebTableError
from webtable.store.admin import Admin
from webtable.store.admin_results import Region, TableStats
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import CheckResult, Conditional, Durability, Mutation, Write
from webtable.store.scan import Get, Scan
from webtable.store.schema import TableSchema

__all__ = ["Capabilities", "Engine", "Loss", "Writer", "joined"]


class Capabilities(NamedTuple):
    """What an engine can do beyond the contract.

    Attributes:
        atomic_commits: mutations of several rows and tables in one step.
        checkpoints: consistent copies of the whole store.
        cluster: several servers, between which regions are moved and balanced, and regions that
            are split and merged.
        snapshots: tables stored as they were at one time, under a name.
    """

    atomic_commits: bool
    checkpoints: bool
    cluster: bool
    snapshots: bool


class Loss(NamedTuple):
    """Acknowledged writes that were gone after the machine stopped.

    Attributes:
        at: when the loss was found, in seconds since 1970.
        cells: how many cells were lost, the last ones that were written.
    """

    at: int
    cells: int


class Engine(ABC):
    """The implementation behind a `Store`. See the module's contract."""

    location: str
    capabilities: ClassVar[Capabilities]
    admin: Admin
    """Everything beyond rows and tables: regions, servers, upkeep; see `webtable.store.admin`."""

    @abstractmethod
    def get_many(self, table: str, gets: Sequence[Get]) -> list[Row | None]:
        """Reads rows; the result has one entry a request, None where nothing is visible."""

    def get(self, table: str, get: Get) -> Row | None:
        """Reads one row, as `get_many` does."""
        return self.get_many(table, (get,))[0]

    @abstractmethod
    def scan(self, table: str, scan: Scan) -> Iterator[Row]:
        """Yields the visible rows of a range in order. Closing the iterator frees everything.

        An unknown table or family raises at the call, not at the first row.
        """

    def scan_many(self, table: str, scans: Sequence[Scan]) -> list[Iterator[Row]]:
        """Begins several scans at once, to be read in turns; each is as `scan` gives it.

        A cluster works on all of them at the same time.
        """
        return [self.scan(table, scan) for scan in scans]

    @abstractmethod
    def mutate_many(
        self, table: str, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        """Makes mutations, each atomic, in order where they are of the same row.

        Returns one entry a mutation: for increments and appends the new values, else None. It is
        None as well where a cluster's first response was lost: the mutation was made, once.

        Raises:
            BatchError: some failed; it names their positions, the others were made.
        """

    def writer(self, table: str, durability: Durability) -> Writer:
        """Returns what makes bulks of mutations one after the other, for one caller."""
        return Writer(self, table, durability)

    @abstractmethod
    def mutate_row(
        self, table: str, row: bytes, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        """Makes several mutations of one row as one atomic step.

        Returns the new values of increments and appends, None when there were none.
        """

    @abstractmethod
    def check_and_mutate(
        self, table: str, step: Conditional, durability: Durability
    ) -> CheckResult:
        """Makes the mutations of one row if the condition holds, as one atomic step."""

    def check_and_mutate_many(
        self, table: str, steps: Sequence[Conditional], durability: Durability
    ) -> list[CheckResult | WebTableError]:
        """Makes conditional steps, each of another row, each for itself, in any order.

        Returns one entry a step: what `check_and_mutate` would return or raise for it. A cluster
        works on many of them at the same time.
        """
        outcomes: list[CheckResult | WebTableError] = []
        for step in steps:
            try:
                outcomes.append(self.check_and_mutate(table, step, durability))
            except WebTableError as error:
                outcomes.append(error)
        return outcomes

    @abstractmethod
    def commit(
        self, writes: Sequence[tuple[str, Write]], durability: Durability
    ) -> list[Row | None]:
        """Makes mutations of many rows and tables all together or not at all.

        Returns one entry for each, as `mutate_many` does.

        Raises:
            InvalidRequest: the engine has not `capabilities.atomic_commits`.
        """

    @abstractmethod
    def create_table(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        """Creates a table with one region more than there are split keys."""

    @abstractmethod
    def alter_table(self, schema: TableSchema) -> None:
        """Makes an existing table's schema this one; families that it lacks lose their data."""

    @abstractmethod
    def truncate_table(self, table: str) -> None:
        """Removes every row; schema and regions stay."""

    @abstractmethod
    def drop_table(self, table: str) -> None:
        """Removes a table and its data."""

    @abstractmethod
    def describe_table(self, table: str) -> TableSchema:
        """Returns a table's schema."""

    @abstractmethod
    def list_tables(self) -> list[str]:
        """Returns the names of all tables, sorted."""

    @abstractmethod
    def checkpoint(self, path: str) -> None:
        """Writes a consistent copy of the whole store to a new directory while work goes on.

        Raises:
            InvalidRequest: the engine has not `capabilities.checkpoints`.
        """

    def losses(self) -> list[Loss]:
        """Returns the losses by a stop of the machine that are not handled yet; see `Loss`."""
        return []

    @abstractmethod
    def refresh(self) -> None:
        """Lets a read-only store see what was written since; nothing to do for a writer."""

    @abstractmethod
    def close(self) -> None:
        """Releases everything; closing again does nothing."""

    # The part of the administration that every program uses, by its short way.

    def flush(self, table: str) -> None:
        """Writes what is in memory to files; see `Admin.flush`."""
        self.admin.flush(table)

    def major_compact(self, table: str) -> None:
        """Flushes, then rewrites the table without deleted, expired and surplus cells."""
        self.admin.compact(table, major=True)

    def regions(self, table: str) -> list[Region]:
        """Returns the table's regions in key order; see `Admin.regions`."""
        return self.admin.regions(table)

    def stats(self, table: str) -> TableStats:
        """Returns sizes and counts, without reading the data; see `Admin.stats`."""
        return self.admin.stats(table)


class Writer:
    """Makes bulks of mutations one after the other; this one waits for each of them.

    An engine whose servers are elsewhere may go on while they work on a bulk. What a caller does
    with one row is made in its order all the same.
    """

    def __init__(self, engine: Engine, table: str, durability: Durability) -> None:
        self._engine = engine
        self._table = table
        self._durability = durability

    def send(self, mutations: Sequence[Mutation], first: int) -> None:
        """Makes mutations, or begins to. They are made also where a `BatchError` is of others.

        Args:
            first: the position of the first one, from which errors count.

        Raises:
            BatchError: some of these, or of those that were sent before, failed.
        """
        try:
            self._engine.mutate_many(self._table, mutations, self._durability)
        except BatchError as error:
            error.positions = tuple(first + position for position in error.positions)
            raise

    def finish(self) -> None:
        """Returns when everything that was sent is made.

        Raises:
            BatchError: some of it failed.
        """


def joined(error: WebTableError | None, other: WebTableError) -> WebTableError:
    """Returns an error that contains two errors of one batch."""
    if error is None:
        return other
    if not isinstance(other, BatchError):
        error.add_note(f"Also: {other}")
        return error
    if isinstance(error, BatchError):
        return error.joined(other)
    other.add_note(f"Also: {error}")  # the one that has positions is needed more
    return other
