"""Step 1 on a cluster: the newest links of a page go into its row of the link index.

`link_changes` decides what changes. The targets whose states are still to be written go into the
journal of the row, in the same atomic step. A journal is one cell: targets that would make it too
large are left to the next step. An embedded store needs no journal, see `embedded.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from webtable.index.cells import decode_revision
from webtable.index.table import Change, RowState
from webtable.links import schema
from webtable.links.cells import GONE, encode_uris
from webtable.links.updating.link_changes import Newest, link_changes
from webtable.store.model import Row
from webtable.store.table import Table

__all__ = ["TakeIn", "View", "read_rows"]

MAX_JOURNAL_BYTES = 9_000_000
"""What the targets of a journal may take before they are packed. HBase takes cells of 10 MB.

The targets of the newest links and of those before them always fit, see `MAX_LINK_BYTES`.
"""

_REVISION = b"page:rev"
_COLUMNS = (schema.CUR, schema.AT, schema.JOURNAL, _REVISION)


class View(NamedTuple):
    """What a row of the link index says at one revision, and who has still to be told.

    Attributes:
        guard: the revision.
        states: target → the state of the link there; a target that is not in it has none.
        targets: to be told; the page itself, where it is new.
        journal_at: the timestamp of the journal that names them.
        later: of the targets that the page itself brought, those to be taken in by another step,
            once these are told; None: no such step is needed.
    """

    uri: bytes
    guard: int
    states: Mapping[bytes, bytes]
    targets: Collection[bytes]
    journal_at: int
    later: Collection[bytes] | None = None

    def state(self, target: bytes) -> bytes:
        """Returns the state of the link to a target; one that is absent was removed."""
        return self.states.get(target, GONE)


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
        changes = link_changes(self.uri, values, self._newest, self._own)
        put, changed, others = changes.put, changes.changed, changes.others
        earlier = changes.unfinished
        if earlier and _size(earlier) + _size(changed) + _size(others) > MAX_JOURNAL_BYTES:
            # Too much for one journal: the targets of the stored one come first.
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
        if schema.CUR in put or targets != set(earlier):
            # Also where it names the same targets: a worker that has written the states of the
            # links before these clears only the journal of that time.
            put[schema.JOURNAL] = encode_uris(targets)
            journal_at = 0  # that of the revision which is written now
        self._view = View(self.uri, guard, changes.after, targets, journal_at, later)
        return Change(put=put) if put else None

    def view(self, revision: int | None) -> View:
        """Returns what the row says after the write, which had this revision if there was one."""
        view = self._view
        assert view is not None
        if revision is None:
            return view
        return view._replace(guard=revision, journal_at=view.journal_at or revision)


def _size(targets: Collection[bytes]) -> int:
    """Returns how many bytes targets take in a journal, at most."""
    return sum(map(len, targets)) + len(targets)


def _fitting(targets: Sequence[bytes], room: int) -> int:
    """Returns how many targets fit, but at least one: otherwise nothing would ever be told."""
    for number, target in enumerate(targets):
        room -= len(target) + 1
        if room < 0:
            return max(number, 1)
    return len(targets)


def read_rows(table: Table, decisions: Mapping[bytes, TakeIn], states: Sequence[RowState]) -> None:
    """Reads what decisions need of their rows, all at once; to be called before they decide."""
    rows = [state.row for state in states if state.cell is not None]
    for row, found in zip(rows, table.get_many(rows, _COLUMNS), strict=True):
        decisions[row].found = found
