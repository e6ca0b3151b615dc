"""Groups the items of an iterator in lists, so that each list is read with one request."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["batches", "growing_batches"]

T = TypeVar("T")

_MOST_AT_ONCE = 128


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields items in lists of a size, up to a limit; the last list may be shorter."""
    rest = iter(items)
    while batch := list(itertools.islice(rest, min(size, _MOST_AT_ONCE))):
        yield batch


def growing_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields items in lists that grow from a size, for a caller that may need all of them."""
    rest = iter(items)
    while batch := list(itertools.islice(rest, size)):
        yield batch
        size = max(size, min(2 * size, _MOST_AT_ONCE))
