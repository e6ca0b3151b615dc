"""Schema updates killed with -9 between any two steps that change files."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.pages.loading.commands import KILLED, KilledCommands
from webtable.config import Config, SchemaUpdateOptions, load_config
from webtable.operations.schema_update import SchemaUpdate
from webtable.pages.schema import pages_schema
from webtable.store.scan import ALL_VERSIONS
from webtable.store.store import Store
from webtable.webtable import WebTable

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
DROPPING = Config(schema_update=SchemaUpdateOptions(drop_data=True))
URL = "https://www.example.com/"
TABLES = """
[tables.one]
splits = ["m"]
[tables.one.families.a]
versions = 3
[tables.two.families.b]
[tables.webtable.families.content]
blocksize = 8192
"""


@pytest.fixture(scope="module")
def commands() -> Iterator[KilledCommands]:
    started = KilledCommands()
    yield started
    started.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "store"
    now = int(time.time())
    with WebTable.open(path, profile="archive") as web:
        for day in range(5):
            web.put(URL, f"<title>{day}</title>", fetched=now - (5 - day) * 86_400)
    return path


def kills(commands: KilledCommands, filled: Path, tmp_path: Path, *words: str) -> Iterator[str]:
    """Yields copies of the store, on each of which a command was killed at another step."""
    undisturbed = str(tmp_path / "undisturbed")
    shutil.copytree(filled, undisturbed)
    assert commands.run(0, *words, "--store", undisturbed) == 0
    steps = commands.steps
    assert steps > 5
    for last in range(1, steps + 1, 1 if SOAK else max(1, steps // 8)):
        location = str(tmp_path / f"killed{last}")
        shutil.copytree(filled, location)
        assert commands.run(last, *words, "--store", location) == KILLED
        yield location


def bodies(store: Store) -> int:
    (row,) = store.table("webtable").scan(columns=(b"content:html",), versions=ALL_VERSIONS)
    return len(row)


def test_a_change_of_the_profile_is_made_as_a_whole_or_completed_later(
    commands: KilledCommands, filled: Path, tmp_path: Path
) -> None:
    words = ("schema", "profile", "live", "--drop-data")
    ends = set()
    for location in kills(commands, filled, tmp_path, *words):
        with WebTable.open(location, config=Config()) as web:  # in the mode `print`
            store, profile = web.store, web.profile
            has_dropped = bodies(store) < 5
            careful = SchemaUpdate(store)
            careful.apply()
            assert (bodies(store) < 5) is has_dropped  # nothing goes without the switch
            ends.add((profile, has_dropped, careful.diff().is_empty))
            SchemaUpdate(store, DROPPING).apply()
            assert careful.diff().is_empty
            wanted = pages_schema("live" if profile == "live" else "archive", is_embedded=True)
            assert store.describe_table("webtable") == wanted
            assert bodies(store) == (3 if profile == "live" else 5)
            assert web.verify(quick=True).is_clean
    assert ends <= {("archive", False, True), ("live", False, False), ("live", True, True)}
    assert len(ends) > 1


def test_an_apply_is_completed_by_the_next_one(
    commands: KilledCommands, filled: Path, tmp_path: Path
) -> None:
    file = tmp_path / "tables.toml"
    file.write_text(TABLES)
    config = load_config(file)
    for location in kills(commands, filled, tmp_path, "--config", str(file), "schema", "apply"):
        with webtable.open(location) as store:
            SchemaUpdate(store, config).apply()
            assert SchemaUpdate(store, config).diff().is_empty
            assert [region.start for region in store.admin.regions("one")] == [b"", b"m"]
            content = store.describe_table("webtable").family("content")
            assert content is not None
            assert content.blocksize == 8192
            assert bodies(store) == 5
