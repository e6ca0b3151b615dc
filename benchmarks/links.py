"""The group `links`: loading with the link index, rebuilding it, and queries about links.

`CORPUS=DIR` names a folder of WARC files; without it a made-up crawl is loaded. Each load
and rebuild runs in a process of its own, and is compared with the ceiling of the pages, see
`pages_ceiling.py`. Rates are measured by wall time and by processor time; the latter are useful
even while other programs use the machine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import webtable
from benchmarks.harness import Bench, Target
from benchmarks.links_recrawl import every_nth, recrawl
from benchmarks.pages import sample_files
from benchmarks.pages_ceiling import Work, ceiling, warc_files
from webtable.links.asking.link_history import LinkHistory
from webtable.links.asking.link_problems import LinkReports
from webtable.links.asking.link_queries import LinkQueries
from webtable.links.asking.link_reader import LinkPick
from webtable.links.asking.redirects import redirects
from webtable.links.link_index import LinkIndex
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

__all__ = ["run"]

PROCESSES = 2
QUERY_RUNS = 100
MOST_P50_MS = 5.0
MOST_BYTES = 60.0
CEILING = "reading and parsing"
PUBLISHED = "the seed's system, as published"
PUBLISHED_PAGES, PUBLISHED_LINKS = 12.0, 154.0


class Done(NamedTuple):
    """The work of a process: pages, links, wall time, and processor time.

    `steady` is the rate without the time before the first batch, such as starting processes.
    """

    pages: int
    links: int
    seconds: float
    steady: float
    processor_seconds: float
    megabytes: float


def run(bench: Bench) -> None:
    """Measures loading, rebuilding, queries and disk."""
    files = _files(bench)
    whole = bench.scratch / "links-whole"
    loads, rebuilds, again, few, most = [], [], [], [], []
    later = recrawl(files, bench.scratch / "later", changed=0.01)
    small = every_nth(files, bench.scratch / "tenth", 10)
    for turn in range(bench.rounds):
        bench.say(f"links: round {turn + 1} of {bench.rounds}")
        whole = bench.scratch / f"links-{turn}"
        loads.append(_child("load", whole, files))
        most.append(ceiling(files, PROCESSES))
        rebuilds.append(_child("rebuild", whole))
        again.append(_child("load", whole, later))
        few.append(_child("load", bench.scratch / f"links-tenth-{turn}", small))
    _against(bench, "links load", loads, most, 0.25)
    _against(bench, "links rebuild", rebuilds, most, 0.5)
    _against(bench, "links load again, 1 % changed", again, most, 0.5)
    bench.compare(
        "links load, ten times the pages",
        "pages/s",
        [each.steady for each in loads],
        {"a tenth of them": ([each.steady for each in few], Target(0.75))},
    )
    megabytes = max(each.megabytes for each in (*loads, *again))
    bench.limit("links load, peak memory", megabytes, "MB", 1_000)
    bench.limit("links rebuild, peak memory", max(e.megabytes for e in rebuilds), "MB", 1_000)
    _published(bench, loads)
    if second := warc_files(Path(os.environ.get("CORPUS", "-"), "crawl2")):
        bench.say("links: a second crawl, with pages gone, moved and broken, to ask about")
        _child("load", whole, second)
    _ask(bench, str(whole))
    _weigh(bench, str(whole))


def _rate(done: Done) -> float:
    return done.pages / done.seconds


def _against(
    bench: Bench, name: str, ours: Sequence[Done], most: Sequence[Work], target: float
) -> None:
    theirs = [each.pages_per_second for each in most]
    bench.compare(name, "pages/s", [_rate(e) for e in ours], {CEILING: (theirs, Target(target))})
    bench.compare(
        f"{name}, by processor time",
        "pages/s",
        [each.pages / each.processor_seconds for each in ours],
        {CEILING: ([each.pages / each.processor_seconds for each in most], None)},
    )


def _published(bench: Bench, loads: Sequence[Done]) -> None:
    cores = [each.processor_seconds for each in loads]
    for unit, counts, theirs in (
        ("pages", [each.pages for each in loads], PUBLISHED_PAGES),
        ("links", [each.links for each in loads], PUBLISHED_LINKS),
    ):
        rates = [count / seconds for count, seconds in zip(counts, cores, strict=True)]
        peer = {PUBLISHED: ([theirs] * len(rates), None)}
        bench.compare(f"links load, {unit}", f"{unit}/s and core", rates, peer)


def _files(bench: Bench) -> list[Path]:
    if corpus := os.environ.get("CORPUS"):
        first = Path(corpus, "crawl1")
        found = warc_files(first if first.is_dir() else Path(corpus))
        if not found:
            raise SystemExit(f"no WARC files under {corpus}")
        return found
    return sample_files(bench.scratch, is_quick=bench.is_quick)


def _child(step: str, location: Path, files: Sequence[Path] = ()) -> Done:
    """Runs a step in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.links_steps", step, str(location), *map(str, files)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Done(*json.loads(done.stdout.strip().splitlines()[-1]))


def _ask(bench: Bench, location: str) -> None:
    with webtable.open(location, read_only=True) as store:
        index = LinkIndex.open(PageTable.open(store, parse_stored))
        queries, reports, history = LinkQueries(index), LinkReports(index), LinkHistory(index)
        linked = [item.url for item in queries.top(limit=500).items]
        crawled = [url for url in linked if (p := index.pages.page(url)) and p.status == 200]
        page = crawled[len(crawled) // 2]
        domain = page.split("/")[2]
        day = 86_400
        newest = int(time.time())
        calls: dict[str, Callable[[], object]] = {
            "top": queries.top,
            "top of a domain": lambda: queries.top(domain),
            "in, most linked": lambda: queries.inlinks(linked[0]),
            "in": lambda: queries.inlinks(page),
            "in, external": lambda: queries.inlinks(page, LinkPick("external")),
            "out": lambda: queries.outlinks(page),
            "domains": queries.domains,
            "anchors": lambda: queries.anchors(page),
            "in, as of": lambda: history.inlinks(page, newest),
            "out, as of": lambda: history.outlinks(page, newest),
            "changes": lambda: history.changes(page, (newest - 365 * day, newest)),
            "broken": reports.broken,
            "orphans": reports.orphans,
            "dead ends": reports.dead_ends,
            "redirects": lambda: redirects(index),
        }
        for name, call in calls.items():
            times_ms = []
            for _ in range(QUERY_RUNS):
                began = time.perf_counter()
                call()
                times_ms.append((time.perf_counter() - began) * 1000)
            bench.limit(f"links {name}, p50", statistics.median(times_ms), "ms", MOST_P50_MS)


def _weigh(bench: Bench, location: str) -> None:
    with webtable.open(location) as store:
        size = 0
        for name in ("webindex", "webindex_work"):
            store.table(name).major_compact()
            size += store.table(name).stats().disk_bytes or 0
        rows = store.table("webindex").scan(prefix=b"p:", columns=(b"page:incount",))
        links = sum(int(row.value(b"page:incount") or 0) for row in rows)
    bench.limit("links, disk", size / links, "bytes a link", MOST_BYTES)
