"""An entity: one row for each thing, its attributes as columns of one family.

The row key identifies the thing, here a customer's number. The family has the name of the kind of
thing; it is fixed by the table. The columns are not: each row has the columns it needs.

Use it     where things are looked up by one key.
Not        where they are looked up by something else as often: only row keys are sorted, so any
           other query reads the whole table, or needs an index.
Cheap      everything about one thing, or one attribute of it: one get.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema
from webtable.filters import SingleColumnValueFilter

SCHEMA = TableSchema(name="pattern_entity", families=(Family(name="CUSTOMER"),))


def write(customers: Table) -> None:
    """Stores one customer; the last name came a little later than the rest."""
    customers.put(
        b"007",
        {
            b"CUSTOMER:first-name": b"James",
            b"CUSTOMER:phone": b"007-007",
            b"CUSTOMER:email": b"jb@mi6.com",
        },
        timestamp=1,
    )
    customers.put(b"007", {b"CUSTOMER:last-name": b"Bond"}, timestamp=2)


def ask(customers: Table) -> None:
    """Reads the customer, and looks for one without knowing the key."""
    row = customers.get(b"007")
    assert row is not None
    answer("Customer 007, by one get:", row.values())

    row = customers.get(b"007", [b"CUSTOMER:email"])
    assert row is not None
    answer("Only the address to write to:", row.value(b"CUSTOMER:email"))

    # A new attribute is a new column. Nothing has to be declared, and other rows lack it for free.
    customers.put(b"008", {b"CUSTOMER:last-name": b"Potter", b"CUSTOMER:owl": b"Hedwig"})
    row = customers.get(b"008")
    assert row is not None
    answer("Customer 008 has other columns:", row.values())

    is_bond = SingleColumnValueFilter(b"CUSTOMER:last-name", "=", b"Bond", filter_if_missing=True)
    found = [row.key for row in customers.scan(filter=is_bond)]
    answer("Who is called Bond? This reads every row and leaves out the others:", found)


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
