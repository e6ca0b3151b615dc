"""How a command opens its store: to read it beside a writer, or to write it."""

from __future__ import annotations

import webtable

__all__ = ["open_for_reading", "open_for_writing"]


def open_for_reading(location: str) -> webtable.Store:
    """Opens an existing store as a follower: another process may write it meanwhile."""
    return webtable.open(location, read_only=True, create=False)


def open_for_writing(location: str) -> webtable.Store:
    """Opens a store that exists, as its one writer."""
    return webtable.open(location, create=False)
