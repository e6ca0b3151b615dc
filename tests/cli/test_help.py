"""Help texts and suggestions: what a person sees who does not know the commands yet."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from webtable.cli.links.command_group import ENTRIES, links
from webtable.cli.main import cli


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, arguments, prog_name="webtable")
    return done.exit_code, done.stdout, done.stderr


def test_the_help_text_has_sections_in_order() -> None:
    _, shown, _ = run("--help")
    titles = ["Pages:", "Links:", "Store:", "Cluster:", "Development:"]
    places = [shown.index(f"\n{title}\n") for title in titles]
    assert places == sorted(places)
    pages = shown[places[0] : places[1]]
    for name in ("load", "page", "pages", "diff", "report", "export"):
        assert f"\n  {name} " in pages
    # All summaries begin in the same column.
    summaries = ("Load crawls", "Show links", "List the tables", "Move, split", "Run a real")
    lines = [next(line for line in shown.splitlines() if text in line) for text in summaries]
    columns = {line.index(text[:4]) for line, text in zip(lines, summaries, strict=True)}
    assert len(columns) == 1


@pytest.mark.parametrize("name", ENTRIES)
def test_the_line_in_the_help_of_links_is_the_commands_own(name: str) -> None:
    command = links.get_command(click.Context(links), name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=100) == ENTRIES[name].summary


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("loadd", "x"), "'load'"),
        (("links", "brokenn"), "'broken'"),
        (("report", "largestt"), "'largest'"),
        (("index", "build2"), "'build'"),
        (("pages", "example.com", "--limitt", "3"), "'--limit'"),
        (("links", "top", "--domainn", "x"), "'--domain'"),
        (("tables", "--format", "jsn"), "'json'"),
        (("export", "x", "--as", "wrc"), "'warc'"),
        (("init", "--keys", "readablee"), "'readable'"),
        (("completion", "bsh"), "'bash'"),
    ],
)
def test_a_typing_error_gets_a_suggestion(typed: tuple[str, ...], meant: str) -> None:
    exit_code, shown, message = run(*typed)
    assert (exit_code, shown) == (2, "")
    assert "Did you mean" in message
    assert meant in message
