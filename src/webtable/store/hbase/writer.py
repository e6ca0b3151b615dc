"""Bulks of mutations one after the other: while the servers work on one, the next is made."""

from __future__ import annotations

from collections.abc import Sequence

from webtable.errors import WebTableError
from webtable.store.engine import Writer
from webtable.store.hbase.batch import Multi
from webtable.store.hbase.cluster import Cluster
from webtable.store.mutation import Durability, Mutation

__all__ = ["BulkWriter"]


class BulkWriter(Writer):
    """Sends bulks of mutations, and waits for each when the next one is on its way.

    Two are under way at most, and never with a row in common: what is tried again of the first
    would come after the second.
    """

    def __init__(self, cluster: Cluster, table: str, durability: Durability) -> None:
        self._cluster = cluster
        self._table = table
        self._durability = durability
        self._under_way: tuple[Multi, int] | None = None

    def send(self, mutations: Sequence[Mutation], first: int) -> None:
        """Begins a bulk and waits for the one before it; see `Writer.send`."""
        multi = Multi(self._cluster, self._table, mutations, self._durability)
        error: WebTableError | None = None
        if self._under_way is not None and not multi.rows.isdisjoint(self._under_way[0].rows):
            try:
                self.finish()
            except WebTableError as exc:
                error = exc  # of another bulk: this one is to be made all the same
        try:
            multi.begin()
        except WebTableError as exc:
            if error is not None:
                exc.add_note(f"Also, of what was sent before: {error}")
            raise
        before, self._under_way = self._under_way, (multi, first)
        if before is not None:
            _finish(*before)
        if error is not None:
            raise error

    def finish(self) -> None:
        """Waits for everything that was sent; see `Writer.finish`."""
        last, self._under_way = self._under_way, None
        if last is not None:
            _finish(*last)


def _finish(multi: Multi, first: int) -> None:
    multi.renew()  # how long the caller was away is not the servers' fault
    multi.finish()
    multi.made(first)
