"""Where a load that was stopped goes on: only where the bytes before are those that were loaded."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import webtable
from tests.pages.formats.crawls import http, members, record
from tests.pages.loading.loads import page
from webtable import Scan
from webtable.pages.captures import Position
from webtable.pages.loading import capture_batches
from webtable.pages.loading.file_positions import _File
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

PAGES = 60
# More than the beginning of a file that its row is found by.
PADDING = os.urandom(60_000).hex()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageTable]:
    monkeypatch.setattr(capture_batches, "BATCH_CAPTURES", 10)
    with webtable.open(str(tmp_path / "store")) as opened:
        yield PageTable.create(opened, parse_stored, profile="archive")


def answer(number: int) -> bytes:
    words = PADDING if number == 0 else ""
    return record(http(f"{page(number)}{words}".encode()), f"https://example.com/{number}")


def line(number: int) -> bytes:
    words = PADDING if number == 0 else ""
    text = '{"url": "https://example.com/%d", "fetched": 1767225600, "html": "%d %s"}\n'
    return (text % (number, number, words)).encode()


PACKINGS: dict[str, Callable[[], bytes]] = {
    "warc.gz": lambda: members(answer(number) for number in range(PAGES)),
    "jsonl": lambda: b"".join(line(number) for number in range(PAGES)),
    "jsonl.gz": lambda: gzip.compress(b"".join(line(number) for number in range(PAGES)), mtime=0),
}


REPLACED: dict[str, Callable[[bytes], bytes]] = {
    # Page 7 is damaged, or is another one; the last bytes of the only member are.
    "warc.gz": lambda whole: _changed(whole, len(members(map(answer, range(7)))) + 20),
    "jsonl": lambda whole: whole.replace(b"example.com/7", b"example.com/x"),
    "jsonl.gz": lambda whole: _changed(whole, len(whole) - 10),
}


def _changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes(255 - each for each in data[at : at + 4]) + data[at + 4 :]


def load(store: PageTable, file: Path) -> int:
    """Loads a file, and returns how many records of it were read."""
    report = Loader(store).load([str(file)])
    assert report.failed == {}
    return report.records


def load_a_half(store: PageTable, file: Path) -> Position:
    """Loads a file until half of it is stored, and returns where that was."""
    stored: list[Position] = []

    def stop(_: str, position: Position) -> None:
        stored.append(position)
        if len(stored) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        Loader(store, on_progress=stop).load([str(file)])
    return stored[-1]


def positions(store: PageTable) -> list[tuple[bytes, bytes]]:
    rows = store.store.table("webtable_settings").scan(Scan(prefix=b"load:"))
    return [(row.key, row.value(b"a:read") or b"") for row in rows]


@pytest.mark.parametrize("kind", ["warc.gz", "jsonl.gz"])
def test_a_load_goes_on_where_it_was_stopped(store: PageTable, tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"crawl.{kind}"
    file.write_bytes(PACKINGS[kind]())
    load_a_half(store, file)
    moved = file.rename(tmp_path / "store" / file.name)
    os.utime(moved, (0, 0))
    assert load(store, moved) == PAGES - 30
    assert positions(store) == []


@pytest.mark.parametrize("kind", PACKINGS)
def test_a_file_that_was_repaired_in_front_of_the_position_is_read_again(
    store: PageTable, tmp_path: Path, kind: str
) -> None:
    whole = PACKINGS[kind]()
    file = tmp_path / f"crawl.{kind}"
    other = REPLACED[kind](whole)
    assert (len(other), other[:65_536]) == (len(whole), whole[:65_536])
    file.write_bytes(other)
    time = file.stat().st_mtime_ns
    load_a_half(store, file)
    file.write_bytes(whole)
    os.utime(file, ns=(time, time))
    assert load(store, file) == PAGES
    captures = [store.captures(f"https://example.com/{number}") for number in range(PAGES)]
    assert all(captures)


def test_files_that_are_done_are_not_read_again(
    store: PageTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, file = tmp_path / "done.jsonl", tmp_path / "crawl.jsonl"
    done.write_bytes(PACKINGS["jsonl"]())
    file.write_bytes(PACKINGS["jsonl"]())
    ends: list[Position] = []

    def stop(path: str, position: Position) -> None:
        ends.append(position)
        if path == str(file):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        Loader(store, on_progress=stop).load([str(done), str(file)])
    hashed: list[Path] = []
    read_to = _File._read_to

    def counted(self: _File, offset: int) -> None:
        hashed.append(self._path)
        read_to(self, offset)

    monkeypatch.setattr(_File, "_read_to", counted)
    report = Loader(store).load([str(done), str(file)])
    assert report.records == PAGES - 10
    assert set(hashed) == {file}


def test_a_file_that_has_grown_is_gone_on_with(store: PageTable, tmp_path: Path) -> None:
    file = tmp_path / "crawl.jsonl"
    file.write_bytes(PACKINGS["jsonl"]())
    load_a_half(store, file)
    with file.open("ab") as more:
        more.write(line(PAGES))
    assert load(store, file) == PAGES + 1 - 30


def test_no_position_is_kept_behind_what_could_not_be_read(
    store: PageTable, tmp_path: Path
) -> None:
    records = [gzip.compress(answer(number), mtime=0) for number in range(PAGES)]
    records[12] = records[12][:40] + b"\x00\x00\x00\x00" + records[12][44:]
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(b"".join(records))
    load_a_half(store, file)
    report = Loader(store).load([str(file)])
    assert report.records == PAGES - 10
    assert report.unread == {str(file): {"damaged": 1}}
    assert not report.is_complete
    assert positions(store) == []


def test_a_cut_file_is_completed_later(store: PageTable, tmp_path: Path) -> None:
    whole = PACKINGS["warc.gz"]()
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(whole[:-50])
    report = Loader(store).load([str(file)])
    assert (report.captures, report.unread) == (PAGES - 1, {str(file): {"truncated": 1}})
    file.write_bytes(whole)
    report = Loader(store).load([str(file)])
    assert (report.captures, report.new, report.is_complete) == (PAGES, 1, True)


def test_the_bytes_of_a_position(store: PageTable, tmp_path: Path) -> None:
    file = tmp_path / "crawl.jsonl"
    lines = [
        b'{"url": "https://example.com/%d", "fetched": 1767225600, "html": ""}\n' % number
        for number in range(40)
    ]
    file.write_bytes(b"".join(lines))
    assert load_a_half(store, file) == (2060, 0)
    (stored,) = positions(store)
    found = file.stat()
    state = f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
    sha256 = "c812dfc6d04861f378e03765f3c7ec3d762422685f4d433c3b4e97f3fd0c8b7a"
    assert stored == (
        b"load:1ece2dc9b2697b851770797e1c699315:crawl.jsonl",
        f'[2060,0,2060,"{sha256}","{state}"]'.encode(),
    )


def test_positions_that_cannot_be_read_are_passed_over(store: PageTable, tmp_path: Path) -> None:
    file = tmp_path / "crawl.jsonl"
    file.write_bytes(PACKINGS["jsonl"]())
    load_a_half(store, file)
    ((row, _),) = positions(store)
    store.store.table("webtable_settings").put(row, {b"a:read": b"[1, 2]"})
    assert load(store, file) == PAGES
