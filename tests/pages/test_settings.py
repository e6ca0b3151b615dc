"""The settings of a store of pages: their cells, frozen; stores of other formats are rejected."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from webtable import Store, WebTable
from webtable.cli.main import cli
from webtable.errors import AlreadyExists, FormatVersionError
from webtable.links.feed_backfill import LINK_STEPS
from webtable.pages.public_suffixes import newest_list
from webtable.pages.settings import FORMAT, NEEDS, STEPS, read_settings
from webtable.pages.upgrading.upgrade import RUNS

PAGES_COMMANDS = (
    ("page", "example.com"),
    ("pages", "example.com"),
    ("report", "errors"),
    ("links", "top"),
    ("export", "out.warc.gz"),
    ("verify",),
    ("doctor",),
    ("index", "list"),
    ("init",),
)


@pytest.fixture
def location(tmp_path: Path) -> str:
    path = str(tmp_path / "store")
    WebTable.create(path, keys="salted", profile="live").close()
    return path


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    with webtable.open(location) as opened:
        yield opened


def test_the_cells_are_frozen(store: Store) -> None:
    values = dict(read_settings(store))
    suffixes = values.pop(b"a:suffixes")
    assert len(values.pop(b"a:incarnation")) == 16
    assert zlib.decompress(suffixes).decode() == newest_list()
    assert values == {
        b"a:format": b"4",
        b"a:steps": " ".join(STEPS).encode(),
        b"a:needs": NEEDS.encode(),
        b"a:keys": b"salted",
        b"a:profile": b"live",
    }
    assert [*RUNS, *LINK_STEPS] == list(STEPS)


def change(location: str, **values: str) -> None:
    with webtable.open(location) as store:
        cells = {f"a:{name}".encode(): value.encode() for name, value in values.items()}
        store.table("webtable_settings").put(b"pages", cells)


@pytest.mark.parametrize("values", [{"format": "3"}, {"format": "1"}, {"steps": ""}], ids=str)
def test_a_store_that_needs_an_upgrade_is_rejected(
    location: str, values: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    change(location, **values)
    for command in PAGES_COMMANDS:
        refused = CliRunner().invoke(cli, [*command, "--store", location])
        assert refused.exit_code == 6, (command, refused.output)
        assert f"run `webtable upgrade --store {location}`" in refused.stderr
    with pytest.raises(FormatVersionError, match=r"webtable reads format 4|lack 5 steps"):
        WebTable.open(location)
    with webtable.open(location) as store:
        assert len(store.tables()) == 13


@pytest.mark.parametrize(
    "values",
    [{"format": "9", "needs": "7.5.0"}, {"steps": " ".join([*STEPS, "more"]), "needs": "7.5.0"}],
)
@pytest.mark.parametrize("command", ["page example.com", "upgrade"])
def test_a_newer_store_is_rejected_with_the_version_to_install(
    location: str, values: dict[str, str], command: str
) -> None:
    change(location, **values)
    refused = CliRunner().invoke(cli, [*command.split(), "--store", location])
    assert refused.exit_code == 6, refused.output
    assert "install webtable-db 7.5.0 or newer" in refused.stderr
    assert f"this version of webtable reads format {FORMAT}" in refused.stderr


def test_a_store_that_exists_is_not_created(location: str) -> None:
    with pytest.raises(AlreadyExists):
        WebTable.create(location)
