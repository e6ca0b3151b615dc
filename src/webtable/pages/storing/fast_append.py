"""The usual case of storing captures, by a short way: one, newer than all that its page has.

`webtable.pages.storing.row_write` has the rules for every case; this does what they do where a
capture comes with its body, in the order of time, and nothing before it waits for that body. A
property test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from webtable.pages import schema
from webtable.pages.columns import BODY, BODY_OF, CAPTURE, LINK_COUNT, LINKS, LINKS_OF, NEWEST
from webtable.pages.hooks import LinksChange
from webtable.pages.page import NewCapture, Outcome, PageInfo, changed_in, metadata_of
from webtable.pages.storing.cells import NO_LINKS, encode_body_of, encode_note, note_qualifier
from webtable.pages.storing.history import CaptureNote, Versions, modified
from webtable.pages.storing.newest_cell import encode_held
from webtable.pages.storing.row_history import RowHistory

__all__ = ["Appended", "append"]


class Appended(NamedTuple):
    """What one capture more does to a row: the cells at its time, and what became of the links."""

    values: dict[bytes, bytes]
    facts: dict[bytes, bytes]
    outcome: Outcome
    links: LinksChange | None


def append(
    capture: NewCapture,
    history: RowHistory,
    facts: Mapping[bytes, bytes],
    ttl_seconds: Callable[[str], int | None],
) -> Appended | None:
    """Returns what a capture does to its row; None where the rules must be asked."""
    note, body, info = capture.note, capture.body, capture.info
    if note.is_revisit or body is None or info is None:
        return None
    newest, since = history.newest, note.time
    if newest is not None:
        if newest.time >= note.time or history.waits:
            return None
        if newest.digest == note.digest:
            since = history.since
    whose = note.digest if note.is_ok else NO_LINKS
    body_at = _held_at(note, note.digest, history.bodies)
    links_at = _held_at(note, whose, history.links)
    if _is_expiring(note, body_at, ttl_seconds(schema.CONTENT)) or _is_expiring(
        note, links_at, ttl_seconds(schema.OUTLINKS)
    ):
        return None
    holds_links = links_at is not None
    links = ""
    values = {CAPTURE + note_qualifier(note): encode_note(note)}
    if body_at is None:
        values[BODY] = body
        values[BODY_OF] = encode_body_of(note.digest, capture.body_digest)
    if not holds_links:
        if history.links.last(whose) is not None:
            return None
        links = _put_links(values, info, whose)
    told = metadata_of(capture, info, modified(note, since))
    versions = (
        note.time if body_at is None else body_at,
        note.time if links_at is None else links_at,
    )
    told[NEWEST] = encode_held(note, versions, since, info.said)
    if changed := changed_in(facts, told):
        facts = {**facts, **changed}
        values.update(changed)
    change = LinksChange(capture.url, links, [], newest is None)
    if newest is None:
        return Appended(values, dict(facts), "new", change)
    is_same = newest.digest == note.digest
    if holds_links and (newest.digest if newest.is_ok else NO_LINKS) != whose:
        return None
    outcome: Outcome = "unchanged" if is_same else "changed"
    return Appended(values, dict(facts), outcome, None if holds_links else change)


def _held_at(note: CaptureNote, identity: str, stored: Versions) -> int | None:
    """Returns from when on what a capture has is stored; None where another version is the last."""
    at = stored.visible(note.time)
    return None if at is None or stored.by_time[at] != identity else at


def _is_expiring(note: CaptureNote, at: int | None, ttl: int | None) -> bool:
    return at is not None and ttl is not None and note.time - at > ttl / 2


def _put_links(values: dict[bytes, bytes], info: PageInfo, whose: str) -> str:
    links, count = ("", 0) if whose == NO_LINKS else (info.links, info.link_count)
    values[LINKS] = links.encode()
    values[LINK_COUNT] = str(count).encode()
    values[LINKS_OF] = whose.encode()
    return links
