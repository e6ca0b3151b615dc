"""`WebTable.changes`: the feeds of pages and of links, by cursors and by named consumers."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal, overload

from webtable.errors import InvalidRequest, NotFound
from webtable.links.link_index import LinkIndex
from webtable.operations.operational_state import open_state
from webtable.pages.page_table import PageTable

if TYPE_CHECKING:
    from webtable.links.asking.link_feed import LinkChange, LinkFeed
    from webtable.operations.feed_consumers import Consumer, FeedConsumer
    from webtable.pages.asking.change_feed import ChangeFeed, FeedSource
    from webtable.pages.asking.page_feed import PageChange, PageFeed

__all__ = ["Changes"]


class Changes:
    """The pages that changed, each at its newest change: `web.changes()`; and named consumers."""

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages

    @overload
    def __call__(
        self, since: str | None = None, *, consumer: None = None, links: Literal[False] = False
    ) -> ChangeFeed[PageChange]: ...
    @overload
    def __call__(
        self, since: str | None = None, *, consumer: None = None, links: Literal[True]
    ) -> ChangeFeed[LinkChange]: ...
    @overload
    def __call__(
        self, since: None = None, *, consumer: str, links: Literal[False] = False
    ) -> FeedConsumer[PageChange]: ...
    @overload
    def __call__(
        self, since: None = None, *, consumer: str, links: Literal[True]
    ) -> FeedConsumer[LinkChange]: ...
    def __call__(
        self, since: str | None = None, *, consumer: str | None = None, links: bool = False
    ) -> (
        ChangeFeed[PageChange]
        | ChangeFeed[LinkChange]
        | FeedConsumer[PageChange]
        | FeedConsumer[LinkChange]
    ):
        """Returns the pages that changed after a cursor, each at its newest change, in order.

        `read` and iteration return them, and `cursor` is where to continue later, in another
        process too. On a cluster the changes of the last eleven minutes may come again.

        With `consumer` the store keeps the cursor: the result has `commit`, which stores that all
        changes returned so far are handled, and which the end of a `with` block calls. That works
        also with `read_only=True` on an embedded store.

        Args:
            since: the cursor of an earlier feed; None: from the beginning, which is every page.
            consumer: a name; the changes after those that this consumer has committed.
            links: the pages whose links changed, or their anchors, instead.

        Raises:
            InvalidRequest: it is not a cursor, or there are both a cursor and a consumer.
            ConflictError: it is a cursor of another store or feed, the consumer reads another feed,
                or removals after the cursor are no longer listed.
        """
        from webtable.operations.feed_consumers import FeedConsumer
        from webtable.pages.asking.change_feed import ChangeFeed

        if since is not None and consumer is not None:
            raise InvalidRequest(
                "both a cursor and a consumer", hint="the consumer has a cursor of its own"
            )
        if consumer is not None:
            state = open_state(self._pages.store)
            if links:
                return FeedConsumer(consumer, self._link_feed(), state)
            return FeedConsumer(consumer, self._page_feed(), state)
        if links:
            return ChangeFeed(self._link_feed(), since)
        return ChangeFeed(self._page_feed(), since)

    def consumers(self) -> list[Consumer]:
        """Returns the named consumers and how far behind they are, by name."""
        from webtable.operations.feed_consumers import list_consumers

        self._pages.store.refresh()
        sources: dict[str, FeedSource[Any]] = {"pages": self._page_feed()}
        with contextlib.suppress(NotFound):
            sources["links"] = self._link_feed()
        return list_consumers(open_state(self._pages.store), sources)

    def forget(self, consumer: str) -> None:
        """Deletes a consumer; the next one of that name begins from the beginning.

        Raises:
            NotFound: there is no consumer of that name.
        """
        from webtable.operations.feed_consumers import forget_consumer

        forget_consumer(open_state(self._pages.store), consumer)

    def _page_feed(self) -> PageFeed:
        from webtable.pages.asking.page_feed import PageFeed

        return PageFeed(self._pages)

    def _link_feed(self) -> LinkFeed:
        from webtable.links.asking.link_feed import LinkFeed

        return LinkFeed(LinkIndex.open(self._pages))
