"""Foreign text on terminals and in spreadsheets: titles, anchors and errors that hold commands."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.formats.crawls import http, record
from webtable.cli.main import cli
from webtable.cli.output_formats import Column, print_items, talk
from webtable.cli.safe_text import show_json, show_text

Run = Callable[..., Result]

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2060-\u206f\ufeff]")
# Clears the screen, sets the window's title, the clipboard (also by one C1 byte), turns text round.
HOSTILE = "\x1b[2J\x1b]0;mine\x07\x1b]52;c;bWluZQ==\x07\x9b2J\u202egpj\u2066\ufeff"
TITLE = f"=cmd|'/c calc'!A1 {HOSTILE}"
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1")


def page(title: str, body: str, url: str, date: str) -> bytes:
    html = f"<title>{title}</title>{body}".encode()
    return record(http(html, kind="text/html; charset=utf-8"), url, date=date)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    link = f'<a href="https://b.example.com/">=anchor {HOSTILE}</a>'
    crawl = folder / "crawl.warc"
    crawl.write_bytes(
        page("first", "<p>old", "https://a.example.com/", "2026-09-01T00:00:00Z")
        + page(TITLE, f"<p>{HOSTILE}\n{link}", "https://a.example.com/", "2026-09-02T00:00:00Z")
        + record(
            http(b"", ("Location", "https://b.example.com/"), status="301 Moved"),
            "https://c.example.com/",
        )
        + record(http(b"gone", status="404 Not Found"), "https://b.example.com/")
    )
    location = str(folder / "store")
    for arguments in (["init", "--profile", "archive"], ["load", str(crawl), "--workers", "0"]):
        done = CliRunner().invoke(cli, [*arguments, "--store", location])
        assert done.exit_code == 0, done.output
    return location


@pytest.fixture
def run(store: str) -> Run:
    return lambda *arguments: CliRunner().invoke(cli, [*arguments, "--store", store])


COMMANDS = (
    ("page", "a.example.com"),
    ("page", "a.example.com", "--versions", "5"),
    ("page", "a.example.com", "--as-of", "2026-09-03"),
    ("diff", "a.example.com"),
    ("pages", "example.com", "--limit", "1"),
    ("report", "largest"),
    ("report", "linking-to", "b.example.com"),
    ("links", "in", "b.example.com"),
    ("links", "in", "b.example.com", "--as-of", "2026-09-03"),
    ("links", "out", "a.example.com"),
    ("links", "anchors", "b.example.com"),
    ("links", "changes", "b.example.com", "--since", "2026-09-01"),
    ("links", "broken"),
    ("links", "redirects"),
    ("links", "dump"),
    ("stats", "--domains"),
    ("doctor",),
    ("verify",),
    ("page", f"nothing.example.com/{HOSTILE}"),
    ("links", "in", f"nothing.example.com/{HOSTILE}"),
    ("stats", HOSTILE),
    ("shell", "-c", "scan 'webtable', {COLUMNS => ['metadata:title:toString']}"),
    ("shell", "-c", "get 'webtable', 'com.example.a_home', {COLUMN => 'outlinks:urls:toString'}"),
    ("shell", "-c", f"no_such_command '{HOSTILE}'"),
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_what_people_read_holds_no_commands_for_their_terminal(
    run: Run, arguments: tuple[str, ...]
) -> None:
    done = run(*arguments)
    assert done.exit_code in (0, 2, 3), done.output
    assert not UNSAFE.search(done.stdout)
    assert not UNSAFE.search(done.stderr)


def test_what_is_escaped_can_be_seen(run: Run) -> None:
    (line,) = [each for each in run("page", "a.example.com").stdout.splitlines() if "cmd" in each]
    assert r"\x1B[2J" in line
    assert r"\u202Egpj" in line


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("arguments", COMMANDS[:-3], ids=" ".join)
def test_json_says_the_same_in_escapes(run: Run, arguments: tuple[str, ...], form: str) -> None:
    done = run(*arguments, "--format", form)
    assert not UNSAFE.search(done.stdout)
    assert not UNSAFE.search(done.stderr)


def test_json_keeps_the_value(run: Run) -> None:
    item = json.loads(run("page", "a.example.com", "--format", "json").stdout)
    assert item["title"] == TITLE


def test_a_body_is_printed_byte_for_byte(run: Run) -> None:
    assert HOSTILE.encode() in run("page", "a.example.com", "--body").stdout_bytes


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 漢字 👩‍👩‍👧", "plain ü 漢字 👩‍👩‍👧"),
        ("a\tb\r\nc", r"a\tb\r\nc"),
        ("\x00\x1b\x7f\x80\x9f", r"\x00\x1B\x7F\x80\x9F"),
        ("\u202a\u202e\u2066\u2069", r"\u202A\u202E\u2066\u2069"),
        ("\u2028\u2029\ufeff\U000e0041", r"\u2028\u2029\uFEFF\U000E0041"),
        (os.fsdecode(b"p\xffq"), r"p\xFFq"),
        ("\ud800", r"\uD800"),
        ("שלום\u200f! می\u200cخواهم", "שלום\u200f! می\u200cخواهم"),
    ],
)
def test_texts_for_terminals(text: str, shown: str) -> None:
    assert show_text(text) == shown


def test_json_for_terminals_has_the_same_value() -> None:
    texts = [HOSTILE, "\udcff", "a\nb", "\U000e0041", "ü"]
    shown = show_json(json.dumps(texts, ensure_ascii=False, indent=2))
    assert json.loads(shown) == texts
    assert not UNSAFE.search(shown)


def test_a_message_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    talk("page 'a\nwebtable: all is well' does not exist")
    assert capsys.readouterr().err == "page 'a\\nwebtable: all is well' does not exist\n"


def cells(capsys: pytest.CaptureFixture[str], *values: object) -> list[str]:
    print_items([{"x": value} for value in values], [Column("x", "X")], "csv")
    return [row["x"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out, newline=""))]


def test_cells_that_a_spreadsheet_takes_for_formulas_are_texts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cells(capsys, *FORMULAS, ["=1", "b"]) == [f"'{each}" for each in (*FORMULAS, "=1, b")]
    assert cells(capsys, "a=1", "", None, b"-x") == ["a=1", "", "", "'-x"]


def test_numbers_stay_numbers_in_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert cells(capsys, -5, -0.5, True) == ["-5", "-0.5", "true"]


def test_csv_holds_no_values_in_the_form_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    nested: object = [{"url": "https://example.com/", "count": 1}]
    (cell, other) = cells(capsys, nested, {"a": None})
    assert json.loads(cell) == nested
    assert json.loads(other) == {"a": None}


def test_raw_keeps_the_cells_of_csv(run: Run) -> None:
    def title(*more: str) -> str:
        done = run("report", "largest", "--format", "csv", *more)
        rows = csv.DictReader(io.StringIO(done.stdout, newline=""))
        return next(row["title"] for row in rows if "cmd" in row["title"])

    assert title().startswith("'=cmd")
    assert title("--raw").startswith("=cmd")
    assert "\x1b[2J" in title("--raw")


def test_csv_on_a_terminal_is_safe_too(store: str) -> None:
    ours, theirs = pty.openpty()
    arguments = ["report", "largest", "--format", "csv", "--store", store]
    with subprocess.Popen(
        [sys.executable, "-m", "webtable", *arguments], stdout=theirs, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        seen = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
    os.close(ours)
    assert process.returncode == 0
    assert rb"\x1B[2J" in seen
    assert not UNSAFE.search(seen.decode().replace("\r\n", "\n"))


def test_a_tour_of_hostile_bytes_shows_them_as_hbase_does(tmp_path: Path) -> None:
    location = str(tmp_path / "plain")
    with webtable.open(location) as opened:
        opened.create_table("t", "f").put(b"\x1b[2J", {b"f:q": HOSTILE.encode()})
    done = CliRunner().invoke(cli, ["shell", "-c", "scan 't'", "--store", location])
    assert r"\x1B[2J column=f:q" in done.stdout
    assert not UNSAFE.search(done.stdout)
