"""What `webtable load` says and how it ends where something is wrong with its files."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.formats.crawls import http, members, record
from tests.pages.loading.loads import write_jsonl, write_warc
from webtable.cli.main import cli
from webtable.pages.loading.worker_process import MAX_MEMORY_BYTES
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

INCOMPLETE = 1
USAGE = 2
NOT_FOUND = 3


@pytest.fixture
def store(tmp_path: Path) -> str:
    location = str(tmp_path / "store")
    with webtable.open(location) as opened:
        PageTable.create(opened, parse_stored, profile="archive")
    return location


def load(location: str, *arguments: str | Path) -> Result:
    command = ["load", "--store", location, "--format", "json", *map(str, arguments)]
    return CliRunner().invoke(cli, command)


def captures(result: Result) -> int:
    found: int = json.loads(result.stdout)["captures"]
    return found


def error(result: Result) -> dict[str, object]:
    found: dict[str, object] = json.loads(result.stderr.splitlines()[-1])
    return found


def test_a_load_that_did_not_read_everything_fails_and_names_the_files(
    store: str, tmp_path: Path
) -> None:
    write_jsonl(tmp_path / "good.jsonl", 3)
    write_warc(tmp_path / "cut.warc.gz", 10)
    whole = (tmp_path / "cut.warc.gz").read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[:-30])
    write_jsonl(tmp_path / "cut.jsonl", 10, domain="other.example")
    (tmp_path / "cut.jsonl").write_bytes((tmp_path / "cut.jsonl").read_bytes()[:-30])
    (tmp_path / "empty.warc").write_bytes(b"")
    names = ["missing.warc", "good.jsonl", "cut.warc.gz", "cut.jsonl", "empty.warc"]
    result = load(store, *(tmp_path / name for name in names))
    assert result.exit_code == INCOMPLETE
    assert captures(result) == 3 + 9 + 9
    said = error(result)
    assert said["code"] == "incomplete-load"
    assert "4 of 5 files" in str(said["error"])
    assert "load them again" in str(said["hint"])
    report = json.loads(result.stdout)
    assert list(report["failed"]) == [str(tmp_path / "missing.warc")]
    assert report["unread"] == {
        str(tmp_path / "cut.warc.gz"): {"truncated": 1},
        str(tmp_path / "cut.jsonl"): {"truncated": 1},
        str(tmp_path / "empty.warc"): {"not-a-crawl": 1},
    }
    for name in names:
        assert (name in result.stderr) == (name != "good.jsonl")
    # The whole file, loaded again, is complete.
    (tmp_path / "cut.warc.gz").write_bytes(whole)
    result = load(store, tmp_path / "cut.warc.gz")
    assert (result.exit_code, captures(result)) == (0, 10)


def test_records_that_say_something_wrong_are_no_failure(store: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "mixed.jsonl", 3)
    with (tmp_path / "mixed.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"html": "no url"}\n["no page"]\n{"url": "javascript:x", "html": ""}\n')
    result = load(store, tmp_path / "mixed.jsonl")
    assert (result.exit_code, captures(result)) == (0, 3)


def test_a_line_that_is_no_json_was_not_read(store: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    write_jsonl(path, 9)
    held = bytearray(path.read_bytes())
    held[len(held) // 2 : len(held) // 2 + 16] = bytes(16)
    path.write_bytes(held)
    result = load(store, path)
    assert (result.exit_code, captures(result)) == (INCOMPLETE, 8)
    assert json.loads(result.stdout)["unread"] == {str(path): {"garbage": 1}}


def test_the_list_of_skipped_records_cannot_be_made(store: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "good.jsonl", 3)
    for place in (tmp_path / "nowhere" / "skipped", Path("/dev/null/skipped")):
        result = load(store, tmp_path / "good.jsonl", "--skipped-to", place)
        assert result.exit_code == USAGE
        assert str(place) in str(error(result)["error"])
    before = (tmp_path / "good.jsonl").read_bytes()
    same = tmp_path / "store" / ".." / "good.jsonl"
    result = load(store, tmp_path / "good.jsonl", "--skipped-to", same)
    assert result.exit_code == USAGE
    assert (tmp_path / "good.jsonl").read_bytes() == before


def test_the_list_of_skipped_records_meets_a_full_disk(store: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "mixed.jsonl", 3)
    with (tmp_path / "mixed.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"html": "no url"}\n' * 200)
    result = load(store, tmp_path / "mixed.jsonl", "--skipped-to", "/dev/full")
    assert result.exit_code == INCOMPLETE
    assert captures(result) == 3
    assert "'/dev/full'" in str(error(result)["error"])
    assert "No space left" in str(error(result)["error"])


def test_a_path_that_is_not_utf8(store: str, tmp_path: Path) -> None:
    good, bad = (os.fsdecode(os.fsencode(tmp_path / name)) for name in ("good", "bad"))
    good, bad = f"{good}\udce9.jsonl", f"{bad}\udce9.warc"
    write_jsonl(Path(good), 3)
    result = load(store, good)
    assert (result.exit_code, captures(result)) == (0, 3)
    result = load(store, bad, good, "--skipped-to", f"{bad}\udce9.skipped")
    assert (result.exit_code, captures(result)) == (INCOMPLETE, 3)
    assert "bad\\xe9.warc" in result.stderr


def test_a_load_without_any_file_creates_no_store(tmp_path: Path) -> None:
    result = load(str(tmp_path / "nowhere"), tmp_path / "crawl.warc")
    assert result.exit_code == NOT_FOUND
    assert "crawl.warc' does not exist" in str(error(result)["error"])
    assert f"no store was created at '{tmp_path / 'nowhere'}'" in str(error(result)["hint"])
    assert not (tmp_path / "nowhere").exists()
    with webtable.open(str(tmp_path / "other")):
        pass
    result = load(str(tmp_path / "other"), tmp_path / "crawl.warc")
    assert result.exit_code == NOT_FOUND
    assert "webtable init" in str(error(result)["hint"])


def bomb() -> bytes:
    """A few pages, among them a small one whose links alone would take more than 1 GB."""
    base = b"<base href='https://example.com/%s/'>" % (b"a" * 8_000)
    links = gzip.compress(base + b"".join(b"<a href=%d>" % number for number in range(150_000)))
    packed = http(links, ("Content-Encoding", "gzip"))
    good = [record(http(b"x"), f"https://example.com/{number}") for number in range(20)]
    return members([*good[:10], record(packed, "https://example.com/bomb"), *good[10:]])


# Runs a command; the last word on stderr is the most memory that one of its processes had, in KB.
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""


def load_in_every_mode(
    store: str, file: Path, source: str, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "webtable", "load", "--store", store, "--workers", "0"]
    command = [sys.executable, "-c", MEASURED, *command]
    with file.open("rb") as opened:
        is_file = source == "file"
        return subprocess.run(
            [*command, "--format", "json", str(file) if is_file else "-"],
            stdin=subprocess.DEVNULL if is_file else opened,
            capture_output=True,
            check=False,
            timeout=100,
            env={**os.environ, **environment},
        )


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_a_page_that_would_take_much_memory_is_cut_in_every_mode(
    store: str, tmp_path: Path, source: str
) -> None:
    (tmp_path / "bomb.warc.gz").write_bytes(bomb())
    done = load_in_every_mode(store, tmp_path / "bomb.warc.gz", source)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["captures"], report["links_cut"]) == (21, 1)
    peak_bytes = int(done.stderr.split()[-1]) * 1024
    assert peak_bytes < 1.3 * MAX_MEMORY_BYTES


# In the worker processes only: one page wants more memory than any of them may have.
GREEDY = """
from webtable.pages.html import parser

parse_html = parser.parse_html

def parse_and_hoard(body, *more):
    hoard = bytearray(3 << 30) if b"Page 7<" in body else None
    return parse_html(body, *more)

parser.parse_html = parse_and_hoard
"""


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_every_mode_reads_in_a_process_of_limited_memory(
    store: str, tmp_path: Path, source: str
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sitecustomize.py").write_text(GREEDY, encoding="utf-8")
    write_jsonl(tmp_path / "pages.jsonl", 20)
    code = str(tmp_path / "code")
    done = load_in_every_mode(store, tmp_path / "pages.jsonl", source, PYTHONPATH=code)
    assert done.returncode == INCOMPLETE, done.stderr
    report = json.loads(done.stdout)
    assert (report["captures"], report["skipped"]) == (19, {"crashed": 1})
