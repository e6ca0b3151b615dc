"""Secondary indexes that never miss a row and never show a stale one.

An `Index` is one declaration: a name and a function facts → entries. An `IndexedTable` is a table
with its indexes: every write to its rows goes through it, and it finds rows by their entries.
Facts are the row's newest values, column → bytes; what they mean is the caller's business.

How it is used:

    by_city = Index("people_by_city", entries=lambda row, facts: [Entry(facts[b"a:city"] + row)])
    people = IndexedTable(store, "people", [by_city], columns=(b"a",))
    people.create_tables()
    people.write(b"ada", Change(put={b"a:city": b"London"}))
    people.write(b"ada", Change(delete=(b"a:city",)))
    for hit in people.find("people_by_city", Scan(prefix=b"London")): ...

The index promise: a scan of an index never misses a row that did not change during the scan, and
never shows a stale one, whatever crashed or stalled in between, on both engines.
`docs/explain/indexes.md` has the protocol, `write_protocol.py` its rules, and `cell_encoding.py`
its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from webtable.errors import StaleIndex, WebTableError, without_errors
from webtable.index.entry_reader import (
    Found,
    ReadOptions,
    hits,
    hits_of_many,
    hits_of_prefixes,
)
from webtable.index.index_and_change import (
    Change,
    Decide,
    Entry,
    Facts,
    Hit,
    Index,
    IndexState,
    RowState,
)
from webtable.index.row_writer import Also, Before, Writer
from webtable.index.shared_value_marks import marked
from webtable.index.table_and_indexes import IndexHome, commit_lock
from webtable.store.mutation import Durability
from webtable.store.scan import Scan

__all__ = [
    "Change",
    "Decide",
    "Entry",
    "Facts",
    "Found",
    "Hit",
    "Index",
    "IndexState",
    "IndexedTable",
    "RowState",
    "commit_lock",
]


class IndexedTable(IndexHome):
    """A table with its indexes. Share it between threads. See `IndexHome` for how it is made."""

    # Writing

    def write(
        self, row: bytes, change: Change | Decide, *, durability: Durability = "wal"
    ) -> int | None:
        """Writes one row and moves its entries.

        Returns the row's new revision, None when `change` decided to do nothing.

        Raises:
            NotUnique: another row has a key that this one would have in a unique index.
            CheckFailed: the row was changed by others at every one of many attempts.
            RetryableError: the store failed; the write may have been made.
        """
        outcome = self._writer().write([(row, change)], (), durability)[0]
        if isinstance(outcome, WebTableError):
            raise outcome
        return outcome

    def write_many(
        self,
        changes: Iterable[tuple[bytes, Change | Decide]],
        *,
        also: Also = (),
        before: Before | None = None,
        durability: Durability = "wal",
    ) -> list[int | None]:
        """Writes many rows with few round trips; changes of one row are made in their order.

        Where the store has `capabilities.atomic_commits` all of it is one commit; elsewhere
        each row is atomic for itself, and its entries keep the index promise.

        Args:
            also: (table, mutation) pairs for the same commit; only where there are such. A
                function is called for them under the lock, after the changes are decided.
            before: is called with the rows as they were read, at every attempt, before what is to
                be done is decided: to read more of all of them at once.
            durability: "none" only where there are atomic commits.

        Returns what `write` would, for each.

        Raises:
            BatchError: some rows were not written, for the reasons that `write` has; it names
                their positions. The others were, unless `also` was given: then nothing was.
        """
        writer = self._writer()
        writer.before = before
        outcomes = writer.write(list(changes), also, durability)
        return without_errors(outcomes, f"rows of '{self.name}' not written")

    def _writer(self) -> Writer:
        return Writer(self)

    # Reading

    def find(
        self,
        name: str,
        scan: Scan | None = None,
        *,
        columns: Sequence[bytes] = (),
        where: Callable[[Hit], bool] | None = None,
    ) -> Found:
        """Yields the rows that an index has in a range of its keys, each once, in key order.

        The rows are read while the caller iterates. Each is checked against its facts: a hit was
        right at the moment when its row was read. Remembers the keys of the rows that it yields.

        Args:
            scan: the range of entries: `start`, `stop`, `prefix`, `reverse`, `limit` and
                `batch_rows` count. None: the whole index.
            columns: families and columns of the rows to read besides the facts.
            where: decides by the key and the covered bytes of a hit whether to read its row.

        Raises:
            StaleIndex: the index is being built.
        """
        return self.check_hits(name, self.hits(name, scan), columns=columns, where=where, scan=scan)

    def hits(self, name: str, scan: Scan | None = None) -> Iterator[Hit]:
        """Yields the entries of a range as they are, without reading the rows.

        Some may be stale or there twice. For scans that merge several ranges: give the merged
        hits to `check_hits`.
        """
        return hits(self, self.index(name), scan or Scan())

    def hits_of_many(self, name: str, scans: Sequence[Scan]) -> list[Iterator[Hit]]:
        """Returns what `hits` does for each of several ranges, which are requested together."""
        return hits_of_many(self, self.index(name), scans)

    def hits_of_prefixes(
        self, name: str, prefixes: Sequence[bytes], *, few: int
    ) -> list[Iterator[Hit]]:
        """Returns what `hits` does for each of some prefixes.

        Args:
            prefixes: in order; none begins with another one.
            few: how many of each are probably enough; about so many are requested at once.
        """
        return hits_of_prefixes(self, self.index(name), prefixes, few)

    def marked(self, name: str, start: bytes = b"", *, few: int = 256) -> Iterator[bytes]:
        """Yields the groups of a grouped index that several rows share, in order.

        A group may have lost rows since: read its entries, whose keys begin with it.

        Args:
            few: how many are probably enough; so many are requested at once.
        """
        return (group for group, _ in marked(self, self.index(name), start, few=few))

    def check_hits(
        self,
        name: str,
        found: Iterable[Hit],
        *,
        columns: Sequence[bytes] = (),
        where: Callable[[Hit], bool] | None = None,
        scan: Scan | None = None,
    ) -> Found:
        """Yields those hits whose rows agree, with the rows; see `find`.

        Of `scan` the limit counts, and `batch_rows` for how many rows are read to begin with.
        """
        if self.state(name) == "building":
            raise StaleIndex(
                f"index '{name}' of table '{self.name}' is being built",
                hint="it can be read once upkeep.build has gone through",
            )
        limit, first = (None, None) if scan is None else (scan.limit, scan.batch_rows)
        options = ReadOptions(tuple(columns), where, limit, first)
        return Found(self, self.index(name), iter(found), options)

    def lookup(self, name: str, key: bytes, *, columns: Sequence[bytes] = ()) -> Hit | None:
        """Returns the row that has a key in a unique index, None when no row has it."""
        return next(iter(self.find(name, Scan(start=key, stop=key + b"\0"), columns=columns)), None)
