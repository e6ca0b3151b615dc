"""The job `compact`: removes deleted, expired and surplus cells of an embedded store.

The position names the families that are done, so a run that gave way continues with the others. To
compact a family again does no harm.
"""

from __future__ import annotations

import contextlib

from webtable.errors import FamilyNotFound, NotFound, TableDisabled
from webtable.operations.jobs.job import JobResult, JobRun
from webtable.store.store import Store

__all__ = ["compact"]


def compact(run: JobRun) -> JobResult:
    """Compacts all families of all tables."""
    done = _names(run.position)
    before = _disk_bytes(run.store)
    for table in run.store.tables():
        for family in _families(run.store, table):
            name = f"{table}:{family}"
            if name in done:
                continue
            run.step()
            try:
                with contextlib.closing(run.store.admin.compact_in_steps(table, family)) as steps:
                    for _ in steps:
                        run.step()
            except (TableDisabled, NotFound, FamilyNotFound):
                continue  # it was disabled or dropped meanwhile
            done.append(name)
            run.save(done)
    after = _disk_bytes(run.store)
    run.save(None)
    families = len(done)
    return JobResult(
        f"{families:,} families compacted, {_size(before)} before, {_size(after)} now on disk"
    )


def _names(position: object) -> list[str]:
    return [str(each) for each in position] if isinstance(position, list) else []


def _families(store: Store, table: str) -> list[str]:
    try:
        return [family.name for family in store.describe_table(table).families]
    except NotFound:
        return []


def _disk_bytes(store: Store) -> int:
    sizes = (store.table(name).stats().disk_bytes for name in store.tables())
    return sum(size or 0 for size in sizes)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"
