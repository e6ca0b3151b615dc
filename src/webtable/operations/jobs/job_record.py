"""What is stored about a job: its next run, its position and its last runs; the content of a lease.

    job:NAME    JSON, the content of the lease (`leases.py`):
                {"format": 1, "began_ms": 0, "is_writing": false, "next_ms": …, "failures": 0,
                 "position": …, "runs": [{"number": 3, "began_ms": …, "ended_ms": …,
                 "outcome": "done", "by": "host:pid", "summary": "…", "error": "", "hint": "",
                 "times": 1}, …]}

    began_ms    when the run under way began; 0 where none is
    is_writing  whether that run holds an embedded store as its writer
    position    where the job continues; any JSON, the job's own

On-disk: changing this needs a new number of the format. Frozen by
tests/operations/jobs/test_job_record.py.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from webtable.errors import CorruptData, FormatVersionError
from webtable.result_base import Value

__all__ = ["KIND", "JobRecord", "Outcome", "Run", "decode_record", "with_run"]

KIND = "job"
_FORMAT = 1
_MOST_RUNS = 50

Outcome: TypeAlias = Literal[
    "done", "problems", "failed", "stopped", "cancelled", "gave way", "store busy", "lost"
]
"""How a run ended.

`problems`: it is complete, and found something that needs attention. `gave way`: to a process that
waited for the store. `store busy`: another process was writing the store. `lost`: its process died,
or stood still for a minute.
"""


class Run(Value, msgspec.Struct, frozen=True):
    """A run of a job that has ended.

    Attributes:
        number: the number of its lease; each run of a job has a greater one.
        began_ms, ended_ms: milliseconds since 1970.
        outcome: see `Outcome`.
        by: the process, as `host:pid`.
        summary: what it did, or the message of its error.
        error: the class of its error; empty where there was no error.
        hint: what to do next.
        times: how many runs in a row found the store busy; only the last one is kept.
    """

    number: int
    began_ms: int
    ended_ms: int
    outcome: Outcome
    by: str = ""
    summary: str = ""
    error: str = ""
    hint: str = ""
    times: int = 1


class JobRecord(msgspec.Struct, frozen=True):
    """What is stored about a job; see the top of the module."""

    format: int = _FORMAT
    began_ms: int = 0
    is_writing: bool = False
    next_ms: int = 0
    failures: int = 0
    position: object = None
    runs: tuple[Run, ...] = ()

    def encode(self) -> bytes:
        """Returns the bytes of the record."""
        return msgspec.json.encode(self)


def decode_record(name: str, content: bytes) -> JobRecord:
    """Returns the record of a job from its bytes.

    Raises:
        FormatVersionError: a newer version of this program wrote it.
        CorruptData: it does not decode.
    """
    try:
        record = msgspec.json.decode(content, type=JobRecord)
    except msgspec.DecodeError as exc:
        raise CorruptData(
            f"the record of job '{name}' does not decode: {exc}",
            hint="use the version of webtable that wrote it, or a newer one",
        ) from exc
    if record.format != _FORMAT:
        raise FormatVersionError(
            f"the record of job '{name}' has format {record.format}, this program supports"
            f" {_FORMAT}",
            hint="use a newer version of webtable",
        )
    return record


def with_run(record: JobRecord, run: Run) -> JobRecord:
    """Returns the record with a run that has ended; the oldest runs are dropped.

    A busy store is found again and again while a load runs: those runs must not replace the rest.
    """
    runs = list(record.runs)
    if runs and run.outcome == runs[-1].outcome == "store busy":
        last = runs.pop()
        run = msgspec.structs.replace(run, times=last.times + 1, began_ms=last.began_ms)
    runs = [*runs, run][-_MOST_RUNS:]
    return msgspec.structs.replace(record, began_ms=0, is_writing=False, runs=tuple(runs))
