"""One step of the benchmark of links in a process of its own; prints its figures as JSON.

python -m benchmarks.links_steps load|rebuild STORE [FILE...]
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import webtable
from benchmarks.footprint import peak_megabytes
from webtable.links.checking.rebuild import rebuild
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

WORKERS = 2


def load(location: str, files: list[str]) -> list[float]:
    """Loads files and updates the link index."""
    is_new = not Path(location).exists()
    with webtable.open(location) as store:
        if is_new:
            PageTable.create(store, parse_stored, profile="archive")
        pages = PageTable.open(store, parse_stored)
        pages.hook = LinkHook(LinkIndex.create(pages))
        began = time.perf_counter()
        first: list[float] = []  # when the first batch was stored, and how many pages it had
        loader = Loader(pages, workers=WORKERS, on_progress=lambda *_: note())

        def note() -> None:
            if not first:
                first.extend((time.perf_counter(), loader.report.captures))

        report = loader.load(files)
        ended = time.perf_counter()
    steady = (report.captures - first[1]) / (ended - first[0])
    return [report.captures, report.links, ended - began, steady]


def build(location: str) -> list[float]:
    """Rebuilds the link index."""
    with webtable.open(location) as store:
        index = LinkIndex.open(PageTable.open(store, parse_stored))
        began = time.perf_counter()
        report = rebuild(index)
        seconds = time.perf_counter() - began
        return [report.pages, report.links, seconds, report.pages / seconds]


def main() -> None:
    """Runs the step."""
    step, location, *files = sys.argv[1:]
    done = load(location, files) if step == "load" else build(location)
    usage = [
        resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    processor = sum(each.ru_utime + each.ru_stime for each in usage)
    children = usage[1].ru_maxrss * WORKERS / 1000 if files else 0
    print(json.dumps([*done, processor, peak_megabytes() + children]))


if __name__ == "__main__":
    main()
