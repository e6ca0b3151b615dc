"""One to many, second way: the many are columns in the row of the one.

The qualifier is the key of each of the many, here the employee's number, and the value what is
most often wanted of it. A qualifier is bytes like any other, so it can be data.

Use it     where the one and its many are read together, and the many are small.
Not        where they may become millions: a row lies in one region and is never split.
           Nor where each of the many has attributes of its own that change one by one.
Cheap      the one with all of its many, by one get; one of the many; a part of them in order.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema
from webtable.filters import ColumnPaginationFilter, ColumnRangeFilter

SCHEMA = TableSchema(
    name="pattern_columns", families=(Family(name="DEPARTMENT"), Family(name="EMPLOYEE"))
)


def write(departments: Table) -> None:
    """Stores a department and its three employees."""
    departments.put(
        b"Sales", {b"DEPARTMENT:dname": b"Sales", b"DEPARTMENT:budget": b"1234567"}, timestamp=1
    )
    departments.put(b"Sales", {b"EMPLOYEE:007": b"James Bond"}, timestamp=2)
    departments.put(b"Sales", {b"EMPLOYEE:008": b"Harry Potter"}, timestamp=3)
    departments.put(b"Sales", {b"EMPLOYEE:009": b"Robin Hood"}, timestamp=4)


def ask(departments: Table) -> None:
    """Reads all, one and some of the employees, and lets one go."""
    row = departments.get(b"Sales")
    assert row is not None
    answer("The department and all employees, by one get:", row.values())

    row = departments.get(b"Sales", [b"EMPLOYEE:008"])
    answer("Does 008 work here?", "yes" if row else "no")

    row = departments.get(b"Sales", [b"EMPLOYEE"], filter=ColumnRangeFilter(b"008", True))
    assert row is not None
    answer("From 008 on; what is before is not read:", row.values())

    row = departments.get(b"Sales", [b"EMPLOYEE"], filter=ColumnPaginationFilter(2, 0))
    assert row is not None
    answer("The first page of two:", list(row.values()))

    departments.delete(b"Sales", [b"EMPLOYEE:007"])
    row = departments.get(b"Sales", [b"EMPLOYEE"])
    assert row is not None
    answer("Without 007:", list(row.values()))


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
