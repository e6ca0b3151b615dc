"""Gives different digests to different bodies that share one, before they are stored."""

from __future__ import annotations

from webtable.pages.formats.payload_digests import body_digest
from webtable.pages.page import NewCapture
from webtable.pages.storing.capture_cells import with_claimed_digest
from webtable.pages.storing.row_history import RowHistory

__all__ = ["with_distinct_digests"]


def with_distinct_digests(captures: list[NewCapture], history: RowHistory) -> list[NewCapture]:
    """Returns the captures so that different bodies, stored or new, have different digests.

    The digest of a capture is that of the recorded payload. One payload gives two bodies where it
    is read with and without its coding. The digests of the bodies themselves distinguish them; or
    their sizes, where a body has expired or was stored without its own digest. The body that was
    stored first keeps the digest, the other gets its SHA-256.
    """
    if len(captures) == 1 and not history.notes:
        return captures
    first_bodies: dict[str, tuple[set[int], str | None]] = {}
    distinct = []
    for capture in captures:
        note, own = capture.note, capture.body_digest
        if capture.body is not None:
            if note.digest not in first_bodies:
                sizes = history.sizes(note.digest) or {note.size}
                first_bodies[note.digest] = sizes, history.own_digests.get(note.digest, own)
            sizes, first = first_bodies[note.digest]
            if note.size not in sizes or (first != own and None not in (first, own)):
                capture = capture._replace(
                    note=note._replace(digest=body_digest(capture.body)),
                    origin=with_claimed_digest(capture.origin, note.digest),
                )
        distinct.append(capture)
    return distinct
