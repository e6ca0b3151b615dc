"""The made-up crawl has what crawls have; the page about crawl files names every reason."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from webtable.cli.main import cli
from webtable.errors import InvalidRequest
from webtable.pages.captures import REASONS, Capture
from webtable.pages.formats.crawl_files import read_captures
from webtable.pages.html.parser import parse_capture
from webtable.pages.sample.generate_crawl import generate

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "crawl-files.md"


def test_the_command_writes_a_varied_crawl_the_same_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / "one.warc.gz", tmp_path / "two.warc.gz"]
    for path in paths:
        arguments = ["sample", "--pages", "120", "--until", "2026-06-01", str(path)]
        assert CliRunner().invoke(cli, arguments).exit_code == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
    captures = [each for each in read_captures(paths[0]) if isinstance(each, Capture)]
    statuses = Counter(each.status for each in captures)
    assert statuses.keys() >= {200, 301, 302, 308, 404, 503}
    assert {each.kind for each in captures} == {"response", "revisit"}
    assert len({each.url.split("/")[2] for each in captures}) == 8
    assert len({each.fetched // 86_400 for each in captures}) == 3
    parsed = [each for each in map(parse_capture, captures) if each is not None]
    assert len({each.charset for each in parsed}) >= 5
    assert not any("\ufffd" in each.title + each.links for each in parsed)
    assert any(each.robots for each in parsed)
    assert any(each.canonical for each in parsed)
    assert any("nofollow" in each.links for each in parsed)
    assert any(each.size > 100_000 for each in captures)
    assert max(Counter(each.digest for each in captures if each.kind == "response").values()) > 1


def test_versions_of_a_page_differ_from_crawl_to_crawl() -> None:
    by_url: dict[str, set[str]] = {}
    for answer in generate(100, last_day=date(2026, 6, 1)):
        if answer.status == "200 OK":
            by_url.setdefault(answer.url, set()).add(answer.digest)
    assert {len(digests) for digests in by_url.values()} == {1, 2, 3}


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_bytes(b"precious")
    assert CliRunner().invoke(cli, ["sample", str(path)]).exit_code != 0
    assert path.read_bytes() == b"precious"
    arguments = ["sample", "--pages", "3", "--overwrite", str(path)]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    assert path.read_bytes() != b"precious"


def test_no_pages_are_no_sample() -> None:
    with pytest.raises(InvalidRequest):
        next(generate(0))


def test_the_documentation_names_every_reason() -> None:
    table = PAGE.read_text().partition("## What is skipped")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == REASONS.keys()
