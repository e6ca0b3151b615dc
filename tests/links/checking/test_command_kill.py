"""Commands killed with -9 on a cluster: run again, they leave what an undisturbed store has."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.links.changing import write_crawl
from webtable import WebTable
from webtable.links import Ranked
from webtable.pages import Page

KILLS = 20 if os.environ.get("WEBTABLE_SOAK") else 2
PAGES = 60
BY_HAND = (
    "put 'webtable', '{row}', 'metadata:status_code', '404'",
    "put 'webtable_status_idx', '404_nothing', 'ref:rowkey', 'nothing'",
    "put 'webindex', 't:0:com.example/about', 'rank:', 'p:com.example/about'",
)

pytestmark = pytest.mark.hbase


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "webtable", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def run(*words: str, typed: str = "") -> str:
    with start(*words) as process:
        output, errors = process.communicate(typed, timeout=300)
    assert process.returncode == 0, f"{words}: {output}{errors}"
    return output


def killed(chance: random.Random, longest: float, *words: str) -> float:
    """Kills a command at some moment; returns the seconds that it took, if it ended before."""
    began = time.monotonic()
    with start(*words) as process:
        try:
            process.communicate(timeout=chance.uniform(0.2, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return longest
    return time.monotonic() - began


@pytest.fixture(scope="module")
def location(
    hbase_location: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """A store that was made and loaded by commands that were killed now and then."""
    where = f"{hbase_location}?namespace=k{uuid.uuid4().hex[:8]}"
    crawl: Path = tmp_path_factory.mktemp("killed") / "crawl.jsonl"
    write_crawl(crawl, PAGES, 1)
    yield where, crawl
    with webtable.open(where) as opened:
        for name in opened.tables():
            opened.drop_table(name)


def contents(location: str) -> tuple[list[Page], list[Ranked]]:
    """Returns all pages, and all URLs by the number of pages that link to them."""
    with WebTable.open(location) as web:
        pages = [page for site in range(5) for page in web.pages(f"site{site}.example")]
        return pages, list(web.links.top())


def test_commands_that_were_killed_are_finished_by_the_next(location: tuple[str, Path]) -> None:
    where, crawl = location
    chance, store = random.Random(5), ("--store", where)
    init = ("init", "--keys", "readable", *store)
    longest = 4.0
    killed(chance, longest, *init)
    # The load makes what is missing of the store.
    run("load", str(crawl), *store, "--workers", "0")
    expected = contents(where)
    assert len(expected[0]) == PAGES
    row = expected[0][0].row_key.decode()
    for command in (("links", "rebuild"), ("verify", "--repair")):
        began = time.monotonic()
        run(*command, *store)
        longest = time.monotonic() - began
        for _ in range(KILLS):
            if "--repair" in command:
                run("shell", *store, typed="\n".join(BY_HAND).format(row=row) + "\n")
            longest = min(longest, killed(chance, longest, *command, *store) + 0.3)
            if chance.random() < 0.5:
                run(*command, *store)
                run("verify", *store)
                assert contents(where) == expected
        run(*command, *store)
        run("verify", *store)
        assert contents(where) == expected
