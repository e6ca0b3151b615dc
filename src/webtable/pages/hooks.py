"""What wants to know of every page that is stored: the link index does. Given from above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from webtable.pages.page import NewCapture
from webtable.store.mutation import Write

__all__ = ["Begun", "LinksChange", "PageHook"]


class LinksChange(NamedTuple):
    """What became of the links of a page.

    Attributes:
        links: those of the newest capture now, a line a link; None: as they were.
        earlier: the links of other captures that were not stored before.
        is_new: whether no capture of the page was stored before. Its row may have been deleted by
            hand, and then has to learn again how many links lead to it.
    """

    url: str
    links: str | None
    earlier: Sequence[str] = ()
    is_new: bool = False


class Begun(Protocol):
    """Captures that are about to be stored on a cluster."""

    def check(self) -> None:
        """Makes sure that their rows may still be written.

        Raises:
            RetryableError: it took too long; begin again.
        """


class PageHook(Protocol):
    """Is told of captures as they are stored. What it does must survive that any step is last."""

    def together(self, changes: Sequence[LinksChange]) -> Sequence[tuple[str, Write]]:
        """Returns what goes into the same commit; in an embedded store."""

    def forget(self) -> None:
        """That commit was not made."""

    def begin(self, captures: Sequence[NewCapture]) -> Begun:
        """Notes, for good, which captures are about to be stored; on a cluster."""

    def finish(self, begun: Begun, changes: Sequence[LinksChange]) -> None:
        """Does what follows once they are stored; on a cluster.

        Not called where storing failed; and `changes` has nothing of what others had stored before.
        """

    def settle(self, *, is_last: bool) -> None:
        """Does what has piled up; called after every batch of a load, and at its end."""
