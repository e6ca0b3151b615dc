"""Marks of what several rows share in an index, in the simulator: none is ever missing."""

from __future__ import annotations

from tests.simulation.index_world import (
    INDEXES,
    Broken,
    IndexWorld,
    MakeTable,
    SlowWorld,
    by_value,
)
from webtable.index.indexed_table import Index, IndexedTable
from webtable.store.scan import Scan

__all__ = ["GroupsWorld", "SlowGroupsWorld"]

BY_VALUE = "t_by_value"
GROUPED = {**INDEXES, BY_VALUE: Index(BY_VALUE, by_value, grouped=True)}


class GroupsWorld(IndexWorld):
    """A schedule in which several rows come to have the same letters, and lose them again."""

    kinds = (GROUPED,)

    def __init__(self, seed: int, *, make: MakeTable = IndexedTable) -> None:
        super().__init__(seed, make=make, names=(BY_VALUE,))
        self._crowd()

    def _crowd(self) -> None:
        self.rows = [b"r%d" % n for n in range(self.chance.choice((2, 2, 3)))]
        self.letters = b"ab"[: self.chance.choice((1, 2))]

    def read(self, table: IndexedTable, name: str) -> None:
        """A reader: as of any index, and of what is shared, by its marks alone."""
        super().read(table, name)
        before = {row: self.state(row).cell for row in self.rows}
        shown: dict[bytes, set[bytes]] = {}
        for group in table.marked(name):
            hits = table.hits(name, Scan(prefix=group))
            shown[group] = {hit.row for hit in table.check_hits(name, hits)}
        still = [row for row in self.rows if self.state(row).cell == before[row]]
        for letter in self.letters:
            group = b"%c/" % letter
            having = {row for row in still if letter in self.facts(row).get(b"a:v", b"")}
            if len(having) > 1 and not having <= shown.get(group, set()):
                raise Broken(f"{having} share {group!r}, and it shows {shown.get(group)}")


class SlowGroupsWorld(GroupsWorld, SlowWorld):
    """The same, of workers that stand still for long, beside repairers."""

    def __init__(self, seed: int, *, make: MakeTable = IndexedTable) -> None:
        SlowWorld.__init__(self, seed, make=make)
        self._crowd()
