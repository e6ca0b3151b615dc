"""How jobs reach a store: a cluster stays connected, an embedded store is open only during a run.

Between runs a process holds nothing of an embedded store, so that a loader can open it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from webtable.operations.jobs.job import EngineKind
from webtable.operations.operational_state import OperationalState, open_state
from webtable.store.store import Store, open_store

__all__ = ["StoreAccess"]


class StoreAccess:
    """The store of a scheduler and its operational state. Threads may share it.

    Raises:
        StoreNotFound: there is no store at the location.
    """

    def __init__(self, location: str) -> None:
        is_cluster = "://" in location
        self.engine: EngineKind = "cluster" if is_cluster else "embedded"
        store = open_store(location, read_only=not is_cluster, create=False)
        self.location = store.location
        self.state: OperationalState = open_state(store)
        self._shared = store if is_cluster else None
        if not is_cluster:
            store.close()

    @contextlib.contextmanager
    def opened(self, *, writes: bool) -> Iterator[Store]:
        """Opens the store for one run, and closes it.

        Raises:
            StoreLocked: another process writes the embedded store.
        """
        if self._shared is not None:
            yield self._shared
            return
        # As its path, however it is written: a directory may have the name of a cluster.
        location = f"rocks:{self.location}"
        with open_store(location, read_only=not writes, create=False) as store:
            yield store

    def close(self) -> None:
        """Closes what is open; closing again does nothing."""
        if self._shared is not None:
            self._shared.close()
