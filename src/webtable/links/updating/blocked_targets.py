"""Leaves blocked URLs out of the link index: pages may link to them, but no state says so.

Every way of deriving states asks `left_out_of`: live updating, rebuild and verify. When a URL is
blocked, `BlockedTargets` removes the states that are there already. On a cluster a worker that read
the block list before may write such a state afterwards. So it reads the list once more after it
wrote, and removes the state itself; see `webtable.links.updating.cluster`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

from webtable.links import schema
from webtable.links.cell_encoding import GONE
from webtable.links.link_index import LinkIndex
from webtable.links.updating.cluster import Updater
from webtable.links.updating.cluster_counts import Exporter
from webtable.links.updating.embedded_counts import forget_counts
from webtable.links.updating.left_out import left_out_of
from webtable.links.updating.shard_writer import PAGE_CELLS, ShardWriter, State
from webtable.store.filtering.filters import ColumnPaginationFilter, ColumnRangeFilter, FilterList

__all__ = ["BlockedTargets", "left_out_of"]

_PIECE = 2_000


class BlockedTargets:
    """Removes the links to URLs that were blocked."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        rows = index.rows
        # In an embedded store the counts are those of this process, so its lock is held.
        self._is_embedded = index.store.capabilities.atomic_commits
        self._updater = Updater(index)
        self._shards = ShardWriter(index.table, PAGE_CELLS, rows.clock, rows.new_token)

    def unlink(self, uris: Iterable[bytes]) -> int:
        """Removes the states of all links to these URIs, and counts again; returns how many."""
        return sum(map(self._unlink, uris))

    def _unlink(self, uri: bytes) -> int:
        removed = 0
        # Under an intent, so that no rebuild begins meanwhile.
        begun = None if self._is_embedded else self._updater.begin_pages([schema.url_of(uri)])
        with self._index.rows.lock if self._is_embedded else contextlib.nullcontext():
            for shard in range(self._index.shards):
                row = schema.shard_row(b"p:", uri, shard)
                for states in self._live(row):
                    if begun is not None:
                        begun.check()
                    self._shards.write({row: states})
                    removed += len(states)
            forget_counts(self._index.store)
            Exporter(self._index).export([uri])
        if begun is not None:
            self._updater.end(begun)
        return removed

    def linked(self, matches: Callable[[str], bool], prefix: bytes) -> Iterator[bytes]:
        """Yields the URIs of the index whose URLs match, and that have states of links.

        Args:
            prefix: what all of these URIs begin with.
        """
        last = b""
        for row in self._index.table.scan(prefix=b"p:" + prefix, columns=(schema.COUNT,)):
            uri = row.key[2:].partition(b"\0")[0]
            if row.key[-2:-1] == b"\0" and uri != last and matches(schema.url_of(uri)):
                last = uri
                yield uri

    def _live(self, row: bytes) -> Iterator[list[State]]:
        last = b""
        while True:
            rest = ColumnRangeFilter(last or None, False, None, True)
            piece = FilterList((rest, ColumnPaginationFilter(_PIECE, 0)))
            found = self._index.table.get(row, (schema.INLINKS.encode(),), filter=piece)
            cells = () if found is None else found.raw_cells
            states = [
                State(column[len(schema.INLINK) :], GONE, timestamp, is_forced=True)
                for column, timestamp, value, _ in cells
                if value != GONE
            ]
            if states:
                yield states
            if len(cells) < _PIECE:
                return
            last = cells[-1][0][len(schema.INLINK) :]
