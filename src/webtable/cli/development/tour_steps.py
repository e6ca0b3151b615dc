"""The steps of the tour.

What the reader sees of a step is its title, its docstring, the code of its body as it stands
here, and a picture of what it returned. The lines of code are short: they must fit on a terminal
of 80 columns.
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
    Table,
    TableSchema,
)

__all__ = ["STEPS", "TABLE", "Step", "StepResult", "create", "day"]

TABLE = "webtable_tour"

StepResult: TypeAlias = TableSchema | Row | list[Row] | CheckResult | int | None
Run: TypeAlias = Callable[[Table], StepResult]


class Step(NamedTuple):
    """One stop of the tour after the first, which makes the table."""

    title: str
    run: Run


STEPS: list[Step] = []


def step(title: str) -> Callable[[Run], Run]:
    """Adds a function to the tour, after those above it."""

    def add(run: Run) -> Run:
        STEPS.append(Step(title, run))
        return run

    return add


def day(date: str) -> int:
    """Returns the timestamp of midnight (UTC) of a day, in milliseconds.

    >>> day("1970-01-02")
    86400000
    """
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1000)


def create(store: Store) -> TableSchema:
    """Families are fixed when a table is made, and each says how many versions it keeps.

    Columns inside a family need no declaration.
    """
    content = Family(name="content", versions=3)
    table = store.create_table(TABLE, content, "anchor", "counts")
    return table.schema()


@step("Put: a page as it was crawled on three days")
def put(table: Table) -> None:
    """A cell is (row, column, timestamp) → bytes.

    Writing again does not overwrite: it adds a version. Without a timestamp it is stamped with
    the current time.
    """
    page = b"com.example/"
    january, february = day("2026-01-05"), day("2026-02-02")
    table.put(page, {b"content:title": b"Hello"}, timestamp=january)
    table.put(page, {b"content:title": b"Hello again"}, timestamp=february)
    table.put(page, {b"anchor:org.test/": b"example"}, timestamp=february)

    values = {b"content:title": b"Hello, world", b"content:status": b"200"}
    table.put(page, values, timestamp=day("2026-03-02"))


@step("Get, the first way: a row")
def get_row(table: Table) -> StepResult:
    """The newest version of every column, in order."""
    return table.get(b"com.example/")


@step("The second way: a row and a family")
def get_family(table: Table) -> StepResult:
    """Families live in files of their own; the others are not touched."""
    return table.get(b"com.example/", [b"anchor"])


@step("The third way: a row and a column")
def get_column(table: Table) -> StepResult:
    """For a missing row or column the result is empty; it is not an error."""
    return table.get(b"com.example/", [b"content:title"])


@step("The fourth way: a row, a column and a timestamp")
def get_timestamp(table: Table) -> StepResult:
    """Exactly the version of that day."""
    january = day("2026-01-05")
    return table.get(b"com.example/", [b"content:title"], timestamp=january)


@step("Versions: the history of a column")
def get_versions(table: Table) -> StepResult:
    """Newest first. The family keeps three; a fourth would push the oldest out."""
    return table.get(b"com.example/", [b"content:title"], versions=3)


@step("Time travel: the row as it was in mid-February")
def time_travel(table: Table) -> StepResult:
    """A time range holds for all columns at once. In February there was no status yet."""
    return table.get(b"com.example/", time_range=(0, day("2026-02-15")))


@step("Batches and scans: everything under a domain")
def scan(table: Table) -> StepResult:
    """Rows are sorted by key, so with the host reversed a domain is one range.

    A neighbour such as com.example2 is not in it.
    """
    march = day("2026-03-02")
    pages = [b"com.example/about", b"com.example2/", b"net.demo/", b"org.test/"]
    with table.batch() as batch:
        for page in pages:
            batch.put(page, {b"content:title": b"Page"}, timestamp=march)
    return list(table.scan(prefix=b"com.example/", columns=[b"content"]))


@step("Backwards, and only so many")
def reverse(table: Table) -> StepResult:
    """From the last row of the range to the first; stopping early costs nothing."""
    return list(table.scan(reverse=True, limit=2))


@step("One row, several changes, one atomic step")
def mutate(table: Table) -> StepResult:
    """All mutations of a row become visible together, in all families, or none does.

    An increment returns the new value, a number of eight bytes.
    """
    page = b"org.test/"
    values = {b"content:status": b"200"}
    put = Put(page, values, timestamp=day("2026-03-02"))
    count = Increment(page, {b"counts:visits": 1})
    return table.mutate(page, [put, count])


@step("Check and mutate: change the row only if no other writer did")
def check(table: Table) -> StepResult:
    """Condition and change are one atomic step: of two writers only one succeeds."""
    page = b"com.example/"
    moved = Put(page, {b"content:status": b"301"}, timestamp=day("2026-03-03"))
    still_there = Check.equal(b"content:status", b"200")
    return table.check_and_mutate(page, still_there, moved)


@step("The same again finds the row changed")
def check_again(table: Table) -> StepResult:
    """Read again and decide."""
    page = b"com.example/"
    moved = Put(page, {b"content:status": b"301"}, timestamp=day("2026-03-03"))
    still_there = Check.equal(b"content:status", b"200")
    return table.check_and_mutate(page, still_there, moved)


@step("Delete: one version, a column, a family or a row")
def delete_parts(table: Table) -> StepResult:
    """A delete is a marker that hides what is at or below its time.

    Here: one version of the title, and the whole family of anchors.
    """
    page = b"com.example/"
    delete = Delete(page)
    delete.version(b"content:title", day("2026-02-02"))
    delete.family(b"anchor", day("2026-03-04"))
    table.mutate(page, [delete])
    return table.get(page, versions=ALL_VERSIONS)


@step("A raw scan shows the markers and what they hide")
def scan_raw(table: Table) -> StepResult:
    """Nothing is gone yet."""
    rows = table.scan(raw=True, versions=ALL_VERSIONS, limit=1)
    return list(rows)


@step("Major compaction makes it final")
def compact(table: Table) -> StepResult:
    """It rewrites the table without deleted, expired and surplus cells."""
    table.major_compact()
    rows = table.scan(raw=True, versions=ALL_VERSIONS, limit=1)
    return list(rows)
