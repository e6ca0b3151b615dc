"""The loggers of the library: one for each room, all below `webtable`.

Modules that log get their logger here, so that there is a handler that drops messages: without one
Python prints warnings to stderr where a program has not configured logging. Nothing else of logging
is configured here; `docs/reference/logging.md` lists all messages.
"""

from __future__ import annotations

import logging

__all__ = ["SLOW_SECONDS", "get_logger"]

SLOW_SECONDS = 3.0
"""An operation that takes longer is logged as a slow one."""

logging.getLogger("webtable").addHandler(logging.NullHandler())


def get_logger(name: str) -> logging.Logger:
    """Returns the logger of a room, such as `webtable.store.hbase`."""
    return logging.getLogger(name)
