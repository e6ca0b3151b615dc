"""The commands that show a store and maintain it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from webtable import Family
from webtable.cli.main import cli


@pytest.fixture
def location(tmp_path: Path) -> str:
    """A store with three tables; `pages` has rows, some of them deleted."""
    path = str(tmp_path / "store.wt")
    with webtable.open(path) as store:
        pages = store.create_table("pages", Family(name="content", versions=2), "anchor")
        for number in range(100):
            pages.put(b"row%d" % number, {b"content:title": b"t" * 100, b"anchor:a": b"x"})
        for number in range(50):
            pages.delete(b"row%d" % number)
        store.create_table("links", "l")
        store.create_table("stats", "s")
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_tables(location: str) -> None:
    done = run("tables", "--store", location)
    assert done.exit_code == 0
    heading, *lines = done.stdout.splitlines()
    assert heading.split() == ["TABLE", "FAMILIES", "DISK", "MEMORY", "CELLS"]
    assert [line.split()[0] for line in lines] == ["links", "pages", "stats"]
    assert lines[1].split()[1:3] == ["anchor,", "content"]


def test_tables_as_json(location: str) -> None:
    answer = json.loads(run("tables", "--store", location, "--format", "json").stdout)
    assert (answer["next"], answer["truncated"]) == (None, False)
    (pages,) = [item for item in answer["items"] if item["table"] == "pages"]
    assert pages["families"] == ["anchor", "content"]
    assert pages["disk_bytes"] + pages["memory_bytes"] > 50 * 100
    assert pages["cells"] >= 100


def test_a_limited_result_has_a_cursor(location: str) -> None:
    first = json.loads(
        run("tables", "--store", location, "--format", "json", "--limit", "2").stdout
    )
    assert [item["table"] for item in first["items"]] == ["links", "pages"]
    assert (first["next"], first["truncated"]) == ("stats", True)
    rest = run("tables", "--store", location, "--format", "json", "--start", first["next"]).stdout
    assert [item["table"] for item in json.loads(rest)["items"]] == ["stats"]


def test_a_limited_table_says_so_on_stderr(location: str) -> None:
    done = run("tables", "--store", location, "--limit", "1")
    assert len(done.stdout.splitlines()) == 2
    assert "'pages'" in done.stderr


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_limit_that_is_none(location: str, limit: str) -> None:
    assert run("tables", "--store", location, "--limit", limit).exit_code == 2


def test_stats_of_one_table(location: str) -> None:
    done = run("stats", "pages", "--store", location, "--format", "csv")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(row["table"], row["family"]) for row in rows] == [
        ("pages", "anchor"),
        ("pages", "content"),
    ]
    assert all(int(row["cells"]) >= 50 and int(row["files"]) >= 0 for row in rows)


def test_stats_of_all_tables(location: str) -> None:
    lines = run("stats", "--store", location, "--format", "jsonl").stdout.splitlines()
    assert [(item["table"], item["family"]) for item in map(json.loads, lines)] == [
        ("links", "l"),
        ("pages", "anchor"),
        ("pages", "content"),
        ("stats", "s"),
    ]


def test_flush_moves_what_is_in_memory_to_files(location: str) -> None:
    assert run("flush", "pages", "--store", location).exit_code == 0
    done = run("stats", "pages", "--store", location, "--format", "jsonl")
    assert all(json.loads(line)["files"] >= 1 for line in done.stdout.splitlines())


def test_compact_removes_what_is_deleted(location: str) -> None:
    done = run("compact", "--store", location)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        "links",
        "pages",
        "stats",
    ]
    with webtable.open(location, read_only=True) as store:
        rows = list(store.table("pages").scan(raw=True))
    assert len(rows) == 50


def test_checkpoint_is_a_store_of_its_own(location: str, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy.wt")
    assert run("checkpoint", copy, "--store", location).exit_code == 0
    with webtable.open(location) as store:
        store.drop_table("pages")
    with webtable.open(copy) as store:
        assert len(list(store.table("pages").scan())) == 50


def test_checkpoint_does_not_write_over_something(location: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("precious")
    done = run("checkpoint", str(tmp_path / "there"), "--store", location)
    assert done.exit_code != 0
    assert done.stderr.startswith("webtable: ")
    assert (tmp_path / "there" / "file").read_text() == "precious"


@pytest.mark.parametrize("command", ["tables", "stats", "flush", "compact", "checkpoint"])
def test_no_command_makes_a_store(command: str, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.wt"
    arguments = [str(tmp_path / "copy.wt")] if command == "checkpoint" else []
    done = run(command, *arguments, "--store", str(nowhere))
    assert done.exit_code == 3
    assert done.stderr.startswith("webtable: ")
    assert "hint: " in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["tables", "flush"])
def test_a_directory_that_is_not_a_store(command: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a store")
    done = run(command, "--store", str(tmp_path))
    assert done.exit_code == 3
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("command", ["stats", "flush", "compact"])
def test_an_unknown_table(command: str, location: str) -> None:
    done = run(command, "pagse", "--store", location)
    assert done.exit_code == 3
    assert done.stderr == (
        "webtable: table 'pagse' does not exist\n"
        "hint: known tables: links, pages, stats; did you mean 'pages'?\n"
    )


def test_an_unknown_kind_of_location(tmp_path: Path) -> None:
    done = run("tables", "--store", "ftp://somewhere")
    assert done.exit_code == 2
    assert "hbase://" in done.stderr


def test_reading_goes_on_beside_a_writer(location: str) -> None:
    with webtable.open(location) as store:
        store.create_table("fresh", "f")
        done = in_another_process("tables", "--store", location, "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert "fresh" in done.stdout


@pytest.mark.parametrize("command", ["flush", "compact"])
def test_a_second_writer_gets_an_error_that_names_the_first(command: str, location: str) -> None:
    with webtable.open(location):
        done = in_another_process(command, "--store", location)
    assert done.returncode == 4
    assert done.stderr.startswith("webtable: ")
    assert str(os.getpid()) in done.stderr


def in_another_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "webtable", *arguments], capture_output=True, text=True, check=False
    )


def test_the_store_comes_from_the_environment(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBTABLE_STORE", location)
    assert "pages" in run("tables").stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--store", "{}", "table", "describe", "pages"],
        ["table", "--store", "{}", "describe", "pages"],
        ["--store", "nowhere", "table", "--store", "{}", "describe", "pages"],
        ["--store", "nowhere", "table", "--store", "nowhere", "describe", "pages", "--store", "{}"],
    ],
)
def test_a_store_named_early_counts_for_what_follows(
    words: list[str], location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBTABLE_STORE", "elsewhere")
    assert "anchor" in run(*(word.format(location) for word in words)).stdout


def test_the_store_is_webtable_db_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with webtable.open("webtable.db") as store:
        store.create_table("here", "f")
    assert "here" in run("tables").stdout
