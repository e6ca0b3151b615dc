"""A clock that a test moves by hand."""

from __future__ import annotations

__all__ = ["START_MS", "HandClock"]

START_MS = 1_800_000_000_000


class HandClock:
    """A time of day and a monotonic clock, which both stand still until the test moves them."""

    def __init__(self) -> None:
        self._now_ms = START_MS
        self._elapsed_ms = 0

    def now_ms(self) -> int:
        return self._now_ms

    def elapsed_ms(self) -> int:
        return self._elapsed_ms

    def pass_ms(self, milliseconds: int) -> None:
        self._now_ms += milliseconds
        self._elapsed_ms += milliseconds

    def set_day(self, now_ms: int) -> None:
        self._now_ms = now_ms
