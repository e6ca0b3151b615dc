"""A fact with its dimensions: what a data warehouse would join is in one row.

The measure has a family, and so has each dimension, with copies of the attributes that reports
need. Reads need no join, because the join was made when the row was written.

Use it     for things that happened: they do not change, so copies do not grow old.
Not        where a dimension changes and all facts should show it: every row has its own copy.
Cheap      a fact with all its dimensions, by one get; the measures of many facts, which are
           read without the dimensions.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Family, Table, TableSchema
from webtable.filters import SingleColumnValueFilter

SCHEMA = TableSchema(
    name="pattern_fact",
    families=(Family(name="BUYER"), Family(name="MEASURE"), Family(name="SELLER")),
)


def write(sales: Table) -> None:
    """Stores one sale."""
    sales.put(
        b"1234567",
        {
            b"MEASURE:amount": b"1000000",
            b"BUYER:phone": b"242214339",
            b"BUYER:first-name": b"James",
            b"BUYER:last-name": b"Bond",
            b"SELLER:phone": b"242215612",
            b"SELLER:first-name": b"Harry",
            b"SELLER:last-name": b"Potter",
        },
        timestamp=1,
    )


def ask(sales: Table) -> None:
    """Reads a sale, and adds up amounts: all of them, and those of one buyer."""
    row = sales.get(b"1234567")
    assert row is not None
    answer("The sale with everything about it, by one get:", row.values())

    sales.put(b"1234568", {b"MEASURE:amount": b"500", b"BUYER:last-name": b"Hood"})
    amounts = [int(row.value(b"MEASURE:amount") or 0) for row in sales.scan(columns=[b"MEASURE"])]
    answer("All amounts; only their family is read:", sum(amounts))

    # The column that a filter checks must be among those that are read.
    to_bond = SingleColumnValueFilter(b"BUYER:last-name", "=", b"Bond", filter_if_missing=True)
    rows = sales.scan(columns=[b"MEASURE:amount", b"BUYER:last-name"], filter=to_bond)
    answer("What Bond paid:", sum(int(row.value(b"MEASURE:amount") or 0) for row in rows))


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
