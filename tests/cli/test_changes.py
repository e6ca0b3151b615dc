"""`webtable changes`: the change feed on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.waiting import wait_for
from webtable import WebTable
from webtable.cli.main import cli


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["changes", *words])


def put(location: str, *names: str) -> None:
    with WebTable.open(location) as web:
        for name in names:
            web.put(f"https://{name}.example/", name)


@pytest.fixture
def location(tmp_path: Path) -> str:
    where = str(tmp_path / "store")
    put(where, "a", "b", "c")
    return where


def test_each_call_continues_where_the_last_one_ended(location: str) -> None:
    first = run("--store", location, "--format", "json", "--limit", "2")
    assert first.exit_code == 0, first.output
    found = json.loads(first.stdout)
    assert [each["url"] for each in found["items"]] == [
        "https://a.example/",
        "https://b.example/",
    ]
    assert {each["kind"] for each in found["items"]} == {"new"}
    cursor = found["next"]
    assert f"continue with --since '{cursor}'" in first.stderr
    second = run("--store", location, "--format", "jsonl", "--since", cursor)
    assert [json.loads(line)["url"] for line in second.stdout.splitlines()] == [
        "https://c.example/"
    ]


def test_a_wrong_cursor_is_a_wrong_use(location: str) -> None:
    wrong = run("--store", location, "--since", "nonsense")
    assert wrong.exit_code == 2
    assert "is not a cursor of changes" in wrong.stderr


def test_follow_needs_a_format_of_lines(location: str) -> None:
    wrong = run("--store", location, "--follow")
    assert wrong.exit_code == 2
    assert "--format jsonl" in wrong.stderr


def test_follow_waits_for_the_next_change(location: str) -> None:
    command = [sys.executable, "-m", "webtable", "changes", "--store", location, "--follow"]
    with subprocess.Popen(
        [*command, "--format", "jsonl", "--limit", "4"],
        stdout=subprocess.PIPE,
        text=True,
        env={each: os.environ[each] for each in os.environ if each != "PYTHONUNBUFFERED"},
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        put(location, "d")
        lines.append(process.stdout.readline())
        assert process.wait(60) == 0
    urls = [json.loads(line)["url"] for line in lines]
    assert urls == [f"https://{name}.example/" for name in "abcd"]


def lines(*words: str) -> list[str]:
    done = run(*words, "--format", "jsonl")
    assert done.exit_code == 0, done.output
    return [json.loads(line)["url"][8] for line in done.stdout.splitlines()]


def test_a_consumer_continues_where_it_ended(location: str) -> None:
    one = ("--store", location, "--consumer", "one")
    assert lines(*one, "--limit", "2") == ["a", "b"]
    assert lines(*one) == ["c"]
    assert lines(*one) == []
    put(location, "d")
    assert lines(*one) == ["d"]
    assert lines("--store", location, "--consumer", "two") == ["a", "b", "c", "d"]


def test_links_are_a_feed_of_their_own(location: str) -> None:
    with WebTable.open(location) as web:
        web.put("https://a.example/", "<a href='https://b.example/'>b</a>")
    found = run("--store", location, "--links", "--format", "json")
    assert found.exit_code == 0, found.output
    items = json.loads(found.stdout)["items"]
    assert [(each["url"][8], each["kind"]) for each in items] == [
        ("b", "new"),
        ("c", "new"),
        ("a", "changed"),
    ]
    assert set(items[0]) == {"url", "kind", "fetched", "digest", "status", "revision", "removed"}
    assert lines("--store", location, "--links", "--consumer", "one") == ["b", "c", "a"]
    wrong = run("--store", location, "--consumer", "one")
    assert wrong.exit_code == 4
    assert "reads the feed of links" in wrong.stderr


def test_consumers_are_listed_and_forgotten(location: str) -> None:
    lines("--store", location, "--consumer", "one", "--limit", "1")
    # --store counts before the command and behind it.
    for words in (["--store", location, "consumers"], ["consumers", "--store", location]):
        found = run(*words, "--format", "json")
        assert found.exit_code == 0, found.output
        (item,) = json.loads(found.stdout)["items"]
        assert (item["name"], item["feed"], item["behind"]) == ("one", "pages", 2)
        assert item["lag_seconds"] >= 0
    assert run("forget", "one", "--store", location).exit_code == 0
    missing = run("forget", "one", "--store", location)
    assert missing.exit_code == 3
    assert "consumer 'one' does not exist" in missing.stderr
    assert lines("--store", location, "--consumer", "one") == ["a", "b", "c"]


def test_a_cursor_and_a_consumer_exclude_each_other(location: str) -> None:
    with WebTable.open(location, read_only=True) as web:
        cursor = web.changes().cursor
    wrong = run("--store", location, "--since", cursor, "--consumer", "one")
    assert wrong.exit_code == 2
    assert "both a cursor and a consumer" in wrong.stderr


@pytest.mark.parametrize("links", [(), ("--links",)])
def test_a_consumer_that_follows_is_killed_after_its_output_is_written(
    location: str, links: tuple[str, ...]
) -> None:
    """What was written before a kill is committed; nothing else is."""
    command = [sys.executable, "-m", "webtable", "changes", "--store", location, "--follow"]
    with subprocess.Popen(
        [*command, "--format", "jsonl", "--consumer", "one", *links],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        seen = [json.loads(process.stdout.readline())["url"][8] for _ in range(3)]
        assert seen == ["a", "b", "c"]

        def is_committed() -> bool:
            with WebTable.open(location, read_only=True) as web:
                return all(each.behind == 0 for each in web.changes.consumers())

        wait_for(is_committed, seconds=60)
        process.kill()
    put(location, "d")
    assert lines("--store", location, "--consumer", "one", *links) == ["d"]


def test_output_that_cannot_be_written_moves_no_cursor(location: str) -> None:
    command = [sys.executable, "-m", "webtable", "changes", "--store", location]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*command, "--format", "jsonl", "--consumer", "one"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode != 0
    assert lines("--store", location, "--consumer", "one") == ["a", "b", "c"]
