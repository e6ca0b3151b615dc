"""The group `pages`: loading crawls against the ceiling of reading and parsing them, and questions.

`CORPUS=DIR` names a folder of WARC files; without it a made-up crawl is loaded.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import webtable
from benchmarks.harness import Bench, Target
from benchmarks.pages_ceiling import ceiling, warc_files
from webtable.pages.parsing import parse_stored
from webtable.pages.queries import Questions
from webtable.pages.table import PageTable

__all__ = ["run"]

PROCESSES = 2
SAMPLE_PAGES = 3_000
SAMPLE_FILES = 4
ASKED = 200
MOST_MS = {"p50": 5.0, "p99": 50.0}
MOST_MEMORY = 1_000.0


def run(bench: Bench) -> None:
    """Measures loading and questions."""
    files = _files(bench)
    packed = sum(path.stat().st_size for path in files)
    ours: list[float] = []
    most: list[float] = []
    location = ""
    for turn in range(bench.rounds):
        bench.say(f"pages: round {turn + 1} of {bench.rounds}")
        location = str(bench.scratch / f"pages-{turn}")
        pages, seconds, memory = _load(location, files)
        ours.append(pages / seconds)
        most.append(ceiling(files, PROCESSES).pages_per_second)
        bench.limit(f"pages load, peak memory, round {turn + 1}", memory, "MB", MOST_MEMORY)
    bench.compare("pages load", "pages/s", ours, {"reading and parsing": (most, Target(0.4))})
    _ask(bench, location)
    _weigh(bench, location, packed)


def _files(bench: Bench) -> list[Path]:
    if corpus := os.environ.get("CORPUS"):
        found = warc_files(Path(corpus))
        if not found:
            raise SystemExit(f"no WARC files under {corpus}")
        return found
    share = 10 if bench.is_quick else 1
    files = []
    for number in range(SAMPLE_FILES):
        path = bench.scratch / f"sample-{number}.warc.gz"
        count = SAMPLE_PAGES // SAMPLE_FILES // share
        _webtable("sample", "--pages", str(count), "--seed", str(number), str(path))
        files.append(path)
    return files


def _webtable(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "webtable", *arguments], check=True, capture_output=True)


_MEASURED = """
import json, resource, sys, time
import webtable
from webtable.pages.ingest import Loader
from webtable.pages.parsing import parse_stored
from webtable.pages.table import PageTable
if __name__ == "__main__":
    location, workers, *files = sys.argv[1:]
    with webtable.open(location) as store:
        pages = PageTable.create(store, parse_stored, profile="archive")
        began = time.perf_counter()
        report = Loader(pages, workers=int(workers)).load(files)
        seconds = time.perf_counter() - began
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    workers_most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps([report.captures, seconds, (own + workers_most * int(workers)) / 1000]))
"""


def _load(location: str, files: list[Path]) -> tuple[int, float, float]:
    """Loads files in a process of its own; returns captures, seconds and megabytes."""
    script = Path(location).with_suffix(".py")
    script.write_text(_MEASURED, encoding="utf-8")
    # The process that stores is one of them.
    done = subprocess.run(
        [sys.executable, str(script), location, str(PROCESSES), *map(str, files)],
        check=True,
        capture_output=True,
        text=True,
    )
    captures, seconds, memory = json.loads(done.stdout.strip().splitlines()[-1])
    return captures, seconds, memory


def _ask(bench: Bench, location: str) -> None:
    with webtable.open(location, read_only=True) as store:
        asked = Questions(PageTable.open(store, parse_stored))
        questions: dict[str, Callable[[], object]] = {
            "largest": asked.largest,
            "errors": asked.errors,
            "modified": asked.modified,
            "redirects": asked.redirects,
            "dead ends": asked.dead_ends,
            "outdated": lambda: asked.outdated("20990101"),
        }
        for name, question in questions.items():
            took = []
            for _ in range(ASKED):
                began = time.perf_counter()
                question()
                took.append((time.perf_counter() - began) * 1000)
            shown = {"p50": statistics.median(took), "p99": statistics.quantiles(took, n=100)[98]}
            for share, milliseconds in shown.items():
                bench.limit(f"pages {name}, {share}", milliseconds, "ms", MOST_MS[share])


def _weigh(bench: Bench, location: str, packed: int) -> None:
    with webtable.open(location) as store:
        for name in store.tables():
            store.table(name).major_compact()
        sizes = {name: store.table(name).stats().disk_bytes or 0 for name in store.tables()}
    total = sum(sizes.values())
    indexes = sum(size for name, size in sizes.items() if name.endswith("_idx"))
    bench.limit("pages, disk of everything", total / 1e6, "MB", packed / 1e6)
    bench.limit("pages, disk of indexes", indexes / 1e6, "MB", packed / 5e6)
