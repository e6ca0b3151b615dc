"""Four loaders at once keep the link index while region servers die: nothing differs afterwards."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.faults.conftest import IS_SOAK
from tests.links.changing import write_crawl
from tests.links.naive import differences
from tests.pages.loading.test_load_kill import LoaderProcess
from webtable import Store
from webtable.index.write_protocol import SystemClock
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.links.write_protocol_rules import INTENT_AGE_MS
from webtable.local.hbase import LocalHBase
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

pytestmark = pytest.mark.hbase

LOADERS = 4
PAGES = 400 if IS_SOAK else 40
KILLS = 12 if IS_SOAK else 1


class LaterClock(SystemClock):
    """Returns a time so late that the process which left an intent is surely gone."""

    def now_ms(self) -> int:
        return super().now_ms() + INTENT_AGE_MS + 60_000


@pytest.fixture
def store(patient: LocalHBase) -> Iterator[Store]:
    with webtable.open(f"{patient.location}?namespace=links_{uuid.uuid4().hex[:8]}") as store:
        pages = PageTable.create(store, parse_stored, keys="readable", profile="archive")
        LinkIndex.create(pages)
        yield store
        for name in store.tables():
            store.drop_table(name)


def test_loaders_keep_links_while_servers_die(
    patient: LocalHBase, store: Store, tmp_path: Path
) -> None:
    files = [tmp_path / f"{day}.jsonl" for day in range(1, 4)]
    for day, path in enumerate(files, 1):
        write_crawl(path, PAGES, day)
    chance = random.Random(13)
    loaders = [LoaderProcess() for _ in range(LOADERS)]
    try:
        for process in loaders:
            process.start(store.location, chance.sample(files, len(files)))
        assert loaders[0].stores(1)
        for _ in range(KILLS):
            kill_server(patient, chance)
        for process in loaders:
            # One that gave up is started again, as a user would.
            while process.end() != 0:
                process.start(store.location, chance.sample(files, len(files)))
    finally:
        for process in loaders:
            process.__exit__(None, None, None)
    pages = PageTable.open(store, parse_stored)
    index = LinkIndex.open(pages, clock=LaterClock())
    LinkHook(index).drain()
    assert differences(index) == []
    report = verify_links(index)
    assert report.is_clean, report
    assert report.pages == PAGES


def kill_server(cluster: LocalHBase, chance: random.Random) -> None:
    """Kills a region server with -9, and starts it again."""
    processes = cluster.status().processes
    alive = [p.name for p in processes if p.name.startswith("region-server-") and p.pid]
    victim = chance.choice(alive)
    cluster.kill(victim)
    if IS_SOAK:
        time.sleep(chance.uniform(0, 8))  # for how long it is dead; nothing is waited for
    cluster.start(victim)
