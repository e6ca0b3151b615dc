"""Captures that a store does not take, so that one of them does not stop the others."""

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

__all__ = ["MAX_PART_BYTES", "cut", "refusals"]

MAX_PART_BYTES = 64 * 1024 * 1024
"""How much is written at a time. HBase takes requests of up to 256 MB, and a row is one request."""


def refusals(error: BatchError) -> dict[int, WebTableError]:
    """Returns the reasons of a bulk write in which some rows were refused, by their positions.

    A row is refused where it would be again: for what was to be written, or what it holds.

    Raises:
        BatchError: something else failed, too; it may work later, or has to do with all rows.
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
    """Yields captures in parts that are small enough to be written at a time; at least one part."""
    begin = size = 0
    for position, capture in enumerate(captures):
        links = 0 if capture.info is None else len(capture.info.links)
        own = len(capture.body or b"") + links
        if size + own > MAX_PART_BYTES and position > begin:
            yield captures[begin:position]
            begin, size = position, 0
        size += own
    yield captures[begin:]
