"""`webtable doctor`: measures, compares, advises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from tests.pages.asking.test_queries import PAGES, made
from webtable.cli.main import cli
from webtable.pages.checking import doctor
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored


@pytest.fixture(params=["readable", "salted"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = str(tmp_path / "store")
    with webtable.open(path) as store:
        pages = PageTable.create(store, parse_stored, keys=request.param, profile="archive")
        pages.store_captures(PAGES)
        pages.store_captures([made("https://example.com/", day) for day in range(1, 9)])
    return path


def findings(location: str) -> dict[str, dict[str, object]]:
    answer = CliRunner().invoke(cli, ["doctor", "--store", location, "--format", "json"])
    items = json.loads(answer.stdout)["items"]
    assert answer.exit_code == (0 if all(each["is_fine"] for each in items) else 1), answer.stderr
    return {each["check"]: each for each in items}


def test_a_small_store_is_fine(location: str) -> None:
    found = findings(location)
    assert all(each["is_fine"] for each in found.values())
    assert found["pages"]["measured"] == "11"
    assert found["domains"]["measured"] == "4"
    assert str(found["most captures of a page"]["measured"]).startswith("9 (")
    assert set(found) >= {"slowest query", "storage", "indexes to pages"}


def test_what_has_grown_too_large_gets_advice(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "MOST_PAGES", 10)
    monkeypatch.setattr(doctor, "MOST_DOMAINS", 3)
    monkeypatch.setattr(doctor, "MOST_CAPTURES", 8)
    found = findings(location)
    assert not found["most captures of a page"]["is_fine"]
    assert found["pages"]["measured"] == "more than 10"
    assert found["domains"]["measured"] == "more than 3"
    is_salted = "salted" in str(found["pages"]["limit"])
    assert found["pages"]["is_fine"] == found["domains"]["is_fine"] == is_salted
    told = CliRunner().invoke(cli, ["doctor", "--store", location])
    assert "crawl that page less often" in told.stderr


def test_a_store_that_lost_writes_says_so(location: str) -> None:
    assert findings(location)["lost writes"]["measured"] == "none"
    Path(location, "LOST").write_text('{"at": 1767225600, "cells": 1234}\nhalf a li')
    found = findings(location)["lost writes"]
    assert not found["is_fine"]
    assert found["measured"] == "1,234 cells, found on 2026-01-01"
