"""Opens a store; waits where a job has an embedded store open for writing.

A loader that finds such a store held by another loader fails at once, as ever: that one may run for
hours. A job gives way at its next step, so it is worth waiting for.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from webtable.errors import StoreLocked, WebTableError
from webtable.loggers import get_logger
from webtable.store.store import Store
from webtable.store.store import open_store as open_at_once

if TYPE_CHECKING:
    from webtable.operations.operational_state import OperationalState

__all__ = ["WAIT_SECONDS", "open_store"]

WAIT_SECONDS = 600.0
"""A process waits for a job at most so long; a job takes steps of some seconds."""
_RETRY_SECONDS = 0.05
_TRIES = 3

_log = get_logger("webtable.operations")


def open_store(location: str, *, read_only: bool = False, create: bool = True) -> Store:
    """Opens the store at a location.

    Args:
        location: a directory, also as `rocks:DIRECTORY`, for the embedded engine;
            `hbase://host[:2181][,host…][/parent]` or `hbase+masters://host[:16000][,host…]` for
            a cluster, with `?namespace=` to keep several stores on it apart. A directory that
            could be a misspelt cluster is made only as `rocks:DIRECTORY`.
        read_only: open an embedded store beside its writer, for reading. It follows what the
            writer stores; `Store.refresh` makes it follow now.
        create: create the embedded store when it does not exist.

    Raises:
        InvalidRequest: it is no location, a misspelt one, or one with a user or a password.
        StoreNotFound: the store does not exist, and `create` is false.
        StoreLocked: another process has the embedded store open for writing. If it is a job, this
            waits first, for ten minutes at most, until the job gives way.
        CorruptData, FormatVersionError: files of the store are damaged, or newer than this program.
        ServerUnavailable: the cluster does not respond.
    """
    try:
        return open_at_once(location, read_only=read_only, create=create)
    except StoreLocked as error:
        locked = error
    return _Waiting(location, locked, create=create).open()


class _Waiting:
    """Waits until the job that has a store gives way."""

    def __init__(self, location: str, locked: StoreLocked, *, create: bool) -> None:
        from webtable.operations.sqlite_state import SqliteState

        self._location = location
        self._create = create
        self._locked = locked
        self._state = SqliteState(location.removeprefix("rocks:"))
        self._job = ""

    def open(self) -> Store:
        """Returns the store, open for writing.

        Raises:
            StoreLocked: another process than a job has it, or the job does not give way.
        """
        from webtable.operations.jobs.waiting_writers import WaitingWriter

        store = self._find_job()
        if store is not None:
            return store
        _log.warning(
            "store '%s' is used by job '%s'; waiting until the job gives way",
            *(self._location, self._job),
        )
        end = time.monotonic() + WAIT_SECONDS
        with WaitingWriter(self._state) as entry:
            while time.monotonic() < end:
                time.sleep(_RETRY_SECONDS)
                store = self._find_job()
                if store is not None:
                    return store
                entry.move()
        self._locked.hint = (
            f"job '{self._job}' did not give way within {WAIT_SECONDS:.0f} seconds: it is in a"
            " long step; try again later"
        )
        raise self._locked

    def _find_job(self) -> Store | None:
        """Returns the store if it is free now; None if a job has it.

        Raises:
            StoreLocked: a process has it that is no job.
        """
        # A job closes the store before it gives its lease back, and a writer locks the store
        # before it writes its name there. So one pair of reads proves nothing.
        for _ in range(_TRIES):
            try:
                return open_at_once(self._location, create=self._create)
            except StoreLocked as error:
                self._locked = error
            if (job := writing_job(self._state, self._locked.holder)) is not None:
                self._job = job
                return None
            time.sleep(_RETRY_SECONDS)
        raise self._locked


def writing_job(state: OperationalState, holder: tuple[str, int] | None) -> str | None:
    """Returns the job that a process runs as the writer of the store; None if it runs none."""
    from webtable.operations.jobs.job_record import KIND, decode_record
    from webtable.operations.jobs.leases import Leases

    if holder is None:
        return None
    # That the store is locked is what the caller must know, not that the state is damaged.
    with contextlib.suppress(WebTableError):
        for name, lease in Leases(state, KIND).read_all():
            is_its_own = lease.process == f"{holder[0]}:{holder[1]}"
            if is_its_own and decode_record(name, bytes(lease.content)).is_writing:
                return name
    return None
