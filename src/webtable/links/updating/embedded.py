"""The link index in an embedded store: a batch of pages and their links in one commit.

The steps are those of a cluster, see `cluster.py`; one atomic commit needs neither intents
nor journals. Marks are needed: counts are exported when many have changed, see
`embedded_counts.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from webtable.index.indexed_table import RowState
from webtable.index.partial_row_writer import Columns, PartialRowWriter
from webtable.links import schema
from webtable.links.cell_encoding import GONE, live_values
from webtable.links.link_index import LinkIndex
from webtable.links.updating.cluster_counts import Drained
from webtable.links.updating.embedded_counts import Counts, forget_counts
from webtable.links.updating.left_out import left_out_of
from webtable.links.updating.link_changes import (
    LinkChanges,
    Newest,
    link_changes,
    links_changed,
)
from webtable.pages.hooks import LinksChange
from webtable.store.mutation import Spread, Write

__all__ = ["Committer", "forget_counts"]

_COLUMNS = (schema.AT, schema.CUR, schema.JOURNAL)
_WRITTEN = (schema.AT, schema.CUR)


class _PageUpdate(NamedTuple):
    """The writes for one page.

    Attributes:
        changes: what its links change.
        targets: every page whose state must be written, and the page itself if it is new.
        is_first: whether the page is new and only its newest links must be written.
        is_removed: whether the page was removed.
        ever: then, every page that it ever linked to.
    """

    uri: bytes
    changes: LinkChanges
    targets: Collection[bytes]
    is_first: bool
    is_removed: bool
    ever: Collection[bytes] = ()

    @property
    def columns(self) -> Columns | None:
        """The columns of the row of the page that change; None: none does."""
        if self.changes.delete:
            # No worker can come late with earlier links, so their end is not recorded.
            return dict.fromkeys(self.changes.delete)
        return self.changes.put or None


class Committer:
    """Updates the link index of an embedded store. Only this process writes to the store."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._counts = Counts(index)
        moved = schema.AT, schema.CUR, schema.CHANGED
        self._rows = PartialRowWriter(index.rows, moved, _COLUMNS, of_revision=_with_revision)

    def together(self, changes: Sequence[LinksChange]) -> list[tuple[str, Write]]:
        """Returns all writes that follow from changes of pages, for the same commit."""
        if not changes:
            return []
        now_ms = self._index.rows.clock.now_ms()
        uris = [schema.uri_of(change.url) for change in changes]
        states = self._rows.read([schema.page_row(uri) for uri in uris])
        updates = [
            self._update(change, uri, state, now_ms)
            for change, uri, state in zip(changes, uris, states, strict=True)
        ]
        revisions, writes = self._rows.plan(states, [each.columns for each in updates])
        table, differences = schema.INDEX_TABLE, Counter[bytes]()
        for each, revision, state in zip(updates, revisions, states, strict=True):
            written = _states(each)
            if written:
                guard = state.revision.number if revision is None else revision
                column = schema.INLINK + each.uri
                writes.append((table, Spread(column, written, timestamp=guard, **schema.SHARD)))
            _count(each, differences)
        return writes + self._counts.move(differences)

    def _update(self, change: LinksChange, uri: bytes, state: RowState, now_ms: int) -> _PageUpdate:
        """Decides the writes for a page whose links have changed."""
        facts, newest = state.facts, None
        guard = int(facts.get(schema.AT) or 0)
        if change.is_removed or change.links is not None:
            # Links in the commit of the page itself are newer, even if the clock went back.
            newest = Newest(max(now_ms, guard + 1), change.links or "", change.is_removed)
        own = [uri] if change.is_new else []
        for text in change.earlier:
            own += live_values(text)
        changes = link_changes(
            uri, facts, newest, own, is_left_out=left_out_of(self._index.pages.blocked)
        )
        targets = changes.targets()
        is_first = (
            schema.AT not in facts
            and not change.is_removed
            and not changes.before
            and len(targets) == len(changes.after) + 1
        )
        # Also at blocked pages, where the states say that the page linked there once.
        ever = {*targets, *own} if change.is_removed else ()
        return _PageUpdate(uri, changes, targets, is_first, change.is_removed, ever)

    def forget(self) -> None:
        """Clears the cached counts after a commit that failed."""
        self._counts.forget()

    def settle(self, *, is_last: bool) -> None:
        """Exports the counts that have changed, if there are many or this is the last batch."""
        self._counts.settle(is_last=is_last)

    def drain(self) -> Drained:
        """Exports all counts that have changed."""
        return self._counts.drain()


def _with_revision(state: RowState, columns: Columns, number: int) -> Columns:
    """Adds the revision of the links, where they change."""
    if schema.CUR not in columns:
        return columns
    is_removed = columns[schema.CUR] is None
    return {**columns, **links_changed(state.facts, is_removed=is_removed)(number)}


def _states(update: _PageUpdate) -> Mapping[bytes, bytes | None]:
    """Returns the states to write, by target; None: to delete. The page itself has no state."""
    uri, after = update.uri, update.changes.after
    if update.is_removed:
        # No other worker can write a state late, so none needs to stay as a guard.
        return {target: None for target in update.ever if target != uri}
    if update.is_first:
        return after
    return {target: after.get(target, GONE) for target in update.targets if target != uri}


def _count(update: _PageUpdate, differences: Counter[bytes]) -> None:
    """Adds the differences of the counts of targets; a new page is marked for counting, too."""
    uri, before, after = update.uri, update.changes.before, update.changes.after
    if update.is_first:
        differences.update(after.keys())
        differences[uri] += 0
        return
    for target in update.targets:
        differences[target] += 0 if target == uri else (target in after) - (target in before)
