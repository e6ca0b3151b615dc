"""`webtable links …` and what the link index is to other commands, as people call them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.links.conftest import kept
from tests.links.web import DAYS, EXAMPLE, captures, inlinks_at
from webtable.cli.main import cli
from webtable.links.link_index import LinkIndex
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

Run = Callable[..., Result]
ABOUT = "example.com/about"
KEYS = {
    "top": ["url", "inlinks"],
    f"in {ABOUT}": ["source", "anchor", "rel", "internal", "first_seen", "last_seen"],
    "out example.com/": ["target", "anchor", "rel", "internal", "status"],
    "domains": ["domain", "pages"],
    f"anchors {ABOUT}": ["anchor", "pages"],
    "broken": ["target", "status", "since", "source", "anchor", "rel", "internal"],
    f"changes {ABOUT} --since 2026-09-02": [
        *("change", "source", "target", "anchor", "rel", "was", "internal", "at")
    ],
    "redirects": [
        *("url", "hops", "end", "status", "is_loop", "outcome", "chain", "inlinks", "links")
    ],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    location = str(tmp_path_factory.mktemp("links") / "store")
    with webtable.open(location) as opened:
        kept(opened, "readable")
    return location


@pytest.fixture
def run(store: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WEBTABLE_STORE", store)

    def call(line: str, *more: str) -> Result:
        return CliRunner().invoke(cli, [*line.split(), *more])

    return call


@pytest.mark.parametrize("question", KEYS)
def test_items_have_these_keys_in_every_format(run: Run, question: str) -> None:
    keys, question = KEYS[question], f"{question} --limit 50"
    whole = json.loads(run(f"links {question} --format json").stdout)
    items = whole["items"]
    assert items
    assert all(list(item) == keys for item in items)
    assert whole["truncated"] is False
    lines = run(f"links {question} --format jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == items
    rows = list(csv.reader(io.StringIO(run(f"links {question} --format csv").stdout)))
    assert rows[0] == keys
    assert len(rows) == len(items) + 1
    table = run(f"links {question}")
    assert table.exit_code == 0
    assert len(table.stdout.splitlines()) == len(items) + 1


@pytest.mark.parametrize("question", [*KEYS, "orphans", "dead-ends --external"])
def test_results_resume_where_they_ended(run: Run, question: str) -> None:
    whole = json.loads(run(f"links {question} --format json --limit 100").stdout)["items"]
    parts: list[dict[str, object]] = []
    after: tuple[str, ...] = ()
    for _ in range(0, len(whole), 3):
        answer = json.loads(run(f"links {question} --format json --limit 3", *after).stdout)
        parts += answer["items"]
        assert answer["truncated"] == (len(parts) < len(whole))
        after = ("--after", str(answer["next"]))
    assert parts == whole


def test_internal_and_external_are_distinguished(run: Run) -> None:
    for question in (f"in {ABOUT}", "out example.com/", f"changes {ABOUT} --since 2026-09-02"):
        every, inside, outside = (
            json.loads(run(f"links {question} --format json {kind}").stdout)["items"]
            for kind in ("", "--internal", "--external")
        )
        assert all(item["internal"] for item in inside)
        assert not any(item["internal"] for item in outside)
        assert len(inside) + len(outside) == len(every)
    both = run(f"links in {ABOUT} --internal --external")
    assert both.exit_code == 2
    assert "exclude each other" in both.stderr


def test_an_unknown_page_ends_with_3_and_the_nearest_ones(run: Run) -> None:
    for command in ("in", "out", "anchors", "redirects --to"):
        answer = run(f"links {command} example.com/aboutt")
        assert answer.exit_code == 3
        assert "page 'https://example.com/aboutt' does not exist" in answer.stderr
        assert "similar pages: https://example.com/" in answer.stderr
    changed = run("links changes example.com/aboutt --since 2026-09-02 --format json")
    assert changed.exit_code == 3
    assert json.loads(changed.stderr)["code"] == "not-found"


@pytest.mark.parametrize("name", ["top", "broken", "orphans", "dead-ends", "redirects"])
def test_a_list_of_an_unknown_domain_is_empty_with_similar_domains(run: Run, name: str) -> None:
    found = run(f"links {name} --domain example3.com")
    assert found.exit_code == 0
    assert "no page of 'example3.com' is stored; did you mean" in found.stderr
    assert "example2.com" in found.stderr


def test_results_about_the_past_say_how_far_they_reach(run: Run) -> None:
    answer = run(f"links in {ABOUT} --as-of 2026-09-05 --format json")
    whole = json.loads(answer.stdout)
    assert len(whole["items"]) == len(inlinks_at(DAYS[0], f"{EXAMPLE}/about"))
    assert (whole["kept_since"], whole["not_kept"]) == (None, 0)
    assert "links are kept since the first capture" in answer.stderr
    page = json.loads(run(f"links out {ABOUT} --as-of 2026-09-05 --format json").stdout)
    assert page["kept_since"] == "2026-09-01T00:00:00Z"
    early = run(f"links out {ABOUT} --as-of 2026-08-01")
    assert early.exit_code == 3
    assert "stored since 2026-09-01T00:00:00Z" in early.stderr


def test_a_domain_changes_with_all_its_pages(run: Run) -> None:
    answer = run("links changes example.com --since 2026-09-02 --until 2026-09-12 --format jsonl")
    found = [json.loads(line) for line in answer.stdout.splitlines()]
    assert {item["change"] for item in found} == {"gained", "lost", "anchor", "rel"}
    assert len({item["target"] for item in found}) > 1


def test_links_through_redirects_are_counted(run: Run) -> None:
    answer = run(f"links redirects --to {ABOUT} --format json")
    count = json.loads(answer.stdout)["resolved"]
    assert (count["redirects"], count["resolved"] - count["inlinks"]) == (2, 1)
    assert "8 pages link to https://example.com/about: 7 directly" in answer.stderr


def test_redirects_as_csv_have_chains_with_arrows_and_links_as_json(run: Run) -> None:
    rows = csv.DictReader(io.StringIO(run("links redirects --format csv").stdout))
    (old,) = [row for row in rows if row["url"] == f"{EXAMPLE}/old"]
    assert old["chain"] == f"{EXAMPLE}/older -> {EXAMPLE}/about"
    assert [link["anchor"] for link in json.loads(old["links"])] == ["Old"]


def test_words_of_some_pages_only(run: Run) -> None:
    answer = run(f"links anchors {ABOUT} --sources 2 --format json")
    assert json.loads(answer.stdout)["of_all_sources"] is False
    assert "more than 2 pages link here" in answer.stderr
    assert "more than" not in run(f"links anchors {ABOUT} --sources 0").stderr


def test_the_cost_of_a_result(run: Run) -> None:
    assert "read from index webindex_top: 6 entries" in run("links top --limit 2 --explain").stderr
    assert "every page was read" in run("links orphans --internal").stderr


def test_other_commands_know_of_links(run: Run) -> None:
    linking = run(f"report linking-to {ABOUT} --format jsonl --explain")
    urls = [json.loads(line)["url"] for line in linking.stdout.splitlines()]
    assert len(urls) == 7
    assert "read from index webindex" in linking.stderr
    assert "every page" not in linking.stderr
    first = run("report inlinked --limit 1 --format jsonl").stdout
    assert (json.loads(first)["url"], json.loads(first)["inlinks"]) == (f"{EXAMPLE}/about", 7)
    assert json.loads(run(f"page {ABOUT} --format json").stdout)["inlinks"] == 7


def test_a_store_without_a_whole_index_says_what_to_do(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as opened:
        pages = PageTable.create(opened, parse_stored, profile="archive")
        pages.store_captures(list(captures()))
    none = CliRunner().invoke(cli, ["links", "top", "--store", location])
    assert none.exit_code == 3
    assert "webtable links rebuild" in none.stderr
    with webtable.open(location) as opened:
        LinkIndex.create(PageTable.open(opened, parse_stored))
    stale = CliRunner().invoke(cli, ["links", "top", "--store", location])
    assert stale.exit_code == 4
    assert "does not have all pages" in stale.stderr
    arguments = ["report", "linking-to", ABOUT, "--store", location, "--format", "jsonl"]
    scanned = CliRunner().invoke(cli, arguments)
    assert len(scanned.stdout.splitlines()) == 7
    assert "every page was read" in scanned.stderr


def test_work_that_is_left_is_mentioned(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as opened:
        index = kept(opened, "readable")
        index.work.put(b"m:1", {b"w:targets": b""})
    answer = CliRunner().invoke(cli, ["links", "top", "--store", location])
    assert answer.exit_code == 0
    assert "webtable links drain" in answer.stderr
