"""The link index in an embedded store: a batch of pages and what follows from it in one commit.

The steps are those of a cluster; those between which nobody can die are one. Intents and journals
are not needed. Marks are: counts go out when enough has piled up, since a page that everybody
links to would otherwise move its rank with every batch.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from webtable.links import schema
from webtable.links.cells import GONE, decode_uris, encode_uris, live_values
from webtable.links.exporter import HERE, Drained, Exported, TellPage
from webtable.links.graph import LinkIndex
from webtable.links.journal import Newest, TakeIn, View, read_rows
from webtable.pages.hooks import LinksChange
from webtable.records.index import Change, RowState, commit_lock
from webtable.records.index_writer import Writer
from webtable.store.model import Row
from webtable.store.mutation import Delete, Mutation, Put
from webtable.store.store import Store

__all__ = ["Committer", "forget_counts"]

_MOST_MARKED = 100_000
_MOST_COUNTS = 500_000
_PAGES = 2_000

Writes = list[tuple[str, Mutation]]


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
    """Forgets what is remembered of an index; for whoever changes it without a `Committer`."""
    with commit_lock(store):
        if store in _known:
            _known[store].counts.clear()


class Committer:
    """Keeps the link index of an embedded store. One process writes to such a store, this one."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._lock = commit_lock(index.store)
        with self._lock:
            self._known = _known.setdefault(index.store, _Known())
            self._read_marks()

    def _read_marks(self) -> None:
        """Takes up what a load left that was killed."""
        for mark in self._index.work.scan(prefix=b"m:"):
            self._known.marked.update(decode_uris(mark.value(schema.TARGETS)))
            self._known.marks.add(mark.key)

    # A batch of pages

    def together(self, changes: Sequence[LinksChange]) -> Writes:
        """Returns everything that follows from changes of pages, for the commit they are in."""
        if not changes:
            return []
        views, writes = self._take_in(changes)
        cells: dict[tuple[bytes, int], dict[bytes, bytes]] = {}
        differences: dict[bytes, int] = {}
        for view, before in views:
            column = schema.INLINK + view.uri
            states, guard = view.states, view.guard
            for target in view.targets:
                state = states.get(target, GONE)
                key = target, guard
                if key in cells:
                    cells[key][column] = state
                else:
                    cells[key] = {column: state}
                moved = (target in states) - (target in before)
                differences[target] = differences.get(target, 0) + moved
            if view.uri in view.targets:
                del cells[view.uri, guard][column]
        table = schema.INDEX_TABLE
        writes += [
            (table, Put(schema.shard_row(b"p:", target, 0), values, timestamp=guard))
            for (target, guard), values in cells.items()
            if values
        ]
        writes += self._moved(differences)
        if differences:
            writes += self._mark(differences)
        return writes

    def _take_in(
        self, changes: Sequence[LinksChange]
    ) -> tuple[list[tuple[View, Mapping[bytes, bytes]]], Writes]:
        now = self._index.rows.clock.now_ms()
        decided = [
            TakeIn(
                schema.uri_of(change.url),
                None if change.links is None else Newest(now, change.links),
                {target for text in change.earlier for target in live_values(text)},
                keeps_journal=False,
            )
            for change in changes
        ]
        decisions = {schema.page_row(each.uri): each for each in decided}
        writer = Writer(self._index.rows)
        writer.before = partial(read_rows, self._index.table, decisions)
        revisions, writes = writer.plan(list(decisions.items()))
        views = []
        for each, revision in zip(decided, revisions, strict=True):
            assert revision is None or isinstance(revision, int)
            views.append((each.view(revision), each.before))
        return views, writes

    def _moved(self, differences: dict[bytes, int]) -> Writes:
        """Returns the new numbers of links to targets."""
        moved = {target: by for target, by in differences.items() if by}
        if len(self._known.counts) > _MOST_COUNTS:
            self._known.counts.clear()
        counts = self._known.counts
        counts.update(self._read_counts(moved))
        stamp = self._later()
        writes: Writes = []
        for target, by in moved.items():
            counts[target] += by
            value = {schema.COUNT: str(counts[target]).encode()}
            row = schema.shard_row(b"p:", target, 0)
            writes.append((schema.INDEX_TABLE, Put(row, value, timestamp=stamp)))
        return writes

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

    def _mark(self, targets: Iterable[bytes]) -> Writes:
        self._known.marked.update(targets)
        row = b"m:" + self._index.rows.new_token().hex().encode()
        self._known.marks.add(row)
        return [(schema.WORK_TABLE, Put(row, {schema.TARGETS: encode_uris(targets)}))]

    def forget(self) -> None:
        """Forgets what is known of a commit that was not made."""
        self._known.counts.clear()

    # Counts on their way out

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
        return Drained(marks=len(marks), pages=len(marked))

    def _export(self, uris: Sequence[bytes]) -> None:
        """Exports the counts of some pages: ranks and domains in one commit, page rows in another.

        The marks go after both; so whoever is killed in between does it again.
        """
        index = self._index
        counts, read = self._known.counts, self._read_counts(uris)
        decisions = [
            _Recount(Exported(uri, counts[uri] if uri in counts else read[uri])) for uri in uris
        ]
        revisions, writes = Writer(index.rows).plan(
            [(schema.page_row(each.exported.uri), each) for each in decisions]
        )
        changed = []
        for each, revision in zip(decisions, revisions, strict=True):
            if isinstance(revision, int):
                each.exported.revision = revision
                changed.append(each)
        writes += self._members(changed)
        if writes:
            index.store.commit(writes)
        pages = index.pages
        pages.rows.write_many(
            [
                (
                    pages.keys.row_key(schema.url_of(each.exported.uri)),
                    TellPage(each.exported, is_alone=True),
                )
                for each in decisions
                if each.exported.is_crawled
            ]
        )

    def _read_counts(self, uris: Iterable[bytes]) -> dict[bytes, int]:
        """Returns how many links lead to pages, as far as that is not remembered."""
        unknown = [uri for uri in uris if uri not in self._known.counts]
        rows = [schema.shard_row(b"p:", uri, 0) for uri in unknown]
        read = {}
        for uri, row in zip(
            unknown, self._index.table.get_many(rows, (schema.COUNT,)), strict=True
        ):
            read[uri] = self._number(row, schema.COUNT)
        return read

    def _members(self, changed: Sequence[_Recount]) -> Writes:
        """Returns which URIs come to their domains, and which leave them."""
        index, writes = self._index, Writes()
        differences: dict[bytes, int] = {}
        for each in changed:
            exported = each.exported
            if exported.is_here == each.was_here:
                continue
            row = schema.shard_row(b"d:", index.domains.of(exported.uri), 0)
            state = {schema.MEMBER + exported.uri: HERE if exported.is_here else GONE}
            put = Put(row, state, timestamp=exported.revision)
            writes.append((schema.INDEX_TABLE, put))
            differences[row] = differences.get(row, 0) + (1 if exported.is_here else -1)
        rows = list(differences)
        numbers = index.table.get_many(rows, (schema.PAGE_COUNT,))
        counts = [self._number(found, schema.PAGE_COUNT) for found in numbers]
        stamp = self._later()
        for row, count in zip(rows, counts, strict=True):
            number = {schema.PAGE_COUNT: str(count + differences[row]).encode()}
            writes.append((schema.INDEX_TABLE, Put(row, number, timestamp=stamp)))
        return writes


class _Recount:
    """Decides what the row of a page says of its links, where nobody else does; see `Decide`."""

    def __init__(self, exported: Exported) -> None:
        self.exported = exported
        self.was_here = False

    def __call__(self, state: RowState) -> Change | None:
        """Decides what to do."""
        exported, before = self.exported, state.facts.get(schema.INCOUNT)
        exported.revision = state.revision.number
        exported.is_crawled = schema.AT in state.facts
        self.was_here = before is not None
        if not exported.is_here:
            return Change(delete=(schema.INCOUNT,)) if self.was_here else None
        count = str(exported.count).encode()
        return None if count == before else Change(put={schema.INCOUNT: count})
