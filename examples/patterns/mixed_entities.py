"""Mixed entities: things of several kinds in one table, distinguished by the prefix of the key.

Each kind has its own family and its own prefix of row keys. A family without cells in a row
costs nothing, so a row of one kind is not larger for the others.

Use it     for kinds that are read together or refer to each other, and are few.
Not        where kinds differ in how long they are kept or how often they are used: families
           of one table are flushed together, and regions are split by rows of all kinds.
Cheap      all of one kind: a range of keys. What a row refers to: one call for all of it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema

SCHEMA = TableSchema(
    name="pattern_mixed",
    families=(Family(name="EMPLOYEE"), Family(name="PARTICIPATION"), Family(name="PROJECT")),
)


def write(things: Table) -> None:
    """Stores an employee, a project, and that the one works on the other."""
    things.put(b"employee-007", {b"EMPLOYEE:enumber": b"007"}, timestamp=1)
    things.put(b"employee-007", {b"EMPLOYEE:first-name": b"James"}, timestamp=2)
    things.put(b"employee-007", {b"EMPLOYEE:last-name": b"Bond"}, timestamp=3)
    things.put(b"project-1", {b"PROJECT:pnumber": b"1"}, timestamp=4)
    things.put(b"project-1", {b"PROJECT:budget": b"12345.25"}, timestamp=5)
    things.put(b"participation-2", {b"PARTICIPATION:pnumber": b"project-1"}, timestamp=1)
    things.put(b"participation-2", {b"PARTICIPATION:employee": b"employee-007"}, timestamp=2)


def ask(things: Table) -> None:
    """Reads one kind, and follows what a row refers to."""
    found = [row.key for row in things.scan(prefix=b"employee-")]
    answer("All employees, a range of keys:", found)

    link = things.get(b"participation-2")
    assert link is not None
    ends = things.get_many(sorted(link.values().values()))
    values = {column: v for row in ends if row for column, v in row.values().items()}
    answer("Both ends of participation-2, by one call:", values)


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
