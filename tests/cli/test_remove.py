"""`webtable remove …` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from webtable import WebTable
from webtable.cli.main import cli
from webtable.operations.operational_state import open_state

URL = "https://a.example/page"


def run(location: str, *words: str) -> Result:
    return CliRunner().invoke(cli, ["remove", *words, "--store", location])


def item(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


@pytest.fixture
def location(tmp_path: Path) -> str:
    where = str(tmp_path / "store")
    with WebTable.open(where) as web:
        web.put(URL, "<a href='https://b.example/'>b</a>")
        web.put("https://www.a.example/", "x")
    return where


def test_a_dry_run_lists_examples(location: str) -> None:
    result = run(location, "a.example", "--dry-run", "--format", "json")
    found = item(result)
    assert (found["kind"], found["pages"], found["dry_run"]) == ("domain", 2, True)
    assert found["examples"] == ["https://www.a.example/", URL]
    assert f"would remove {URL}" in result.stderr
    with WebTable.open(location) as web:
        assert web.page(URL) is not None


def test_a_page_is_removed_and_blocked(location: str) -> None:
    found = item(run(location, "--block", URL, "--format", "json"))
    assert (found["kind"], found["pages"], found["blocked"]) == ("url", 1, True)
    assert "examples" not in found
    (entry,) = json.loads(run(location, "blocked", "--format", "json").stdout)["items"]
    assert (entry["kind"], entry["hash"]) == ("url", found["hash"])
    assert run(location, "unblock", URL).exit_code == 0
    assert json.loads(run(location, "blocked", "--format", "json").stdout)["items"] == []
    assert run(location, "unblock", URL).exit_code == 3


def test_a_page_that_is_not_stored(location: str) -> None:
    result = run(location, "https://a.example/none")
    assert result.exit_code == 3
    assert "--block" in result.stderr
    assert run(location, "a.example*").exit_code == 2


def test_the_log_and_its_chain(location: str) -> None:
    item(run(location, URL, "--format", "json"))
    entries = json.loads(run(location, "log", "--format", "json").stdout)["items"]
    assert [each["state"] for each in entries] == ["begun", "done"]
    assert item(run(location, "log", "--verify", "--format", "json"))["broken"] is None
    with WebTable.open(location) as web:
        state = open_state(web.store)
        name, value = state.items("removal")[1]
        assert state.put_if("removal", name, value, value.replace(b'"pages":1', b'"pages":0'))
    broken = run(location, "log", "--verify")
    assert broken.exit_code == 6
    assert "entry 2 of the removal log is damaged" in broken.stderr


def test_a_purge(location: str) -> None:
    item(run(location, "target", URL, "--format", "json"))
    assert item(run(location, "purge", "--format", "json"))["purged"] == 1


def test_the_log_and_the_block_list_are_read_in_parts(location: str) -> None:
    for url in (URL, "https://www.a.example/"):
        item(run(location, "--block", url, "--format", "json"))
    first = json.loads(run(location, "log", "--limit", "3", "--format", "json").stdout)
    assert [each["number"] for each in first["items"]] == [1, 2, 3]
    rest = run(location, "log", "--start", first["next"], "--format", "json")
    assert [each["number"] for each in json.loads(rest.stdout)["items"]] == [4]
    first = json.loads(run(location, "blocked", "--limit", "1", "--format", "json").stdout)
    rest = run(location, "blocked", "--start", first["next"], "--format", "json")
    (one,), (other,) = first["items"], json.loads(rest.stdout)["items"]
    assert one["hash"] < other["hash"] == first["next"]
