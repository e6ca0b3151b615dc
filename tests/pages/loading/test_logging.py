"""What a load and a verification of pages log."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import webtable
from tests.pages.loading.loads import worker_ids, write_jsonl
from webtable.pages.captures import Position
from webtable.pages.checking.verify import verify_pages
from webtable.pages.loading import capture_batches
from webtable.pages.loading.loader import Loader
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored


@pytest.fixture
def pages(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[PageTable]:
    with (
        caplog.at_level(logging.DEBUG, "webtable"),
        webtable.open(str(tmp_path / "store")) as store,
    ):
        yield PageTable.create(store, parse_stored, profile="archive")


def logged(caplog: pytest.LogCaptureFixture, level: str) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("webtable.pages") and record.levelname == level
    ]


def test_a_worker_process_that_died(
    pages: PageTable,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capture_batches, "BATCH_CAPTURES", 20)  # far less than the file has
    path = tmp_path / "crawl.jsonl"
    write_jsonl(path, 4_000, day=1, domain="crawl.example")
    killed: list[int] = []

    def kill_once(_: str, __: Position) -> None:
        if not killed:
            killed.extend(worker_ids())
            for process in killed:
                with suppress(ProcessLookupError):
                    os.kill(process, 9)

    report = Loader(pages, on_progress=kill_once).load([str(path)])
    assert report.captures == 4_000
    messages = logged(caplog, "WARNING")
    assert len(messages) == len(killed) == 1
    assert messages[0].startswith("a worker process was killed by SIGKILL; it read ")
    assert str(path) in messages[0]


def test_a_skipped_record_and_a_file_that_is_given_up(
    pages: PageTable, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, missing = tmp_path / "crawl.jsonl", str(tmp_path / "missing.warc")
    path.write_text('{"url": "mailto:a@example.com", "html": "x"}\n', encoding="utf-8")
    report = Loader(pages).load([str(path), missing])
    assert sum(report.skipped.values()) == 1
    (skipped,) = logged(caplog, "DEBUG")
    assert skipped.startswith(f"skipped a record of '{path}' at 0 (")
    (given_up,) = logged(caplog, "INFO")
    assert given_up.startswith(f"the load gives up file '{missing}' at 0: ")
    assert logged(caplog, "WARNING") == []


def test_a_load_that_resumes(
    pages: PageTable, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "crawl.jsonl"
    write_jsonl(path, 1_000, day=1, domain="crawl.example")

    def stop(_: str, __: Position) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Loader(pages, on_progress=stop).load([str(path)])
    assert logged(caplog, "INFO") == []
    Loader(pages).load([str(path)])
    (message,) = logged(caplog, "INFO")
    assert message.startswith(f"file '{path}' resumes at ")


def test_verifying_and_repairing(
    pages: PageTable, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "crawl.jsonl"
    write_jsonl(path, 3, day=1, domain="crawl.example")
    Loader(pages).load([str(path)])
    row = next(iter(pages.rows.table.scan()))
    at = next(t for column, t, _, _ in row.raw_cells if column == b"metadata:status_code")
    pages.rows.table.put(row.key, {b"metadata:status_code": b"500"}, timestamp=at)
    caplog.clear()
    report = verify_pages(pages, repair=True)
    assert report.repaired == 1
    place = f"store '{pages.store.location}': "
    first, second, third = (each.removeprefix(place) for each in logged(caplog, "INFO"))
    assert first == "repairing its pages"
    assert second.startswith("page https://")
    assert ": repaired: metadata:status_code is b'500'" in second
    assert third == "pages verified: 3, differences: 0, repaired: 1"
