"""`webtable load`: files are read, pages stored, skipped records reported."""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.loading.loads import contents, write_jsonl, write_warc
from webtable.cli.main import cli
from webtable.index.build_and_verify import verify
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored


@pytest.fixture
def store(tmp_path: Path) -> str:
    location = str(tmp_path / "store")
    with webtable.open(location) as opened:
        PageTable.create(opened, parse_stored, profile="archive")
    return location


def load(location: str, *arguments: str, stdin: bytes | None = None) -> Result:
    command = ["load", "--store", location, "--workers", "0", "--format", "json", *arguments]
    return CliRunner().invoke(cli, command, input=stdin)


def report(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.stderr
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_a_load_says_what_it_did(store: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "one.jsonl", 50)
    first = report(load(store, str(tmp_path / "one.jsonl")))
    assert (first["records"], first["captures"], first["new"], first["pages"]) == (50, 50, 50, 50)
    before = contents(store)
    again = report(load(store, str(tmp_path / "one.jsonl")))
    assert (again["new"], again["unchanged"], again["captures"]) == (0, 50, 50)
    assert contents(store) == before
    write_jsonl(tmp_path / "two.jsonl", 50, day=2, version=1)
    second = report(load(store, str(tmp_path / "two.jsonl")))
    assert (second["changed"], second["unchanged"], second["older"]) == (17, 33, 0)
    with webtable.open(store, read_only=True) as opened:
        assert verify(PageTable.open(opened, parse_stored).rows).is_tidy


def test_files_in_any_order_by_any_number_of_processes(tmp_path: Path) -> None:
    write_warc(tmp_path / "a.warc.gz", 60)
    write_jsonl(tmp_path / "b.jsonl", 60, day=2, version=1)
    write_jsonl(tmp_path / "c.jsonl", 60, day=3)
    files = [str(tmp_path / name) for name in ("a.warc.gz", "b.jsonl", "c.jsonl")]
    found = []
    for number, (order, workers) in enumerate([(files, 0), (files[::-1], 0), (files, 2)]):
        location = str(tmp_path / f"store{number}")
        with webtable.open(location) as opened:
            pages = PageTable.create(opened, parse_stored, profile="archive")
            done = Loader(pages, workers=workers).load(order)
            assert (done.records, done.captures, done.pages) == (181, 180, 60)
        # Versions that came in another order may have equal neighbours; what is read is the same.
        found.append(_told(location))
    assert found[0] == found[1] == found[2]


def _told(location: str) -> object:
    told: list[object] = []
    with webtable.open(location, read_only=True) as opened:
        pages = PageTable.open(opened, parse_stored)
        for number in range(60):
            url = f"https://site{number % 5}.example.com/page{number}"
            captures = pages.captures(url)
            assert len(captures) == 3
            told.append((pages.page(url), captures))
            told.append([pages.content(url, note.time) for note in captures])
            told.append([pages.links(url, note.time) for note in captures])
    return told


def test_standard_input(store: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "one.jsonl", 5)
    done = report(load(store, "-", stdin=(tmp_path / "one.jsonl").read_bytes()))
    assert done["new"] == 5


@pytest.mark.parametrize("kind", ["descriptor", "named"])
def test_pipes(store: str, tmp_path: Path, kind: str) -> None:
    """As a shell makes them of `<(zcat crawl.gz)`, which only this process has open."""
    write_jsonl(tmp_path / "one.jsonl", 5)
    read_end, path = -1, tmp_path / "pipe"
    if kind == "named":
        os.mkfifo(path)
    else:
        read_end, write_end = os.pipe()
        path = Path(f"/dev/fd/{read_end}")

    def write() -> None:
        with open(path if kind == "named" else write_end, "wb") as pipe:
            pipe.write((tmp_path / "one.jsonl").read_bytes())

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert report(load(store, str(path)))["new"] == 5
    finally:
        writer.join()
        if read_end >= 0:
            os.close(read_end)


def test_bad_records_are_named_and_the_rest_is_loaded(store: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "mixed.jsonl", 5)
    with (tmp_path / "mixed.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"html": "no url"}\n{"url": 7}\n{"url": "javascript:x", "html": ""}\n')
    skipped = tmp_path / "skipped.jsonl"
    result = load(store, str(tmp_path / "mixed.jsonl"), "--skipped-to", str(skipped))
    done = report(result)
    assert done["captures"] == 5
    assert sum(done["skipped"].values()) == 3  # type: ignore[attr-defined]
    told = [json.loads(line) for line in skipped.read_text(encoding="utf-8").splitlines()]
    assert len(told) == 3
    assert {each["reason"] for each in told} == set(done["skipped"])  # type: ignore[call-overload]
    assert all(each["why"] and each["source"].endswith("mixed.jsonl") for each in told)
    assert "not stored" in result.stderr


def test_nothing_to_read_is_a_failure(store: str, tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(random.Random(1).randbytes(10_000))
    noise = load(store, str(tmp_path / "noise"))
    assert noise.exit_code == 1
    assert "not-a-crawl" in noise.stderr
    missing = load(store, str(tmp_path / "missing.warc"))
    assert missing.exit_code == 1
    assert "missing.warc" in missing.stderr


def test_bodies_that_are_too_old_are_reported(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    CliRunner().invoke(cli, ["init", "--store", location, "--profile", "live"])
    old = {"url": "https://example.com/", "html": "old", "fetched": "2020-01-01T00:00:00Z"}
    (tmp_path / "old.jsonl").write_text(json.dumps(old), encoding="utf-8")
    result = load(location, str(tmp_path / "old.jsonl"))
    assert report(result)["expired"] == 1
    assert "--profile archive" in result.stderr
