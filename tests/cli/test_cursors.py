"""Queries that are not valid: an error, not an empty result."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from tests.pages.formats.crawls import http, record
from webtable.cli.main import cli
from webtable.pages.asking.paged_results import _sealed

Run = Callable[..., Result]

QUESTIONS = {
    "pages": ("pages", "example.com"),
    "directory": ("pages", "example.com/p/"),
    "largest": ("report", "largest"),
    "errors": ("report", "errors"),
    "redirects": ("report", "redirects"),
    "dead-ends": ("report", "dead-ends"),
    "untitled": ("report", "untitled"),
    "inlinked": ("report", "inlinked"),
    "outdated": ("report", "outdated", "--before", "2027-01-01"),
    "modified": ("report", "modified"),
    "modified-domain": ("report", "modified", "--domain", "example.com"),
    "search": ("report", "search", "x"),
    "linking-to": ("report", "linking-to", "example.com/p/0"),
    "duplicates": ("report", "duplicates"),
    "links top": ("links", "top"),
    "links top domain": ("links", "top", "--domain", "example.com"),
    "links top internal": ("links", "top", "--internal"),
    "links domains": ("links", "domains"),
    "links in": ("links", "in", "example.com/p/0"),
    "links out": ("links", "out", "example.com/p/1"),
    "links anchors": ("links", "anchors", "example.com/p/0"),
    "links broken": ("links", "broken"),
    "links orphans": ("links", "orphans"),
    "links dead-ends": ("links", "dead-ends", "--external"),
    "links redirects": ("links", "redirects"),
    "links redirects to": ("links", "redirects", "--to", "example.com/p/0"),
    "links changes": ("links", "changes", "example.com/p/0", "--since", "2025-01-01"),
    "links dump": ("links", "dump"),
}
WRONG = ("zzz", "", "\\xFF", "0", "com.example", "a\\x09b", "\\x00")


@pytest.fixture(scope="module", params=["readable", "salted"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("cursors")
    records = []
    for host in ("example.com", "other.org"):
        for number in range(6):
            links = "".join(f'<a href="/p/{other}">{other}</a>' for other in range(number))
            body = f"{links}<a href='/gone/{number}'>x</a>{'x' * number}".encode()
            records += [
                record(http(body), f"https://{host}/p/{number}", date=f"2026-01-0{number + 1}"),
                record(http(b"same"), f"https://{host}/same/{number % 2}"),
                record(http(b"", status="404 No"), f"https://{host}/gone/{number}"),
                record(
                    http(b"", ("Location", "/p/0"), status="301 Moved"),
                    f"https://{host}/moved/{number}",
                ),
            ]
    records.append(record(http(b"port"), "http://127.0.0.1:8766/a"))
    records.append(record(http(b"none"), "http://127.0.0.1/a"))
    crawl = folder / "crawl.warc"
    crawl.write_bytes(b"".join(records))
    location = str(folder / "store")
    made = ("init", "--profile", "archive", "--keys", request.param)
    for arguments in (made, ("load", str(crawl), "--workers", "0")):
        done = CliRunner().invoke(cli, [*arguments, "--store", location])
        assert done.exit_code == 0, done.output
    return location


@pytest.fixture
def run(store: str) -> Run:
    return lambda *arguments: CliRunner().invoke(cli, [*arguments, "--store", store])


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_right_cursor_goes_on_and_a_wrong_one_is_rejected(run: Run, question: str) -> None:
    asked = QUESTIONS[question]
    whole = json.loads(run(*asked, "--limit", "1000", "--format", "json").stdout)["items"]
    pieces: list[object] = []
    after: tuple[str, ...] = ()
    while True:
        answer = run(*asked, "--limit", "2", "--format", "json", *after)
        assert answer.exit_code == 0, answer.stderr
        piece = json.loads(answer.stdout)
        pieces += piece["items"]
        if piece["next"] is None:
            break
        after = ("--after", piece["next"])
    assert pieces == whole
    for wrong in WRONG:
        answer = run(*asked, "--after", wrong)
        assert (answer.exit_code, answer.stdout) == (2, ""), (wrong, answer.output)
        assert "is not a cursor of this query" in answer.stderr
        assert "--after" in answer.stderr


def test_a_cursor_of_another_kind_of_query_is_rejected(run: Run) -> None:
    cursors = {}
    for name, asked in QUESTIONS.items():
        first = json.loads(run(*asked, "--limit", "1", "--format", "json").stdout)
        if first["next"] is not None:
            cursors[name] = first["next"]
    assert len(cursors) > 20
    # Cursors of similar queries look alike, and stand for a position in the same order.
    for question, cursor in (
        ("pages", cursors["largest"]),
        ("largest", cursors["pages"]),
        ("errors", cursors["redirects"]),
        ("outdated", cursors["links top"]),
        ("links top", cursors["pages"]),
        ("links top internal", cursors["links top"]),
        ("links in", cursors["links out"]),
        ("links broken", cursors["errors"]),
        ("duplicates", cursors["links in"]),
        ("links dump", cursors["links in"]),
    ):
        assert run(*QUESTIONS[question], "--after", cursor).exit_code == 2, (question, cursor)
    assert run("pages", "other.org", "--after", cursors["pages"]).exit_code == 2


def test_a_cursor_of_the_same_query_with_other_options_is_rejected(run: Run) -> None:
    first = json.loads(run("links", "top", "--limit", "1", "--format", "json").stdout)["next"]
    assert run("links", "top", "--after", first).exit_code == 0
    for other in (
        ("links", "top", "--internal"),
        ("links", "top", "--domain", "example.com"),
        ("links", "domains"),
        ("report", "inlinked"),
    ):
        assert run(*other, "--after", first).exit_code == 2, other


def test_the_end_of_a_list_is_reported(run: Run) -> None:
    behind = _sealed("links-on url=https://example.com/p/1 kind=all", "99")
    answer = run("links", "out", "example.com/p/1", "--after", behind)
    assert answer.exit_code == 0
    assert "nothing follows this cursor" in answer.stderr


@pytest.mark.parametrize("name", ["ex ample.com", "example.com?x", "a@b", "http:", "[::1", "a:b"])
def test_what_is_no_domain_is_rejected(run: Run, name: str) -> None:
    for asked in (("pages", name), ("report", "modified", "--domain", name)):
        answer = run(*asked)
        assert answer.exit_code == 2, answer.output
        assert f"'{name}' is not a domain" in answer.stderr
        assert "example.com" in answer.stderr


def test_pages_of_a_host_and_a_port(run: Run) -> None:
    def urls(name: str) -> list[str]:
        answer = run("pages", name, "--format", "jsonl")
        assert answer.exit_code == 0, answer.stderr
        return [json.loads(line)["url"] for line in answer.stdout.splitlines()]

    assert urls("127.0.0.1:8766") == ["http://127.0.0.1:8766/a"]
    assert urls("127.0.0.1:80") == ["http://127.0.0.1/a"]
    assert sorted(urls("127.0.0.1")) == ["http://127.0.0.1/a", "http://127.0.0.1:8766/a"]
    assert len(urls("example.com:443")) == len(urls("EXAMPLE.com"))


def test_a_domain_without_pages_is_reported(run: Run) -> None:
    answer = run("pages", "nothing.example")
    assert answer.exit_code == 0
    assert "no page of 'nothing.example' is stored" in answer.stderr


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        (("report", "modified"), "--since", "--until"),
        (("report", "modified", "--domain", "example.com"), "--since", "--until"),
        (("links", "changes", "example.com"), "--since", "--until"),
        (("diff", "example.com/p/0"), "--from", "--to"),
    ],
)
def test_a_range_that_ends_before_it_begins_is_rejected(
    run: Run, asked: tuple[str, ...], first: str, last: str
) -> None:
    answer = run(*asked, first, "2026-02-01", last, "2026-01-01")
    assert answer.exit_code == 2, answer.output
    assert first in answer.stderr
    assert "2026-01-01" in answer.stderr
