"""The interface for code that follows every stored page: the link index. The caller sets it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from webtable.pages.page import NewCapture
from webtable.store.mutation import Write

if TYPE_CHECKING:
    from webtable.pages.asking.change_feed import Position

__all__ = ["Begun", "LinksChange", "PageHook"]


class LinksChange(NamedTuple):
    """The change of the links of a page.

    Attributes:
        links: the links of the newest capture, one line each; None: unchanged.
        earlier: the links of other captures that were not stored before.
        is_new: whether no capture of the page was stored before. Its row may have been deleted by
            hand; then its number of inlinks must be written again.
        is_removed: whether the page was removed: `earlier` has all pages that it linked to.
    """

    url: str
    links: str | None
    earlier: Sequence[str] = ()
    is_new: bool = False
    is_removed: bool = False


class Begun(Protocol):
    """Captures that will be stored on a cluster."""

    def check(self) -> None:
        """Checks that their rows may still be written.

        Raises:
            RetryableError: too much time has passed; begin again.
        """


class PageHook(Protocol):
    """Is called when captures are stored. Its work must survive a crash after any step."""

    def together(self, changes: Sequence[LinksChange]) -> Sequence[tuple[str, Write]]:
        """Returns the writes for the same commit; in an embedded store."""

    def forget(self) -> None:
        """Drops the state of `together`: that commit failed."""

    def begin(self, captures: Sequence[NewCapture]) -> Begun:
        """Records durably which captures will be stored; on a cluster."""

    def begin_removal(self, urls: Sequence[str]) -> Begun:
        """Records durably which pages will be removed; on a cluster."""

    def finish(self, begun: Begun, changes: Sequence[LinksChange]) -> None:
        """Updates derived data after the captures are stored; on a cluster.

        Not called where storing failed. `changes` has no captures that were stored before.
        """

    def purge(
        self, url: str, links: Sequence[str], passed: Position | None
    ) -> Literal["unread", "unfinished"] | None:
        """Deletes what derived data still has of a removed page.

        Called when no writer can come late any more. Returns why something stays, None: nothing.

        Args:
            links: the pages that it linked to.
            passed: the place up to which every named consumer of the feed of the links has read.
        """

    def settle(self, *, is_last: bool) -> None:
        """Does the outstanding work; called after every batch of a load, and at its end."""
