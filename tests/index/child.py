"""A writer of indexed rows to be killed: `python -m tests.index.child LOCATION SEED`.

It changes random rows, alone and in batches, and prints a line after each write.
"""

from __future__ import annotations

import random
import sys

import webtable
from tests.index.people import AGE, CITY, MAIL, make_people
from webtable.errors import BatchError, NotUnique
from webtable.index.indexed_table import Change

ROWS = 20


def change(chance: random.Random) -> Change:
    if chance.random() < 0.1:
        return Change(delete=(CITY, AGE, MAIL))
    return Change(
        put={
            CITY: b"c%d" % chance.randrange(5),
            AGE: b"%d" % chance.randrange(100),
            MAIL: b"m%d" % chance.randrange(ROWS),
        }
    )


def main(location: str, seed: int) -> None:
    chance = random.Random(seed)
    with webtable.open(location, create=False) as store:
        people = make_people(store)
        print("ready", flush=True)
        while True:
            count = chance.choice((1, 1, 2, 10))
            rows = [b"row%d" % chance.randrange(ROWS) for _ in range(count)]
            try:
                people.write_many([(row, change(chance)) for row in rows])
            except BatchError as error:
                if error.split(NotUnique)[1] is not None:
                    raise
            print("wrote", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
