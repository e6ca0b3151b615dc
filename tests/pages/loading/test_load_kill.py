"""Loaders killed with -9, and several at once: the store is what one undisturbed load makes it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import pytest

import webtable
from tests.pages.loading.loads import contents, stored_cells, write_jsonl, write_revisits
from webtable import Store
from webtable.index.build_and_verify import verify
from webtable.local.hbase import LocalHBase
from webtable.pages.asking.change_feed import ChangeFeed
from webtable.pages.asking.page_feed import PageFeed
from webtable.pages.asking.queries import PageQueries
from webtable.pages.checking.verify import PageReport, verify_pages
from webtable.pages.columns import CHANGED, URL
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.content_revision import decode_changed

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
KILLS = {"rocks": 250 if SOAK else 25, "hbase": 50 if SOAK else 5}
PAGES = 80
ROOT = Path(__file__).parents[3]


class LoaderProcess:
    """Starts loaders, one after the other; see `load_child`."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.pages.loading.load_child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._child = 0

    def __enter__(self) -> LoaderProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._child:
            with suppress(ProcessLookupError):
                os.kill(self._child, 9)
        self._server.communicate(timeout=60)

    def start(self, location: str, files: list[Path], workers: int = 0) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write("\t".join([location, str(workers), *map(str, files)]) + "\n")
        self._server.stdin.flush()
        word, number = self._line().split()
        assert word == "pid"
        self._child = int(number)

    def kill_after(self, batches: int, seconds: float) -> bool:
        """Kills the loader some time after so many batches; says whether it was still at work."""
        if not self.stores(batches):
            self.end()
            return False
        time.sleep(seconds)  # a moment between two batches; nothing is waited for
        with suppress(ProcessLookupError):
            os.kill(self._child, 9)
        return self.end() == -9

    def stores(self, batches: int) -> bool:
        """Waits for so many batches; False where it has none left."""
        return all(self._line() == "stored" for _ in range(batches))

    def end(self) -> int:
        """Waits until the loader has ended, and returns how."""
        while not (line := self._line()).startswith("ended"):
            assert line, "the process that starts loaders has ended"
        self._child = 0
        return int(line.split()[1])

    def _line(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline().rstrip("\n")


@pytest.fixture
def loader() -> Iterator[LoaderProcess]:
    with LoaderProcess() as process:
        yield process


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Revisits of other URLs, and the crawls of three days; that of the middle is loaded last."""
    folder = tmp_path_factory.mktemp("crawls")
    files = [folder / f"{day}.jsonl" for day in (1, 3, 2)]
    for path in files:
        day = int(path.stem)
        write_jsonl(path, PAGES, day=day, version=day, domain="killed.example")
    revisits = folder / "revisits.warc.gz"
    write_revisits(revisits, PAGES, domain="killed.example")
    # The revisits come before the bodies that they repeat.
    return [revisits, *files]


def load(location: str, files: list[Path], keys: str = "readable") -> None:
    with webtable.open(location) as store:
        pages = PageTable.create(store, parse_stored, keys=keys, profile="archive")
        done = Loader(pages, workers=0).load([str(path) for path in files])
        assert done.captures == PAGES * len(files)


def check(store: Store) -> PageReport:
    """Nothing is wrong or waits to be done, and no place in a file is remembered."""
    pages = PageTable.open(store, parse_stored)
    check_feed(pages)
    report = verify_pages(pages)
    assert report.is_clean, report
    assert not report.indexes.pending, report
    assert list(store.table("webtable_settings").scan(prefix=b"load:")) == []
    return report


def check_feed(pages: PageTable) -> None:
    """The feed has each page once, at its newest content revision."""
    fed = [(each.url, each.revision) for each in ChangeFeed(PageFeed(pages))]
    stored = [
        (row.values()[URL].decode(), decode_changed(row.values()[CHANGED]).number)
        for row in pages.rows.table.scan(columns=(URL, CHANGED))
    ]
    assert len(stored) >= PAGES
    assert sorted(fed) == sorted(stored)


def test_kills_of_a_loader_embedded(
    loader: LoaderProcess, crawls: list[Path], tmp_path: Path
) -> None:
    load(str(tmp_path / "undisturbed"), crawls)
    expected = contents(str(tmp_path / "undisturbed"))
    with webtable.open(str(tmp_path / "empty")) as store:
        PageTable.create(store, parse_stored, profile="archive")
    chance, kills, rounds = random.Random(7), 0, 0
    while kills < KILLS["rocks"]:
        rounds += 1
        location = str(tmp_path / f"store{rounds}")
        shutil.copytree(tmp_path / "empty", location)
        # Now and then with processes that read, which must end with the one that is killed.
        workers = int(rounds % 4 == 0)
        while True:
            loader.start(location, crawls, workers)
            if not loader.kill_after(chance.randrange(5), chance.uniform(0, 0.02)):
                break
            kills += 1
        assert contents(location) == expected
        with webtable.open(location) as store:
            assert check(store).indexes.is_tidy
        shutil.rmtree(location)


@pytest.fixture(scope="module")
def cluster(hbase_location: str, local_hbase: LocalHBase | None) -> Iterator[Store]:
    location = f"{hbase_location}?namespace=loads_{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        PageTable.create(store, parse_stored, keys="readable", profile="archive")
        yield store
        if local_hbase is None:
            for name in store.tables():
                store.drop_table(name)


@pytest.mark.hbase
def test_kills_of_a_loader_on_hbase(
    cluster: Store, loader: LoaderProcess, crawls: list[Path], tmp_path: Path
) -> None:
    load(str(tmp_path / "undisturbed"), crawls)
    chance, kills = random.Random(8), 0
    while kills < KILLS["hbase"]:
        loader.start(cluster.location, crawls)
        kills += loader.kill_after(chance.randrange(3), chance.uniform(0, 0.3))
    loader.start(cluster.location, crawls)
    assert loader.end() == 0
    with webtable.open(str(tmp_path / "undisturbed")) as undisturbed:
        expected = stored_cells(undisturbed, b"example.killed")
    # A loader that was killed while it completed the row of a revisit may leave work pending there.
    verify(PageTable.open(cluster, parse_stored).rows, repair=True)
    # The indexes among them: of these pages no entry is left over. Of others there may be some.
    assert stored_cells(cluster, b"example.killed") == expected
    check(cluster)


@pytest.mark.hbase
def test_several_loaders_at_once_on_hbase(cluster: Store, tmp_path: Path) -> None:
    files = [tmp_path / f"{day}.jsonl" for day in (1, 2, 3)]
    for day, path in enumerate(files, 1):
        write_jsonl(path, PAGES, day=day, version=day, domain="several.example")
    load(str(tmp_path / "undisturbed"), files)
    loaders = [LoaderProcess() for _ in range(3)]
    chance = random.Random(9)
    try:
        for process in loaders:
            process.start(cluster.location, chance.sample(files, len(files)))
        assert [process.end() for process in loaders] == [0, 0, 0]
    finally:
        for process in loaders:
            process.__exit__(None, None, None)
    with webtable.open(str(tmp_path / "undisturbed")) as undisturbed:
        assert told(cluster) == told(undisturbed)
    report = verify_pages(PageTable.open(cluster, parse_stored))
    # An attempt that lost against another loader may leave entries, which no result shows.
    assert report.is_clean, report


def told(store: Store) -> object:
    """What a store says of the pages that several loaders have loaded."""
    pages = PageTable.open(store, parse_stored)
    asked = PageQueries(pages)
    found: list[object] = [asked.under("several.example", limit=PAGES).items]
    found.append(asked.modified(domain="several.example", limit=PAGES).items)
    for number in range(PAGES):
        url = f"https://site{number % 5}.several.example/page{number}"
        captures = pages.captures(url)
        found.append((captures, [pages.content(url, note.time) for note in captures]))
        found.append([pages.links(url, note.time) for note in captures])
    return found
