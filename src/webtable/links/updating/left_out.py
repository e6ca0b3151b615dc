"""Which targets of links are left out of the link index: those whose URLs are blocked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from webtable.links.schema import url_of

if TYPE_CHECKING:
    from webtable.pages.removing.block_list import BlockList

__all__ = ["left_out_of"]


def left_out_of(blocked: BlockList) -> Callable[[bytes], bool] | None:
    """Returns the function that decides whether a target is left out; None: none is."""
    if blocked.is_empty:
        return None
    return lambda uri: blocked.blocks(url_of(uri))
