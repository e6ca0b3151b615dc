"""The group `store`: the embedded engine against raw RocksDB and SQLite, and its footprint."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks import footprint
from benchmarks.contenders import Contender, RawRocks, Rows, Sqlite, WebTable
from benchmarks.harness import Bench, Target, rates

__all__ = ["run"]

OURS, RAW, SQLITE = "webtable", "raw rocksdict", "SQLite"
GETS = 20_000

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

    def step(work: Mapping[str, Callable[[], int]], want: int) -> dict[str, float]:
        def checked(name: str) -> Callable[[], int]:
            def run_once() -> int:
                done = work[name]()
                assert done == want, f"{name} handled {done} cells of {want}"
                return done

            return run_once

        return rates({name: checked(name) for name in work}, turn=turn)

    try:
        measured = {"put": step({name: each.put for name, each in contenders.items()}, rows.cells)}
        scans = {name: each.scan for name, each in contenders.items()}
        measured["scan"] = step(scans, rows.cells)
        measured["scan as Cells"] = step({**scans, OURS: ours.scan_cells}, rows.cells)
        gets = {name: partial(each.get, keys) for name, each in contenders.items()}
        measured["get"] = step(gets, GETS)
        measured["get_many"] = step(
            {OURS: partial(ours.get_many, keys), RAW: partial(raw.get_many, keys)}, GETS
        )
    finally:
        for each in contenders.values():
            each.close()
    return measured
