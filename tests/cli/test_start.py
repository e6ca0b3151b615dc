"""What a command imports before it runs: most of the time that a query takes is spent on that."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from webtable.cli.main import cli

LISTING = """
import sys
from webtable.cli.main import cli
try:
    cli.main(sys.argv[1:], prog_name="webtable")
except SystemExit as stop:
    assert not stop.code, stop.code
print(*sorted(sys.modules), file=sys.stderr)
"""
HEAVY = (
    "rich",
    "prompt_toolkit",
    "google.protobuf",
    "selectolax",
    "publicsuffixlist",
    "fastwarc",
    "warcio",
    "multiprocessing",
    "asyncio",
    "webtable.store.hbase",
    "webtable.links.updating.hook",
    "webtable.pages.loading",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("start")
    location, crawl = str(folder / "store"), str(folder / "crawl.warc.gz")
    for arguments in (
        ["sample", crawl, "--pages", "20", "--until", "2026-09-01"],
        ["load", crawl, "--workers", "0"],
    ):
        done = CliRunner().invoke(cli, [*arguments, "--store", location])
        assert done.exit_code == 0, done.output
    return location


def imported(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", LISTING, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_the_help_text_imports_no_store() -> None:
    found = imported("--help")
    assert not {name for name in found if name.startswith(("webtable.store", "webtable.pages"))}
    assert not found & {"msgspec", "rocksdict", *HEAVY}


@pytest.mark.parametrize(
    "arguments",
    [
        ("page", "https://www.example.com/"),
        ("pages", "example.com", "--limit", "5"),
        ("links", "in", "https://www.example.com/"),
        ("links", "top"),
        ("report", "errors"),
    ],
)
def test_a_query_imports_only_what_it_needs(store: str, arguments: tuple[str, ...]) -> None:
    found = imported(*arguments, "--store", store)
    # Whether a link is internal depends on the registered domains of both pages.
    needed = {"publicsuffixlist"} if arguments[:2] == ("links", "in") else set()
    assert {name for name in found if name.startswith(HEAVY)} == needed
