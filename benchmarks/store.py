"""The group `store`: the embedded engine against raw RocksDB and SQLite, and its footprint."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import footprint
from benchmarks.contenders import Contender, RawRocks, Rows, Sqlite, WebTable
from benchmarks.harness import Bench, Target, rates

__all__ = ["run"]

OURS, RAW, SQLITE = "webtable", "raw rocksdict", "SQLite"
GETS = 20_000
SLICES = 10

TARGETS: dict[str, dict[str, Target | None]] = {
    "put": {RAW: Target(0.5), SQLITE: Target(2)},
    "scan": {RAW: Target(0.25), SQLITE: Target(0.6)},
    "scan as Cells": {RAW: Target(0.25), SQLITE: Target(0.6)},
    "get": {RAW: Target(0.2), SQLITE: Target(0.7)},
    "get_many": {RAW: None},
}


def run(bench: Bench) -> None:
    """Measures the store."""
    for rows in (
        Rows("100,000 × 5", count=100_000, cells=5, size=32, batch=1000),
        Rows("20,000 × 20 KB", count=20_000, cells=1, size=20_000, batch=100),
    ):
        _speed(bench, rows)
    footprint.run(bench)


def _speed(bench: Bench, rows: Rows) -> None:
    measured: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for turn in range(bench.rounds):
        bench.say(f"store: {rows.name}, round {turn + 1} of {bench.rounds}")
        place = bench.scratch / f"speed-{turn}"
        place.mkdir()
        for step, rate in _round(place, rows, turn).items():
            for name, number in rate.items():
                measured[step][name].append(number)
        shutil.rmtree(place)
    for step, targets in TARGETS.items():
        ours = measured[step][OURS]
        peers = {name: (measured[step][name], target) for name, target in targets.items()}
        bench.compare(f"store {step}, {rows.name}", "cells/s", ours, peers)


def _round(place: Path, rows: Rows, turn: int) -> dict[str, dict[str, float]]:
    ours, raw, sqlite = WebTable(place, rows), RawRocks(place, rows), Sqlite(place, rows)
    contenders: dict[str, Contender] = {OURS: ours, RAW: raw, SQLITE: sqlite}
    keys = random.Random(turn).choices(rows.keys, k=GETS)
    slices = [keys[at : at + GETS // SLICES] for at in range(0, GETS, GETS // SLICES)]
    puts = {name: [_checked(each.put, rows.cells)] for name, each in contenders.items()}
    scans = {name: [_checked(each.scan, rows.cells)] * 3 for name, each in contenders.items()}
    as_cells = [_checked(ours.scan_cells, rows.cells)] * 3
    gets = {
        name: [_checked(partial(each.get, part), len(part)) for part in slices]
        for name, each in contenders.items()
    }
    many = {
        OURS: [_checked(partial(ours.get_many, part), len(part)) for part in slices],
        RAW: [_checked(partial(raw.get_many, part), len(part)) for part in slices],
    }
    try:
        return {
            "put": rates(puts, turn=turn),
            "scan": rates(scans, turn=turn),
            "scan as Cells": rates({**scans, OURS: as_cells}, turn=turn),
            "get": rates(gets, turn=turn),
            "get_many": rates(many, turn=turn),
        }
    finally:
        for each in contenders.values():
            each.close()


def _checked(work: Callable[[], int], want: int) -> Callable[[], int]:
    def run_once() -> int:
        done = work()
        assert done == want, f"{work} handled {done} cells of {want}"
        return done

    return run_once
