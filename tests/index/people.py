"""A table of people with three indexes, for the tests of the index machinery on real engines."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from webtable import Store
from webtable.index.indexed_table import Change, Entry, Facts, Index, IndexedTable
from webtable.index.row_write_attempt import RowAttempt
from webtable.index.row_writer import Writer
from webtable.index.write_protocol import SystemClock
from webtable.store.scan import Scan

__all__ = ["AGE", "CITY", "MAIL", "AheadClock", "Mortal", "People", "Stopped", "make_people"]

CITY, AGE, MAIL = b"a:city", b"a:age", b"a:mail"
TABLE = "people"
INDEXES = ("people_by_city", "people_by_mail")


def by_city(row: bytes, facts: Facts) -> Iterator[Entry]:
    if CITY in facts:
        yield Entry(facts[CITY] + b"/" + row, facts.get(AGE, b""))


def by_mail(row: bytes, facts: Facts) -> Iterator[Entry]:
    if MAIL in facts:
        yield Entry(facts[MAIL])


BY_CITY = Index("people_by_city", by_city)
BY_MAIL = Index("people_by_mail", by_mail, unique=True)


class AheadClock(SystemClock):
    """The machine's clock, later."""

    def __init__(self, ahead_ms: int = 0) -> None:
        self.ahead_ms = ahead_ms

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


class Stopped(Exception):
    """The writer is no more."""


class Mortal(IndexedTable):
    """An indexed table whose writer stops at a step, as if its process had died there."""

    def __init__(self, *arguments: Any, dies_at: str, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.dies_at = dies_at

    def _writer(self) -> Writer:
        table = self

        class Dying(Writer):
            def swap_rows(self, attempts: Sequence[RowAttempt]) -> Any:
                if table.dies_at == "swap_rows":
                    raise Stopped
                return super().swap_rows(attempts)

            def clean_up(self, attempts: Sequence[RowAttempt]) -> None:
                if table.dies_at == "clean_up":
                    raise Stopped
                super().clean_up(attempts)

        return Dying(self)


class People:
    """The rows of one test: keys, cities and mails begin with a prefix of its own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.own = uuid.uuid4().hex[:8].encode()
        self.table = make_people(store)

    def row(self, name: bytes) -> bytes:
        return self.own + b"." + name

    def change(self, city: bytes = b"", age: bytes = b"", mail: bytes = b"") -> Change:
        put = {CITY: self.own + city, AGE: age, MAIL: self.own + mail}
        given = {CITY: city, AGE: age, MAIL: mail}
        return Change(put={column: put[column] for column, value in given.items() if value})

    def write(self, name: bytes, city: bytes = b"", age: bytes = b"", mail: bytes = b"") -> None:
        self.table.write(self.row(name), self.change(city, age, mail))

    def cities(self, city: bytes = b"") -> list[tuple[bytes, bytes]]:
        """Returns (city, name) of those whom the index finds."""
        found = self.table.find("people_by_city", Scan(prefix=self.own + city))
        return [(hit.key.partition(b"/")[0][8:], hit.row.partition(b".")[2]) for hit in found]

    def mail(self, mail: bytes) -> bytes | None:
        """Returns the name of the one who has a mail address."""
        hit = self.table.lookup("people_by_mail", self.own + mail)
        return None if hit is None else hit.row.partition(b".")[2]


def make_people(store: Store, **options: Any) -> IndexedTable:
    """Returns the indexed table; with `dies_at` one whose writer dies."""
    kind: Any = Mortal if "dies_at" in options else IndexedTable
    table: IndexedTable = kind(store, TABLE, [BY_CITY, BY_MAIL], columns=(b"a",), **options)
    return table


def create_people(store: Store) -> None:
    """Makes the tables."""
    store.create_table(TABLE, "a")
    make_people(store).create_tables()
