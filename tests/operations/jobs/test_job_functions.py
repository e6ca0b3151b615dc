"""What the jobs do to a store of pages, on both engines."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

import webtable
from tests.operations.conftest import ENGINES
from tests.operations.jobs.clock import HandClock
from webtable.operations.jobs import rotating_verification
from webtable.operations.jobs.job_list import JOBS
from webtable.operations.jobs.job_record import KIND, JobRecord, Run, decode_record
from webtable.operations.jobs.leases import Leases
from webtable.operations.jobs.scheduler import Scheduler
from webtable.operations.jobs.store_access import StoreAccess
from webtable.operations.jobs.waiting_writers import KIND as QUEUE
from webtable.operations.jobs.waiting_writers import WaitingWriter
from webtable.store.rocks import compaction
from webtable.store.scan import ALL_VERSIONS, Scan
from webtable.webtable import WebTable

PAGES = 23


@pytest.fixture(params=ENGINES)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "rocks":
        location = str(tmp_path / "store")
    else:
        location = (
            request.getfixturevalue("hbase_location") + f"?namespace=jobs_{uuid.uuid4().hex[:8]}"
        )
    with WebTable.open(location) as web:
        for number in range(PAGES):
            body = f'<p>{number}<a href="https://example.com/{number + 1}">next</a>'
            web.put(f"https://example.com/{number}", body, fetched="2026-01-01")
    return location


@pytest.fixture
def embedded(tmp_path: Path) -> str:
    location = str(tmp_path / "tables")
    with webtable.open(location) as store:
        table = store.create_table("t", "f", "g")
        for value in (b"1", b"2"):
            table.put(b"row", {b"f:q": value, b"g:q": value}, timestamp=int(value))
    return location


def _namespace(hbase_location: str) -> str:
    return f"{hbase_location}?namespace=jobs_{uuid.uuid4().hex[:8]}"


def run(location: str, name: str) -> Run:
    access = StoreAccess(location)
    try:
        return Scheduler(access, clock=HandClock()).run_once(name)
    finally:
        access.close()


def test_the_jobs_of_each_engine() -> None:
    names = {
        engine: [job.name for job in JOBS if engine in job.engines]
        for engine in ("embedded", "cluster")
    }
    assert names == {
        "embedded": ["health", "verify", "compact"],
        "cluster": ["health", "drain-links", "verify"],
    }


def test_verification_goes_round_the_store(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotating_verification, "PAGES_IN_A_RUN", 10)
    monkeypatch.setattr(rotating_verification, "_STEP_PAGES", 5)
    shown = [run(location, "verify").summary for _ in range(4)]
    assert shown == [
        "10 pages verified, 0 differences",
        "10 pages verified, 0 differences",
        "3 pages verified, 0 differences; round 1 is complete: 23 pages, 0 differences",
        "10 pages verified, 0 differences",
    ]


def test_verification_finds_what_differs(location: str) -> None:
    with WebTable.open(location) as web:
        row = web.page("https://example.com/7")
        assert row is not None
        web.store.table("webtable").put(row.row_key, {b"metadata:size": b"1"})
        index = web.store.table("webtable_url_idx")
        other = web.page("https://example.com/9")
        assert other is not None
        (entry,) = [
            each.key
            for each in index.scan()
            if any(other.row_key in part for part in (each.key, *each.values().values()))
        ]
        index.delete(entry)
    done = run(location, "verify")
    assert done.outcome == "problems"
    assert "23 pages verified" in done.summary
    assert "https://example.com/7: metadata:size " in done.summary
    assert "index webtable_url_idx does not have it" in done.summary
    assert done.hint == "run `webtable verify --repair`"
    with WebTable.open(location) as web:
        assert web.verify(repair=True).is_clean
    assert run(location, "verify").outcome == "done"


def test_the_health_check_reports_what_doctor_finds(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(location, "health")
    assert done.outcome == "done"
    assert done.summary.endswith("checks, 0 failed")
    monkeypatch.setattr("webtable.pages.checking.doctor.MOST_SECONDS", -1.0)
    found = run(location, "health")
    assert found.outcome == "problems"
    assert "slowest query: " in found.summary
    assert found.hint.startswith("slowest query: compact the index tables")


def test_a_store_without_pages_has_nothing_to_verify(embedded: str) -> None:
    for name in ("health", "verify"):
        done = run(embedded, name)
        assert (done.outcome, done.summary) == ("done", "the store has no pages")


@pytest.mark.hbase
def test_link_work_is_drained(hbase_location: str) -> None:
    location = _namespace(hbase_location)
    with WebTable.open(location) as web:
        web.put("https://example.com/", '<a href="/a">a</a>')
    done = run(location, "drain-links")
    assert (done.outcome, done.error) == ("done", "")
    assert "pages counted" in done.summary


def _cells(location: str, family: str) -> int:
    with webtable.open(location, read_only=True) as store:
        scan = Scan(columns=(family.encode(),), versions=ALL_VERSIONS, raw=True)
        return sum(len(row.raw_cells) for row in store.table("t").scan(scan))


def test_compaction_removes_superseded_cells(embedded: str) -> None:
    assert (_cells(embedded, "f"), _cells(embedded, "g")) == (2, 2)
    done = run(embedded, "compact")
    assert done.outcome == "done"
    assert done.summary.startswith("2 families compacted, ")
    assert (_cells(embedded, "f"), _cells(embedded, "g")) == (1, 1)


def test_compaction_continues_behind_the_families_that_are_done(embedded: str) -> None:
    access = StoreAccess(embedded)
    record = JobRecord(position=["t:f"]).encode()
    taken = Leases(access.state, KIND).take("compact", lambda old: record)
    assert taken is not None
    taken[0].give_back(record)
    assert run(embedded, "compact").outcome == "done"
    assert (_cells(embedded, "f"), _cells(embedded, "g")) == (2, 1)
    assert run(embedded, "compact").outcome == "done"
    assert (_cells(embedded, "f"), _cells(embedded, "g")) == (1, 1)


def test_compaction_passes_over_a_disabled_table(embedded: str) -> None:
    with webtable.open(embedded) as store:
        store.create_table("u", "f")
        store.admin.disable_table("t")
    done = run(embedded, "compact")
    assert (done.outcome, done.error) == ("done", "")
    assert done.summary.startswith("1 families compacted")


def test_compaction_gives_way_within_a_family(
    embedded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_CHUNK", 1)
    with webtable.open(embedded) as store:
        for number in range(50):
            store.table("t").put(b"row%d" % number, {b"f:q": b"v"})
    access = StoreAccess(embedded)

    class Counting(HandClock):
        """Each read of the clock takes a second; at the 30th, another process begins to wait."""

        looks = 0

        def elapsed_ms(self) -> int:
            self.looks += 1
            if self.looks == 30:
                WaitingWriter(access.state).__enter__()
            self.pass_ms(1_000)
            return super().elapsed_ms()

    gave_way = Scheduler(access, clock=Counting()).run_once("compact")
    assert gave_way.outcome == "gave way"
    lease = Leases(access.state, KIND).read("compact")
    assert lease is not None
    assert decode_record("compact", bytes(lease.content)).position is None  # in the first family
    ((name, entry),) = access.state.items(QUEUE)
    assert access.state.delete_if(QUEUE, name, entry)
    assert run(embedded, "compact").summary.startswith("2 families compacted")
