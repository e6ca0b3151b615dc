"""Rows of many partitions merged into the order of their keys, with bounded memory.

Every partition is a stream of rows in order. Some rows of each are buffered; all that come before
the nearest end of a buffer can be returned, sorted. Sorting pieces that are in order already
costs one or two comparisons a row, far less than a heap that is used row by row.

No thread is needed. On a cluster all streams send requests at once, and servers respond while
others are read.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from webtable.store.cells_and_rows import Row

__all__ = ["Stream", "collate", "in_turn"]

FIRST_ROWS = 16
"""How many rows are read of each stream at first; then twice as many each time."""

MOST_ROWS = 32
"""How many rows are read of a stream at a time, at most: few stay in the processor's cache."""

MOST_AHEAD = 16_384
"""How many rows of all streams together are buffered, about."""

MOST_BYTES = 512 * 1024
"""How many bytes of a stream are read at a time, about: judged by the last row."""


class Stream:
    """The rows of one partition, in order, a piece at a time.

    Args:
        rows: the rows of a scan under way.
        resume: makes a scan of so many rows after a row key; given instead of `rows` where there
            are too many partitions to keep a scan open in each.
    """

    __slots__ = ("_last", "_resume", "_rows", "is_over", "kept")

    def __init__(
        self,
        rows: Iterator[Row] | None = None,
        resume: Callable[[bytes | None, int], Iterator[Row]] | None = None,
    ) -> None:
        self._rows = rows
        self._resume = resume
        self._last: bytes | None = None
        self.is_over = False
        self.kept: list[Row] = []

    def read(self, most: int) -> None:
        """Keeps up to so many rows more."""
        if self._rows is not None:
            more = list(itertools.islice(self._rows, most))
        else:
            assert self._resume is not None
            more = list(self._resume(self._last, most))
        if more:
            self._last = more[-1].key
        self.kept += more
        self.is_over = len(more) < most

    def close(self) -> None:
        """Ends the scan."""
        self.is_over = True
        close = getattr(self._rows, "close", None)
        if close is not None:
            close()


def collate(streams: Sequence[Stream], skip: int, *, reverse: bool) -> Iterator[list[Row]]:
    """Yields the rows of all streams in the order of their keys without the first `skip` bytes.

    They come in lists. Closes the streams at the end, also when it is closed itself.
    """

    def bare(row: Row) -> bytes:
        return row.key[skip:]

    size, most = _piece_sizes(streams)
    try:
        live = list(streams)
        while live:
            for stream in live:
                # Not only when its buffer is empty: then each round would return the rest of one
                # stream.
                if not stream.is_over and len(stream.kept) <= size // 2:
                    stream.read(size)
            live = [stream for stream in live if stream.kept]
            ends = [bare(stream.kept[-1]) for stream in live if not stream.is_over]
            ready: list[Row] = []
            for stream in live:
                kept = stream.kept
                if ends:
                    at = _cut(kept, (max if reverse else min)(ends), bare, reverse)
                    ready += kept[:at]
                    del kept[:at]
                else:
                    ready += kept
                    kept.clear()
            if ready:
                size = min(size * 2, most, _fitting(ready[-1]))
                ready.sort(key=bare, reverse=reverse)
                yield ready
            live = [stream for stream in live if stream.kept or not stream.is_over]
    finally:
        for stream in streams:
            stream.close()


def in_turn(streams: Sequence[Stream]) -> Iterator[list[Row]]:
    """Yields the rows of all streams, a piece of each in turn. Closes them at the end."""
    size, most = _piece_sizes(streams)
    try:
        live = list(streams)
        while live:
            for stream in live:
                stream.read(size)
                rows, stream.kept = stream.kept, []
                if rows:
                    size = min(size * 2, most, _fitting(rows[-1]))
                    yield rows
            live = [stream for stream in live if not stream.is_over]
    finally:
        for stream in streams:
            stream.close()


def _cut(kept: list[Row], end: bytes, bare: Callable[[Row], bytes], reverse: bool) -> int:
    """Returns how many of the rows do not come after a key."""
    if reverse:
        return len(kept) - bisect_left(kept[::-1], end, key=bare)
    return bisect_right(kept, end, key=bare)


def _piece_sizes(streams: Sequence[Stream]) -> tuple[int, int]:
    """Returns how many rows of a stream to read at first, and at most."""
    most = min(MOST_ROWS, max(1, MOST_AHEAD // len(streams)))
    return min(FIRST_ROWS, most), most


def _fitting(row: Row) -> int:
    """Returns how many rows like this one may be read at a time."""
    size = sum(len(cell[2]) for cell in row.raw_cells)
    return max(1, MOST_BYTES // (size + 64))
