"""The group `records`: typed records on the embedded engine, and on HBase against the Java client.

Records have two key fields and five value fields and are in 16 partitions. Scans return all of
them, as objects, in the order of their keys. Rates on the embedded engine are by processor time: it
uses one thread, and other work on the machine has less influence then.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable

import webtable
from benchmarks.harness import Bench, Target, rates
from benchmarks.hbase import cluster
from benchmarks.hbase_clients import Java
from webtable import Store
from webtable.records import Collection, EntityKey, IndexBy, Key, Record
from webtable.records.reading.decoder_choice import COMPILED

__all__ = ["run"]

COUNT = 100_000
INDEXED_COUNT = 20_000
SINGLE_COUNT = 5_000
PER_SITE = 20
FIELDS = 5


class Visit(Record, table="bench_records"):
    """The record that is measured."""

    site: EntityKey[str]
    number: Key[int]
    size: int
    url: str
    ratio: float
    is_new: bool
    title: str


class Indexed(Record, table="bench_indexed", indexes=[IndexBy("size")]):
    """The same with an index."""

    site: EntityKey[str]
    number: Key[int]
    size: int
    url: str
    ratio: float
    is_new: bool
    title: str


def made(kind: type[Visit] | type[Indexed], count: int, seed: int = 1) -> list[Record]:
    chance = random.Random(seed)
    return [
        kind(
            f"site{number // PER_SITE:05}.example.com",
            number,
            chance.randrange(10**6),
            f"https://example.com/{number}",
            chance.random(),
            number % 2 == 0,
            f"title {number}",
        )
        for number in range(count)
    ]


def run(bench: Bench) -> None:
    """Measures records."""
    share = 10 if bench.is_quick else 1
    form = "compiled" if COMPILED else "plain Python"
    bench.say(f"records: the decoder of records is {form}")
    _embedded(bench, share)
    _on_hbase(bench, share)


def _rate(work: Callable[[], int]) -> float:
    """Returns the result of a piece of work per second of processor time."""
    gc.collect()
    started = time.process_time()
    done = work()
    return done / (time.process_time() - started)


def _embedded(bench: Bench, share: int) -> None:
    measured: dict[str, list[float]] = {}
    with webtable.open(str(bench.scratch / "records")) as store:
        for turn in range(bench.rounds):
            bench.say(f"records: round {turn + 1} of {bench.rounds}, embedded")
            for name, rate in _round(store, share, turn).items():
                measured.setdefault(name, []).append(rate)
    for name, least in (
        ("scan", 100_000),
        ("scan, a fresh store", 100_000),
        ("scan, unordered", 100_000),
        ("keys", 100_000),
        ("put many", 25_000),
    ):
        bench.goal(f"records {name}", statistics.median(measured[name]), "records/s", least)
    for name in ("put many", "put many again", "put"):
        bench.compare(
            f"records {name}, indexed",
            "records/s",
            measured[f"{name}, indexed"],
            {"without an index": (measured[name], Target(0.3))},
        )


def _round(store: Store, share: int, turn: int) -> dict[str, float]:
    for name in store.tables():
        store.drop_table(name)
    visits, indexed = Collection(store, Visit), Collection(store, Indexed)
    records = made(Visit, COUNT // share, turn)
    found = {"put many": _rate(lambda: visits.put_many(records))}  # type: ignore[arg-type]

    def scan(*, ordered: bool = True) -> int:
        number = 0
        for _ in visits.scan(ordered=ordered):
            number += 1
        assert number == len(records)
        return number

    found["scan, a fresh store"] = _rate(scan)
    visits.table.major_compact()
    assert list(visits.scan()) == records
    found["scan"] = statistics.median(_rate(scan) for _ in range(3))
    found["scan, unordered"] = _rate(lambda: scan(ordered=False))
    found["keys"] = _rate(lambda: len(list(visits.keys())))
    # Side by side on tables of one size, new records and changed ones.
    store.truncate_table("bench_records")
    for name, seed in (("put many", turn), ("put many again", turn + 100)):
        plain = made(Visit, INDEXED_COUNT // share, seed)
        covered = made(Indexed, INDEXED_COUNT // share, seed)
        found[name if seed != turn else "put many, small"] = _rate(
            lambda records=plain: visits.put_many(records)  # type: ignore[misc]
        )
        found[f"{name}, indexed"] = _rate(
            lambda records=covered: indexed.put_many(records)  # type: ignore[misc]
        )
    singles, covered = (made(kind, SINGLE_COUNT // share, 9) for kind in (Visit, Indexed))
    found["put"] = _rate(lambda: _put_each(visits, singles))  # type: ignore[arg-type]
    found["put, indexed"] = _rate(lambda: _put_each(indexed, covered))  # type: ignore[arg-type]
    return found


def _put_each(collection: Collection[Record], records: list[Record]) -> int:
    for record in records:
        collection.put(record)
    return len(records)


def _on_hbase(bench: Bench, share: int) -> None:
    measured: dict[str, list[float]] = {"ours": [], "Java client": []}
    records = made(Visit, COUNT // share)
    with cluster(bench) as location, webtable.open(location) as store:
        bench.say("records: loading the table on HBase")
        if "bench_records" in store.tables():
            store.drop_table("bench_records")
        visits = Collection(store, Visit)
        visits.put_many(records)  # type: ignore[arg-type]
        visits.table.major_compact()
        assert list(visits.scan()) == records
        troubles = bench.scratch / "java.txt"
        with Java(location, troubles, rows="bench_records") as java:

            def ours() -> int:
                number = 0
                for _ in visits.scan():
                    number += 1
                assert number == len(records)
                return number

            def theirs() -> int:
                cells = java.scan()
                assert cells == len(records) * FIELDS, cells
                return len(records)

            for turn in range(bench.rounds + 1):
                bench.say(f"records: round {turn} of {bench.rounds}, on HBase")
                work = {"ours": [ours] * 3, "Java client": [theirs] * 3}
                for name, rate in rates(work, turn=turn).items():
                    if turn:  # the first one warms up
                        measured[name].append(rate)
    bench.compare(
        "records scan on HBase",
        "records/s",
        measured["ours"],
        {"Java client": (measured["Java client"], Target(0.6))},
    )
