"""One to many, third way: the many are versions of one cell.

A cell keeps several values, one for each timestamp, newest first. The family sets how many; the
default is 1, so this pattern creates the family with three.

Use it     for a history that may forget: the last prices, titles, addresses of one thing.
Not        for a set that must be complete: one value more than the family keeps removes the
           oldest without an error, and two written in one millisecond are one.
Cheap      the newest; the last few; what it was at a time.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema

SCHEMA = TableSchema(
    name="pattern_versions",
    families=(Family(name="DEPARTMENT"), Family(name="HAS-EMPLOYEES", versions=3)),
)
EMPLOYEES = b"HAS-EMPLOYEES:employees"


def write(departments: Table) -> None:
    """Stores a department and its three employees."""
    departments.put(
        b"Sales", {b"DEPARTMENT:dname": b"Sales", b"DEPARTMENT:budget": b"1000"}, timestamp=1
    )
    departments.put(b"Sales", {EMPLOYEES: b"007 James Bond"}, timestamp=2)
    departments.put(b"Sales", {EMPLOYEES: b"008 Harry Potter"}, timestamp=3)
    departments.put(b"Sales", {EMPLOYEES: b"009 Robin Hood"}, timestamp=4)


def ask(departments: Table) -> None:
    """Reads the versions in several ways, and writes one too many."""
    row = departments.get(b"Sales", [EMPLOYEES])
    assert row is not None
    answer("A read returns the newest by default:", row.value(EMPLOYEES))

    row = departments.get(b"Sales", [EMPLOYEES], versions=3)
    assert row is not None
    answer("All employees:", [cell.value for cell in row.versions(EMPLOYEES)])

    row = departments.get(b"Sales", [EMPLOYEES], time_range=(0, 4))
    assert row is not None
    answer("Who had come last at time 3?", row.value(EMPLOYEES))

    departments.put(b"Sales", {EMPLOYEES: b"010 Peter Pan"}, timestamp=5)
    row = departments.get(b"Sales", [EMPLOYEES], versions=10)
    assert row is not None
    answer("A fourth one, and 007 is lost:", [cell.value for cell in row.versions(EMPLOYEES)])


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
