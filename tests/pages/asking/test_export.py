"""`webtable export`: what is written as WARC loads back to the same pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from webtable.cli.main import cli
from webtable.pages.asking.export import all_urls
from webtable.pages.captures import Capture
from webtable.pages.formats.crawl_files import read_captures
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, arguments, input=stdin)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("export")
    location, crawl = str(folder / "store"), str(folder / "crawl.warc.gz")
    assert run("sample", "--pages", "60", "--until", "2026-10-01", crawl).exit_code == 0
    assert run("init", "--store", location, "--profile", "archive").exit_code == 0
    assert run("load", "--store", location, "--workers", "0", crawl).exit_code == 0
    return location


def told(location: str) -> dict[str, object]:
    with webtable.open(location, read_only=True) as opened:
        pages = PageTable.open(opened, parse_stored)
        return {
            url: (
                pages.page(url),
                pages.captures(url),
                [pages.content(url, note.time) for note in pages.captures(url)],
                [pages.links(url, note.time) for note in pages.captures(url)],
            )
            for url in all_urls(pages)
        }


def test_a_warc_file_loads_back_to_the_same_pages(store: str, tmp_path: Path) -> None:
    out, other = str(tmp_path / "out.warc.gz"), str(tmp_path / "other")
    written = run("export", out, "--store", store)
    assert written.exit_code == 0
    assert "captures of 60 pages" not in written.stderr  # redirect targets are pages, too
    run("init", "--store", other, "--profile", "archive", "--keys", "salted")
    assert run("load", "--store", other, "--workers", "0", out).exit_code == 0
    expected, found = told(store), told(other)
    assert set(found) == set(expected)
    different = [url for url in expected if _without_key(found[url]) != _without_key(expected[url])]
    assert different == []


def _without_key(told: object) -> object:
    """Returns a page without its key, and with numbers for digests: those of coded payloads change.

    Bodies are written without codings, and with the digests that they have then.
    """
    assert isinstance(told, tuple)
    page, captures, contents, links = told
    numbers: dict[str, int] = {}
    notes = [
        each._replace(digest=numbers.setdefault(each.digest, len(numbers))) for each in captures
    ]
    bodies = [each.body for each in contents]
    fields = {field: getattr(page, field) for field in ("url", "title", "status",
              "size", "last_modified", "fetched", "redirect", "canonical", "outlinks", "charset")
             }  # fmt: skip
    return fields, numbers[page.digest], notes, bodies, links


def test_the_digests_of_an_exported_file_are_right(store: str, tmp_path: Path) -> None:
    out = tmp_path / "out.warc.gz"
    assert run("export", str(out), "--store", store).exit_code == 0
    captures = [each for each in read_captures(out) if isinstance(each, Capture)]
    assert len(captures) > 60
    assert [each.url for each in captures if "wrong-digest" in each.notes] == []


def test_json_lines_of_a_query(store: str, tmp_path: Path) -> None:
    listed = run("report", "largest", "--store", store, "--limit", "3", "--format", "jsonl").stdout
    arguments = ["export", "-", "--as", "jsonl", "--urls", "-", "--store", store]
    answer = run(*arguments, stdin=listed)
    assert answer.exit_code == 0
    items = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [item["url"] for item in items] == [
        json.loads(line)["url"] for line in listed.splitlines()
    ]
    assert all(len(item["html"]) > 1_000 for item in items)
    unknown = run(*arguments, stdin="example.com/unknown\n")
    assert "1 of the listed URLs are not stored" in unknown.stderr


def test_lines_for_indexes_of_archives(store: str, tmp_path: Path) -> None:
    out = tmp_path / "out.cdxj"
    answer = run(
        "export", str(out), "--as", "cdxj", "--domain", "docs.example.com", "--store", store
    )
    assert answer.exit_code == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines
    for line in lines:
        surt, stamp, item = line.split(" ", 2)
        assert surt.startswith("com,example,docs)/")
        assert len(stamp) == 14
        assert json.loads(item)["url"].startswith("https://docs.example.com/")


def test_what_export_rejects(store: str, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_bytes(b"")
    answer = run("export", str(there), "--store", store)
    assert answer.exit_code == 4
    assert "exists already" in answer.stderr
    both = run("export", "-", "--domain", "a.example", "--urls", "-", "--store", store)
    assert both.exit_code == 2
    bad = run("export", "-", "--as", "jsonl", "--urls", "-", "--store", store, stdin='{"x": 1}\n')
    assert "line 1 of '-' has no url" in bad.stderr
