"""Finds the bodies of revisits whose bodies are stored under other URLs.

A crawler that recognises a body which it stored for another URL writes a revisit with the digest of
that body. The body is looked for among the captures of the same write, then in the row of the
revisited URL, then by the digest index, which has the newest capture of each page. Where it is not
found, the revisit is stored without a body, and waits for it; see
`webtable.pages.storing.waiting_revisits`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from webtable.errors import CorruptData, InvalidUrl, NotFound, SchemaMismatch, StaleIndex
from webtable.index.indexed_table import IndexedTable
from webtable.pages.columns import BODY, BODY_OF, CAPTURE, TYPE
from webtable.pages.formats.payload_digests import is_digest_of
from webtable.pages.indexes import DIGESTS
from webtable.pages.keys import KeyScheme
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.storing.capture_cells import (
    decode_body_of,
    decode_note,
    note_qualifier,
    revisited_url,
)
from webtable.pages.storing.capture_parser import with_head
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.row_history import RowHistory
from webtable.pages.urls import canonical_url
from webtable.store.cells_and_rows import Row
from webtable.store.scan import ALL_VERSIONS, Scan

__all__ = ["Complete", "Parse", "RevisitedBodies", "is_stored", "with_revisited_body"]

Parse: TypeAlias = Callable[[str, bytes, str], PageInfo]
"""(URL, body, media type) → the values in the body. For bodies that are stored already."""

_MOST_ROWS = 16
"""How many pages with a digest are read: the first ones may be revisits without a body, too."""


class _Stored(NamedTuple):
    """A body that is stored under another URL: the digest of the body itself, and its type."""

    body: bytes
    own: str | None
    type: str


Complete: TypeAlias = Callable[[NewCapture], NewCapture | None]
"""Returns a revisit with its body and the values in it; None where the body is not stored."""


class RevisitedBodies:
    """Finds bodies for the revisits of one write; each digest is looked for once.

    Args:
        captures: those of the write.
        known: digest → a row that has the body, also where its newest capture has another.

    Attributes:
        completed: the digests of the revisits that got a body.
    """

    def __init__(
        self,
        rows: IndexedTable,
        keys: KeyScheme,
        parse: Parse,
        captures: Sequence[NewCapture],
        known: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        self._rows = rows
        self._keys = keys
        self._parse = parse
        self._captures = captures
        self._known = known
        self.completed: set[str] = set()
        self._written: dict[str, NewCapture] | None = None
        self._found: dict[tuple[str, str], _Stored | None] = {}

    def complete(self, revisit: NewCapture) -> NewCapture | None:
        """Returns a revisit with its body; None where no other URL has it."""
        found = self._find(revisit)
        if found is None:
            return None
        self.completed.add(revisit.note.digest)
        media_type = revisit.note.type or found.type
        info = self._parse(revisit.url, found.body, media_type)
        return revisit._replace(
            note=revisit.note._replace(size=len(found.body), type=media_type),
            body=found.body,
            body_digest=found.own,
            info=with_head(info, revisit.head, revisit.url),
        )

    def _find(self, revisit: NewCapture) -> _Stored | None:
        digest = revisit.note.digest
        if self._written is None:
            # Of several captures with a digest, the first one is stored with it.
            bodies = [each for each in reversed(self._captures) if each.body is not None]
            self._written = {each.note.digest: each for each in bodies}
        if is_digest_of(digest, b""):
            return _Stored(b"", digest, "")
        if (same := self._written.get(digest)) is not None and same.body is not None:
            return _Stored(same.body, same.body_digest, same.note.type)
        url = revisited_url(revisit.origin)
        if (digest, url) not in self._found:
            self._found[digest, url] = self._read(digest, url)
        return self._found[digest, url]

    def _read(self, digest: str, url: str) -> _Stored | None:
        if digest in self._known and (found := self._body_in(self._known[digest], digest)):
            return found
        if url:
            with contextlib.suppress(InvalidUrl, ValueError):
                found = self._body_in(self._keys.row_key(canonical_url(url)), digest)
                if found is not None:
                    return found
        if DIGESTS not in self._rows.indexes:
            return None  # the caller opened the table with other indexes
        # Without its index, a body is not found; the revisit itself must be stored.
        with contextlib.suppress(StaleIndex, NotFound, SchemaMismatch):
            scan = Scan(prefix=f"{digest}_".encode(), limit=_MOST_ROWS, batch_rows=_MOST_ROWS)
            for hit in self._rows.find(DIGESTS, scan, columns=(BODY_OF,)):
                if hit.found is not None and (found := self._body_of(hit.found, digest)):
                    return found
        return None

    def _body_in(self, row: bytes, digest: str) -> _Stored | None:
        """Reads the body of a digest from a row; None where the row has no such version."""
        found = self._rows.table.get(row, (BODY_OF, TYPE), versions=ALL_VERSIONS)
        return None if found is None else self._body_of(found, digest)

    def _body_of(self, row: Row, digest: str) -> _Stored | None:
        for column, timestamp, value, _ in row.raw_cells:
            if column == BODY_OF and (body_of := decode_body_of(value)).digest == digest:
                at = (timestamp, timestamp + 1)
                # A version has the time of a capture with its digest.
                note = CaptureNote(timestamp // 1000, digest, 0, 0, "", "", None, False)
                capture = CAPTURE + note_qualifier(note)
                version = self._rows.table.get(row.key, (BODY, capture), time_range=at)
                if version is not None and (body := version.value(BODY)) is not None:
                    media_type = _type_of(version, capture)
                    if not media_type:
                        media_type = (row.value(TYPE) or b"").decode("utf-8", "replace")
                    return _Stored(body, body_of.own, media_type)
        return None


def _type_of(row: Row, capture: bytes) -> str:
    with contextlib.suppress(CorruptData):
        if (value := row.value(capture)) is not None:
            return decode_note(capture[len(CAPTURE) :], value).type
    return ""


def with_revisited_body(
    capture: NewCapture, history: RowHistory, given: Sequence[NewCapture], complete: Complete
) -> NewCapture:
    """Returns a revisit with the body that it repeats, if only another URL has that body.

    A revisit that is stored without its body is completed too.

    Args:
        history: of the row of the page.
        given: the captures of the page that are stored together.
    """
    note = capture.note
    if (
        not note.is_revisit
        or not note.digest
        or (capture.key in history.notes and not history.lacks_body(note.digest))
        or history.bodies.last(note.digest) is not None
        or any(each.body is not None and each.note.digest == note.digest for each in given)
    ):
        return capture
    return complete(capture) or capture


def is_stored(capture: NewCapture, history: RowHistory) -> bool:
    """Whether a capture is stored already; a revisit may be stored with the size of its body."""
    note, stored = capture.note, history.notes.get(capture.key)
    if stored is None:
        return False
    if stored == note:
        # A stored revisit of a body without bytes has no size, with the body or without it.
        return not (
            note.is_revisit and capture.body is not None and history.lacks_body(note.digest)
        )
    if not note.is_revisit or note.size:
        return False
    return stored._replace(size=0, type=stored.type if note.type else "") == note
