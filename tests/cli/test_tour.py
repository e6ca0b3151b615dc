"""The tour shows what its code does, and leaves nothing behind."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from webtable.cli.development.tour_steps import STEPS, TABLE
from webtable.cli.main import cli


def tour(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["tour", *arguments], catch_exceptions=False)


def test_every_step_is_printed_with_its_code() -> None:
    done = tour()
    assert done.exit_code == 0
    told = done.stdout.splitlines()
    for number, step in enumerate(STEPS, start=2):
        assert f"{number}. {step.title}" in told
        _, _, body = inspect.getsource(step.run).split('"""')
        shown = [line.rstrip() for line in told]
        assert all(line.replace("return ", "") in shown for line in body.rstrip().splitlines())


def test_the_code_fits_on_a_terminal() -> None:
    assert all(len(line.rstrip()) <= 80 for line in tour().stdout.splitlines())


def test_the_results_are_in_it() -> None:
    told = [" ".join(line.split()) for line in tour().stdout.splitlines()]
    assert "com.example/ content:title 2026-01-05 Hello" in told
    assert "made" in told
    assert "not made: the condition did not hold" in told
    assert "com.example/ anchor: 2026-03-04 delete family" in told


def test_the_users_directory_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tour().exit_code == 0
    assert list(tmp_path.iterdir()) == []


def test_in_a_store_of_the_users_only_its_own_table_goes(tmp_path: Path) -> None:
    location = str(tmp_path / "store.wt")
    with webtable.open(location) as store:
        store.create_table("pages", "f")
    assert tour("--store", location).exit_code == 0
    with webtable.open(location) as store:
        assert store.tables() == ["pages"]


def test_a_table_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    location = str(tmp_path / "store.wt")
    with webtable.open(location) as store:
        store.create_table(TABLE, "f").put(b"row", {b"f:q": b"mine"})
    done = tour("--store", location)
    assert done.exit_code == 4
    assert done.stderr.startswith(f"webtable: table '{TABLE}' exists already\n")
    with webtable.open(location) as store:
        assert len(list(store.table(TABLE).scan())) == 1
