"""Removals beside loads, killed with -9: repeated, they leave a store that verifies clean."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.links.changing import write_crawl
from tests.links.naive import differences
from tests.webtable.remove_child import PAGES, url_of
from webtable import WebTable
from webtable.errors import UrlBlocked
from webtable.links.link_index import LinkIndex

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
KILLS = {"rocks": 200 if SOAK else 12, "hbase": 40 if SOAK else 3}
ROOT = Path(__file__).parents[2]


def kill_after(location: str, crawl: Path, seed: int, removals: int) -> set[int]:
    """Runs the child until it has made some removals, and kills it; returns which were complete."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.webtable.remove_child", location, str(crawl), str(seed)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        done = {int(process.stdout.readline()) for _ in range(removals)}
        process.kill()
        done |= {int(line) for line in process.stdout if line.endswith("\n")}
    return done


@pytest.mark.parametrize("engine", ["rocks", pytest.param("hbase", marks=pytest.mark.hbase)])
def test_kills_of_removals_beside_loads(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    location = str(tmp_path / "store")
    if engine == "hbase":
        location = f"{request.getfixturevalue('hbase_location')}?namespace=k{uuid.uuid4().hex[:8]}"
    crawl = tmp_path / "1.jsonl"
    write_crawl(crawl, PAGES, 1)
    with WebTable.create(location) as web:
        web.load(crawl, workers=0)
    chance = random.Random(5)
    removed: set[int] = set()
    for seed in range(KILLS[engine]):
        removed |= kill_after(location, crawl, seed, chance.randrange(1, 12))
        if seed % 4 == 3 or engine == "hbase":
            check(location, {number for number in removed if number % 7 == 0})


def check(location: str, blocked: set[int]) -> None:
    """Repeats the removals of blocked pages, and compares everything with its source."""
    with WebTable.open(location) as web:
        for number in sorted(blocked):
            web.remove(url_of(number), block=True)
            assert web.page(url_of(number)) is None
            with pytest.raises(UrlBlocked):
                web.put(url_of(number), "again")
        web.drain_links()
        if not web.store.capabilities.cluster:
            # On a cluster, the intents of the process that was killed are younger than an exporter
            # finishes; `verify` knows them.
            assert differences(LinkIndex.open(web._table)) == []
        report = web.verify()
        assert report.is_clean, (report.pages.examples, report.links.examples)
        listed = {change.url for change in web.changes() if change.kind != "removed"}
        assert listed == {page.url for page in web.pages()}
        assert web.removals.check_log().broken is None
