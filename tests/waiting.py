"""Waiting for a condition, with a limit, in place of a sleep of a fixed length."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["wait_for"]


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Returns as soon as a condition holds; fails if it does not hold within the time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"the condition did not hold within {seconds:g} s"
        time.sleep(0.01)
