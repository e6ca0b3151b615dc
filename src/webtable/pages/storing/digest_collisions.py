"""Bodies that have one digest, told apart before they are stored."""

from __future__ import annotations

from webtable.pages.formats.payload_digests import body_digest
from webtable.pages.page import NewCapture
from webtable.pages.storing.row_history import RowHistory

__all__ = ["told_apart"]


def told_apart(captures: list[NewCapture], history: RowHistory) -> list[NewCapture]:
    """Returns captures of which no two bodies have one digest, nor a body and a stored one.

    The digest is that of the payload as it was recorded: read with its coding and without it, one
    payload is two bodies. The digests of the bodies themselves tell them apart, or their sizes
    where a body is not stored any more, or was stored without one. What was stored first keeps the
    digest, the other gets a SHA-256 of its own.
    """
    if len(captures) == 1 and not history.notes:
        return captures
    known: dict[str, tuple[set[int], str | None]] = {}
    apart = []
    for capture in captures:
        note, own = capture.note, capture.body_digest
        if capture.body is not None:
            if note.digest not in known:
                sizes = history.sizes(note.digest) or {note.size}
                known[note.digest] = sizes, history.own_digests.get(note.digest, own)
            sizes, first = known[note.digest]
            if note.size not in sizes or (first != own and None not in (first, own)):
                capture = capture._replace(note=note._replace(digest=body_digest(capture.body)))
        apart.append(capture)
    return apart
