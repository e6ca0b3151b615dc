"""`LinkHook`: updates the link index when pages are stored. See `webtable.pages.hooks`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from webtable.links import schema
from webtable.links.cell_encoding import live_values
from webtable.links.link_index import LinkIndex
from webtable.links.updating.cluster import Intents, Updater
from webtable.links.updating.cluster_counts import Drained, Exporter
from webtable.links.updating.embedded import Committer
from webtable.links.updating.purge_removed_page import LinkPurge
from webtable.pages.asking.change_feed import Position
from webtable.pages.hooks import Begun, LinksChange
from webtable.pages.page import NewCapture
from webtable.store.mutation import Write

__all__ = ["LinkHook"]

_BATCHES = 25  # between two runs of the exporter on a cluster


class LinkHook:
    """Updates the link index of a store while its pages are written.

    pages.hook = LinkHook(LinkIndex.open(pages))
    """

    def __init__(self, index: LinkIndex) -> None:
        is_embedded = index.store.capabilities.atomic_commits
        self._committer = Committer(index) if is_embedded else None
        self._updater = Updater(index)
        self._exporter = Exporter(index)
        self._purge = LinkPurge(index)
        self._batches = 0

    def together(self, changes: Sequence[LinksChange]) -> Sequence[tuple[str, Write]]:
        """Returns the writes for the same commit; in an embedded store."""
        assert self._committer is not None
        return self._committer.together(changes)

    def forget(self) -> None:
        """Clears the cached counts after a commit that failed."""
        assert self._committer is not None
        self._committer.forget()

    def begin(self, captures: Sequence[NewCapture]) -> Intents:
        """Stores which captures are about to be written; on a cluster."""
        return self._updater.begin(captures)

    def begin_removal(self, urls: Sequence[str]) -> Intents:
        """Stores which pages are about to be removed; on a cluster.

        Raises:
            ConflictError: the link index is being rebuilt, or a rebuild was interrupted.
        """
        return self._updater.begin_pages(urls)

    def finish(self, begun: Begun, changes: Sequence[LinksChange]) -> None:
        """Updates the index after the captures are stored; on a cluster."""
        assert isinstance(begun, Intents)
        own: dict[bytes, set[bytes]] = {}
        for change in changes:
            uri = schema.uri_of(change.url)
            targets = own[uri] = {uri} if change.is_new else set()
            for text in (change.links or "", *change.earlier):
                targets.update(live_values(text))
        self._updater.finish(begun, own)

    def purge(
        self, url: str, links: Sequence[str], passed: Position | None
    ) -> Literal["unread", "unfinished"] | None:
        """Deletes what the index still has of a removed page: its states, its place in the feed."""
        return self._purge.purge(url, links, passed)

    def settle(self, *, is_last: bool) -> None:
        """Exports counts after a number of batches, and after the last one."""
        if self._committer is not None:
            self._committer.settle(is_last=is_last)
            return
        self._batches += 1
        if is_last or self._batches % _BATCHES == 0:
            self._exporter.drain()

    def drain(self) -> Drained:
        """Finishes all work in progress, except that of running workers."""
        if self._committer is not None:
            return self._committer.drain()
        return self._exporter.drain()
