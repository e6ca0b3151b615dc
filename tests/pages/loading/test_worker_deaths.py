"""Worker processes that die at any moment: nothing but the record that kills them is lost."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import webtable
from tests.pages.formats.crawls import http, members, record
from tests.pages.formats.test_second_reader import arc
from tests.pages.loading.loads import contents, worker_ids, write_jsonl
from tests.waiting import wait_for
from webtable.pages.captures import Position, Skipped
from webtable.pages.loading import capture_batches, workers
from webtable.pages.loading.loader import Loader, LoadReport
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
KILLS = 300 if SOAK else 8
PAGES = 60
# In the worker processes only: a page with one of these words ends the process that parses it.
DEADLY = """
import os
from webtable.pages.formats import http_responses
from webtable.pages.html import parser

parse_html, parse_head = parser.parse_html, http_responses.parse_head

def parse_or_die(body, *more):
    if b"ends the parser" in body:
        os.kill(os.getpid(), 9)
    return parse_html(body, *more)

def read_or_die(block, *more):
    if b"ends the reader" in block:
        os.abort()
    return parse_head(block, *more)

parser.parse_html, http_responses.parse_head = parse_or_die, read_or_die
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PageTable]:
    with webtable.open(str(tmp_path / "store")) as opened:
        yield PageTable.create(opened, parse_stored, profile="archive")


@pytest.fixture
def deadly_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sitecustomize.py").write_text(DEADLY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "code")


def pages_of(name: str, words: str) -> list[tuple[str, bytes]]:
    """Pages of which the 23rd has these words, as their URLs and responses."""
    return [
        (
            f"https://{name}.example.com/{number}",
            http(f"<title>{number}</title>{words if number == 23 else ''}".encode()),
        )
        for number in range(PAGES)
    ]


def write_deadly(folder: Path) -> list[Path]:
    """Files of several kinds, each with a page that ends the processes that parse it."""
    parsed, read = "<p>ends the parser", "<p>ends the reader"
    line = '{"url": "%s", "fetched": 1767225600, "html": "%s"}\n'
    lines = [
        line % (url, "<p>ends the parser" if number == 23 else number)
        for number, (url, _) in enumerate(pages_of("lines", ""))
    ]
    files = {
        "parsed.warc.gz": members(record(a, url) for url, a in pages_of("parsed", parsed)),
        "read.warc.gz": members(record(a, url) for url, a in pages_of("read", read)),
        "read.arc": b"".join(arc(pages_of("arc", read))),
        "lines.jsonl.gz": gzip.compress("".join(lines).encode()),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


@pytest.mark.usefixtures("deadly_words")
def test_a_record_that_kills_every_process_is_named_and_the_others_are_loaded(
    store: PageTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MAX_DEATHS_AT_RECORD", 2)
    files = [str(path) for path in write_deadly(tmp_path)]
    named: list[Skipped] = []
    report = Loader(store, workers=4, on_skipped=named.append).load(files)
    crashed = [each for each in named if each.reason == "crashed"]
    assert {(each.source, each.url) for each in crashed} == {
        (file, f"https://{name}.example.com/23")
        for file, name in zip(files, ("parsed", "read", "arc", "lines"), strict=True)
    }
    assert report.captures == report.pages == 4 * (PAGES - 1)
    assert report.failed == {}
    assert not report.is_complete
    assert report.unread == {file: {"crashed": 1} for file in files}


def load_while(store: PageTable, files: list[str], disturb: Callable[[], object]) -> LoadReport:
    """Loads files with two processes, disturbed after each batch."""

    def disturb_it(_: str, __: Position) -> None:
        disturb()

    return Loader(store, workers=2, on_progress=disturb_it).load(files)


def crawls(folder: Path) -> list[str]:
    for day in (1, 2, 3):
        write_jsonl(folder / f"{day}.jsonl", 200, day=day, domain=f"crawl{day}.example")
    return [str(folder / f"{day}.jsonl") for day in (1, 2, 3)]


def kill_workers() -> int:
    found = worker_ids()
    for process in found:
        with suppress(ProcessLookupError):
            os.kill(process, 9)
    return len(found)


def test_processes_killed_at_any_moment_lose_nothing(
    store: PageTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_batches, "BATCH_CAPTURES", 10)
    monkeypatch.setattr(workers, "CAREFUL_RECORDS", 5)
    files = crawls(tmp_path)
    chance, killed = random.Random(5), 0

    timers: list[threading.Timer] = []

    def kill() -> None:
        nonlocal killed
        killed += kill_workers()

    def kill_some() -> None:
        """Kills all processes soon: while they read, parse, send, wait or start."""
        if killed < KILLS and chance.random() < 0.2:
            timers.append(threading.Timer(chance.choice((0, 0.001, 0.01, 0.3)), kill))
            timers[-1].start()

    while killed < KILLS:
        report = load_while(store, files, kill_some)
        assert report.is_complete, report
        assert report.captures == report.records == 600
    for timer in timers:
        timer.join()
    with webtable.open(str(tmp_path / "undisturbed")) as opened:
        Loader(PageTable.create(opened, parse_stored, profile="archive")).load(files)
    store.store.close()
    assert contents(str(tmp_path / "store")) == contents(str(tmp_path / "undisturbed"))


@contextmanager
def killer() -> Iterator[None]:
    """Kills every worker process as soon as there is one."""
    is_over = threading.Event()

    def kill() -> None:
        while not is_over.wait(0.01):
            kill_workers()

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_file_whose_processes_all_die_is_given_up_and_the_next_load_finishes_it(
    store: PageTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_batches, "BATCH_CAPTURES", 10)
    files = crawls(tmp_path)[:1]
    stored: list[Position] = []
    with pytest.raises(InterruptedError):
        Loader(store, on_progress=stop_after(5, stored)).load(files)
    with killer():
        report = Loader(store).load(files)
    assert not report.is_complete
    assert report.captures == 0
    (why,) = report.failed.values()
    assert "SIGKILL" in why
    assert "load it again" in why
    report = Loader(store).load(files)
    assert report.is_complete
    assert report.captures == 200 - 50


def stop_after(count: int, stored: list[Position]) -> Callable[[str, Position], None]:
    """Stops a load after so many batches, as an error of the store would."""

    def stop(_: str, position: Position) -> None:
        stored.append(position)
        if len(stored) == count:
            raise InterruptedError

    return stop


def test_standard_input_whose_process_dies_is_reported(
    store: PageTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_batches, "BATCH_CAPTURES", 10)
    (file,) = crawls(tmp_path)[:1]
    with Path(file).open(encoding="utf-8") as standard, monkeypatch.context() as patched:
        patched.setattr("sys.stdin", standard)
        report = load_while(store, ["-"], kill_workers)
    assert not report.is_complete
    assert "save the stream to a file" in report.failed["-"]
    assert 0 < report.captures < 200


def test_a_process_that_waits_for_a_pipe_ends_with_its_loader(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as opened:
        PageTable.create(opened, parse_stored)
    command = [sys.executable, "-m", "webtable", "load", "--store", location, "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as loader:
        wait_for(lambda: bool(worker_ids(loader.pid)), 60)
        (worker,) = worker_ids(loader.pid)
        loader.kill()
        loader.wait()
        wait_for(lambda: not _is_running(worker), 60)


def _is_running(process: int) -> bool:
    """Whether a process is there; one that has ended may wait for init to notice."""
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except OSError:
        return False
