"""Step 1 on a cluster: the newest links of a page go into its row of the link index.

`link_changes` decides what changes. The targets whose states must still be written go into the
journal of the row, in the same atomic step. A journal is one cell: targets that would make it too
large wait for the next step. An embedded store needs no journal, see `embedded.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from webtable.index.cell_encoding import decode_revision
from webtable.index.indexed_table import Change, RowState
from webtable.links import schema
from webtable.links.cell_encoding import GONE, encode_uris
from webtable.links.updating.link_changes import Newest, link_changes, links_changed
from webtable.store.cells_and_rows import Row
from webtable.store.table import Table

__all__ = ["PageRowDecision", "View", "read_rows"]

MAX_JOURNAL_BYTES = 9_000_000
"""The limit for the targets of a journal before compression. HBase accepts cells of 10 MB.

The targets of the newest links and of those before them always fit, see `MAX_LINK_BYTES`.
"""

_REVISION = b"page:rev"
_COLUMNS = (schema.CUR, schema.AT, schema.REMOVED_AT, schema.JOURNAL, _REVISION)


class View(NamedTuple):
    """A row of the link index at one revision, and the targets that must still be updated.

    Attributes:
        guard: the revision.
        states: target → the state of the link there; a target that is not in it has none.
        targets: the targets to update, and the page itself if it is new.
        journal_at: the timestamp of the journal that names them.
        later: the targets of this page that need another step, after these are updated; None if
            no such step is needed.
    """

    uri: bytes
    guard: int
    states: Mapping[bytes, bytes]
    targets: Collection[bytes]
    journal_at: int
    later: Collection[bytes] | None = None

    def state(self, target: bytes) -> bytes:
        """Returns the state of the link to a target; a link that is missing was removed."""
        return self.states.get(target, GONE)


class PageRowDecision:
    """Decides the writes to the row of a page; called with the row as it was read, see `Decide`.

    Args:
        newest: the links in the page's own row; None if they are unchanged.
        own: targets of captures that are not the newest; they get a state of this source, too.
        check: called at every attempt; raises if the row must not be written any more.

    Attributes:
        found: the row, read by `read_rows` after its state.
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
        """Decides what to write."""
        self._check()
        values: dict[bytes, bytes] = {}
        guard = journal_at = 0
        if state.cell is not None:
            found = self.found
            for column, timestamp, value, _ in found.raw_cells if found is not None else ():
                values.setdefault(column, value)
                if column == schema.JOURNAL:
                    journal_at = timestamp
            # The row is read after the state. If nothing is written, this revision is the guard.
            guard = decode_revision(values[_REVISION]).number if _REVISION in values else 0
        changes = link_changes(self.uri, values, self._newest, self._own)
        put, changed, others = changes.put, changes.changed, changes.others
        earlier = changes.unfinished
        if earlier and _size(earlier) + _size(changed) + _size(others) > MAX_JOURNAL_BYTES:
            # Too large for one journal: the targets of the stored journal come first.
            self._view = View(self.uri, guard, changes.before, earlier, journal_at, self._own)
            return None
        later: Collection[bytes] | None = None
        room = MAX_JOURNAL_BYTES - _size(earlier) - _size(changed)
        if _size(others) > room:
            others.sort()
            fitting = _fitting(others, room)
            later = others[fitting:] or None
            del others[fitting:]
        targets = changes.targets()
        if schema.CUR in put or changes.delete or targets != set(earlier):
            # Even if it names the same targets: a worker that wrote the states of the previous
            # links clears only the previous journal.
            put[schema.JOURNAL] = encode_uris(targets)
            journal_at = 0  # the revision that is written now
        self._view = View(self.uri, guard, changes.after, targets, journal_at, later)
        if not put:
            return None
        is_removed = bool(changes.delete)
        of_revision = None
        if schema.CUR in put or is_removed:
            of_revision = links_changed(state.facts, is_removed=is_removed)
        return Change(put=put, delete=changes.delete, of_revision=of_revision)

    def view(self, revision: int | None) -> View:
        """Returns the row after the write, whose revision is given; None if nothing was written."""
        view = self._view
        assert view is not None
        if revision is None:
            return view
        return view._replace(guard=revision, journal_at=view.journal_at or revision)


def _size(targets: Collection[bytes]) -> int:
    """Returns the largest size of targets in a journal, in bytes."""
    return sum(map(len, targets)) + len(targets)


def _fitting(targets: Sequence[bytes], room: int) -> int:
    """Returns how many targets fit, but at least one: otherwise no step would make progress."""
    for number, target in enumerate(targets):
        room -= len(target) + 1
        if room < 0:
            return max(number, 1)
    return len(targets)


def read_rows(
    table: Table, decisions: Mapping[bytes, PageRowDecision], states: Sequence[RowState]
) -> None:
    """Reads the rows of all decisions together; call it before they decide."""
    rows = [state.row for state in states if state.cell is not None]
    for row, found in zip(rows, table.get_many(rows, _COLUMNS), strict=True):
        decisions[row].found = found
