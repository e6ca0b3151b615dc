"""Purges what the link index has of a removed page: its states and its place in the feed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from webtable.index.indexed_table import Change, RowState
from webtable.links import schema
from webtable.links.link_index import LinkIndex
from webtable.pages.asking.change_feed import Position
from webtable.pages.removing.purge import is_passed, write_mark
from webtable.pages.settings import PURGED_LINKS
from webtable.pages.storing.content_revision import decode_changed
from webtable.store.mutation import Delete

__all__ = ["LinkPurge"]

_REVISION = b"page:rev"
_COLUMNS = (schema.AT, schema.CHANGED, schema.JOURNAL, _REVISION)


class LinkPurge:
    """Purges removed pages from a link index."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index

    def purge(
        self, url: str, links: Sequence[str], passed: Position | None
    ) -> Literal["unread", "unfinished"] | None:
        """Deletes what is left of a page; see `webtable.pages.hooks.PageHook.purge`."""
        index, uri = self._index, schema.uri_of(url)
        row = schema.page_row(uri)
        if index.work.get(schema.intent_row(uri)) is not None:
            return "unfinished"
        state = index.rows.read_state(row)
        found = index.table.get(row, _COLUMNS)
        values = {} if found is None else found.values()
        if schema.AT in values or values.get(schema.JOURNAL):
            return "unfinished"
        if state.cell is None:
            return None  # a rebuild has written the index since, and without the page
        changed = values.get(schema.CHANGED)
        if changed is not None:
            revision = decode_changed(changed).number
            if not is_passed(Position(revision, row), passed):
                return "unread"
            write_mark(index.store, PURGED_LINKS, revision)
        # Up to the revision of the row: links of a page that is stored again come later.
        guard = state.revision.number
        self._delete_states(uri, [schema.uri_of(link) for link in links], guard)
        index.rows.write(row, _ended)
        return None

    def _delete_states(self, uri: bytes, targets: Sequence[bytes], guard: int) -> None:
        shard = schema.shard_of(uri, self._index.shards)
        with self._index.table.batch() as batch:
            for target in targets:
                row = schema.shard_row(b"p:", target, shard)
                batch.add(Delete(row, timestamp=guard).column(schema.INLINK + uri))


def _ended(state: RowState) -> Change | None:
    """Deletes the end of the links of a removed page; see `webtable.index.indexed_table.Decide`."""
    gone = (schema.REMOVED_AT, schema.JOURNAL, schema.CHANGED)
    return None if schema.AT in state.facts else Change(delete=gone)
