"""What is stored about a job: its bytes, and how runs are added."""

from __future__ import annotations

import pytest

from webtable.errors import CorruptData, FormatVersionError
from webtable.operations.jobs.job_record import JobRecord, Outcome, Run, decode_record, with_run

RECORD = JobRecord(
    began_ms=5,
    is_writing=True,
    next_ms=7,
    failures=1,
    position=["a", 1],
    runs=(Run(2, 3, 4, "failed", "h:1", "no disk", "DiskFull", "make room", 1),),
)
BYTES = (
    b'{"format":1,"began_ms":5,"is_writing":true,"next_ms":7,"failures":1,"position":["a",1],'
    b'"runs":[{"number":2,"began_ms":3,"ended_ms":4,"outcome":"failed","by":"h:1",'
    b'"summary":"no disk","error":"DiskFull","hint":"make room","times":1}]}'
)


def run(number: int, outcome: Outcome = "done") -> Run:
    return Run(number, number, number + 1, outcome)


def test_the_bytes_of_a_record_are_frozen() -> None:
    assert RECORD.encode() == BYTES
    assert decode_record("a", BYTES) == RECORD


def test_the_last_fifty_runs_are_stored() -> None:
    record = JobRecord(began_ms=1, is_writing=True)
    for number in range(70):
        record = with_run(record, run(number))
    assert [each.number for each in record.runs] == list(range(20, 70))
    assert (record.began_ms, record.is_writing) == (0, False)


def test_runs_that_found_the_store_busy_are_counted_in_one() -> None:
    record = with_run(JobRecord(), run(1))
    for number in (2, 3, 4):
        record = with_run(record, run(number, "store busy"))
    record = with_run(record, run(5))
    record = with_run(record, run(6, "store busy"))
    shown = [(each.number, each.outcome, each.times, each.began_ms) for each in record.runs]
    assert shown == [
        (1, "done", 1, 1),
        (4, "store busy", 3, 2),
        (5, "done", 1, 5),
        (6, "store busy", 1, 6),
    ]


def test_a_record_of_a_newer_program_is_rejected() -> None:
    with pytest.raises(FormatVersionError, match="has format 2"):
        decode_record("a", BYTES.replace(b'"format":1', b'"format":2'))


@pytest.mark.parametrize("content", [b"", b"[]", b'{"runs":1}', b"\xff"])
def test_a_damaged_record_is_an_error(content: bytes) -> None:
    with pytest.raises(CorruptData, match="record of job 'a' does not decode"):
        decode_record("a", content)
