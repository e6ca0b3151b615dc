"""Many to many, third way: a row for each link, as a link table has.

A link can have attributes of its own (since when, in which role), and making or removing one
touches no other row. What the links are good for depends on their row key, as always.

Use it     where links come and go often, are many, or have attributes.
Not        with keys that only number them: then both directions read every row. A key made of
           both ends turns one direction into a range; a second row with the ends exchanged
           does it for the other.
Cheap      one link; with keys of both ends, all links of either end.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema
from webtable.filters import SingleColumnValueFilter

SCHEMA = TableSchema(name="pattern_links", families=(Family(name="PARTICIPATION"),))
PROJECT, EMPLOYEE = b"PARTICIPATION:pnumber", b"PARTICIPATION:employee"


def write(links: Table) -> None:
    """Stores two links of one project."""
    for row, employee in (
        (b"participation-1", b"employee-007"),
        (b"participation-2", b"employee-008"),
    ):
        links.put(row, {PROJECT: b"project-1"}, timestamp=1)
        links.put(row, {EMPLOYEE: employee}, timestamp=2)


def ask(links: Table) -> None:
    """Follows links by a filter, and then by keys that are made for it."""
    of_bond = SingleColumnValueFilter(EMPLOYEE, "=", b"employee-007", filter_if_missing=True)
    found = [row.value(PROJECT) for row in links.scan(filter=of_bond)]
    answer("The projects of employee-007, by a read of every link:", found)

    # Each link twice, once from each end.
    with links.batch() as batch:
        for project, employee in (
            (b"project-1", b"employee-007"),
            (b"project-1", b"employee-008"),
            (b"project-2", b"employee-007"),
        ):
            for key in (project + b"/" + employee, employee + b"/" + project):
                batch.put(key, {PROJECT: project, EMPLOYEE: employee})
    found = [row.value(PROJECT) for row in links.scan(prefix=b"employee-007/")]
    answer("The same, as a short range:", found)
    found = [row.value(EMPLOYEE) for row in links.scan(prefix=b"project-1/")]
    answer("And the employees of project-1:", found)


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
