"""Decides what a page's newest links change: in its row of the link index, and at its targets.

A pure function, called for each page by both ways of storing: `embedded.Committer` writes a batch
of pages in one commit, `page_row_update.PageRowDecision` writes one row of a cluster at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from webtable.links import schema, write_protocol_rules
from webtable.links.cell_encoding import decode_cur, decode_uris, encode_cur, live_values
from webtable.pages.storing.content_revision import (
    ChangeKind,
    ContentRevision,
    encode_changed,
)

__all__ = ["LinkChanges", "Newest", "link_changes", "links_changed", "moved_targets"]


class Newest(NamedTuple):
    """The links of the newest capture of a page, and the revision of its row that has them."""

    revision: int
    links: str
    is_removed: bool = False
    """Whether the page was removed; then it has no links."""


class LinkChanges(NamedTuple):
    """What the newest links of a page change.

    Attributes:
        before: target → the state of the link there, from the stored row of the page.
        after: the same after the change. A target that is missing has no link from this page.
        put: the columns to put into the row of the page; without its journal.
        delete: the columns to delete there.
        changed: the targets whose states change, and the page itself where the index sees it for
            the first time. The caller may change the set.
        others: the targets of other captures that `after` does not have; their state is that this
            page linked to them once.
        unfinished: the targets that an earlier journal of the row names.
    """

    before: Mapping[bytes, bytes]
    after: Mapping[bytes, bytes]
    put: dict[bytes, bytes]
    delete: Sequence[bytes]
    changed: set[bytes]
    others: list[bytes]
    unfinished: Collection[bytes]

    def targets(self) -> set[bytes]:
        """Returns every page whose state must be written; may be `changed` itself, extended."""
        self.changed.update(self.others)
        if self.unfinished:
            return write_protocol_rules.merged(self.unfinished, self.changed)
        return self.changed


def link_changes(
    uri: bytes,
    stored: Mapping[bytes, bytes],
    newest: Newest | None,
    own: Iterable[bytes] = (),
    *,
    is_left_out: Callable[[bytes], bool] | None = None,
) -> LinkChanges:
    """Decides what the newest links of a page change.

    Args:
        uri: the page.
        stored: `page:cur`, `page:at` and `page:journal` of its row of the index.
        newest: its links, read from its own row; None if they are unchanged. Links of a
            revision that is not newer than the stored one change nothing.
        own: the targets of captures that were not stored before, newest or not; the page itself
            if no capture of it was stored.
        is_left_out: whether a target is left out, such as a blocked URL; None: none is.

    Raises:
        CorruptData: a stored cell does not decode.
    """
    at = stored.get(schema.AT)
    stored_links = decode_cur(stored.get(schema.CUR))
    before = after = _live(stored_links, is_left_out)
    put: dict[bytes, bytes] = {}
    delete: Sequence[bytes] = ()
    changed: set[bytes] = set()
    if newest is not None and write_protocol_rules.is_newer(newest.revision, _guard(stored)):
        after = _live(newest.links, is_left_out)
        changed = moved_targets(before, after)
    else:
        newest = None
    if newest is not None and newest.is_removed:
        # The revision stays as a guard: a worker that read earlier links may come later.
        put[schema.REMOVED_AT] = b"%d" % newest.revision
        delete = (schema.AT, schema.CUR)
        changed.add(uri)
    elif newest is not None:
        put[schema.AT] = b"%d" % newest.revision
        if at is None:
            changed.add(uri)
        if changed or newest.links != stored_links:  # the order of the links may have changed
            put[schema.CUR] = encode_cur(newest.links)
    others = [target for target in own if target not in after]
    if is_left_out is not None:
        others = [target for target in others if not is_left_out(target)]
    unfinished = decode_uris(stored.get(schema.JOURNAL))
    return LinkChanges(before, after, put, delete, changed, others, unfinished)


def _guard(stored: Mapping[bytes, bytes]) -> int:
    """Returns the revision of the page's own row that the stored links, or their end, are from."""
    return max(int(stored.get(schema.AT) or 0), int(stored.get(schema.REMOVED_AT) or 0))


def _live(text: str, is_left_out: Callable[[bytes], bool] | None) -> dict[bytes, bytes]:
    found = live_values(text)
    if is_left_out is None:
        return found
    return {target: value for target, value in found.items() if not is_left_out(target)}


def links_changed(
    stored: Mapping[bytes, bytes], *, is_removed: bool = False
) -> Callable[[int], dict[bytes, bytes]]:
    """Returns the function of the new revision to `page:changed`, for a write of `page:cur`.

    Args:
        stored: `page:changed` of the row before the write, if it has one.
        is_removed: whether the page was removed, with its links.
    """
    before = stored.get(schema.CHANGED)
    is_new = before is None or before.endswith(b"removed")
    kind: ChangeKind = "removed" if is_removed else "new" if is_new else "changed"
    return lambda number: {schema.CHANGED: encode_changed(ContentRevision(number, kind))}


def moved_targets(old: Mapping[bytes, bytes], new: Mapping[bytes, bytes]) -> set[bytes]:
    """Returns the targets whose links were added, removed, or changed their rel or anchor."""
    return {t for t in {*old, *new} if old.get(t) != new.get(t)} if old else set(new)
