"""Cells and delete markers made by hand in a shell: `verify --repair` and `load` win over them."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.loading.commands import KILLED, KilledCommands
from webtable.cli.main import cli
from webtable.pages.checking.foreign_cells import ForeignCell, read_later_cells

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
CRAWL = [
    {"url": "https://example.com/", "links": ["about", "news"], "title": "Home"},
    {"url": "https://example.com/about", "links": ["/", "news"], "title": "About"},
    {"url": "https://example.com/news", "links": ["/about"], "title": "News"},
]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments, "--format", "json"])


def write_crawl(path: Path) -> Path:
    lines = []
    for day in (1, 2):
        for page in CRAWL:
            links = "".join(f'<a href="{link}">{link}</a>' for link in page["links"])
            html = f"<title>{page['title']}</title>day {day} {links}"
            fetched = f"2026-09-0{day}T12:00:00Z"
            lines.append(json.dumps({"url": page["url"], "fetched": fetched, "html": html}))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("by_hand")
    crawl = write_crawl(folder / "crawl.jsonl")
    store = str(folder / "store")
    made = CliRunner().invoke(cli, ["init", "--store", store, "--profile", "archive"])
    assert made.exit_code == 0, made.output
    loaded = run("load", "--store", store, str(crawl), "--workers", "0")
    assert loaded.exit_code == 0, loaded.output
    return folder


@pytest.fixture
def location(template: Path, tmp_path: Path) -> str:
    shutil.copytree(template / "store", tmp_path / "store")
    return str(tmp_path / "store")


ROW = b"com.example_about"
BY_HAND = {
    "a status": "put 'webtable', 'com.example_about', 'metadata:status_code', '404'",
    "a title": "put 'webtable', 'com.example_about', 'metadata:title', 'Mine'",
    "a URL": "put 'webtable', 'com.example_about', 'metadata:url', 'nonsense'",
    "a status to come": "put 'webtable', 'com.example_about', 'metadata:status_code', '5',"
    " 9000000000000",
    "what it holds": "put 'webtable', 'com.example_about', 'metadata:held', 'x'",
    "a revision": "put 'webtable', 'com.example_about', 'metadata:rev', 'x'",
    "a change": "put 'webtable', 'com.example_about', 'metadata:changed', 'x'",
    "no change": "deleteall 'webtable', 'com.example_about', 'metadata:changed'",
    "a removal": "put 'webtable', 'com.example_about', 'metadata:pending', 'x'",
    "a body": "put 'webtable', 'com.example_about', 'content:html', 'x'",
    "a digest": "put 'webtable', 'com.example_about', 'content:digest', 'sha1:X'",
    "links": "put 'webtable', 'com.example_about', 'outlinks:urls', 'https://a.org/'",
    "whose links": "put 'webtable', 'com.example_about', 'outlinks:digest', 'sha1:X'",
    "a capture": "put 'webtable', 'com.example_about', 'captures:20260101000000_sha1:X',"
    ' "response\\t200\\t1\\t\\t\\t"',
    "no capture": "put 'webtable', 'com.example_about', 'captures:x', 'y'",
    "a count": "put 'webtable', 'com.example_about', 'metadata:inlinks', '77'",
    "no status": "deleteall 'webtable', 'com.example_about', 'metadata:status_code'",
    "no version of the status": "delete 'webtable', 'com.example_about', 'metadata:status_code'",
    "no title": "deleteall 'webtable', 'com.example_about', 'metadata:title'",
    "no page": "deleteall 'webtable', 'com.example_about'",
    "an entry": "put 'webtable_status_idx', '404_nothing', 'ref:rowkey', 'nothing'",
    "an entry of nothing": "put 'webtable_time_idx', 'x', 'ref:y', ''",
    "no entry": "deleteall 'webtable_url_idx', '{entry}'",
    "a link": "put 'webindex', \"p:com.example/about\\x000\", 'inlinks:nonsense', '+'",
    "a number": "put 'webindex', 'p:com.example/about', 'page:incount', 'x'",
    "a revision of links": "put 'webindex', 'p:com.example/about', 'page:rev', 'x'",
    "a rank": "put 'webindex', 't:0:com.example/about', 'rank:', 'p:com.example/about'",
    "a member": "put 'webindex', \"d:com.example\\x000\", 'members:nonsense', '+'",
}


# One by one in a soak run; otherwise all that can be done to one store at once.
ALONE = ("no page", "a link", "a number", "a revision of links", "a member", "a rank")
CASES = [
    *([each] for each in BY_HAND if SOAK or each in ALONE[:3]),
    [each for each in BY_HAND if each not in ALONE and not each.startswith("no ")],
    [each for each in BY_HAND if each.startswith("no ") and each != "no page"],
    [each for each in ALONE if each != "no page"],
]


@pytest.mark.parametrize("what", CASES, ids=lambda what: f"{what[0]} and {len(what) - 1} more")
def test_what_repair_calls_repaired_is_right_afterwards(location: str, what: list[str]) -> None:
    with webtable.open(location) as store:
        entry = next(iter(store.table("webtable_url_idx").scan())).key.decode()
    script = "\n".join(BY_HAND[each].replace("{entry}", entry) for each in what)
    shell = CliRunner().invoke(cli, ["shell", "--store", location], input=script + "\n")
    assert "ERROR" not in shell.output, shell.output
    repaired = run("verify", "--store", location, "--repair")
    assert repaired.exit_code == 0, (repaired.stdout, repaired.stderr)
    after = run("verify", "--store", location)
    assert after.exit_code == 0, (after.stdout, after.stderr)
    page = run("page", "example.com/about", "--store", location)
    if what == ["no page"]:
        assert page.exit_code == 3
    else:
        assert json.loads(page.stdout)["status"] == 200
        assert json.loads(page.stdout)["title"] == "About"


def test_a_page_that_was_deleted_by_hand_is_loaded_again(location: str, template: Path) -> None:
    script = "deleteall 'webtable', 'com.example_about'\n"
    assert CliRunner().invoke(cli, ["shell", "--store", location], input=script).exit_code == 0
    assert run("page", "example.com/about", "--store", location).exit_code == 3
    loaded = run("load", "--store", location, str(template / "crawl.jsonl"), "--workers", "0")
    assert loaded.exit_code == 0, loaded.output
    report = json.loads(loaded.stdout)
    assert (report["new"], report["changed"], report["hidden"]) == (1, 1, 0)
    page = json.loads(run("page", "example.com/about", "--store", location).stdout)
    assert page["title"] == "About"
    assert page["fetched"] == "2026-09-02T12:00:00Z"
    captures = run("page", "example.com/about", "--versions", "9", "--store", location)
    assert len(json.loads(captures.stdout)["items"]) == 2
    assert page["inlinks"] == 2
    verified = run("verify", "--store", location)
    assert verified.exit_code == 0, verified.output


def test_what_a_load_stored_meanwhile_is_not_taken_for_foreign(location: str) -> None:
    with webtable.open(location) as store:
        table, row = store.table("webtable"), b"com.example_about"
        read_before = {row: 1_788_264_000}  # when only the first of both captures was there
        assert read_later_cells(table, read_before) == {}
        table.put(row, {b"content:html": b"x"}, timestamp=1_789_000_000_000)
        found = read_later_cells(table, read_before)
        assert found == {row: [ForeignCell(b"content:html", 1_789_000_000_000)]}


@pytest.mark.parametrize(
    "command", [["verify", "--repair"], ["links", "rebuild"], ["compact", "webtable"]]
)
def test_a_repair_that_was_killed_is_finished_by_the_next(
    location: str, tmp_path: Path, command: list[str]
) -> None:
    cells = ("a status", "a body", "links", "no title", "an entry")
    script = "" if "rebuild" in command else "\n".join(BY_HAND[each] for each in cells)
    CliRunner().invoke(cli, ["shell", "--store", location], input=script + "\n")
    commands = KilledCommands()
    try:
        shutil.copytree(location, tmp_path / "undisturbed")
        words = [*command, "--store", str(tmp_path / "undisturbed")]
        assert commands.run(0, *words) == 0
        steps = commands.steps
        assert steps > 3
        chosen = range(1, steps + 1) if SOAK else (steps // 2, steps)
        for last in chosen:
            killed = str(tmp_path / f"killed{last}")
            shutil.copytree(location, killed)
            assert commands.run(last, *command, "--store", killed) == KILLED
            repaired = run("verify", "--store", killed, "--repair")
            assert repaired.exit_code == 0, repaired.output
            assert run("verify", "--store", killed).exit_code == 0
    finally:
        commands.close()


@pytest.mark.hbase
def test_on_a_cluster_what_markers_hide_is_reported_until_it_is_compacted(
    template: Path, hbase_location: str
) -> None:
    location = f"{hbase_location}?namespace=h{uuid.uuid4().hex[:8]}"
    store, crawl = ("--store", location), str(template / "crawl.jsonl")

    def shell(script: str) -> None:
        done = CliRunner().invoke(cli, ["shell", *store], input=script + "\n")
        assert "ERROR" not in done.output, done.output

    made = CliRunner().invoke(cli, ["init", *store, "--keys", "readable"])
    assert made.exit_code == 0, made.output
    assert run("load", crawl, *store, "--workers", "0").exit_code == 0
    shell(BY_HAND["a status"])
    assert run("verify", *store).exit_code == 6
    assert run("verify", *store, "--repair").exit_code == 0
    assert run("verify", *store).exit_code == 0
    shell(BY_HAND["no title"] + "\n" + "deleteall 'webtable', 'com.example_news'")
    loaded = run("load", crawl, *store, "--workers", "0")
    assert loaded.exit_code == 6, loaded.output
    assert json.loads(loaded.stdout)["hidden"] == 2
    assert "webtable compact webtable" in loaded.stderr
    hidden = run("verify", *store, "--repair")
    assert hidden.exit_code == 6
    examples = json.loads(hidden.stdout)["examples"]
    assert {each["row_key"] for each in examples} == {"com.example_about", "com.example_news"}
    assert all("webtable compact webtable" in each["what"] for each in examples)
    assert CliRunner().invoke(cli, ["compact", "webtable", *store]).exit_code == 0
    loaded = run("load", crawl, *store, "--workers", "0")
    assert (loaded.exit_code, json.loads(loaded.stdout)["hidden"]) == (0, 0)
    assert run("verify", *store, "--repair").exit_code == 0
    after = run("verify", *store)
    assert after.exit_code == 0, after.output
    page = json.loads(run("page", "example.com/about", *store).stdout)
    assert page["title"] == "About"
    assert run("page", "example.com/news", *store).exit_code == 0
    with webtable.open(location) as opened:
        for name in opened.tables():
            opened.drop_table(name)


@pytest.mark.hbase
@pytest.mark.parametrize("is_loaded_again", [True, False])
def test_on_a_cluster_the_advice_of_a_load_repairs_a_page_that_was_deleted_by_hand(
    template: Path, hbase_location: str, is_loaded_again: bool
) -> None:
    location = f"{hbase_location}?namespace=h{uuid.uuid4().hex[:8]}"
    store, crawl = ("--store", location), str(template / "crawl.jsonl")
    made = CliRunner().invoke(cli, ["init", *store, "--keys", "readable"])
    assert made.exit_code == 0, made.output
    assert run("load", crawl, *store, "--workers", "0").exit_code == 0
    script = "deleteall 'webtable', 'com.example_news'\n"
    assert CliRunner().invoke(cli, ["shell", *store], input=script).exit_code == 0
    loaded = run("load", crawl, *store, "--workers", "0")
    assert loaded.exit_code == 6, loaded.output
    assert "run `webtable compact webtable`, then load the same files again" in loaded.stderr
    hidden = run("verify", *store)
    assert hidden.exit_code == 6
    (example,) = [e for e in json.loads(hidden.stdout)["examples"] if e["row_key"]]
    assert "hidden by delete markers that were made by hand" in example["what"]
    assert CliRunner().invoke(cli, ["compact", "webtable", *store]).exit_code == 0
    if is_loaded_again:
        assert run("load", crawl, *store, "--workers", "0").exit_code == 0
        page = json.loads(run("page", "example.com/news", *store).stdout)
        assert (page["title"], page["inlinks"]) == ("News", 2)
    else:
        # Without its captures it is not a page any more, and other pages link to it all the same.
        assert run("verify", *store, "--repair").exit_code == 0
        assert run("page", "example.com/news", *store).exit_code == 3
    after = run("verify", *store)
    assert after.exit_code == 0, after.output
    with webtable.open(location) as opened:
        for name in opened.tables():
            opened.drop_table(name)
