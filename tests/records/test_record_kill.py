"""Writers of records killed with -9: no record is half-written, and indexes are clean."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import webtable
from tests.records.record_child import INDEXED, KEYS, Indexed, Plain
from webtable import Store
from webtable.local.hbase import LocalHBase
from webtable.records import Collection

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
ROOT = Path(__file__).parents[2]


def kill_a_writer(location: str, chance: random.Random) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.records.record_child",
        location,
        str(chance.random())[2:9],
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            for _ in range(chance.randrange(1, 40)):
                assert child.stdout.readline() == "wrote\n"
            assert child.poll() is None, "the writer ended by itself"
        finally:
            child.kill()


def check(store: Store) -> None:
    plain, indexed = Collection(store, Plain), Collection(store, Indexed)
    for found in (list(plain.scan()), list(indexed.scan())):
        for record in found:
            value = None if record.text == "None" else int(record.text)
            assert (record.value, record.again) == (value, value)
    report = indexed.verify()
    assert report.is_clean, report
    by_text = sorted(record.number for record in indexed.find(INDEXED))
    assert by_text == sorted(record.number for record in indexed.scan())
    keys = [(f"s{number % 5}", number) for number in range(KEYS)]
    indexed.put_many(Indexed(*key, "None") for key in keys)
    report = indexed.verify()
    assert report.is_clean
    assert report.pending == 0


def test_on_an_embedded_store(tmp_path: Path) -> None:
    chance, location = random.Random(7), str(tmp_path / "store")
    with webtable.open(location) as store:
        Collection(store, Plain), Collection(store, Indexed)
    for _ in range(100 if SOAK else 4):
        kill_a_writer(location, chance)
        with webtable.open(location) as store:
            check(store)


@pytest.mark.hbase
def test_on_a_cluster(hbase_location: str, local_hbase: LocalHBase | None) -> None:
    chance = random.Random(8)
    location = f"{hbase_location}?namespace=killed_{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        Collection(store, Plain), Collection(store, Indexed)
        for _ in range(50 if SOAK else 2):
            kill_a_writer(location, chance)
            check(store)
        if local_hbase is None:
            for name in store.tables():
                store.drop_table(name)
