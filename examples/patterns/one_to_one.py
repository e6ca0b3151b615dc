"""One to one: two things that belong together share a row, with a family each.

A department has one manager, and the manager one department. Both are in the row of the
department. A family's cells are stored apart from those of others, so reading one thing does not
read the other; and a row is atomic, so both change in one step.

Use it     where the two are read together, and one of them is always known.
Not        where the second is looked up on its own: the manager 007 has no row key.
           Nor where it may come to belong to several: it would be copied into each row.
Cheap      both, or either, by one get; a change of both as one atomic step.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # to run as a file, without -m

from examples.patterns.stage import answer, play
from webtable import Check, Family, Put, Table, TableSchema

SCHEMA = TableSchema(
    name="pattern_one_to_one", families=(Family(name="DEPARTMENT"), Family(name="MANAGER"))
)


def write(departments: Table) -> None:
    """Stores a department and its manager."""
    departments.put(
        b"Sales", {b"DEPARTMENT:dname": b"Sales", b"DEPARTMENT:budget": b"1000"}, timestamp=1
    )
    departments.put(b"Sales", {b"MANAGER:enumber": b"007"}, timestamp=2)
    departments.put(b"Sales", {b"MANAGER:first-name": b"James"}, timestamp=3)
    departments.put(b"Sales", {b"MANAGER:last-name": b"Bond"}, timestamp=4)


def ask(departments: Table) -> None:
    """Reads both and one of them, and hands the department over."""
    row = departments.get(b"Sales")
    assert row is not None
    answer("The department and its manager, by one get:", row.values())

    row = departments.get(b"Sales", [b"MANAGER"])
    assert row is not None
    answer("Only the manager; the other family is not read:", row.values())

    # A new manager and a new budget: both or neither, and only if 007 still is the manager.
    hand_over = Put(
        b"Sales",
        {
            b"DEPARTMENT:budget": b"900",
            b"MANAGER:enumber": b"008",
            b"MANAGER:first-name": b"Harry",
            b"MANAGER:last-name": b"Potter",
        },
    )
    is_bond = Check.equal(b"MANAGER:enumber", b"007")
    for question in ("Hand over from 007 to 008:", "And once more:"):
        done = departments.check_and_mutate(b"Sales", is_bond, hand_over)
        answer(question, "done" if done else "007 is not the manager")


if __name__ == "__main__":
    play(SCHEMA, write, ask, __doc__)
