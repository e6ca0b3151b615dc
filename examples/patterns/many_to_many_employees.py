"""Many to many, first way: one side keeps the keys of the other, here the employee's projects.

The keys are versions of one column, a list of which the newest comes first; columns named after
the keys, as in `one_to_many_columns`, do the same without a limit.

Use it     where queries start on this side, and each row has a few keys of the other.
Not        where queries start on the other side as often: they read every row. Then store both
           sides, or the links themselves (`many_to_many_links`).
Cheap      the projects of an employee: one get.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import ALL_VERSIONS, Family, Table, TableSchema
from webtable.filters import SingleColumnValueFilter

SCHEMA = TableSchema(name="pattern_employees", families=(Family(name="EMPLOYEE", versions=100),))
PROJECTS = b"EMPLOYEE:pnumber"


def write(employees: Table) -> None:
    """Stores an employee who works on two projects."""
    employees.put(b"participation-1", {b"EMPLOYEE:enumber": b"007"}, timestamp=1)
    employees.put(b"participation-1", {b"EMPLOYEE:first-name": b"James"}, timestamp=2)
    employees.put(b"participation-1", {b"EMPLOYEE:last-name": b"Bond"}, timestamp=3)
    employees.put(b"participation-1", {PROJECTS: b"project-1"}, timestamp=4)
    employees.put(b"participation-1", {PROJECTS: b"project-2"}, timestamp=5)


def ask(employees: Table) -> None:
    """Goes from an employee to the projects, and back."""
    row = employees.get(b"participation-1", [PROJECTS], versions=ALL_VERSIONS)
    assert row is not None
    answer("The projects of 007, by one get:", [cell.value for cell in row])

    employees.put(b"participation-2", {b"EMPLOYEE:enumber": b"008", PROJECTS: b"project-2"})
    # Every version counts, not only the newest: project-1 is the older one of 007.
    on_project = SingleColumnValueFilter(
        PROJECTS, "=", b"project-1", filter_if_missing=True, latest_version_only=False
    )
    found = [row.value(b"EMPLOYEE:enumber") for row in employees.scan(filter=on_project)]
    answer("Who works on project-1? A read of every row:", found)


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
