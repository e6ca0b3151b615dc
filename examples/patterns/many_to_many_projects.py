"""Many to many, second way: the same from the other side, here the project's employees.

Which side has the keys depends on the most frequent query. A program that needs both directions
can store both; but they are two rows, and only a row is atomic: on HBase a crash between
the two writes leaves one of them. An embedded store can commit both in one step.

Use it     where queries start with the project.
Not        where an employee's projects are needed as often, unless both sides are stored.
Cheap      the employees of a project: one get.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import ALL_VERSIONS, Family, Table, TableSchema

SCHEMA = TableSchema(name="pattern_projects", families=(Family(name="PROJECT", versions=100),))
EMPLOYEES = b"PROJECT:employee"


def write(projects: Table) -> None:
    """Stores a project on which three employees work."""
    projects.put(b"participation-1", {b"PROJECT:pnumber": b"project-1"}, timestamp=1)
    projects.put(b"participation-1", {b"PROJECT:budget": b"12345.25"}, timestamp=2)
    projects.put(b"participation-1", {EMPLOYEES: b"007"}, timestamp=3)
    projects.put(b"participation-1", {EMPLOYEES: b"008"}, timestamp=4)
    projects.put(b"participation-1", {EMPLOYEES: b"009"}, timestamp=5)


def ask(projects: Table) -> None:
    """Reads who works on the project now, and who did at an earlier time."""
    row = projects.get(b"participation-1", [EMPLOYEES], versions=ALL_VERSIONS)
    assert row is not None
    answer("Who works on project-1? One get:", [cell.value for cell in row])

    row = projects.get(b"participation-1", [EMPLOYEES], versions=ALL_VERSIONS, time_range=(0, 5))
    assert row is not None
    answer("And before 009 came:", [cell.value for cell in row])

    # One member leaves: the version is deleted by its timestamp, which has to be known.
    projects.delete(b"participation-1", [EMPLOYEES], timestamp=4, one_version=True)
    row = projects.get(b"participation-1", [EMPLOYEES], versions=ALL_VERSIONS)
    assert row is not None
    answer("Without 008:", [cell.value for cell in row])


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
