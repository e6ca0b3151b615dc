"""`webtable schema`: what it prints, what it runs, and what the configuration changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = """
from datetime import timedelta
from webtable.records import Key, Record

class Visit(Record, table="visits", ttl=timedelta(days=2), versions=2):
    key: Key[str]
    url: str = ""
"""

CONFIG = """
[schema_update]
log_file = "statements.log"

[tables.logs.families.a]
versions = 3

[tables.test_x.families.a]
"""


def run(folder: Path, *arguments: str, store: str = "store") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "webtable", *arguments, "--store", store]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def printed(folder: Path, *arguments: str) -> list[str]:
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "webtable.toml").write_text(CONFIG)
    assert run(tmp_path, "init").returncode == 0
    return tmp_path


def test_a_diff_is_a_script_of_the_shell(folder: Path) -> None:
    assert run(folder, "schema", "diff").stderr == "the store has everything that is declared\n"
    options = ("--record", "models:Visit")
    statements = printed(folder, "schema", "diff", *options)
    assert [each.partition(",")[0] for each in statements] == ["create 'visits'"]
    shell = subprocess.run(
        [sys.executable, "-m", "webtable", "shell", "--store", "store"],
        cwd=folder,
        input="\n".join(statements),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Created table visits" in shell.stdout
    assert printed(folder, "schema", "diff", *options) == []


def test_apply_runs_what_a_diff_prints(folder: Path) -> None:
    options = ("--record", "models:Visit")
    statements = printed(folder, "schema", "diff", *options)
    assert printed(folder, "schema", "apply", *options) == statements
    done = run(folder, "schema", "apply", *options)
    assert (done.stdout, done.stderr) == ("", "the store has everything that is declared\n")
    assert "visits" in "\n".join(printed(folder, "tables"))


def test_a_change_that_drops_data_needs_its_switch(folder: Path) -> None:
    printed(folder, "schema", "apply", "--record", "models:Visit")
    put = "put 'visits', \"\\x00k\", 'a:url', '{}', {}"
    printed(folder, "shell", "-c", "alter 'visits', {NAME => 'a', VERSIONS => 9, TTL => 'FOREVER'}")
    for number in (1, 2, 3):
        printed(folder, "shell", "-c", put.format(number, number))
    done = run(folder, "schema", "apply")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "not without --drop-data, 3 cells would go:"
        " alter 'visits', {NAME => 'a', VERSIONS => 2, TTL => 172800}\n"
    )
    uncounted = run(folder, "schema", "diff", "--no-count")
    assert uncounted.stderr.startswith("not without --drop-data: alter")
    (line,) = printed(folder, "schema", "diff", "--format", "jsonl")
    assert json.loads(line) == {
        "outcome": "withheld",
        "switch": "drop_data",
        "table": "visits",
        "statement": "alter 'visits', {NAME => 'a', VERSIONS => 2, TTL => 172800}",
        "lost_cells": 3,
    }
    done = run(folder, "schema", "apply", "--drop-data")
    assert done.stdout == "alter 'visits', {NAME => 'a', VERSIONS => 2, TTL => 172800}\n"
    assert done.stderr == "3 cells are gone\n"


def test_the_configuration_declares_tables_and_has_the_switches(folder: Path) -> None:
    options = ("--config", "webtable.toml")
    assert printed(folder, "schema", "diff") == []  # a file in the folder does not count by itself
    assert printed(folder, *options, "schema", "diff") == [
        "create 'logs', {NAME => 'a', VERSIONS => 3}",
        "create 'test_x', {NAME => 'a'}",
    ]
    assert printed(folder, *options, "schema", "diff", "--no-create") == []
    done = run(folder, *options, "schema", "apply", "--ignore", "test_*")
    assert done.stdout == "create 'logs', {NAME => 'a', VERSIONS => 3}\n"
    log = (folder / "statements.log").read_text()
    assert log.endswith("store run: create 'logs', {NAME => 'a', VERSIONS => 3}\n")
    (folder / "webtable.toml").write_text("[schema_updat]\n")
    done = run(folder, *options, "schema", "diff")
    assert done.returncode == 2
    assert "unknown key 'schema_updat'" in done.stderr
    assert "did you mean 'schema_update'?" in done.stderr
    done = run(folder, "--config", "nowhere.toml", "schema", "diff")
    assert (done.returncode, "'nowhere.toml' does not exist" in done.stderr) == (3, True)


def test_commands_that_write_print_what_would_run(folder: Path) -> None:
    alter = "alter 'webtable', {NAME => 'content', BLOCKSIZE => 4096}"
    printed(folder, "shell", "-c", alter)
    back = "alter 'webtable', {NAME => 'content', BLOCKSIZE => 65536}"
    warning = f"webtable: warning: store 'store': `webtable schema apply` would run: {back}\n"
    assert warning in run(folder, "flush", "webtable").stderr
    assert warning in run(folder, "index", "build", "webtable_url_idx").stderr
    assert run(folder, "tables").stderr == ""
    assert run(folder, "schema", "diff").stderr == ""
    (folder / "webtable.toml").write_text('[schema_update]\nmode = "execute"\n')
    assert run(folder, "--config", "webtable.toml", "flush", "webtable").returncode == 0
    assert printed(folder, "schema", "diff") == []


def test_the_profile_of_a_store_is_changed(folder: Path) -> None:
    done = run(folder, "schema", "profile", "live")
    assert done.returncode == 2
    assert "the profile 'live' drops data: 0 cells" in done.stderr
    assert "--drop-data" in done.stderr
    put = "put 'webtable_settings', 'pages', 'a:profile', 'live'"
    shown = printed(folder, "schema", "profile", "live", "--drop-data", "--dry-run")
    assert shown[0] == put
    assert printed(folder, "schema", "profile", "live", "--drop-data") == shown
    assert printed(folder, "schema", "diff") == []
    assert len(printed(folder, "schema", "profile", "archive")) == 2
    assert run(folder, "schema", "profile", "arch").returncode == 2
    done = run(folder, "schema", "profile", "live", "--dry-run", "--format", "json")
    items = json.loads(done.stdout)["items"]
    assert [each["outcome"] for each in items] == ["withheld", "withheld"]
