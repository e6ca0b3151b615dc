"""The steps of the tour.

What the reader sees of a step is its title, its docstring, the code of its body as it stands
here, and a picture of what it returned.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from webtable import (
    ALL_VERSIONS,
    Check,
    CheckResult,
    Delete,
    Family,
    Increment,
    Put,
    Row,
    Store,
    TableSchema,
)

__all__ = ["STEPS", "TABLE", "Answer", "Step", "day"]

TABLE = "webtable_tour"

Answer: TypeAlias = TableSchema | Row | list[Row] | CheckResult | bytes | int | None


class Step(NamedTuple):
    """One stop of the tour."""

    title: str
    run: Callable[[Store], Answer]


STEPS: list[Step] = []


def step(title: str) -> Callable[[Callable[[Store], Answer]], Callable[[Store], Answer]]:
    """Adds a function to the tour, after those above it."""

    def add(run: Callable[[Store], Answer]) -> Callable[[Store], Answer]:
        STEPS.append(Step(title, run))
        return run

    return add


def day(date: str) -> int:
    """Returns the timestamp of midnight (UTC) of a day, in milliseconds.

    >>> day("1970-01-02")
    86400000
    """
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1000)


@step("A table has families; everything below them is free")
def create(store: Store) -> Answer:
    """Families are fixed when a table is made, and each says how many versions it keeps.

    Columns inside a family need no declaration.
    """
    content = Family(name="content", versions=3)
    return store.create_table(TABLE, content, "anchor", "counts").schema()


@step("Put: a page as it was crawled on three days")
def put(store: Store) -> Answer:
    """A cell is (row, column, timestamp) → bytes.

    Writing again does not overwrite: it adds a version. Without a timestamp it is stamped with
    the current time.
    """
    table = store.table(TABLE)
    for date, title in (
        ("2026-01-05", b"Hello"),
        ("2026-02-02", b"Hello again"),
        ("2026-03-02", b"Hello, world"),
    ):
        table.put(b"com.example/", {b"content:title": title}, timestamp=day(date))
    table.put(b"com.example/", {b"content:status": b"200"}, timestamp=day("2026-03-02"))
    table.put(b"com.example/", {b"anchor:org.test/": b"an example"}, timestamp=day("2026-02-02"))
    return None


@step("Get, the first way: a row")
def get_row(store: Store) -> Answer:
    """The newest version of every column, in order."""
    return store.table(TABLE).get(b"com.example/")


@step("The second way: a row and a family")
def get_family(store: Store) -> Answer:
    """Families live in files of their own; the others are not touched."""
    return store.table(TABLE).get(b"com.example/", [b"anchor"])


@step("The third way: a row and a column")
def get_column(store: Store) -> Answer:
    """A missing row or column is an answer, not an error."""
    return store.table(TABLE).get(b"com.example/", [b"content:title"])


@step("The fourth way: a row, a column and a timestamp")
def get_timestamp(store: Store) -> Answer:
    """Exactly the version of that day."""
    table = store.table(TABLE)
    return table.get(b"com.example/", [b"content:title"], timestamp=day("2026-01-05"))


@step("Versions: the history of a column")
def get_versions(store: Store) -> Answer:
    """Newest first. The family keeps three; a fourth would push the oldest out."""
    return store.table(TABLE).get(b"com.example/", [b"content:title"], versions=ALL_VERSIONS)


@step("Time travel: the row as it was in mid-February")
def time_travel(store: Store) -> Answer:
    """A time range holds for all columns at once. In February there was no status yet."""
    return store.table(TABLE).get(b"com.example/", time_range=(0, day("2026-02-15")))


@step("Batches and scans: everything under a domain")
def scan(store: Store) -> Answer:
    """Rows are sorted by key, so with the host reversed a domain is one range.

    A neighbour such as com.example2 is not in it.
    """
    table = store.table(TABLE)
    with table.batch() as batch:
        for page in (b"com.example/about", b"com.example2/", b"net.demo/", b"org.test/"):
            batch.put(page, {b"content:title": b"Page"}, timestamp=day("2026-03-02"))
    return list(table.scan(prefix=b"com.example/", columns=[b"content:title"]))


@step("Backwards, and only so many")
def reverse(store: Store) -> Answer:
    """From the last row of the range to the first; stopping early costs nothing."""
    return list(store.table(TABLE).scan(reverse=True, limit=2))


@step("One row, several changes, one atomic step")
def mutate(store: Store) -> Answer:
    """All of them become visible together, over all families, or none does.

    An increment answers with the new value.
    """
    page = b"org.test/"
    status = Put(page, {b"content:status": b"200"}, timestamp=day("2026-03-02"))
    visit = Increment(page, {b"counts:visits": 1})
    row = store.table(TABLE).mutate(page, [status, visit])
    return int.from_bytes(row.value(b"counts:visits") or b"", "big") if row else None


@step("Check and mutate: change it only if nobody else did")
def check(store: Store) -> Answer:
    """The condition and the change are one step, so of two writers one wins and one is told."""
    table = store.table(TABLE)
    moved = Put(b"com.example/", {b"content:status": b"301"}, timestamp=day("2026-03-03"))
    return table.check_and_mutate(b"com.example/", Check.equal(b"content:status", b"200"), moved)


@step("The same again finds the row changed")
def check_again(store: Store) -> Answer:
    """Read again and decide."""
    table = store.table(TABLE)
    moved = Put(b"com.example/", {b"content:status": b"301"}, timestamp=day("2026-03-03"))
    return table.check_and_mutate(b"com.example/", Check.equal(b"content:status", b"200"), moved)


@step("Delete: one version, a column, a family or a row")
def delete_parts(store: Store) -> Answer:
    """A delete is a marker that hides what is at or below its time.

    Here: one version of the title, and the whole family of anchors.
    """
    table = store.table(TABLE)
    delete = Delete(b"com.example/")
    delete.version(b"content:title", day("2026-02-02"))
    delete.family(b"anchor", day("2026-03-04"))
    table.mutate(b"com.example/", [delete])
    return table.get(b"com.example/", versions=ALL_VERSIONS)


@step("A raw scan shows the markers and what they hide")
def raw(store: Store) -> Answer:
    """Nothing is gone yet."""
    table = store.table(TABLE)
    return list(table.scan(stop=b"com.example/a", raw=True, versions=ALL_VERSIONS))


@step("Major compaction makes it final")
def compact(store: Store) -> Answer:
    """It rewrites the table without what no read can see."""
    table = store.table(TABLE)
    table.major_compact()
    return list(table.scan(stop=b"com.example/a", raw=True, versions=ALL_VERSIONS))
