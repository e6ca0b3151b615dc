"""A writer of records to be killed: `python -m tests.records.record_child LOCATION SEED`.

Every record that it puts is consistent in itself: its fields all say the same number, or are None
together. It prints a line after each call that returned.
"""

from __future__ import annotations

import random
import sys

import webtable
from webtable.records import Collection, EntityKey, IndexBy, Key, Record

__all__ = ["INDEXED", "KEYS", "Indexed", "Plain"]

KEYS = 30
INDEXED = "killed_indexed_by_text"


class Plain(Record, table="killed_plain"):
    site: EntityKey[str]
    number: Key[int]
    text: str
    value: int | None = None
    again: float | None = None


class Indexed(Record, table="killed_indexed", indexes=[IndexBy("text", name=INDEXED)]):
    site: EntityKey[str]
    number: Key[int]
    text: str
    value: int | None = None
    again: float | None = None


def main(location: str, seed: int) -> None:
    chance = random.Random(seed)
    with webtable.open(location, create=False) as store:
        plain, indexed = Collection(store, Plain), Collection(store, Indexed)
        print("ready", flush=True)
        while True:
            count = chance.choice((1, 3, 20))
            keys = [(f"s{n % 5}", n) for n in chance.sample(range(KEYS), count)]
            value = chance.choice((None, chance.randrange(1000)))
            again = None if value is None else float(value)
            for collection, kind in ((plain, Plain), (indexed, Indexed)):
                if chance.random() < 0.1:
                    collection.delete_many(keys)
                else:
                    collection.put_many(
                        kind(*key, f"{value}", value, again)  # type: ignore[misc]
                        for key in keys
                    )
                print("wrote", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
