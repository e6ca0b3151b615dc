"""Compaction in steps: the same result as in one go, and no harm where it is not continued."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable.errors import FamilyNotFound
from webtable.store.rocks import compaction
from webtable.store.scan import ALL_VERSIONS, Scan

ROWS = 300


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_CHUNK", 20)
    monkeypatch.setattr(compaction, "_MERGED_BYTES", 2_000)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[webtable.Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        store.create_table("t", "f", "g")
        fill(store)
        yield store


def fill(store: webtable.Store) -> None:
    """Writes each row three times and deletes every tenth, in several files."""
    table = store.table("t")
    for timestamp in (1, 2, 3):
        with table.batch() as batch:
            for number in range(ROWS):
                value = b"%d" % timestamp
                batch.put(b"%04d" % number, {b"f:q": value, b"g:q": value}, timestamp=timestamp)
        table.flush()
    for number in range(0, ROWS, 10):
        table.delete(b"%04d" % number)


def stored(store: webtable.Store, family: str) -> int:
    scan = Scan(columns=(family.encode(),), versions=ALL_VERSIONS, raw=True)
    return sum(len(row.raw_cells) for row in store.table("t").scan(scan))


def visible(store: webtable.Store) -> list[tuple[bytes, object]]:
    return [(row.key, row.raw_cells) for row in store.table("t").scan()]


def test_all_steps_give_the_result_of_a_compaction(store: webtable.Store) -> None:
    before = visible(store)
    assert stored(store, "f") > ROWS
    steps = sum(1 for _ in store.admin.compact_in_steps("t", "f"))
    assert steps > ROWS * 3 // 20  # chunks of cells, and then ranges of files
    assert visible(store) == before
    assert stored(store, "f") == ROWS - ROWS // 10
    assert stored(store, "g") > ROWS


def test_a_compaction_that_is_not_continued_does_no_harm(store: webtable.Store) -> None:
    before = visible(store)
    for taken in (0, 1, 3, 40):
        steps = store.admin.compact_in_steps("t", "f")
        for _ in range(taken):
            next(steps)
            assert store.admin.compaction_state("t") == "MAJOR"
        steps.close()
        assert store.admin.compaction_state("t") == "NONE"
        assert visible(store) == before
    assert sum(1 for _ in store.admin.compact_in_steps("t", "f")) > 0
    assert stored(store, "f") == ROWS - ROWS // 10


def test_writes_between_the_steps_stay(store: webtable.Store) -> None:
    table = store.table("t")
    for number, _ in enumerate(store.admin.compact_in_steps("t", "f")):
        table.put(b"%04d" % number, {b"f:q": b"new"}, timestamp=9)
    written = [row.value(b"f:q") for row in table.scan(limit=number)]
    assert written == [b"new"] * number


def test_an_unknown_family_is_an_error(store: webtable.Store) -> None:
    with pytest.raises(FamilyNotFound):
        next(store.admin.compact_in_steps("t", "x"))
