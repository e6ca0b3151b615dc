"""How a command opens its store: to read it beside a writer, or to write it."""

from __future__ import annotations

import webtable

__all__ = ["open_for_reading", "open_for_writing"]


def open_for_reading(location: str) -> webtable.Store:
    """Opens an existing store as a follower: another process may write it meanwhile."""
    return webtable.open(location, read_only=True, create=False)


def open_for_writing(location: str) -> webtable.Store:
    """Opens a store that exists, as its one writer; compares its schema, as configured."""
    from webtable.operations.schema_update.start_up import update_at_start
    from webtable.store.store import closed_on_error

    with closed_on_error(webtable.open(location, create=False)) as store:
        update_at_start(store)
        return store
