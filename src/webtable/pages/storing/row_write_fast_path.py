"""The fast path for the most common case: one capture that is newer than all others of its page.

`webtable.pages.storing.row_write` has the rules for every case. This module gives the same result
where a capture has its body, is the newest, and no earlier capture waits for that body. A property
test checks that both give the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from webtable.pages import schema
from webtable.pages.columns import BODY, BODY_OF, FACTS, LINK_COUNT, LINKS, LINKS_OF, NEWEST
from webtable.pages.hooks import LinksChange
from webtable.pages.page import NewCapture, Outcome, PageInfo, changed_in, metadata_of
from webtable.pages.storing.capture_cells import (
    NO_LINKS,
    capture_cells,
    encode_body_of,
)
from webtable.pages.storing.page_versions import CaptureNote, Versions, modified
from webtable.pages.storing.repeated_captures import encode_newest
from webtable.pages.storing.row_history import RowHistory

__all__ = ["Appended", "append"]


class Appended(NamedTuple):
    """The changes of one new capture: the cells at its time, and the change of the links."""

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
    """Returns the changes of a capture to its row; None where the general rules are needed."""
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
    body_at = _stored_since(note, note.digest, history.bodies)
    links_at = _stored_since(note, whose, history.links)
    if _is_expiring(note, body_at, ttl_seconds(schema.CONTENT)) or _is_expiring(
        note, links_at, ttl_seconds(schema.OUTLINKS)
    ):
        return None
    are_links_stored = links_at is not None
    links = ""
    values = capture_cells(note, capture.head, capture.origin)
    if body_at is None:
        values[BODY] = body
        values[BODY_OF] = encode_body_of(note.digest, capture.body_digest)
        if info.facts and history.bodies.last(note.digest) is None:
            values[FACTS + note.digest.encode()] = info.facts
    if not are_links_stored:
        if history.links.last(whose) is not None:
            return None
        links = _put_links(values, info, whose)
    metadata = metadata_of(capture, info, modified(note, since))
    versions = (
        note.time if body_at is None else body_at,
        note.time if links_at is None else links_at,
    )
    metadata[NEWEST] = encode_newest(note, versions, since, info.context)
    if changed := changed_in(facts, metadata):
        facts = {**facts, **changed}
        values.update(changed)
    change = LinksChange(capture.url, links, [], newest is None)
    if newest is None:
        return Appended(values, dict(facts), "new", change)
    is_same = newest.digest == note.digest
    if are_links_stored and (newest.digest if newest.is_ok else NO_LINKS) != whose:
        return None
    outcome: Outcome = "unchanged" if is_same else "changed"
    return Appended(values, dict(facts), outcome, None if are_links_stored else change)


def _stored_since(note: CaptureNote, identity: str, stored: Versions) -> int | None:
    """Returns the time of the stored version of a capture; None where another version is newer."""
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
