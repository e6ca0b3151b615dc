"""Loaders killed with -9 while the link index is kept: it is what the stored pages give."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.links.changing import write_crawl
from tests.links.naive import differences
from tests.pages.loading.test_load_kill import LoaderProcess
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

KILLS = 250 if os.environ.get("WEBTABLE_SOAK") else 25
PAGES = 80


@pytest.fixture
def loader() -> Iterator[LoaderProcess]:
    with LoaderProcess() as process:
        yield process


@pytest.fixture
def crawls(tmp_path: Path) -> list[Path]:
    """The crawls of three days; the one of the middle is loaded last."""
    files = [tmp_path / f"{day}.jsonl" for day in (1, 3, 2)]
    for path in files:
        write_crawl(path, PAGES, int(path.stem))
    return files


def test_kills_of_a_loader_that_keeps_links(
    loader: LoaderProcess, crawls: list[Path], tmp_path: Path
) -> None:
    with webtable.open(str(tmp_path / "empty")) as store:
        LinkIndex.create(PageTable.create(store, parse_stored, profile="archive"))
    chance, kills, rounds, left = random.Random(11), 0, 0, 0
    while kills < KILLS:
        rounds += 1
        location = str(tmp_path / f"store{rounds}")
        shutil.copytree(tmp_path / "empty", location)
        while kills < KILLS:
            loader.start(location, crawls)
            # A file that is done counts as a batch, too: six of them are more than all three.
            if not loader.kill_after(chance.randrange(1, 7), chance.uniform(0, 0.03)):
                break
            kills += 1
            if kills % 5 == 0:
                left += check_after_kill(location)
        else:
            loader.start(location, crawls)
            assert loader.end() == 0
        with webtable.open(location) as store:
            index = LinkIndex.open(PageTable.open(store, parse_stored))
            assert differences(index) == []
            assert verify_links(index).is_clean
        shutil.rmtree(location)
    assert left > 0  # some were killed with work left, which others found


def check_after_kill(location: str) -> int:
    """Drains what a load left that was killed, and compares; returns how much there was."""
    with webtable.open(location) as store:
        index = LinkIndex.open(PageTable.open(store, parse_stored))
        drained = LinkHook(index).drain()
        assert differences(index) == []
        return drained.marks
