"""What a store of pages takes, by part and by domain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import webtable
from tests.pages.loading.loads import write_jsonl
from webtable.cli.main import cli
from webtable.links.link_index import LinkIndex
from webtable.links.schema import CHANGES, INDEX_TABLE, WORK_TABLE
from webtable.links.updating.hook import LinkHook
from webtable.pages.checking.storage_size import domain_sizes, storage_parts
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

PAGES = 40


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("storage")
    write_jsonl(folder / "one.jsonl", PAGES, domain="example.com")
    write_jsonl(folder / "two.jsonl", PAGES // 2, domain="example.org")
    where = str(folder / "store")
    with webtable.open(where) as store:
        pages = PageTable.create(store, parse_stored, profile="archive")
        pages.hook = LinkHook(LinkIndex.create(pages))
        Loader(pages, workers=0).load([str(folder / "one.jsonl"), str(folder / "two.jsonl")])
        for name in store.tables():
            store.table(name).flush()
    return where


def test_parts_add_up_and_entries_are_counted(location: str) -> None:
    with webtable.open(location, read_only=True) as store:
        parts = {
            each.part.strip(): each
            for each in storage_parts(
                PageTable.open(store, parse_stored), (INDEX_TABLE, CHANGES, WORK_TABLE)
            )
        }
    main, whole = parts["pages"], parts["everything"]
    assert main.entries == parts["webtable_url_idx"].entries == PAGES + PAGES // 2
    assert main.disk_bytes is not None
    assert main.per_page == main.disk_bytes / (PAGES + PAGES // 2)
    families = ("captures", "content", "facts", "http", "inlinks", "metadata", "outlinks")
    assert sum(parts[name].disk_bytes or 0 for name in families) == main.disk_bytes
    indexes = [each for name, each in parts.items() if name.endswith("_idx")]
    assert len(indexes) == 9
    indexes += [parts[INDEX_TABLE], parts[WORK_TABLE]]
    assert sum(each.disk_bytes or 0 for each in indexes) == parts["all indexes"].disk_bytes
    settings = parts["webtable_settings"].disk_bytes or 0
    assert whole.disk_bytes == main.disk_bytes + (parts["all indexes"].disk_bytes or 0) + settings


def test_domains_by_the_size_of_their_bodies(location: str) -> None:
    with webtable.open(location, read_only=True) as store:
        pages = PageTable.open(store, parse_stored)
        found = domain_sizes(pages)
        assert [each.domain for each in found] == ["example.com", "example.org"]
        assert [each.pages for each in found] == [PAGES, PAGES // 2]
        assert domain_sizes(pages, 1) == found[:1]
        first = found[0]
        page = pages.page(first.largest)
        assert page is not None
        assert page.size == first.largest_bytes
        assert first.average_bytes == first.body_bytes / PAGES


def test_the_command(location: str) -> None:
    def run(*arguments: str) -> dict[str, list[dict[str, Any]]]:
        command = ["stats", "--store", location, "--format", "json", *arguments]
        result = CliRunner().invoke(cli, command)
        assert result.exit_code == 0, result.stderr
        found: dict[str, list[dict[str, Any]]] = json.loads(result.stdout)
        return found

    parts = run("--pages")["items"]
    assert [each["part"] for each in parts][:2] == ["pages", "captures"]
    by_name = {each["part"]: each["disk_bytes"] for each in parts}
    indexes = [size for name, size in by_name.items() if name.endswith("_idx")]
    links = [by_name["webindex"], by_name["webindex_work"]]
    assert by_name["webindex"]
    assert by_name["all indexes"] == sum([*indexes, *links])
    assert parts[0]["entries"] == PAGES + PAGES // 2
    assert [each["domain"] for each in run("--domains", "--limit", "1")["items"]] == ["example.com"]
    assert {each["table"] for each in run("webtable")["items"]} == {"webtable"}
    both = CliRunner().invoke(cli, ["stats", "--store", location, "webtable", "--pages"])
    assert both.exit_code == 2
    assert "whole store" in both.stderr
