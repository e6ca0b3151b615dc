"""The group `pages`: loading crawls against the ceiling of reading and parsing them, and queries.

`CORPUS=DIR` names a folder of WARC files; without it a made-up crawl is loaded.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import webtable
from benchmarks.harness import Bench, Target
from benchmarks.pages_ceiling import ceiling, warc_files
from benchmarks.pages_peers import peers
from webtable.pages.asking.queries import PageQueries
from webtable.pages.formats.crawl_files import read_captures
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

__all__ = ["milliseconds_of", "queries_of", "run", "sample_files"]

PROCESSES = 2
SAMPLE_PAGES = 3_000
SAMPLE_FILES = 4
FEW = 10_000
FOR_PEERS = 2_000
QUERY_RUNS = 200
MOST_MS = {"p50": 5.0, "p99": 50.0}
MOST_MEMORY = 1_000.0


def run(bench: Bench) -> None:
    """Measures loading and queries."""
    files = _files(bench)
    packed = sum(path.stat().st_size for path in files)
    ours: list[float] = []
    most: list[float] = []
    location, captures = "", 0
    for turn in range(bench.rounds):
        bench.say(f"pages: round {turn + 1} of {bench.rounds}")
        location = str(bench.scratch / f"pages-{turn}")
        captures, seconds, memory = _load(location, files)
        ours.append(captures / seconds)
        most.append(ceiling(files, PROCESSES).pages_per_second)
        bench.limit(f"pages load, peak memory, round {turn + 1}", memory, "MB", MOST_MEMORY)
    bench.compare("pages load", "pages/s", ours, {"reading and parsing": (most, Target(0.4))})
    _grow(bench, files, captures, statistics.median(ours))
    _ask(bench, location)
    _weigh(bench, location, packed)
    _meet_peers(bench, files, captures)


def _grow(bench: Bench, files: list[Path], captures: int, rate: float) -> None:
    """Loads the beginning of each file for comparison: a large store must not be slower."""
    if captures < 2 * FEW:
        return
    few = _beginnings(bench, files, FEW / captures)
    count, seconds, memory = _load(str(bench.scratch / "few-pages"), few)
    name = f"pages load, {captures:,} captures against {count:,}"
    bench.compare(name, "pages/s", [rate], {"the beginnings": ([count / seconds], Target(0.8))})
    bench.limit(f"pages load, peak memory, {count:,} captures", memory, "MB", MOST_MEMORY)


def _meet_peers(bench: Bench, files: list[Path], captures: int) -> None:
    """Loads the beginnings of the files with other programs; some need 10 ms for each page."""
    few = _beginnings(bench, files, min(1.0, FOR_PEERS / captures))
    count, seconds, _ = _load(str(bench.scratch / "pages-like-peers"), few)
    for name, peer in peers(few, bench.scratch, count).items():
        name_shown = f"pages load of {count:,} captures"
        bench.compare(name_shown, "pages/s", [count / seconds], {name: ([peer.rate], None)})
        bench.say(f"pages: {name} leaves {peer.disk_bytes / 1e6:,.1f} MB")


def _beginnings(bench: Bench, files: list[Path], share: float) -> list[Path]:
    folder = Path(tempfile.mkdtemp(dir=bench.scratch))
    return [_beginning(path, folder / f"{n}-{path.name}", share) for n, path in enumerate(files)]


def _beginning(path: Path, copy: Path, share: float) -> Path:
    """Copies a share of the records at the beginning of a file."""
    end = 0
    for item in read_captures(path):
        end = item.after.offset
        if end >= path.stat().st_size * share:
            break
    with path.open("rb") as file:
        copy.write_bytes(file.read(end))
    return copy


def _files(bench: Bench) -> list[Path]:
    if corpus := os.environ.get("CORPUS"):
        found = warc_files(Path(corpus))
        if not found:
            raise SystemExit(f"no WARC files under {corpus}")
        return found
    return sample_files(bench.scratch, is_quick=bench.is_quick)


def sample_files(folder: Path, *, is_quick: bool) -> list[Path]:
    """Writes a made-up crawl into a folder."""
    count = SAMPLE_PAGES // SAMPLE_FILES // (10 if is_quick else 1)
    files = []
    for number in range(SAMPLE_FILES):
        path = folder / f"sample-{number}.warc.gz"
        arguments = ["sample", "--pages", str(count), "--seed", str(number), str(path)]
        command = [sys.executable, "-m", "webtable", *arguments]
        subprocess.run(command, check=True, capture_output=True)
        files.append(path)
    return files


_MEASURED = """
import json, resource, sys, time
import webtable
from webtable.pages.loading.loader import Loader
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.page_table import PageTable
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


def queries_of(pages: PageTable) -> dict[str, Callable[[], object]]:
    """Returns every query that reads an index, for its first 20 results, and two by row keys."""
    queries = PageQueries(pages)
    page = queries.largest().items[0]
    host = page.url.split("/")[2]
    return {
        "largest": queries.largest,
        "errors": queries.errors,
        "modified": queries.modified,
        "modified in a domain": lambda: queries.modified(domain=host),
        "redirects": queries.redirects,
        "dead ends": queries.dead_ends,
        "outdated": lambda: queries.outdated("20990101"),
        "inlinked": queries.inlinked,
        "duplicates": queries.duplicates,
        "duplicates in a domain": lambda: queries.duplicates(domain=host),
        "pages of a domain": lambda: queries.under(host),
        "page": lambda: pages.page(page.url),
    }


def milliseconds_of(calls: Mapping[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """Returns how long each run of each call took; the calls take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - began) * 1000)
    return times


def _ask(bench: Bench, location: str) -> None:
    with webtable.open(location, read_only=True) as store:
        pages = PageTable.open(store, parse_stored)
        for name, times in milliseconds_of(queries_of(pages), QUERY_RUNS).items():
            shown = {
                "p50": statistics.median(times),
                "p99": statistics.quantiles(times, n=100)[98],
            }
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
