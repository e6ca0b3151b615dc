"""Writers killed with -9 leave clean indexes, and tidy ones after the next write and a repair."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import webtable
from tests.index.child import ROWS
from tests.index.people import CITY, MAIL, AheadClock, create_people, make_people
from webtable import Store
from webtable.index.build_and_verify import verify
from webtable.index.indexed_table import Change
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.local.hbase import LocalHBase

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
ROOT = Path(__file__).parents[2]


@contextmanager
def writer(location: str, seed: int) -> Iterator[subprocess.Popen[str]]:
    """A process that writes, and has begun; killed with -9 when the block ends."""
    command = [sys.executable, "-m", "tests.index.child", location, str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            yield child
            assert child.poll() is None, "the writer ended by itself"
        finally:
            child.kill()


def let_work(child: subprocess.Popen[str], writes: int) -> None:
    """Waits until the writer has made so many writes, and is inside the next."""
    assert child.stdout is not None
    for _ in range(writes):
        assert child.stdout.readline() == "wrote\n"


def check_after_a_kill(store: Store, chance: random.Random) -> None:
    """What verify says at once, after one more write to each row, and after a repair."""
    people = make_people(store)
    report = verify(people)
    assert report.is_clean, report
    people.write_many([(b"row%d" % n, Change()) for n in range(ROWS)])
    report = verify(people)
    assert report.is_clean
    assert report.pending == 0
    if chance.random() < 0.5:
        later = make_people(store, clock=AheadClock(REPAIR_AGE_MS + 60_000))
        assert verify(later, repair=True).is_clean
        assert verify(later).is_tidy
    shown = {hit.row for hit in people.find("people_by_city")}
    states = people.read_states([b"row%d" % n for n in range(ROWS)])
    assert shown == {state.row for state in states if CITY in state.facts}
    mails = [state.facts[MAIL] for state in states if MAIL in state.facts]
    assert len(mails) == len(set(mails))
    assert {hit.key for hit in people.find("people_by_mail")} == set(mails)


def test_a_killed_writer_of_an_embedded_store(tmp_path: Path) -> None:
    chance, location = random.Random(1), str(tmp_path / "store")
    with webtable.open(location) as store:
        create_people(store)
    for _ in range(100 if SOAK else 4):
        with writer(location, chance.getrandbits(30)) as child:
            let_work(child, chance.randrange(200))
        with webtable.open(location) as store:
            check_after_a_kill(store, chance)


@pytest.mark.hbase
def test_killed_writers_on_hbase(hbase_location: str, local_hbase: LocalHBase | None) -> None:
    chance = random.Random(2)
    location = f"{hbase_location}?namespace=killed_{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        create_people(store)
        for _ in range(50 if SOAK else 2):
            with (
                writer(location, chance.getrandbits(30)) as one,
                writer(location, chance.getrandbits(30)) as other,
            ):
                let_work(one, chance.randrange(20))
                let_work(other, chance.randrange(20))
            check_after_a_kill(store, chance)
        if local_hbase is None:
            for name in store.tables():
                store.drop_table(name)
