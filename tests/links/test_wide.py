"""Pages to which very many link, and pages with very many links: bounded memory, bounded reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import webtable
from tests.links.naive import differences
from tests.links.updating.test_embedded import A, Kept, capture
from webtable.links import schema
from webtable.links.updating.embedded import forget_counts
from webtable.pages.indexes import DIGESTS
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Put
from webtable.store.scan import Get
from webtable.store.store import Store

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
SOURCES = 100_000
TARGETS = 50_000
MEGABYTE = 1 << 20


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        yield store


class Counted:
    """Counts the cells that are read of rows by their keys; nothing may be scanned but marks."""

    def __init__(self, store: Store, patch: pytest.MonkeyPatch) -> None:
        self.cells = 0
        self.scanned: list[str] = []
        engine = type(store._engine)
        read, scan = engine.get_many, engine.scan

        def get_many(own: Any, table: str, gets: list[Get]) -> list[Row | None]:
            found = read(own, table, gets)
            self.cells += sum(len(row.raw_cells) for row in found if row is not None)
            return found

        def scanned(own: Any, table: str, *arguments: Any) -> Any:
            self.scanned.append(table)
            return scan(own, table, *arguments)

        patch.setattr(engine, "get_many", get_many)
        patch.setattr(engine, "scan", scanned)


def test_one_more_link_to_a_page_costs_the_same_as_the_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(store)
    kept.store(capture("https://first.com/", 0, f"{A} x"))
    kept.keeper.drain()
    counted = Counted(store, monkeypatch)
    costs = []
    for name in ("https://few.com/", "https://many.com/"):
        if name == "https://many.com/":
            add_inlinks(kept)
        forget_counts(store)
        kept = Kept(store)
        counted.cells = 0
        counted.scanned.clear()
        kept.store(capture(name, 0, f"{A} x"))
        kept.keeper.drain()
        costs.append(counted.cells)
        # Whether another page has the same body is looked up by its digest, two entries at most.
        assert set(counted.scanned) <= {schema.WORK_TABLE, DIGESTS}
    assert costs[0] == costs[1] > 0
    assert kept.count(A) == 3 + SOURCES


def add_inlinks(kept: Kept) -> None:
    """Lets very many pages link to one, as if each had been stored."""
    row = schema.shard_row(b"p:", schema.uri_of(A), 0)
    with kept.index.table.batch(size=10_000) as batch:
        for number in range(SOURCES):
            batch.add(Put(row, {b"inlinks:com.s/%d" % number: b"+\tx"}, timestamp=1))
    found = kept.index.table.get(row, (schema.COUNT,))
    assert found is not None
    stamp = found.raw_cells[0][1]
    count = int(found.value(schema.COUNT) or 0) + SOURCES
    kept.index.table.put(row, {schema.COUNT: str(count).encode()}, timestamp=stamp)


def test_a_page_with_very_many_links(store: Store) -> None:
    kept = Kept(store)
    links = [f"https://t{number % 50}.com/{number} x" for number in range(TARGETS)]
    before = highest_memory(anew=True)
    kept.store(capture(A, 0, *links))
    kept.keeper.drain()
    kept.store(capture(A, 1, *links[:-10], "https://new.com/ x"))
    kept.keeper.drain()
    assert highest_memory() - before < 400 * MEGABYTE
    assert kept.count("https://t0.com/0") == 1
    assert kept.count("https://new.com/") == 1
    assert kept.count(f"https://t{(TARGETS - 1) % 50}.com/{TARGETS - 1}") is None
    if SOAK:
        assert differences(kept.index) == []


def highest_memory(*, anew: bool = False) -> int:
    """The most memory that this process ever took, or takes from now on."""
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024
