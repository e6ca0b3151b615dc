"""A process that changes tables without rest: `python -m tests.crash.administrator PATH SEED`.

It reports the state that it is about to make of the table before each call, and that the call
has returned. A state is a `State` of `tests.crash.test_admin_kill`.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from typing import NamedTuple

import webtable
from tests.crash.child import send
from webtable import Family, Put

__all__ = ["ROWS", "TABLE", "State", "cells_of"]

TABLE = "changing"
ROWS = 300
FAMILIES = ("a", "b", "c", "d")


class State(NamedTuple):
    """A table: its families (none: there is no table), and those that hold cells of which fill."""

    families: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    fill: int = 0


def cells_of(state: State) -> dict[bytes, dict[bytes, bytes]]:
    """Returns the rows that a table in this state has."""
    values = {f"{family}:q".encode(): b"%d" % state.fill * 200 for family in state.filled}
    return {b"row%04d" % number: values for number in range(ROWS)} if values else {}


class Administrator:
    """Takes the table from state to state by the calls of the public API."""

    def __init__(self, store: webtable.Store, seed: int) -> None:
        self._store = store
        self._chance = random.Random(seed)
        self._fill = seed
        self.state = State()

    def run(self) -> None:
        if TABLE in self._store.tables():
            self._go(State(), lambda: self._store.drop_table(TABLE))
        while True:
            self.create()
            for _ in range(self._chance.randrange(3, 8)):
                self._chance.choice((self.fill, self.add, self.remove, self.truncate))()
            self._go(State(), lambda: self._store.drop_table(TABLE))

    def create(self) -> None:
        families = tuple(sorted(self._chance.sample(FAMILIES, 2)))
        self._go(State(families), lambda: self._store.create_table(TABLE, *families))

    def fill(self) -> None:
        self._fill += 1
        wanted = State(self.state.families, self.state.families, self._fill)
        writes = [(TABLE, Put(row, values)) for row, values in cells_of(wanted).items()]
        self._go(wanted, lambda: self._store.commit(writes))

    def add(self) -> None:
        name = self._chance.choice(FAMILIES)
        if name not in self.state.families:
            schema = self._store.describe_table(TABLE).with_family(Family(name=name))
            families = tuple(sorted((*self.state.families, name)))
            wanted = self.state._replace(families=families)
            self._go(wanted, lambda: self._store.alter_table(schema))

    def remove(self) -> None:
        families = self.state.families
        if len(families) > 1:
            name = self._chance.choice(families)
            schema = self._store.describe_table(TABLE).without_family(name)
            left = tuple(family for family in families if family != name)
            filled = tuple(family for family in self.state.filled if family != name)
            wanted = State(left, filled, self.state.fill)
            self._go(wanted, lambda: self._store.alter_table(schema))

    def truncate(self) -> None:
        wanted = State(self.state.families)
        self._go(wanted, lambda: self._store.truncate_table(TABLE))

    def _go(self, wanted: State, call: object) -> None:
        assert callable(call)
        send({"begin": wanted})
        call()
        self.state = wanted
        send({"done": True})


def main(path: str, seed: int) -> None:
    try:
        store = webtable.open(path)
        send({"opened": os.getpid()})
        Administrator(store, seed).run()
    except BaseException:
        send({"error": traceback.format_exc()[-3000:]})
        raise


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
