"""The usual case of storing captures, by a short way: one, newer than all that its page has.

`webtable.pages.writing` has the rules for every case; this does what they do where a capture comes
with its body, in the order of time, and nothing before it waits for that body. A property test
holds the two equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from webtable.pages import schema
from webtable.pages.cells import (
    BODY,
    BODY_OF,
    LINK_COUNT,
    LINKS,
    LINKS_OF,
    NO_LINKS,
    encode_note,
    note_qualifier,
)
from webtable.pages.held import HELD, encode_held
from webtable.pages.history import CaptureNote, RowHistory, last_modified, run_start, visible_at
from webtable.pages.hooks import LinksChange
from webtable.pages.page import NewCapture, Outcome, PageInfo, changed_in, metadata_of

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
    notes, newest = list(history.notes.values()), None
    if notes:
        notes.sort()
        newest = notes[-1]
        times = [each.time for each in notes]
        if newest.time >= note.time or len(set(times)) < len(times):
            return None
        if any(each.waits_for_body for each in notes):
            return None
    notes.append(note)
    whose = note.digest if note.is_ok else NO_LINKS
    body_at = _held_at(note, note.digest, history.bodies)
    links_at = _held_at(note, whose, history.links)
    if _is_expiring(note, body_at, ttl_seconds(schema.CONTENT)) or _is_expiring(
        note, links_at, ttl_seconds(schema.OUTLINKS)
    ):
        return None
    holds_links = links_at is not None
    links = ""
    values = {b"captures:" + note_qualifier(note): encode_note(note)}
    if body_at is None:
        values[BODY] = body
        values[BODY_OF] = note.digest.encode()
    if not holds_links:
        if whose in history.links.values():
            return None
        links = _put_links(values, info, whose)
    told = metadata_of(capture, info, last_modified(notes))
    versions = (
        note.time if body_at is None else body_at,
        note.time if links_at is None else links_at,
    )
    told[HELD] = encode_held(note, versions, run_start(notes), info.said)
    if changed := changed_in(facts, told):
        facts = {**facts, **changed}
        values.update(changed)
    change = LinksChange(capture.url, links, [])
    if newest is None:
        return Appended(values, dict(facts), "new", change)
    is_same = newest.digest == note.digest
    if holds_links and (newest.digest if newest.is_ok else NO_LINKS) != whose:
        return None
    outcome: Outcome = "unchanged" if is_same else "changed"
    return Appended(values, dict(facts), outcome, None if holds_links else change)


def _held_at(note: CaptureNote, identity: str, stored: Mapping[int, str]) -> int | None:
    """Returns from when on what a capture has is stored; None where another version is the last."""
    at = visible_at(note.time, stored)
    return None if at is None or stored[at] != identity else at


def _is_expiring(note: CaptureNote, at: int | None, ttl: int | None) -> bool:
    return at is not None and ttl is not None and note.time - at > ttl / 2


def _put_links(values: dict[bytes, bytes], info: PageInfo, whose: str) -> str:
    links, count = ("", 0) if whose == NO_LINKS else (info.links, info.link_count)
    values[LINKS] = links.encode()
    values[LINK_COUNT] = str(count).encode()
    values[LINKS_OF] = whose.encode()
    return links
