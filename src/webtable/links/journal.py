"""Taking a page's newest links into its row of the link index: what changes, for whom.

The targets that are still to be told go into the journal of the row, in the same atomic step. In
an embedded store they are told in the same commit, see `commit.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from webtable.links import rules, schema
from webtable.links.cells import (
    GONE,
    decode_cur,
    decode_uris,
    encode_cur,
    encode_uris,
    live_values,
)
from webtable.records.index import Change, RowState
from webtable.records.index_cells import decode_revision
from webtable.store.model import Row
from webtable.store.table import Table

__all__ = ["Newest", "TakeIn", "View", "moved_targets", "read_rows"]

_REVISION = b"page:rev"
_COLUMNS = (schema.CUR, schema.AT, schema.JOURNAL, _REVISION)


class Newest(NamedTuple):
    """The links of the newest capture of a page, and the revision of its row that has them."""

    revision: int
    links: str


class View(NamedTuple):
    """What a row of the link index says at one revision, and who has still to be told.

    Attributes:
        guard: the revision.
        states: target → the state of the link there; a target that is not in it has none.
        targets: to be told; the page itself, where it is new.
        journal_at: the timestamp of the journal that names them.
    """

    uri: bytes
    guard: int
    states: Mapping[bytes, bytes]
    targets: Collection[bytes]
    journal_at: int

    def state(self, target: bytes) -> bytes:
        """Returns the state of the link to a target; one that is absent was removed."""
        return self.states.get(target, GONE)


def moved_targets(old: Mapping[bytes, bytes], new: Mapping[bytes, bytes]) -> set[bytes]:
    """Returns the targets whose links came, went, or changed their words."""
    return {t for t in {*old, *new} if old.get(t) != new.get(t)} if old else set(new)


class TakeIn:
    """Decides what to do to the row of a page; called with the row as it was read, see `Decide`.

    Args:
        newest: what the page's own row says; None: its links are as they were.
        own: targets of captures that are not the newest, so that they learn of this source.
        check: makes sure, at every attempt, that the row may still be written.

    Attributes:
        found: the row, read by `read_rows` after its state was.
    """

    def __init__(
        self,
        uri: bytes,
        newest: Newest | None,
        own: Collection[bytes] = (),
        *,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._newest = newest
        self._own = own
        self._check = check
        self.uri = uri
        self.found: Row | None = None
        self._view: View | None = None

    def __call__(self, state: RowState) -> Change | None:
        """Decides what to do."""
        self._check()
        values: dict[bytes, bytes] = {}
        guard = journal_at = 0
        if state.cell is not None:
            found = self.found
            for column, timestamp, value, _ in found.raw_cells if found is not None else ():
                values.setdefault(column, value)
                if column == schema.JOURNAL:
                    journal_at = timestamp
            # Read after the state was: where nothing is written, this is what it was read under.
            guard = decode_revision(values[_REVISION]).number if _REVISION in values else 0
        earlier = decode_uris(values.get(schema.JOURNAL))
        said = decode_cur(values.get(schema.CUR))
        old = live_values(said)
        newest, put = self._newest, {}
        new, changed = old, set[bytes]()
        at = int(values.get(schema.AT, 0))
        if newest is not None and newest.revision > at:
            new = live_values(newest.links)
            put[schema.AT] = str(newest.revision).encode()
            changed = moved_targets(old, new)
            if schema.AT not in values:
                changed.add(self.uri)
            if changed or newest.links != said:  # they may only stand in another order
                put[schema.CUR] = encode_cur(newest.links)
        changed.update(t for t in self._own if t not in new)
        targets = rules.merged(earlier, changed)
        if schema.CUR in put or targets != set(earlier):
            # Also where it names the same: whoever has told what the row said before clears only
            # the journal of that time.
            put[schema.JOURNAL] = encode_uris(targets)
            journal_at = 0  # that of the revision which is written now
        self._view = View(self.uri, guard, new, targets, journal_at)
        return Change(put=put) if put else None

    def view(self, revision: int | None) -> View:
        """Returns what the row says after the write, which had this revision if there was one."""
        view = self._view
        assert view is not None
        if revision is None:
            return view
        return view._replace(guard=revision, journal_at=view.journal_at or revision)


def read_rows(table: Table, decisions: Mapping[bytes, TakeIn], states: Sequence[RowState]) -> None:
    """Reads what decisions need of their rows, all at once; to be called before they decide."""
    rows = [state.row for state in states if state.cell is not None]
    for row, found in zip(rows, table.get_many(rows, _COLUMNS), strict=True):
        decisions[row].found = found
