"""Separates the captures that a store rejects from the others, which are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webtable.errors import (
    BatchError,
    CheckFailed,
    ConflictError,
    CorruptData,
    InvalidRequest,
    TableDisabled,
    WebTableError,
)
from webtable.pages.page import NewCapture

__all__ = ["MAX_PART_BYTES", "cut", "rejections"]

MAX_PART_BYTES = 64 * 1024 * 1024
"""The size of one write. HBase accepts requests of up to 256 MB, and a row is one request."""


def rejections(error: BatchError) -> dict[int, WebTableError]:
    """Returns the errors of the rejected rows of a bulk write, by their positions.

    A row is rejected where every retry would fail too: because of the new cells or the stored ones.

    Raises:
        BatchError: a row failed for another reason, which is temporary or concerns all rows.
    """
    reasons: dict[int, WebTableError] = {}
    for position, reason in zip(error.positions, error.exceptions, strict=True):
        if not isinstance(reason, InvalidRequest | ConflictError | CorruptData):
            raise error
        if isinstance(reason, TableDisabled | CheckFailed):
            raise error
        reasons[position] = reason
    return reasons


def cut(captures: Sequence[NewCapture]) -> Iterator[Sequence[NewCapture]]:
    """Yields captures in parts that are small enough for one write; at least one part."""
    begin = size = 0
    for position, capture in enumerate(captures):
        links = 0 if capture.info is None else len(capture.info.links)
        own = len(capture.body or b"") + links
        if size + own > MAX_PART_BYTES and position > begin:
            yield captures[begin:position]
            begin, size = position, 0
        size += own
    yield captures[begin:]
