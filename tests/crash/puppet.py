"""A process that has a store open and runs commands: `python -m tests.crash.puppet PATH`.

Each line of its input is a command; it reports each with `did`, or with the error's class. It ends,
closing the store, when its input ends.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from itertools import count

import webtable
from tests.crash.child import send
from webtable import Family
from webtable.errors import WebTableError


class Puppet:
    """The commands."""

    def __init__(self, store: webtable.Store) -> None:
        self._store = store

    def put(
        self,
        table: str,
        first: int,
        rows: int,
        generation: int,
        durability: webtable.Durability = "wal",
    ) -> None:
        with self._store.table(table).batch(durability=durability) as batch:
            for number in range(first, first + rows):
                value = b"%d" % generation * 100
                batch.put(b"row%06d" % number, {b"f:q": value, b"g:q": value})

    def put_for_ever(self, table: str) -> None:
        for generation in count():
            self.put(table, 0, 50, generation)

    def churn_for_ever(self, table: str) -> None:
        """Puts, and changes the files and the tables as often as it can."""
        for generation in count():
            self.put(table, 0, 50, generation)
            self._store.table(table).flush()
            if generation % 5 == 0:
                self.create(f"{table}{generation}")
            if generation % 7 == 0:
                self._store.table(table).major_compact()

    def checkpoint_for_ever(self, table: str, directory: str) -> None:
        """Puts, and copies the store to `directory/N`; tells before and after each copy."""
        for generation in count(1):
            self.put(table, 0, 50, generation)
            send({"copying": generation})
            self._store.checkpoint(f"{directory}/{generation}")
            send({"copied": generation})

    def flush(self, table: str) -> None:
        self._store.table(table).flush()

    def compact(self, table: str) -> None:
        self._store.table(table).major_compact()

    def create(self, table: str) -> None:
        self._store.create_table(table, "f", "g")

    def add_family(self, table: str, family: str) -> None:
        self._store.alter_table(self._store.describe_table(table).with_family(Family(name=family)))

    def truncate(self, table: str) -> None:
        self._store.truncate_table(table)

    def drop(self, table: str) -> None:
        self._store.drop_table(table)


def main(path: str) -> None:
    try:
        store = webtable.open(path)
    except WebTableError as error:
        send({"refused": type(error).__name__, "message": str(error)})
        return
    with store:
        send({"opened": os.getpid()})
        puppet = Puppet(store)
        for line in sys.stdin:
            name, *arguments = json.loads(line)
            command: Callable[..., None] = getattr(puppet, name)
            try:
                command(*arguments)
                send({"did": name})
            except WebTableError as error:
                send({"did": name, "error": type(error).__name__, "message": str(error)})


if __name__ == "__main__":
    main(sys.argv[1])
