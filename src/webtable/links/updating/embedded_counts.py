"""Counts of links in an embedded store: written with every batch, and exported now and then.

An export writes the rank of a page, the members of its domain and the number in the page's own row.
It waits until enough counts have changed, because a page with many new links would otherwise change
its rank with every batch. Marks name the changed pages, so that the next process finishes the
export of a load that was killed.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from webtable.index.indexed_table import RowState, commit_lock
from webtable.index.partial_row_writer import Columns, PartialRowWriter
from webtable.links import schema
from webtable.links.cell_encoding import decode_uris, encode_uris
from webtable.links.link_index import LinkIndex
from webtable.links.updating.cluster_counts import Drained
from webtable.links.updating.count_rules import incount, inlink_columns, is_here, member_state
from webtable.pages.columns import INLINK_COUNT, INLINKS, INLINKS_AT, URL
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Delete, Put, Spread, Write
from webtable.store.store import Store

__all__ = ["Counts", "forget_counts"]

_MOST_MARKED = 100_000
_MOST_COUNTS = 500_000
_PAGES = 2_000

Writes = list[tuple[str, Write]]


class _Cache:
    """The cache of one embedded store, shared by all writers of this process.

    Attributes:
        counts: numbers of links that were read or written.
        stamp: the greatest timestamp of any number that was read or written.
        marked: pages whose counts must be exported; `marks` are the rows that name them.
    """

    def __init__(self) -> None:
        self.counts: dict[bytes, int] = {}
        self.stamp = 0
        self.marked: set[bytes] = set()
        self.marks: set[bytes] = set()


_caches: weakref.WeakKeyDictionary[Store, _Cache] = weakref.WeakKeyDictionary()


def forget_counts(store: Store) -> None:
    """Clears the cached counts of a store; call it after changing an index without `Counts`."""
    with commit_lock(store):
        if store in _caches:
            _caches[store].counts.clear()


class _Exported(NamedTuple):
    """A page whose links were counted, and its row of the index before the export."""

    uri: bytes
    links: int
    state: RowState

    @property
    def is_crawled(self) -> bool:
        """Whether the page is stored."""
        return schema.AT in self.state.facts

    @property
    def is_here(self) -> bool:
        """Whether the URI has a rank and belongs to its domain."""
        return is_here(self.links, is_crawled=self.is_crawled)

    @property
    def was_here(self) -> bool:
        """Whether the URI had a rank and belonged to its domain before."""
        return schema.INCOUNT in self.state.facts

    def change(self) -> Columns | None:
        """Returns the changes of the row of the index; None if it stays the same.

        No other process exports counts here, so an unchanged number needs no new revision.
        """
        value = incount(self.links, is_crawled=self.is_crawled)
        return None if value == self.state.facts.get(schema.INCOUNT) else {schema.INCOUNT: value}


class Counts:
    """The numbers of links to pages, in a store that only this process writes to."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._lock = commit_lock(index.store)
        self._ranks = PartialRowWriter(index.rows, (schema.INCOUNT,), (schema.AT,))
        changes = INLINKS, INLINKS_AT, INLINK_COUNT
        self._pages = PartialRowWriter(index.pages.rows, changes, (INLINKS, INLINKS_AT, URL))
        with self._lock:
            self._cache = _caches.setdefault(index.store, _Cache())
            self._read_marks()

    def _read_marks(self) -> None:
        """Reads the marks of a load that was killed."""
        for mark in self._index.work.scan(prefix=b"m:"):
            self._cache.marked.update(decode_uris(mark.value(schema.TARGETS)))
            self._cache.marks.add(mark.key)

    def forget(self) -> None:
        """Clears the cached counts after a commit that failed."""
        self._cache.counts.clear()

    # With a batch of pages

    def move(self, differences: Mapping[bytes, int]) -> Writes:
        """Returns the new numbers of links to targets, and a mark for all of them."""
        if not differences:
            return []
        cache = self._cache
        moved = [target for target, by in differences.items() if by]
        if len(cache.counts) > _MOST_COUNTS:
            cache.counts.clear()
        counts = cache.counts
        counts.update(self._read(moved))
        writes: Writes = []
        numbers: dict[bytes, bytes] = {}
        for target in moved:
            counts[target] = number = counts[target] + differences[target]
            numbers[target] = b"%d" % number
        if numbers:
            spread = Spread(schema.COUNT, numbers, timestamp=self._later(), **schema.SHARD)
            writes.append((schema.INDEX_TABLE, spread))
        cache.marked.update(differences)
        row = b"m:" + self._index.rows.new_token().hex().encode()
        cache.marks.add(row)
        mark = Put(row, {schema.TARGETS: encode_uris(differences)})
        writes.append((schema.WORK_TABLE, mark))
        return writes

    def _read(self, uris: Iterable[bytes]) -> dict[bytes, int]:
        """Reads the numbers of links to pages, except those in the cache."""
        counts = self._cache.counts
        missing = [uri for uri in uris if uri not in counts]
        rows = [schema.shard_row(b"p:", uri, 0) for uri in missing]
        found = self._index.table.get_many(rows, (schema.COUNT,))
        return {
            uri: self._number(row, schema.COUNT) for uri, row in zip(missing, found, strict=True)
        }

    def _later(self) -> int:
        """Returns a timestamp at or above all earlier ones, even if the clock goes back.

        A lower one would hide the new number behind an old one. Numbers are read before they are
        written for the first time.
        """
        self._cache.stamp = max(self._cache.stamp, self._index.rows.clock.now_ms())
        return self._cache.stamp

    def _number(self, row: Row | None, column: bytes) -> int:
        cells = row.versions(column) if row is not None else ()
        if not cells:
            return 0
        self._cache.stamp = max(self._cache.stamp, cells[0].timestamp)
        return int(cells[0].value)

    # Export

    def settle(self, *, is_last: bool) -> None:
        """Exports the counts that have changed, if there are many or this is the last batch."""
        if self._cache.marked and (is_last or len(self._cache.marked) >= _MOST_MARKED):
            self.drain()

    def drain(self) -> Drained:
        """Exports all counts that have changed."""
        cache = self._cache
        with self._lock:
            marked, cache.marked = cache.marked, set()
            marks, cache.marks = cache.marks, set()
        try:
            targets = sorted(marked)
            for at in range(0, len(targets), _PAGES):
                with self._lock:
                    self._export(targets[at : at + _PAGES])
            deletes: Writes = [(schema.WORK_TABLE, Delete(row)) for row in sorted(marks)]
            if deletes:
                self._index.store.commit(deletes)
        except BaseException:
            with self._lock:
                cache.marked |= marked
                cache.marks |= marks
            raise
        done = Drained(marks=len(marks), pages=len(marked))
        done.log(self._index.store.location)
        return done

    def _export(self, uris: Sequence[bytes]) -> None:
        """Exports the counts of some pages, in one commit.

        The marks are deleted after all commits. If the process is killed before, the marks stay
        and the next process exports again.
        """
        counts, read = self._cache.counts, self._read(uris)
        states = self._ranks.read([schema.page_row(uri) for uri in uris])
        exported = [
            _Exported(uri, counts[uri] if uri in counts else read[uri], state)
            for uri, state in zip(uris, states, strict=True)
        ]
        revisions, writes = self._ranks.plan(states, [each.change() for each in exported])
        pairs = list(zip(exported, revisions, strict=True))
        writes += self._members([(each, number) for each, number in pairs if number is not None])
        writes += self._update_pages(pairs)
        if writes:
            self._index.store.commit(writes)

    def _members(self, changed: Sequence[tuple[_Exported, int]]) -> Writes:
        """Returns the writes for URIs that are added to or removed from their domains."""
        index = self._index
        states: dict[tuple[bytes, int], dict[bytes, bytes]] = {}
        differences: dict[bytes, int] = {}
        for each, revision in changed:
            if each.is_here == each.was_here:
                continue
            row = schema.shard_row(b"d:", index.domains.of(each.uri), 0)
            members = states.setdefault((row, revision), {})
            members[schema.MEMBER + each.uri] = member_state(each.links, is_crawled=each.is_crawled)
            differences[row] = differences.get(row, 0) + (1 if each.is_here else -1)
        table = schema.INDEX_TABLE
        writes: Writes = [
            (table, Put(row, members, timestamp=revision))
            for (row, revision), members in states.items()
        ]
        if not differences:
            return writes
        found = index.table.get_many(list(differences), (schema.PAGE_COUNT,))
        numbers = {
            row: b"%d" % (self._number(each, schema.PAGE_COUNT) + differences[row])
            for row, each in zip(differences, found, strict=True)
        }
        spread = Spread(schema.PAGE_COUNT, numbers, timestamp=self._later())
        return [*writes, (table, spread)]

    def _update_pages(self, exported: Sequence[tuple[_Exported, int | None]]) -> Writes:
        """Returns the writes of the counts in the pages' own rows, if they change."""
        crawled = [(each, number) for each, number in exported if each.is_crawled]
        keys = self._index.pages.keys
        states = self._pages.read([keys.row_key(schema.url_of(each.uri)) for each, _ in crawled])
        changes: list[Columns | None] = []
        for (each, number), state in zip(crawled, states, strict=True):
            guard = each.state.revision.number if number is None else number
            changes.append(inlink_columns(state.facts, each.links, guard, is_alone=True))
        return self._pages.plan(states, changes)[1]
