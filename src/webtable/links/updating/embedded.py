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


class _PageUpdate(NamedTuple):
    """The writes for one page.

    Attributes:
        changes: what its links change.
        targets: every page whose state must be written, and the page itself if it is new.
        is_first: whether the page is new and only its newest links must be written.
    """

    uri: bytes
    changes: LinkChanges
    targets: Collection[bytes]
    is_first: bool


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
            _update(change, uri, state, now_ms)
            for change, uri, state in zip(changes, uris, states, strict=True)
        ]
        revisions, writes = self._rows.plan(states, [each.changes.put or None for each in updates])
        table, differences = schema.INDEX_TABLE, Counter[bytes]()
        for each, revision, state in zip(updates, revisions, states, strict=True):
            written = _states(each)
            if written:
                guard = state.revision.number if revision is None else revision
                column = schema.INLINK + each.uri
                writes.append((table, Spread(column, written, timestamp=guard, **schema.SHARD)))
            _count(each, differences)
        return writes + self._counts.move(differences)

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
    return {**columns, **links_changed(state.facts)(number)}


def _update(change: LinksChange, uri: bytes, state: RowState, now_ms: int) -> _PageUpdate:
    """Decides the writes for a page whose links have changed."""
    facts, newest = state.facts, None
    at = facts.get(schema.AT)
    if change.links is not None:
        # Links in the commit of the page itself are newer, even if the clock went back.
        newest = Newest(now_ms if at is None else max(now_ms, int(at) + 1), change.links)
    own = [uri] if change.is_new else []
    for text in change.earlier:
        own += live_values(text)
    changes = link_changes(uri, facts, newest, own)
    targets = changes.targets()
    is_first = at is None and not changes.before and len(targets) == len(changes.after) + 1
    return _PageUpdate(uri, changes, targets, is_first)


def _states(update: _PageUpdate) -> Mapping[bytes, bytes]:
    """Returns the states to write, by target; the page itself has no state."""
    uri, after = update.uri, update.changes.after
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
