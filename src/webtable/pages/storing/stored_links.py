"""The links of a capture as its row stores them: which version is its own, and the newest ones."""

from __future__ import annotations

from collections.abc import Mapping

from webtable.pages.columns import DIGEST, LINKS, LINKS_OF, STATUS
from webtable.pages.storing.capture_cells import NO_LINKS
from webtable.pages.storing.page_versions import CaptureNote, Versions

__all__ = ["links_identity", "newest_links", "visible_links"]


def visible_links(note: CaptureNote, stored: Versions, put: Mapping[int, str]) -> str | None:
    """Returns the identity of the links of a capture; None where they are not stored."""
    visible = stored.visible_with(note.time, put)
    identity = links_identity(note)
    return identity if visible is not None and visible.identity == identity else None


def newest_links(values: Mapping[bytes, bytes]) -> str:
    """Returns the links of the newest capture from a row's newest values; empty where it has none.

    Empty also where they are unknown: for a revisit of a capture that was never loaded.
    """
    is_ok = 200 <= int(values.get(STATUS) or 0) <= 299
    if not is_ok or values.get(LINKS_OF) != values.get(DIGEST):
        return ""
    return values.get(LINKS, b"").decode()


def links_identity(note: CaptureNote) -> str:
    """Returns the identity of a capture's links: captures with the same one share a version."""
    return note.digest if note.is_ok else NO_LINKS
