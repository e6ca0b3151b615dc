"""Costs of the store other than speed: opening it, starting the command, memory.

Steps that measure a process run in a process of their own:
`python -m benchmarks.footprint STEP PATH` does one step and prints its figures as JSON.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import webtable
from benchmarks.harness import Bench

__all__ = ["run"]

GIGABYTE = 1_000_000_000
FAMILIES = [f"family{number:02}" for number in range(30)]


def run(bench: Bench) -> None:
    """Adds the footprint figures of the store."""
    bench.say("store: memory with 30 families")
    memory = _child("memory", bench.scratch / "memory")
    bench.limit("store peak memory, 30 families, 1 GB", memory["megabytes"], "MB", 500)
    bench.say("store: opening 1 GB")
    _child("fill", bench.scratch / "large")
    opened = [_child("open", bench.scratch / "large") for _ in range(9)]
    seconds = statistics.median(each["seconds"] for each in opened)
    bench.limit("store open, 1 GB", seconds * 1000, "ms", 50)
    opened = [_child("open", bench.scratch / "memory") for _ in range(9)]
    seconds = statistics.median(each["seconds"] for each in opened)
    bench.limit("store open, 1 GB in 30 families", seconds * 1000, "ms", 50)
    bench.say("webtable --help")
    bench.limit("webtable --help", _command_seconds("--help"), "s", 0.25)
    bench.say("webtable shell: the first command")
    with webtable.open(str(bench.scratch / "shell")) as store:
        store.create_table("pages", "content", "metadata")
    first = ("shell", "--store", str(bench.scratch / "shell"), "-c", "list")
    bench.limit("webtable shell, first command", _command_seconds(*first), "s", 0.4)


def _child(step: str, path: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.footprint", step, str(path)],
        stdout=subprocess.PIPE,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _command_seconds(*arguments: str) -> float:
    """Returns the seconds of a command, from the start of its process to its end."""
    command = Path(sys.executable).with_name("webtable")
    times = []
    for _ in range(11):
        started = time.perf_counter()
        subprocess.run([command, *arguments], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def memory(path: str) -> dict[str, float]:
    """Writes and reads a gigabyte over 30 families, and returns the peak memory."""
    chance = random.Random(1)
    noise = chance.randbytes(2_000_000)
    count = GIGABYTE // (1000 * len(FAMILIES)) + 1
    columns = [f"{family}:q".encode() for family in FAMILIES]
    with webtable.open(path) as store:
        table = store.create_table("pages", *FAMILIES)
        with table.batch(size=100) as batch:
            for number in range(count):
                at = chance.randrange(len(noise) - 40_000)
                values = {c: noise[at + i : at + i + 1000] for i, c in enumerate(columns)}
                batch.put(b"row%08d" % number, values)
        cells = sum(len(row.raw_cells) for row in table.scan())
        assert cells == count * len(FAMILIES), f"{cells} cells"
        for _ in range(2000):
            assert table.get(b"row%08d" % chance.randrange(count)) is not None
    return {"megabytes": peak_megabytes(), "cells": cells}


def peak_megabytes() -> float:
    """Returns the peak resident memory of this process.

    Not `getrusage`: its figure survives exec, so a child starts with the peak of its parent.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise AssertionError("the kernel does not report the peak of resident memory")


def fill(path: str) -> dict[str, float]:
    """Creates a store of one gigabyte: 50,000 pages of 20 KB with a few small cells each."""
    chance = random.Random(2)
    noise = chance.randbytes(4_000_000)
    with webtable.open(path) as store:
        table = store.create_table("pages", "content", "metadata")
        with table.batch(size=100) as batch:
            for number in range(50_000):
                at = chance.randrange(len(noise) - 20_000)
                values = {b"content:html": noise[at : at + 20_000], b"metadata:status": b"200"}
                batch.put(
                    b"row%08d" % chance.getrandbits(26), values | {b"metadata:n": b"%d" % number}
                )
    return {"megabytes": sum(each.stat().st_size for each in Path(path).rglob("*")) / 1e6}


def open_once(path: str) -> dict[str, float]:
    """Opens the store and reads a row; importing and reading are not part of the time."""
    import_module("webtable.store.rocks.engine")
    started = time.perf_counter()
    with webtable.open(path, create=False) as store:
        seconds = time.perf_counter() - started
        assert next(store.table("pages").scan(limit=1), None) is not None
    return {"seconds": seconds}


STEPS: dict[str, Callable[[str], dict[str, float]]] = {
    "fill": fill,
    "memory": memory,
    "open": open_once,
}


if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](sys.argv[2])))
