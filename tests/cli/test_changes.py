"""`webtable changes`: the change feed on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

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
