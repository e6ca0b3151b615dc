"""One to many, first way: each of the many names the one, as a foreign key does.

An employee is a row of its own and has the department's key in a column. It is what a relational
schema would do. But the store has no joins, and does not check that the department exists.

Use it     where the many are things of their own, with attributes, and there may be any number.
Not        where "all of one department" is the usual query: it reads every employee. Then put
           the department in front of the row key, or use an index.
Cheap      the department of an employee: one get.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema
from webtable.filters import SingleColumnValueFilter

SCHEMA = TableSchema(name="pattern_reference", families=(Family(name="EMPLOYEE"),))


def write(employees: Table) -> None:
    """Stores one employee, who works in Sales."""
    employees.put(b"007", {b"EMPLOYEE:enumber": b"007"}, timestamp=1)
    employees.put(b"007", {b"EMPLOYEE:first-name": b"James"}, timestamp=2)
    employees.put(b"007", {b"EMPLOYEE:last-name": b"Bond"}, timestamp=3)
    employees.put(b"007", {b"EMPLOYEE:department": b"Sales"}, timestamp=4)


def ask(employees: Table) -> None:
    """Goes from an employee to the department, and back."""
    row = employees.get(b"007", [b"EMPLOYEE:department"])
    assert row is not None
    answer("Where does 007 work? One get:", row.value(b"EMPLOYEE:department"))

    employees.put(b"008", {b"EMPLOYEE:last-name": b"Potter", b"EMPLOYEE:department": b"Magic"})
    employees.put(b"009", {b"EMPLOYEE:last-name": b"Hood", b"EMPLOYEE:department": b"Sales"})
    in_sales = SingleColumnValueFilter(
        b"EMPLOYEE:department", "=", b"Sales", filter_if_missing=True
    )
    found = [row.key for row in employees.scan(filter=in_sales)]
    answer("Who works in Sales? A filter, and so a read of every row:", found)

    # The same rows with the department in front of the key: what belongs together lies together.
    for key in (b"Sales/007", b"Magic/008", b"Sales/009"):
        employees.put(key, {b"EMPLOYEE:enumber": key.partition(b"/")[2]})
    found = [row.key for row in employees.scan(prefix=b"Sales/")]
    answer("With keys that begin with the department, a short range:", found)


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
