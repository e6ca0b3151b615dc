r"""One small cell that summarizes the newest capture of a page, to recognise a repeat fast.

    metadata:held = parsing TAB body TAB links TAB since TAB Last-Modified TAB context

`body` and `links` are the times of the stored versions of the newest capture. `since` is the start
of the run of captures with its digest. `Last-Modified` is the time in that header. `context` has
the other headers that affect parsing, and the digest of the body where it differs from the digest
of the capture (see `webtable.pages.storing.capture_parser.parse_context`). The cell is empty where
the newest capture was no success, has no stored body, or where its metadata was not parsed from
that body with exactly these headers.
On-disk: changing this needs a new format version. Frozen by
tests/pages/storing/test_repeated_captures.py.

With this cell, a capture that repeats the newest one is stored without its body and without a read
of the page's history. `repeat` makes the same changes as `webtable.pages.storing.row_write`, or
returns None where it cannot decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from webtable.index.index_and_change import Change, RowState
from webtable.pages.columns import (
    DIGEST,
    FETCHED,
    LAST_MODIFIED,
    NEWEST,
    OUTLINKS,
    REDIRECT,
    REMOVED,
    SIZE,
    STATUS,
    TYPE,
    URL,
)
from webtable.pages.page import CaptureSummary, PageInfo, info_of
from webtable.pages.storing.capture_cells import capture_cells, decode_time, encode_time
from webtable.pages.storing.content_revision import content_change
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.row_history import Decided
from webtable.store.mutation import Put

__all__ = [
    "PARSING",
    "RepeatWrite",
    "Repeated",
    "Retention",
    "encode_newest",
    "info_in",
    "repeat",
    "repeated_change",
    "stored_parse_context",
]

PARSING = "1"
"""The version of the parser; raised when the same body may give other values than before."""

_FIELDS = 5  # before `context`, which is last because it may contain tabs


class Repeated(NamedTuple):
    """The changes of a capture that repeats the newest one: new cells, and the facts of the row.

    Without cells, the capture is stored already.
    """

    values: Mapping[bytes, bytes]
    facts: Mapping[bytes, bytes]


class Retention(NamedTuple):
    """How long bodies and links are stored, in seconds (None: forever), and the current time."""

    body_seconds: int | None
    links_seconds: int | None
    now: float

    def is_safe(self, body: str, links: str, fetched: int) -> bool:
        """Whether both versions are young enough: not expired, and no new copy is needed."""
        if self.body_seconds is None and self.links_seconds is None:
            return True
        at = max(self.now, fetched)
        return all(
            seconds is None or at - decode_time(text) <= seconds / 2
            for seconds, text in ((self.body_seconds, body), (self.links_seconds, links))
        )


def encode_newest(
    newest: CaptureNote,
    versions: tuple[int | None, int | None],
    since: int,
    context: str | None,
) -> bytes:
    """Returns the value of the cell for the newest capture of a row.

    Args:
        versions: the times of the stored versions of its body and its links; None: not stored.
        since: the start of the run of captures with its digest.
        context: its parse context; None: unknown.
    """
    body, links = versions
    if (
        context is None
        or body is None
        or links is None
        or newest.waits_for_body
        or not newest.is_ok
    ):
        return b""
    header = "" if newest.last_modified is None else encode_time(newest.last_modified)
    times = map(encode_time, (body, links, since))
    return "\t".join((PARSING, *times, header, context)).encode()


def stored_parse_context(facts: Mapping[bytes, bytes]) -> str | None:
    """Returns the parse context of a row's newest capture; None where it is unknown."""
    cell = facts.get(NEWEST)
    if not cell:
        return None
    parsing, *_, context = cell.decode().split("\t", _FIELDS)
    return context if parsing == PARSING else None


def info_in(facts: Mapping[bytes, bytes]) -> PageInfo:
    """Returns the values of the newest capture of a row, as far as its facts have them."""
    count = int(facts.get(OUTLINKS) or 0)
    return info_of(facts)._replace(link_count=count, context=stored_parse_context(facts))


def repeat(
    capture: CaptureSummary, facts: Mapping[bytes, bytes], retention: Retention
) -> Repeated | None:
    """Returns the changes of a capture that repeats the newest one; None if it does not repeat it.

    A repeat has the same body, which is stored, and the same parse context. So the row has all of
    its values already. None also where the stored body expires soon and must be written again.
    """
    note, cell = capture.note, facts.get(NEWEST)
    # The row of a page that was removed once may have markers that mask new cells.
    if not cell or REMOVED in facts or note.digest.encode() != facts.get(DIGEST):
        return None
    parsing, body, links, since, header, context = cell.decode().split("\t", _FIELDS)
    if (
        context != capture.context
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
    if not retention.is_safe(body, links, note.time):
        return None
    is_header_valid = note.last_modified is not None and note.last_modified <= note.time
    new[LAST_MODIFIED] = (now if is_header_valid else since).encode()
    new[FETCHED] = fetched.encode()
    if now != header:
        new[NEWEST] = "\t".join((parsing, body, links, since, now, context)).encode()
    changed = {column: value for column, value in new.items() if facts.get(column) != value}
    cells = capture_cells(note, capture.head, capture.origin)
    return Repeated({**cells, **changed}, {**facts, **changed})


class RepeatWrite:
    """Stores a capture without its body, if it repeats the newest capture of its page.

    After the last attempt, `links` is its number of links; None: it was not stored.
    """

    __slots__ = ("_retention", "capture", "decided", "guard", "links")

    def __init__(self, capture: CaptureSummary, retention: Retention) -> None:
        self.guard: Callable[[], None] | None = None
        self.capture = capture
        self.links: int | None = None
        self.decided: Decided | None = None
        self._retention = retention

    def __call__(self, state: RowState) -> Change | None:
        """Computes the change of the row; see `webtable.index.indexed_table.Decide`."""
        if self.guard is not None:
            self.guard()
        repeated = repeat(self.capture, state.facts, self._retention)
        if repeated is None:
            self.links = self.decided = None
            return None
        self.links = int(state.facts.get(OUTLINKS) or 0)
        change = repeated_change(state, self.capture.note.time, repeated)
        self.decided = Decided(state.revision.number, None, change)
        return change


def repeated_change(state: RowState, time: int, repeated: Repeated) -> Change | None:
    """Returns the change of a capture that repeats the newest one; None: it is stored."""
    if not repeated.values:
        return None
    put = Put(state.row, repeated.values, timestamp=time * 1000)
    changed = content_change(state.facts, repeated.facts)
    return Change(more=[put], facts=repeated.facts, of_revision=changed)
