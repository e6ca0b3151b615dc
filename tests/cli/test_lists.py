"""What all lists have in common: their options, `--all` in bounded memory, domains with ports."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from webtable.cli.list_options import Listing
from webtable.cli.list_printing import print_results
from webtable.cli.main import cli
from webtable.cli.output_formats import Column
from webtable.cli.shared_options import FORMATS, Format
from webtable.pages.asking.paged_results import QueryCost, ResultPage, Results
from webtable.webtable import WebTable

SITE = "127.0.0.1:8766"
LIST_OPTIONS = {"--limit", "--all", "--after", "--explain"}
# Commands with --format that print one item, or the few parts of one thing.
ONE_ITEM = {
    "balancer run", "cluster", "diff", "doctor", "hbase down", "hbase status", "hbase up",
    "index list", "jobs list", "jobs run", "links drain", "links rebuild", "load", "page",
    "records ghosts", "records verify", "remove purge", "remove target",
    "remove unblock", "region merge", "region move", "region show",
    "region split", "schema apply", "schema diff", "schema profile", "table compaction",
    "table describe", "table is-enabled", "upgrade", "verify",
}  # fmt: skip
# Lists of the store's own things are short: all of them are printed, from --start on.
WITH_START = {
    "changes consumers", "jobs history", "namespace list", "regions", "remove blocked",
    "remove log", "servers", "snapshot list", "stats", "tables",
}  # fmt: skip
# A feed is read to its end, and continues with --since.
FEEDS = {"changes"}
# `pages` has the domain as its argument; `links domains` lists domains, `links dump` all tables.
WITHOUT_DOMAIN = {"pages", "links domains", "links dump"}


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield f"{path}{name}", command
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def options(command: click.Command) -> set[str]:
    return {name for each in command.params for name in each.opts}


LISTS = {
    name: options(command) for name, command in commands(cli) if "--format" in options(command)
}


def test_every_list_has_the_options_of_lists() -> None:
    assert {name for name, found in LISTS.items() if not found >= LIST_OPTIONS} == (
        ONE_ITEM | WITH_START | FEEDS
    )
    assert all(LISTS[name] >= {"--limit", "--since"} for name in FEEDS)
    assert all(LISTS[name] >= {"--limit", "--start"} for name in WITH_START)
    assert {
        name for name, found in LISTS.items() if found >= LIST_OPTIONS and "--domain" not in found
    } == WITHOUT_DOMAIN


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    location = str(tmp_path_factory.mktemp("lists") / "store")
    with WebTable.open(location) as web:
        for port in ("", ":8766"):
            site = f"http://127.0.0.1{port}"
            target = '<a href="http://127.0.0.1:8766/target">text</a>'
            web.put(f"{site}/a", f"<title>{port}</title>{target}")
            web.put(f"{site}/b", "<title>other</title>")
            web.put(f"{site}/gone", "gone", status=404)
        web.put("https://example.com/", '<a href="http://127.0.0.1:8766/gone">gone</a>')
        web.put("https://shop.example.com/old", "", status=301, headers={"Location": "/"})
    return location


def run(store: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments, "--store", store])


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("pages", "127.0.0.1:8766"), "url"),
        (("report", "largest", "--domain", "127.0.0.1:8766"), "url"),
        (("report", "errors", "--domain", "127.0.0.1:8766"), "url"),
        (("report", "modified", "--domain", "127.0.0.1:8766"), "url"),
        (("report", "linking-to", "127.0.0.1:8766/target", "--domain", "127.0.0.1:8766"), "url"),
        (("links", "top", "--domain", "127.0.0.1:8766"), "url"),
        (("links", "orphans", "--domain", "127.0.0.1:8766"), "url"),
        (("links", "dead-ends", "--domain", "127.0.0.1:8766"), "url"),
        (("links", "broken", "--domain", "127.0.0.1:8766"), "target"),
        (("links", "in", "127.0.0.1:8766/target", "--domain", "127.0.0.1:8766"), "source"),
        (("links", "out", "127.0.0.1:8766/a", "--domain", "127.0.0.1:8766"), "target"),
        (("links", "changes", "127.0.0.1:8766", "--since", "2020-01-01"), "target"),
        (
            ("links", "changes", SITE, "--since", "2020-01-01", "--domain", SITE),
            "source",
        ),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else value,
)
def test_a_domain_may_have_a_port(store: str, arguments: tuple[str, ...], key: str) -> None:
    done = run(store, *arguments, "--format", "json")
    assert done.exit_code == 0, done.stderr
    found = [item[key] for item in json.loads(done.stdout)["items"]]
    assert found
    assert all(url.startswith("http://127.0.0.1:8766/") for url in found), found


def test_anchor_texts_of_the_links_of_one_domain(store: str) -> None:
    def anchors(domain: str) -> list[dict[str, object]]:
        arguments = ("links", "anchors", "127.0.0.1:8766/target", "--domain", domain)
        items: list[dict[str, object]] = json.loads(
            run(store, *arguments, "--format", "json").stdout
        )["items"]
        return items

    assert anchors("127.0.0.1") == [{"anchor": "text", "pages": 2}]
    assert anchors("127.0.0.1:8766") == [{"anchor": "text", "pages": 1}]
    assert anchors("example.com") == []


@pytest.mark.parametrize("typed", ["axample.com", "www.exampl.com", "xeample.com", "example.con"])
@pytest.mark.parametrize(
    "command",
    [
        ("pages",),
        ("pages", "--all"),
        ("report", "errors", "--domain"),
        ("links", "top", "--domain"),
        ("links", "broken", "--domain"),
        ("links", "orphans", "--domain"),
        ("links", "dead-ends", "--domain"),
        ("links", "redirects", "--domain"),
    ],
)
def test_a_misspelt_domain_gets_a_suggestion(
    store: str, command: tuple[str, ...], typed: str
) -> None:
    done = run(store, *command, typed)
    assert done.exit_code == 0
    assert f"no page of '{typed}' is stored; did you mean example.com?" in done.stderr


def test_no_suggestion_where_the_domain_is_stored_or_nothing_is_near(store: str) -> None:
    assert "did you mean" not in run(store, "report", "errors", "--domain", "example.com").stderr
    assert "did you mean" not in run(store, "pages", "entirely-different.org").stderr
    assert "`webtable links domains` lists" in run(store, "pages", "entirely-different.org").stderr


def test_a_misspelt_table_gets_a_suggestion(store: str) -> None:
    for arguments in (("stats", "webtabel"), ("table", "describe", "webtabel")):
        done = run(store, *arguments)
        assert done.exit_code == 3
        assert "did you mean 'webtable'?" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "modified", "--since", "2026-10-01", "--until", "2026-09-01"),
        ("links", "changes", "example.com", "--since", "2026-10-01", "--until", "2026-09-01"),
        ("diff", "example.com", "--from", "2026-10-01", "--to", "2026-09-01"),
    ],
)
def test_an_inverted_range_is_rejected(store: str, arguments: tuple[str, ...]) -> None:
    done = run(store, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")


def test_limit_and_all_exclude_each_other(store: str) -> None:
    done = run(store, "pages", "example.com", "--all", "--limit", "3")
    assert done.exit_code == 2
    assert "--limit and --all" in done.stderr


ENDLESS = """
import sys
from webtable.cli.main import cli
from tests.cli.test_lists import print_endless
print_endless(sys.argv[1])
"""


def print_endless(form: Format) -> None:
    """Prints a list that never ends, as `--all` does."""

    def fetch(*, limit: int, after: str | None) -> ResultPage[Column]:
        first = int(after or "0")
        items = [Column(str(number), "x" * 100) for number in range(first, first + limit)]
        return ResultPage(items, str(first + limit), QueryCost())

    listing: Listing = {"limit": None, "everything": True, "after": None, "explain": False}
    columns = (Column("key", "KEY"), Column("title", "TITLE"))
    results = Results("endless", fetch)
    print_results(results, columns, form, listing, item_of=lambda each: each._asdict())


@pytest.mark.parametrize("form", FORMATS)
def test_all_results_are_printed_as_they_are_read(form: str) -> None:
    # An endless list has a first part only if it is printed while it is read.
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, form], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        read = sum(len(process.stdout.read(100_000)) for _ in range(100))
        status = Path(f"/proc/{process.pid}/status").read_text("ascii").splitlines()
        process.kill()
    assert read == 10_000_000
    (peak,) = [line for line in status if line.startswith("VmHWM")]
    assert int(peak.split()[1]) < 150_000  # kB
