"""Bulks of mutations one after the other: while the servers work on one, the next is made."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from webtable.errors import WebTableError
from webtable.store.engine import Writer, joined
from webtable.store.hbase.cluster.cluster import Cluster
from webtable.store.hbase.ops.multi import Multi
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
        self._under_way: tuple[Multi, int, float] | None = None
        self._failure: WebTableError | None = None  # not raised yet

    def send(self, mutations: Sequence[Mutation], first: int) -> None:
        """Begins a bulk and waits for the one before it; see `Writer.send`."""
        multi = Multi(self._cluster, self._table, mutations, self._durability)
        if self._under_way is not None and not multi.rows.isdisjoint(self._under_way[0].rows):
            self._wait()
            multi.renew()
        try:
            multi.begin()
        except WebTableError:
            raise  # of every entry; `finish` raises the errors of what was sent before
        except BaseException:
            self._failure = joined(self._failure, multi.interrupted(first))
            raise
        before, self._under_way = self._under_way, (multi, first, monotonic())
        self._wait_for(before)
        self._raise_failure()

    def finish(self) -> None:
        """Waits for everything that was sent; see `Writer.finish`."""
        self._wait()
        self._raise_failure()

    def _wait(self) -> None:
        last, self._under_way = self._under_way, None
        self._wait_for(last)

    def _wait_for(self, sent: tuple[Multi, int, float] | None) -> None:
        if sent is None:
            return
        multi, first, begun_at = sent
        try:
            self._cluster.connections.check_open()
            multi.wait_longer(monotonic() - begun_at)  # the caller took it, not the servers
            multi.finish()
            multi.made(first)
        except WebTableError as error:
            self._failure = joined(self._failure, error)
        except BaseException:
            self._failure = joined(self._failure, multi.interrupted(first))
            raise

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
