"""The link index in an embedded store: a batch of pages and what follows from it in one commit.

The steps are those of a cluster; those between which nobody can die are one. Intents and journals
are not needed. Marks are: counts go out when enough has piled up, see `counts.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from webtable.links import rules, schema
from webtable.links.cells import GONE, decode_cur, decode_uris, encode_cur, live_values
from webtable.links.counts import Counts, forget_counts
from webtable.links.exporter import Drained
from webtable.links.graph import LinkIndex
from webtable.links.journal import moved_targets
from webtable.pages.hooks import LinksChange
from webtable.records.index import RowState
from webtable.records.index_columns import Columns, ColumnWriter
from webtable.store.mutation import Spread, Write

__all__ = ["Committer", "forget_counts"]

_COLUMNS = (schema.AT, schema.CUR, schema.JOURNAL)


class _Taken(NamedTuple):
    """What becomes of the links of one page.

    Attributes:
        before, after: target → the state of the link there.
        targets: to be told; the page itself, where it is new.
        change: of the page's own row; None: there is none.
        is_first: whether the page is new, and has no other links than these.
    """

    uri: bytes
    before: Mapping[bytes, bytes]
    after: Mapping[bytes, bytes]
    targets: Collection[bytes]
    change: Columns | None
    is_first: bool


class Committer:
    """Keeps the link index of an embedded store. One process writes to such a store, this one."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._counts = Counts(index)
        self._rows = ColumnWriter(index.rows, (schema.AT, schema.CUR), _COLUMNS)

    def together(self, changes: Sequence[LinksChange]) -> list[tuple[str, Write]]:
        """Returns everything that follows from changes of pages, for the commit they are in."""
        if not changes:
            return []
        now_ms = self._index.rows.clock.now_ms()
        uris = [schema.uri_of(change.url) for change in changes]
        states = self._rows.read([schema.page_row(uri) for uri in uris])
        taken = [
            _take_in(change, uri, state, now_ms)
            for change, uri, state in zip(changes, uris, states, strict=True)
        ]
        revisions, writes = self._rows.plan(states, [each.change for each in taken])
        table, differences = schema.INDEX_TABLE, Counter[bytes]()
        for each, revision, state in zip(taken, revisions, states, strict=True):
            told = _told(each)
            if told:
                guard = state.revision.number if revision is None else revision
                column = schema.INLINK + each.uri
                writes.append((table, Spread(column, told, timestamp=guard, **schema.SHARD)))
            _count(each, differences)
        return writes + self._counts.move(differences)

    def forget(self) -> None:
        """Forgets what is known of a commit that was not made."""
        self._counts.forget()

    def settle(self, *, is_last: bool) -> None:
        """Exports the counts that have changed, when there are many, or at last."""
        self._counts.settle(is_last=is_last)

    def drain(self) -> Drained:
        """Exports all counts that have changed."""
        return self._counts.drain()


def _take_in(change: LinksChange, uri: bytes, state: RowState, now_ms: int) -> _Taken:
    """Decides what becomes of a page's links: what `TakeIn` does, where nobody else writes."""
    facts, links = state.facts, change.links
    at, put = facts.get(schema.AT), None
    said = decode_cur(facts.get(schema.CUR))
    before = live_values(said)
    after = before if links is None else live_values(links)
    targets = set[bytes]()
    if links is not None:
        # Told in the commit of the page itself it is newer, whatever the clock says.
        put = {schema.AT: b"%d" % (now_ms if at is None else max(now_ms, int(at) + 1))}
        targets = moved_targets(before, after)
        if at is None:
            targets.add(uri)
        if targets or links != said:  # they may only stand in another order
            put[schema.CUR] = encode_cur(links)
    for text in change.earlier:
        targets.update(target for target in live_values(text) if target not in after)
    if schema.JOURNAL in facts:  # of a copy of a store on a cluster
        targets = rules.merged(decode_uris(facts[schema.JOURNAL]), targets)
    is_first = at is None and not before and len(targets) == len(after) + 1
    return _Taken(uri, before, after, targets, put, is_first)


def _told(taken: _Taken) -> Mapping[bytes, bytes]:
    """Returns the states that targets learn; the page itself learns none."""
    uri, after = taken.uri, taken.after
    if taken.is_first:
        return after
    return {target: after.get(target, GONE) for target in taken.targets if target != uri}


def _count(taken: _Taken, differences: Counter[bytes]) -> None:
    """Adds what the counts of targets move by; a page that is new is to be counted, too."""
    uri, before, after = taken.uri, taken.before, taken.after
    if taken.is_first:
        differences.update(after.keys())
        differences[uri] += 0
        return
    for target in taken.targets:
        differences[target] += 0 if target == uri else (target in after) - (target in before)
