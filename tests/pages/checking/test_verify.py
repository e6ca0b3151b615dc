"""`webtable verify` and `index`: differences are found, reported and repaired if possible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.asking.test_queries import PAGES
from webtable.cli.main import cli
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored


@pytest.fixture
def location(tmp_path: Path) -> str:
    path = str(tmp_path / "store")
    with webtable.open(path) as store:
        pages = PageTable.create(store, parse_stored, profile="archive")
        pages.hook = LinkHook(LinkIndex.create(pages))
        # Of these pages one has a link that is too long for the link index.
        pages.store_captures([_with_facts_only(each) for each in PAGES])
        pages.hook.settle(is_last=True)
    return path


def _with_facts_only(capture: NewCapture) -> NewCapture:
    """Returns a capture without links, and with the facts that its body has."""
    if capture.info is None or capture.body is None:
        return capture
    facts = parse_stored(capture.url, capture.body, capture.note.type).facts
    return capture._replace(info=capture.info._replace(links="", facts=facts))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments, "--format", "json"])


def test_a_store_as_it_was_written_is_clean(location: str) -> None:
    result = run("verify", "--store", location)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["pages"], found["differences"], found["missing"]) == (len(PAGES), 0, 0)
    assert (found["leftovers"], found["pending"], found["examples"]) == (0, 0, [])


def test_metadata_that_differs_from_the_captures_is_repaired(location: str) -> None:
    with webtable.open(location) as store:
        at = PAGES[1].note.time * 1000
        store.table("webtable").put(
            b"com.example_about", {b"metadata:status_code": b"500"}, timestamp=at
        )
    result = run("verify", "--store", location)
    assert result.exit_code == 6
    found = json.loads(result.stdout)
    assert found["differences"] == 1
    assert "metadata:status_code is b'500', not b'200'" in found["examples"][0]["what"]
    assert run("verify", "--store", location, "--repair").exit_code == 0
    assert run("verify", "--store", location).exit_code == 0
    page = json.loads(run("page", "example.com/about", "--store", location).stdout)
    assert page["status"] == 200


def test_an_index_entry_that_is_lost_is_put_again(location: str) -> None:
    with webtable.open(location) as store:
        table = store.table("webtable_status_idx")
        lost = next(iter(table.scan(prefix=b"404_")))
        table.delete(lost.key)
        table.major_compact()
    result = run("verify", "--store", location)
    assert result.exit_code == 6
    assert json.loads(result.stdout)["missing"] == 1
    assert run("verify", "--store", location, "--repair").exit_code == 0
    assert run("verify", "--store", location).exit_code == 0
    errors = run("report", "errors", "--store", location)
    assert len(json.loads(errors.stdout)["items"]) == 2


def test_damage_is_reported_and_left_alone(location: str) -> None:
    with webtable.open(location) as store:
        store.table("webtable").put(b"com.example_about", {b"captures:2026": b"?"}, timestamp=1000)
    result = run("verify", "--store", location, "--repair")
    assert result.exit_code == 6
    example = json.loads(result.stdout)["examples"][0]
    assert example["what"].startswith("damaged: ")
    assert not example["repaired"]


def test_an_index_is_built_again(location: str) -> None:
    with webtable.open(location) as store:
        store.truncate_table("webtable_size_idx")
    assert json.loads(run("report", "largest", "--store", location).stdout)["items"] == []
    arguments = ["index", "build", "webtable_size_idx", "--store", location]
    built = CliRunner().invoke(cli, arguments)
    assert built.exit_code == 0
    assert "built from 11 pages" in built.stderr
    largest = json.loads(run("report", "largest", "--store", location).stdout)["items"]
    assert largest[0]["url"] == "https://example.com/blog/two"
    listed = json.loads(run("index", "list", "--store", location).stdout)["items"]
    assert {each["state"] for each in listed} == {"ready"}
    assert len(listed) == 8
    unknown = CliRunner().invoke(cli, ["index", "build", "nothing", "--store", location])
    assert unknown.exit_code == 2
    assert "known indexes: webtable_change_idx" in unknown.stderr


STRAY = b"http:20260101000000_sha1:NONE"


@pytest.mark.parametrize("row", [b"com.example_about", b"com.nothing_else"])
def test_a_head_without_its_capture_is_removed(location: str, row: bytes) -> None:
    with webtable.open(location) as store:
        store.table("webtable").put(row, {STRAY: b"HTTP/1.1 200 OK"}, timestamp=1_767_225_600_000)
    assert run("verify", "--store", location, "--quick").exit_code == 0
    result = run("verify", "--store", location)
    assert result.exit_code == 6
    found = json.loads(result.stdout)
    assert found["differences"] == 1
    what = found["examples"][0]["what"]
    assert what.startswith(f"{STRAY.decode()} was not written by a capture")
    assert run("verify", "--store", location, "--repair").exit_code == 0
    assert run("verify", "--store", location).exit_code == 0


def test_heads_of_captures_are_right_and_need_not_be_there(location: str) -> None:
    with webtable.open(location) as store:
        pages = PageTable.open(store, parse_stored)
        newest = PAGES[1].note._replace(time=PAGES[1].note.time + 60)
        pages.store_captures([PAGES[1]._replace(note=newest, head=b"HTTP/1.1 200 OK")])
        assert pages.head_of(PAGES[1].url, newest) == b"HTTP/1.1 200 OK"
        assert pages.head_of(PAGES[1].url, PAGES[1].note) is None
    assert run("verify", "--store", location).exit_code == 0


def test_a_capture_with_a_damaged_origin_is_damaged(location: str) -> None:
    with webtable.open(location) as store:
        table = store.table("webtable")
        row = table.get(b"com.example_about", (b"captures",))
        assert row is not None
        ((column, timestamp, value, _),) = row.raw_cells
        cell = value + b"\ta.warc.gz\tnowhere"
        table.put(b"com.example_about", {column: cell}, timestamp=timestamp)
    result = run("verify", "--store", location)
    assert result.exit_code == 6
    assert json.loads(result.stdout)["examples"][0]["what"].startswith("damaged: the origin")
