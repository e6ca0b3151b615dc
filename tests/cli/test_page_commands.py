"""`webtable init`, `page`, `diff`, `pages` and `report`, as people and programs call them."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.asking.test_queries import PAGES
from tests.pages.formats.crawls import http, record
from webtable.cli.main import cli
from webtable.errors import AlreadyExists, door
from webtable.pages.captures import payload_digest
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.webtable import WebTable

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    location = str(tmp_path_factory.mktemp("pages") / "store")
    with webtable.open(location) as opened:
        pages = PageTable.create(opened, parse_stored, profile="archive")
        pages.store_captures(PAGES)
        about = PAGES[1]
        body = b'<p>same <a href="/">thing</a></p>'
        note = about.note._replace(time=about.note.time + 3_600, digest="NEW", size=len(body))
        info = parse_stored(about.url, body, "text/html")
        pages.store_captures([about._replace(note=note, body=body, info=info)])
    return location


@pytest.fixture
def run(store: str) -> Run:
    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, [*arguments, "--store", store])

    return call


def test_init_makes_a_store_once(tmp_path: Path) -> None:
    location = str(tmp_path / "new")
    arguments = ["init", "--store", location, "--keys", "salted", "--profile", "archive"]
    made = CliRunner().invoke(cli, arguments)
    assert made.exit_code == 0
    assert "with salted keys and the profile archive" in made.stderr
    again = CliRunner().invoke(cli, arguments)
    assert again.exit_code == door(AlreadyExists("", "")).exit_code
    assert "exists already" in again.stderr


def test_init_makes_no_directory_of_a_misspelt_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(cli, ["init", "--store", "hbase:/zoo:2181"])
    assert answer.exit_code == 2
    assert "hbase://zoo:2181" in answer.stderr
    assert not list(tmp_path.iterdir())


def test_a_page_as_json_and_as_a_table(run: Run) -> None:
    answer = run("page", "example.com/about", "--format", "json")
    assert answer.exit_code == 0
    item = json.loads(answer.stdout)
    assert (item["url"], item["row_key"]) == ("https://example.com/about", "com.example_about")
    assert (item["status"], item["digest"], item["inlinks"]) == (200, "NEW", None)
    assert "com.example_about" in run("page", "example.com/about").stdout


def test_the_history_of_a_page(run: Run) -> None:
    answer = run("page", "example.com/about", "--versions", "5", "--format", "jsonl")
    fetched = [json.loads(line)["fetched"] for line in answer.stdout.splitlines()]
    assert fetched == ["2026-09-02T01:00:00Z", "2026-09-02T00:00:00Z"]
    then = run(
        "page", "example.com/about", "--versions", "5", "--as-of", "2026-09-02T00:30:00Z",
        "--format", "jsonl",
    )  # fmt: skip
    assert [json.loads(line)["fetched"] for line in then.stdout.splitlines()] == fetched[1:]


def test_a_page_as_it_was(run: Run) -> None:
    def page(*more: str) -> dict[str, object]:
        return dict(json.loads(run("page", "example.com/about", *more, "--format", "json").stdout))

    now, then = page(), page("--as-of", "2026-09-02T00:30:00Z")
    assert list(then) == list(now)
    assert (then["fetched"], then["size"], then["outlinks"]) == ("2026-09-02T00:00:00Z", 4, 0)
    assert (now["fetched"], now["outlinks"]) == ("2026-09-02T01:00:00Z", 1)
    assert {**page("--as-of", "2026-09-03"), "title": now["title"]} == now
    shown = run("page", "example.com/about", "--as-of", "2026-09-03").stdout
    assert shown.startswith("url ")


def test_a_revisit_has_the_size_of_what_it_repeats(tmp_path: Path) -> None:
    location, crawl = str(tmp_path / "store"), tmp_path / "crawl.warc"
    digest = payload_digest(b"the same body")
    first, again = "https://example.com/a", "https://example.com/b"
    crawl.write_bytes(
        record(http(b"the same body"), first, date="2026-09-01")
        + record(http(b"")[:-2], first, "revisit", date="2026-09-02", WARC_Payload_Digest=digest)
        + record(http(b"")[:-2], again, "revisit", WARC_Payload_Digest="sha1:" + "A" * 32)
    )
    for arguments in (["init", "--profile", "archive"], ["load", str(crawl), "--workers", "0"]):
        assert CliRunner().invoke(cli, [*arguments, "--store", location]).exit_code == 0

    def sizes(url: str) -> list[tuple[int | None, bool]]:
        arguments = ["page", url, "--versions", "5", "--format", "jsonl", "--store", location]
        lines = CliRunner().invoke(cli, arguments).stdout.splitlines()
        return [(item["size"], item["revisit"]) for item in map(json.loads, lines)]

    assert sizes(first) == [(13, True), (13, False)]
    assert sizes(again) == [(None, True)]
    shown = CliRunner().invoke(cli, ["page", again, "--versions", "1", "--store", location])
    assert " 0 B" not in shown.stdout


def test_the_body_of_a_page(run: Run) -> None:
    assert run("page", "example.com/about", "--body").stdout_bytes.startswith(b"<p>same <a")
    then = run("page", "example.com/about", "--body", "--as-of", "2026-09-02T00:00:00Z")
    assert then.stdout_bytes == b"same"


def test_the_headers_of_a_page(tmp_path: Path) -> None:
    location, crawl = str(tmp_path / "store"), tmp_path / "crawl.warc"
    hostile = ("X-Hostile", "a\x1b[31mb")
    crawl.write_bytes(
        record(http(b"one", ("X-A", "1"), ("X-A", "2")), date="2026-09-01T00:00:00Z")
        + record(http(b"two", hostile), date="2026-09-02T00:00:00Z")
        + record(b"three", kind="resource", Content_Type="text/plain", date="2026-09-03T00:00:00Z")
    )
    assert CliRunner().invoke(cli, ["load", str(crawl), "--store", location]).exit_code == 0

    def headers(*arguments: str) -> Result:
        command = ["page", "example.com", "--headers", *arguments, "--store", location]
        return CliRunner().invoke(cli, command)

    first = headers("--as-of", "2026-09-01")
    assert first.stdout.splitlines() == [
        "HTTP/1.1 200 OK",
        "Content-Type: text/html",
        "X-A: 1",
        "X-A: 2",
    ]
    assert "\x1b" not in headers("--as-of", "2026-09-02").stdout
    shown = json.loads(headers("--as-of", "2026-09-02", "--format", "json").stdout)
    assert shown["status_line"] == "HTTP/1.1 200 OK"
    assert shown["headers"][1] == {"name": hostile[0], "value": hostile[1]}
    table = headers("--as-of", "2026-09-01", "--format", "csv").stdout
    assert table.splitlines() == ["name,value", "Content-Type,text/html", "X-A,1", "X-A,2"]
    # A record without a response has no headers.
    absent = headers()
    assert absent.exit_code == 3
    assert "headers 'https://example.com/ of 2026-09-03T00:00:00Z' does not exist" in absent.stderr
    assert headers("--as-of", "2020-01-01").exit_code == 3


def test_the_origin_of_captures(tmp_path: Path) -> None:
    location, crawl = str(tmp_path / "store"), tmp_path / "crawl.warc"
    made = record(http(b"one"), date="2026-09-01T00:00:00Z", WARC_IP_Address="192.0.2.1")
    crawl.write_bytes(made)
    assert CliRunner().invoke(cli, ["load", str(crawl), "--store", location]).exit_code == 0

    def versions(form: str) -> str:
        command = ["page", "example.com", "--versions", "1", "--format", form, "--store", location]
        return CliRunner().invoke(cli, command).stdout

    (item,) = json.loads(versions("json"))["items"]
    assert (item["file"], item["offset"], item["length"]) == (str(crawl), 0, len(made))
    assert (item["record_id"], item["ip"]) == ("<urn:uuid:1>", "192.0.2.1")
    (row,) = csv.DictReader(versions("csv").splitlines())
    assert row.keys() == item.keys()
    assert row["ip"] == "192.0.2.1"
    assert "FILE" in versions("table")


def test_what_is_not_there(run: Run) -> None:
    unknown = run("page", "example.com/nothing")
    assert unknown.exit_code == 3
    assert "page 'https://example.com/nothing' does not exist" in unknown.stderr
    early = run("page", "example.com/about", "--as-of", "2020-01-01")
    assert "about by 2020-01-01T23:59:59Z' does not exist" in early.stderr
    assert early.exit_code == 3
    assert "its first capture is from 2026-09-02T00:00:00Z" in early.stderr
    assert run("page", "mailto:me@example.com").exit_code == 2
    assert run("page", "example.com/about", "--as-of", "2026-02-30").exit_code == 2


def test_commands_before_init_name_it(tmp_path: Path) -> None:
    location = str(tmp_path / "none")
    for arguments in (["pages", "example.com"], ["links", "top"], ["report", "largest"]):
        answer = CliRunner().invoke(cli, [*arguments, "--store", location])
        assert answer.exit_code == 3
        assert f"there is no store at '{location}'" in answer.stderr
        assert "webtable init" in answer.stderr


def test_a_load_without_any_file_creates_no_store(tmp_path: Path) -> None:
    location = tmp_path / "none"
    missing = [str(tmp_path / name) for name in ("one.warc", "two.warc")]
    done = CliRunner().invoke(cli, ["load", *missing, "--store", str(location)])
    assert done.exit_code == 3
    assert f"file '{missing[0]}' does not exist" in done.stderr
    assert f"no store was created at '{location}'" in done.stderr
    assert not location.exists()


def test_an_empty_result_is_reported(run: Run) -> None:
    answer = run("report", "modified", "--until", "2001-01-01")
    assert answer.exit_code == 0
    assert answer.stderr == "nothing found\n"


def test_no_store_of_pages(tmp_path: Path) -> None:
    location = str(tmp_path / "plain")
    webtable.open(location).close()
    answer = CliRunner().invoke(cli, ["pages", "example.com", "--store", location])
    assert answer.exit_code == 3
    assert "webtable init" in answer.stderr


def test_the_difference_of_two_versions(run: Run) -> None:
    text = run("diff", "example.com/about").stdout
    assert '+<p>same <a href="/">thing</a>\n+</p>' in text
    assert "+ link to https://example.com/    thing" in text
    item = json.loads(run("diff", "example.com/about", "--format", "json").stdout)
    assert (item["from"], item["to"]) == ("2026-09-02T00:00:00Z", "2026-09-02T01:00:00Z")
    assert item["links_gained"] == [{"url": "https://example.com/", "rel": "", "anchor": "thing"}]
    only = run("diff", "example2.com/")
    assert only.exit_code == 3
    assert "all its captures are the same" in only.stderr


def test_a_difference_that_would_take_too_long_is_coarse_and_says_so(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    draw = random.Random(7)
    with WebTable.open(location) as web:
        for day in (1, 2):
            lines = [str(draw.randrange(150)) for _ in range(40_000)]
            body = "\n".join(lines).encode()
            web.put("https://example.com/", body, fetched=f"2026-09-0{day}")
    answer = CliRunner().invoke(cli, ["diff", "example.com", "--store", location])
    assert answer.exit_code == 0
    assert "80,000 lines are shown as replaced whole" in answer.stderr
    arguments = ["diff", "example.com", "--store", location, "--format", "json"]
    assert json.loads(CliRunner().invoke(cli, arguments).stdout)["coarse_lines"] == 80_000


def test_pages_of_a_domain_page_by_page(run: Run) -> None:
    seen: list[str] = []
    more: list[str] = []
    while True:
        answer = run("pages", "example.com", "--limit", "2", "--format", "json", *more)
        page = json.loads(answer.stdout)
        seen += [item["url"] for item in page["items"]]
        if not page["truncated"]:
            break
        more = ["--after", page["next"]]
    assert len(seen) == len(set(seen)) == 6
    assert "https://example2.com/" not in seen
    alone = run("pages", "example.com", "--no-subdomains", "--format", "jsonl").stdout
    assert "docs.example.com" not in alone
    inside = run("pages", "example.com/blog/", "--format", "jsonl").stdout
    assert len(inside.splitlines()) == 2


def test_reports(run: Run) -> None:
    def urls(*arguments: str) -> list[str]:
        answer = run("report", *arguments, "--format", "jsonl")
        assert answer.exit_code == 0, answer.stderr
        return [json.loads(line)["url"] for line in answer.stdout.splitlines()]

    assert urls("largest", "--limit", "1") == ["https://example.com/blog/two"]
    assert urls("errors") == ["https://other.org/gone", "https://other.org/broken"]
    assert urls("redirects") == ["http://example.com/"]
    assert urls("modified", "--since", "2026-09-10") == [
        "https://other.org/file",
        "https://other.org/broken",
    ]
    assert urls("modified", "--until", "2026-09-02", "--domain", "example.com") == [
        "https://example.com/"
    ]
    assert urls("outdated", "--before", "2026-09-02") == ["https://example.com/"]
    assert urls("dead-ends") == ["https://docs.example.com/"]
    assert urls("untitled") == ["https://example.com/about", "https://docs.example.com/"][::-1]
    assert urls("search", "neighbour") == ["https://example2.com/", "https://example_x.com/"]
    assert urls("linking-to", "home.example/") == ["https://example.com/"]
    assert urls("inlinked") == []


def test_reports_say_what_they_cost(run: Run) -> None:
    answer = run("report", "largest", "--limit", "2", "--explain")
    assert "read from index webtable_size_idx: 3 entries" in answer.stderr
    assert "more results follow: continue with --after '" in answer.stderr
    assert "every page was read" in run("report", "untitled").stderr
