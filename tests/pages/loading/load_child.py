"""A process that starts loaders to be killed: `python -m tests.pages.loading.load_child`.

It has everything imported, and forks at every line that it reads: location, number of workers and
files, with tabs between them. Where the store has a link index, that is kept.
It prints the process id, and a line after each batch that was stored; at the end how the loader
ended. To start Python again for each of them would take longer than to load.
"""

from __future__ import annotations

import os
import sys

import webtable
from webtable.links.link_index import LinkIndex
from webtable.links.schema import INDEX_TABLE
from webtable.links.updating import embedded_counts
from webtable.links.updating.hook import LinkHook
from webtable.pages.loading import capture_batches
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

BATCH_CAPTURES = 20
MOST_MARKED = 90


def say(line: str) -> None:
    # In one piece: a kill between a line and its end would join it to the next line.
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


def load(location: str, count: int, files: list[str]) -> None:
    capture_batches.BATCH_CAPTURES = BATCH_CAPTURES
    embedded_counts._MOST_MARKED = MOST_MARKED
    with webtable.open(location, create=False) as store:
        pages = PageTable.open(store, parse_stored)
        if INDEX_TABLE in store.tables():
            pages.hook = LinkHook(LinkIndex.open(pages))
        loader = Loader(pages, workers=count, on_progress=lambda *_: say("stored"))
        say(f"done {loader.load(files).captures}")


def main() -> None:
    for line in sys.stdin:
        location, count, *files = line.rstrip("\n").split("\t")
        child = os.fork()
        if not child:
            load(location, int(count), files)
            os._exit(0)
        say(f"pid {child}")
        _, status = os.waitpid(child, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
