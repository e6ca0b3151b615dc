"""The upper limit of loading pages: the libraries read and parse them, and nothing is stored.

`ceiling` is the simplest program for the task: FastWARC reads, selectolax finds title and
links, ada-url resolves them. `ours` reads and parses the same files by `webtable.pages`, which
does more (charsets, codings, damage, rel, canonical, robots, skipped records), also without
storing. Both use the same files and number of processes; a file is one piece of work.

    python -m benchmarks.pages_ceiling DIR [--processes N] [--rounds N]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import ada_url
from fastwarc.warc import ArchiveIterator, WarcRecordType
from selectolax.lexbor import LexborHTMLParser

from webtable.pages.captures import Capture
from webtable.pages.formats.crawl_files import read_captures
from webtable.pages.html.parser import parse_capture

SUFFIXES = (".warc", ".warc.gz")


class Work(NamedTuple):
    """The work of all processes together."""

    pages: int
    links: int
    seconds: float
    """Wall time."""
    processor_seconds: float

    @property
    def pages_per_second(self) -> float:
        """The rate by wall time."""
        return self.pages / self.seconds

    @property
    def microseconds_a_page(self) -> float:
        """Processor time, which does not depend on other programs."""
        return self.processor_seconds / self.pages * 1e6


def warc_files(directory: Path) -> list[Path]:
    """Returns the WARC files under a directory, largest first, so that processes end together."""
    found = [path for path in directory.rglob("*") if path.name.endswith(SUFFIXES)]
    return sorted(found, key=lambda path: (-path.stat().st_size, path))


def ceiling(files: Sequence[Path], processes: int) -> Work:
    """Reads and parses files by the libraries alone."""
    return _run(_bare_file, files, processes)


def ours(files: Sequence[Path], processes: int) -> Work:
    """Reads and parses files by `webtable.pages`."""
    return _run(_our_file, files, processes)


def _run(
    function: Callable[[Path], tuple[int, int, float]], files: Sequence[Path], processes: int
) -> Work:
    began = time.perf_counter()
    # Spawned, as the loader's workers are: a fork would share the warm caches of the parent.
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(_warm, range(processes))
        began = time.perf_counter()
        results = pool.map(function, files, chunksize=1)
        seconds = time.perf_counter() - began
    pages, links, processor = (sum(column) for column in zip(*results, strict=True))
    return Work(int(pages), int(links), seconds, processor)


def _warm(_: int) -> None:
    LexborHTMLParser("<p>")


def _bare_file(path: Path) -> tuple[int, int, float]:
    began = time.process_time()
    pages = links = 0
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            body = record.reader.read()
            pages += 1
            links += len(_bare_page(record.headers["WARC-Target-URI"], body)[1])
    return pages, links, time.process_time() - began


def _bare_page(url: str, body: bytes) -> tuple[str, list[tuple[str, str]]]:
    document = LexborHTMLParser(body)
    title = document.css_first("title")
    links = []
    for node in document.css("a[href]"):
        try:
            # `[href]` finds xlink:href, too, as the links in pictures have it.
            target = ada_url.join_url(url, node.attributes.get("href") or "")
        except ValueError:
            continue
        links.append((target, node.text()))
    return title.text() if title is not None else "", links


def _our_file(path: Path) -> tuple[int, int, float]:
    began = time.process_time()
    pages = links = 0
    for item in read_captures(path):
        if isinstance(item, Capture):
            pages += 1
            parsed = parse_capture(item)
            links += parsed.hrefs if parsed is not None else 0
    return pages, links, time.process_time() - began


def main() -> None:
    """Prints both rates and the cost of one page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    files = warc_files(options.directory)
    best: dict[str, Work] = {}
    for _ in range(options.rounds):
        for name, function in (("ceiling", ceiling), ("ours", ours)):
            work = function(files, options.processes)
            if name not in best or work.processor_seconds < best[name].processor_seconds:
                best[name] = work
    for name, work in best.items():
        print(
            f"{name:<8} {work.pages:>8,} pages {work.links:>10,} links"
            f" {work.pages_per_second:>8,.0f} pages/s {work.microseconds_a_page:>7.1f} µs a page"
        )
    ratio = best["ceiling"].processor_seconds / best["ours"].processor_seconds
    print(f"reading and parsing reaches {ratio:.2f} of the ceiling, by processor time")


if __name__ == "__main__":
    main()
