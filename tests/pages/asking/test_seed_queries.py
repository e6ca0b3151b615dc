"""The queries of an HBase shell over pages, as people know them, on tables that a load wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from webtable.cli.main import cli
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

PAGES = (
    ("https://example.com/about", 1, 200, "<title>About</title>first"),
    ("https://example.com/about", 2, 200, "<title>About</title>middle"),
    ("https://example.com/about", 3, 200, "<title>About us</title>third keyword"),
    ("https://example.com/", 10, 200, '<title>Home</title><a href="http://target-url.com/">t</a>'),
    ("https://example.com/contact", 20, 404, "<title>Gone</title>"),
    ("https://example.com/big", 20, 200, "<title>Big</title>" + "x" * 200_000),
    ("https://example2.com/", 25, 200, "<title>The keyword</title>"),
)


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("seed")
    lines = [
        json.dumps(
            {"url": url, "html": html, "status": status, "fetched": f"2025-03-{day:02}T12:00:00Z"}
        )
        for url, day, status, html in PAGES
    ]
    (folder / "crawl.jsonl").write_text("\n".join(lines), encoding="utf-8")
    where = str(folder / "store")
    with webtable.open(where) as store:
        pages = PageTable.create(store, parse_stored, keys="readable", profile="archive")
        assert Loader(pages, workers=0).load([str(folder / "crawl.jsonl")]).captures == len(PAGES)
    return where


def ask(location: str, query: str) -> str:
    result = CliRunner().invoke(cli, ["shell", "--store", location, "-c", query])
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(location: str, query: str) -> list[str]:
    """Returns the row keys of a result, each once, in order."""
    return list(dict.fromkeys(re.findall(r"^ (\S+)\s+column=", ask(location, query), re.MULTILINE)))


def referred(location: str, query: str) -> list[str]:
    """Returns the pages that entries of an index refer to."""
    return re.findall(r"value=(\S+)", ask(location, query))


def test_the_latest_version_and_the_history_of_a_page(location: str) -> None:
    latest = ask(location, "get 'webtable', 'com.example_about', {COLUMN => 'content:html'}")
    assert "third keyword" in latest
    assert "first" not in latest
    query = "get 'webtable', 'com.example_about', {COLUMN => 'content:html', VERSIONS => 3}"
    found = ask(location, query)
    assert found.index("third") < found.index("middle") < found.index("first")


def test_the_pages_of_a_domain(location: str) -> None:
    query = (
        "scan 'webtable', {STARTROW => 'com.example', ENDROW => 'com.example~', "
        "COLUMNS => ['metadata:url', 'metadata:title', 'metadata:last_modified']%s}"
    )
    mine = ["com.example_about", "com.example_big", "com.example_contact", "com.example_home"]
    assert [row for row in rows(location, query % "") if "example2" not in row] == mine
    first = rows(location, query % ", LIMIT => 2")
    assert len(first) == 2
    on = query.replace("'com.example',", f"'{first[-1]}',", 1)
    assert rows(location, on % ", LIMIT => 2")[0] == first[-1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (
            "scan 'webtable_time_idx', {STARTROW => '20250301', ENDROW => '20250322', "
            "COLUMNS => ['ref:rowkey']}",
            ["com.example_about", "com.example_home", "com.example_big", "com.example_contact"],
        ),
        (
            "scan 'webtable_time_idx', {STARTROW => '20200101', ENDROW => '20250311', "
            "COLUMNS => ['ref:rowkey'], LIMIT => 20}",
            ["com.example_about", "com.example_home"],
        ),
        (
            "scan 'webtable_link_idx', {STARTROW => 'outlinks_00', ENDROW => 'outlinks_00~', "
            "COLUMNS => ['ref:rowkey'], LIMIT => 20}",
            ["com.example2_home", "com.example_about", "com.example_big"],
        ),
        (
            # The names of the buckets sort by size, which those of the seed do not.
            "scan 'webtable_size_idx', {STARTROW => '0100KB_large', ENDROW => '1000KB_huge~', "
            "COLUMNS => ['ref:rowkey'], LIMIT => 20}",
            ["com.example_big"],
        ),
    ],
    ids=["modified", "outdated", "dead ends", "largest"],
)
def test_results_of_the_index_tables(location: str, query: str, found: list[str]) -> None:
    assert referred(location, query) == found


@pytest.mark.parametrize(
    ("condition", "columns", "found"),
    [
        (
            "SingleColumnValueFilter('outlinks', 'urls', =, 'substring:target-url.com')",
            "'metadata:url', 'metadata:title', 'outlinks:urls'",
            ["com.example_home"],
        ),
        (
            "SingleColumnValueFilter('metadata', 'title', =, 'substring:keyword') OR "
            "SingleColumnValueFilter('content', 'html', =, 'substring:keyword')",
            "'metadata:url', 'metadata:title', 'content:html'",
            ["com.example2_home", "com.example_about"],
        ),
        (
            "SingleColumnValueFilter('metadata', 'status_code', >=, 'binary:400')",
            "'metadata:url', 'metadata:status_code', 'metadata:last_modified'",
            ["com.example_contact"],
        ),
    ],
    ids=["linking", "search", "errors"],
)
def test_decisions_of_filters(
    location: str, condition: str, columns: str, found: list[str]
) -> None:
    query = f"scan 'webtable', {{FILTER => \"{condition}\", COLUMNS => [{columns}], LIMIT => 20}}"
    assert rows(location, query) == found
