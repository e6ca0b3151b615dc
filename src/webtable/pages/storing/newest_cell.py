r"""One small cell that says what a row holds of its page's newest capture, to decide by it alone.

    metadata:held = parsing TAB body TAB links TAB since TAB Last-Modified TAB said

`body` and `links` are the times of the versions that the newest capture shows, `since` when the run
of its digest began, `Last-Modified` what its header said, `said` what its other headers did, and
which body it is where its digest does not tell (see
`webtable.pages.storing.capture_parser.said_by`). The cell is empty where the newest capture was no
success, came without a body, or what was told of it was not read from that body under just these
headers.
On-disk: changing this needs a new format version. Frozen by
tests/pages/storing/test_newest_cell.py.

With it a capture that repeats the newest one is stored without its body, and without reading what
lies beside bodies: `repeat` does what `webtable.pages.storing.row_write` would, or leaves it to
that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from webtable.index.table import Change, RowState
from webtable.pages.columns import (
    CAPTURE,
    DIGEST,
    FETCHED,
    LAST_MODIFIED,
    NEWEST,
    OUTLINKS,
    REDIRECT,
    SIZE,
    STATUS,
    TYPE,
    URL,
)
from webtable.pages.storing.cells import decode_time, encode_note, encode_time, note_qualifier
from webtable.pages.storing.history import CaptureNote
from webtable.pages.storing.row_history import Decided
from webtable.store.mutation import Put

__all__ = [
    "PARSING",
    "Keeping",
    "Offered",
    "RepeatWrite",
    "Repeated",
    "encode_held",
    "repeat",
    "repeated_change",
    "said_of",
]

PARSING = "1"
"""Raised whenever parsing may read something else from the same body than it did before."""

_FIELDS = 5  # before `said`, which is the last since it may have tabs itself


class Offered(NamedTuple):
    """A capture that has a body, without it: enough where that body is stored already."""

    url: str
    note: CaptureNote
    said: str


class Repeated(NamedTuple):
    """What a capture that repeats the newest one does to its row: cells, and the facts then.

    No cells: it is there already.
    """

    values: Mapping[bytes, bytes]
    facts: Mapping[bytes, bytes]


class Keeping(NamedTuple):
    """How long bodies and links are kept, in seconds, None: for ever; and what time it is."""

    body_seconds: int | None
    links_seconds: int | None
    now: float

    def is_safe(self, body: str, links: str, fetched: int) -> bool:
        """Whether versions are so young that neither has expired, or is to be written again."""
        if self.body_seconds is None and self.links_seconds is None:
            return True
        at = max(self.now, fetched)
        return all(
            seconds is None or at - decode_time(text) <= seconds / 2
            for seconds, text in ((self.body_seconds, body), (self.links_seconds, links))
        )


def encode_held(
    newest: CaptureNote,
    versions: tuple[int | None, int | None],
    since: int,
    said: str | None,
) -> bytes:
    """Returns what a row holds of its newest capture.

    Args:
        versions: from when on its body is stored, and its links; None: they are not.
        since: when the run of its digest began.
        said: what its headers said; None where that is not known.
    """
    body, links = versions
    if said is None or body is None or links is None or newest.waits_for_body or not newest.is_ok:
        return b""
    header = "" if newest.last_modified is None else encode_time(newest.last_modified)
    times = map(encode_time, (body, links, since))
    return "\t".join((PARSING, *times, header, said)).encode()


def said_of(facts: Mapping[bytes, bytes]) -> str | None:
    """Returns what the headers of a row's newest capture said; None where that is not known."""
    held = facts.get(NEWEST)
    if not held:
        return None
    parsing, *_, said = held.decode().split("\t", _FIELDS)
    return said if parsing == PARSING else None


def repeat(capture: Offered, facts: Mapping[bytes, bytes], keeping: Keeping) -> Repeated | None:
    """Returns what a capture does that repeats the newest one of its page; None if it does not.

    That is: the same body, which is held, read in the same way. All that it says is then in the
    row. None also where the body is about to expire, and has to be written again.
    """
    note, held = capture.note, facts.get(NEWEST)
    if not held or note.digest.encode() != facts.get(DIGEST):
        return None
    parsing, body, links, since, header, said = held.decode().split("\t", _FIELDS)
    if (
        said != capture.said
        or parsing != PARSING
        or str(note.size).encode() != facts.get(SIZE)
        or note.type.encode() != facts.get(TYPE)
        or capture.url.encode() != facts.get(URL)
        or not note.is_ok
        or note.waits_for_body
    ):
        return None
    fetched, was = encode_time(note.time), facts[FETCHED].decode()
    now = "" if note.last_modified is None else encode_time(note.last_modified)
    new = {
        STATUS: str(note.status).encode(),
        REDIRECT: note.redirect.encode(),
    }
    if fetched <= was:
        is_there = now == header and all(facts.get(each) == new[each] for each in new)
        return Repeated({}, facts) if fetched == was and is_there else None
    if not keeping.is_safe(body, links, note.time):
        return None
    is_header_valid = note.last_modified is not None and note.last_modified <= note.time
    new[LAST_MODIFIED] = (now if is_header_valid else since).encode()
    new[FETCHED] = fetched.encode()
    if now != header:
        new[NEWEST] = "\t".join((parsing, body, links, since, now, said)).encode()
    changed = {column: value for column, value in new.items() if facts.get(column) != value}
    note_cell = {CAPTURE + note_qualifier(note): encode_note(note)}
    return Repeated({**note_cell, **changed}, {**facts, **changed})


class RepeatWrite:
    """Stores a capture without its body, if that repeats the newest one of its page.

    `links` says, after the last attempt, how many it has; None: it was not stored.
    """

    __slots__ = ("_keeping", "capture", "decided", "guard", "links")

    def __init__(self, capture: Offered, keeping: Keeping) -> None:
        self.guard: Callable[[], None] | None = None
        self.capture = capture
        self.links: int | None = None
        self.decided: Decided | None = None
        self._keeping = keeping

    def __call__(self, state: RowState) -> Change | None:
        """Decides what to do; see `webtable.index.table.Decide`."""
        if self.guard is not None:
            self.guard()
        repeated = repeat(self.capture, state.facts, self._keeping)
        if repeated is None:
            self.links = self.decided = None
            return None
        self.links = int(state.facts.get(OUTLINKS) or 0)
        change = repeated_change(state, self.capture.note.time, repeated)
        self.decided = Decided(state.revision.number, None, change)
        return change


def repeated_change(state: RowState, time: int, repeated: Repeated) -> Change | None:
    """Returns what a capture that repeats the newest one does to its row; None: it is there."""
    if not repeated.values:
        return None
    put = Put(state.row, repeated.values, timestamp=time * 1000)
    return Change(more=[put], facts=repeated.facts)
