"""Numbers of links in an embedded store: kept with every batch, and on their way out.

What goes out is the rank of a page, the members of its domain and the number in the own row of the
page. That is done when enough have changed, since a page that everybody links to would otherwise
move its rank with every batch. Marks say which have, so that what a killed load left is finished.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from webtable.index.columns import Columns, ColumnWriter
from webtable.index.table import RowState, commit_lock
from webtable.links import schema
from webtable.links.cells import decode_uris, encode_uris
from webtable.links.index import LinkIndex
from webtable.links.updating.count_exporter import Drained
from webtable.links.updating.count_rules import incount, inlink_columns, is_here, member_state
from webtable.pages.columns import INLINK_COUNT, INLINKS, INLINKS_AT, URL
from webtable.store.model import Row
from webtable.store.mutation import Delete, Put, Spread, Write
from webtable.store.store import Store

__all__ = ["Counts", "forget_counts"]

_MOST_MARKED = 100_000
_MOST_COUNTS = 500_000
_PAGES = 2_000

Writes = list[tuple[str, Write]]


class _Known:
    """What is remembered of an embedded store, by everybody who writes to it: one process.

    Attributes:
        counts: numbers of links that were read or written.
        stamp: the greatest timestamp of those and of others like them.
        marked: pages whose counts are to be exported, and `marks` the rows that say so.
    """

    def __init__(self) -> None:
        self.counts: dict[bytes, int] = {}
        self.stamp = 0
        self.marked: set[bytes] = set()
        self.marks: set[bytes] = set()


_known: weakref.WeakKeyDictionary[Store, _Known] = weakref.WeakKeyDictionary()


def forget_counts(store: Store) -> None:
    """Forgets what is remembered of an index; for whoever changes it without these `Counts`."""
    with commit_lock(store):
        if store in _known:
            _known[store].counts.clear()


class _Exported(NamedTuple):
    """A page whose links were counted, and what its row of the index said before."""

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
        """Whether it had a rank, and belonged to its domain."""
        return schema.INCOUNT in self.state.facts

    def change(self) -> Columns | None:
        """Returns what changes in the row of the index; None: nothing.

        Here nobody else exports counts: the revision need not move where the number stays.
        """
        value = incount(self.links, is_crawled=self.is_crawled)
        return None if value == self.state.facts.get(schema.INCOUNT) else {schema.INCOUNT: value}


class Counts:
    """The numbers of links to pages, in a store that this process alone writes to."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._lock = commit_lock(index.store)
        self._ranks = ColumnWriter(index.rows, (schema.INCOUNT,), (schema.AT,))
        changes = INLINKS, INLINKS_AT, INLINK_COUNT
        self._pages = ColumnWriter(index.pages.rows, changes, (INLINKS, INLINKS_AT, URL))
        with self._lock:
            self._known = _known.setdefault(index.store, _Known())
            self._read_marks()

    def _read_marks(self) -> None:
        """Takes up what a load left that was killed."""
        for mark in self._index.work.scan(prefix=b"m:"):
            self._known.marked.update(decode_uris(mark.value(schema.TARGETS)))
            self._known.marks.add(mark.key)

    def forget(self) -> None:
        """Forgets what is known of a commit that was not made."""
        self._known.counts.clear()

    # With a batch of pages

    def move(self, differences: Mapping[bytes, int]) -> Writes:
        """Returns the new numbers of links to targets, and a mark for all of them."""
        if not differences:
            return []
        known = self._known
        moved = [target for target, by in differences.items() if by]
        if len(known.counts) > _MOST_COUNTS:
            known.counts.clear()
        counts = known.counts
        counts.update(self._read(moved))
        writes: Writes = []
        numbers: dict[bytes, bytes] = {}
        for target in moved:
            counts[target] = number = counts[target] + differences[target]
            numbers[target] = b"%d" % number
        if numbers:
            spread = Spread(schema.COUNT, numbers, timestamp=self._later(), **schema.SHARD)
            writes.append((schema.INDEX_TABLE, spread))
        known.marked.update(differences)
        row = b"m:" + self._index.rows.new_token().hex().encode()
        known.marks.add(row)
        mark = Put(row, {schema.TARGETS: encode_uris(differences)})
        writes.append((schema.WORK_TABLE, mark))
        return writes

    def _read(self, uris: Iterable[bytes]) -> dict[bytes, int]:
        """Returns how many links lead to pages, as far as that is not remembered."""
        counts = self._known.counts
        unknown = [uri for uri in uris if uri not in counts]
        rows = [schema.shard_row(b"p:", uri, 0) for uri in unknown]
        found = self._index.table.get_many(rows, (schema.COUNT,))
        return {
            uri: self._number(row, schema.COUNT) for uri, row in zip(unknown, found, strict=True)
        }

    def _later(self) -> int:
        """Returns a timestamp that hides no number read or written before, if the clock goes back.

        Numbers are read before they are written for the first time.
        """
        self._known.stamp = max(self._known.stamp, self._index.rows.clock.now_ms())
        return self._known.stamp

    def _number(self, row: Row | None, column: bytes) -> int:
        cells = row.versions(column) if row is not None else ()
        if not cells:
            return 0
        self._known.stamp = max(self._known.stamp, cells[0].timestamp)
        return int(cells[0].value)

    # On their way out

    def settle(self, *, is_last: bool) -> None:
        """Exports the counts that have changed, when there are many, or at last."""
        if self._known.marked and (is_last or len(self._known.marked) >= _MOST_MARKED):
            self.drain()

    def drain(self) -> Drained:
        """Exports all counts that have changed."""
        known = self._known
        with self._lock:
            marked, known.marked = known.marked, set()
            marks, known.marks = known.marks, set()
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
                known.marked |= marked
                known.marks |= marks
            raise
        done = Drained(marks=len(marks), pages=len(marked))
        done.log(self._index.store.location)
        return done

    def _export(self, uris: Sequence[bytes]) -> None:
        """Exports the counts of some pages, in one commit.

        The marks go after all of them; so whoever is killed in between does it again.
        """
        counts, read = self._known.counts, self._read(uris)
        states = self._ranks.read([schema.page_row(uri) for uri in uris])
        exported = [
            _Exported(uri, counts[uri] if uri in counts else read[uri], state)
            for uri, state in zip(uris, states, strict=True)
        ]
        revisions, writes = self._ranks.plan(states, [each.change() for each in exported])
        pairs = list(zip(exported, revisions, strict=True))
        writes += self._members([(each, number) for each, number in pairs if number is not None])
        writes += self._tell_pages(pairs)
        if writes:
            self._index.store.commit(writes)

    def _members(self, changed: Sequence[tuple[_Exported, int]]) -> Writes:
        """Returns which URIs come to their domains, and which leave them."""
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

    def _tell_pages(self, exported: Sequence[tuple[_Exported, int | None]]) -> Writes:
        """Returns what the own rows of pages say of the links to them, where that changes."""
        crawled = [(each, number) for each, number in exported if each.is_crawled]
        keys = self._index.pages.keys
        states = self._pages.read([keys.row_key(schema.url_of(each.uri)) for each, _ in crawled])
        changes: list[Columns | None] = []
        for (each, number), state in zip(crawled, states, strict=True):
            guard = each.state.revision.number if number is None else number
            changes.append(inlink_columns(state.facts, each.links, guard, is_alone=True))
        return self._pages.plan(states, changes)[1]
