"""Reading and parsing crawls in worker processes: batches of captures that are ready to be stored.

Each file is read by one process, which sends what it finds in the order of the file; the pipe
between is what holds it back when storing is slower. A process that dies, whatever made it, is
started again behind what it has sent.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeAlias

import msgspec

from webtable.errors import WebTableError
from webtable.pages.captures import START, Capture, Position, Skipped
from webtable.pages.page import NewCapture
from webtable.pages.parsing import ready
from webtable.pages.sources import read_captures

__all__ = ["Batch", "Task", "Workers", "limit_memory", "read_batches", "read_file"]

BATCH_CAPTURES = 200
BATCH_BYTES = 4 * 1024 * 1024
MOST_MEMORY = 1024 * 1024 * 1024
_SMALL = 1_000  # what a capture takes besides its body
_MOST_FAILURES = 3
_RARELY = 100_000


class Task(msgspec.Struct, frozen=True, array_like=True):
    """A file to read, and where to begin.

    Of a file that ended the process before, captures are sent one by one (`is_careful`), and the
    first is only told of where it was that one (`skips_first`).
    """

    path: str
    start: Position = START
    is_careful: bool = False
    skips_first: bool = False


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """Some captures of a file, ready to be stored, and what was skipped between them.

    `after` is where to go on behind them. `error` says why reading ended, if that was not at the
    end of the file: the name of an error's class, its message and its hint.
    """

    path: str
    captures: list[NewCapture]
    skipped: list[Skipped]
    after: Position
    is_last: bool = False
    error: tuple[str, str] | None = None


Source: TypeAlias = Callable[[Task], Iterator[Capture | Skipped]]


def read_batches(task: Task, source: Source) -> Iterator[Batch]:
    """Reads a file in this process and yields its batches; the last one says so."""
    captures: list[NewCapture] = []
    skipped: list[Skipped] = []
    size = 0
    after = task.start
    error: tuple[str, str] | None = None
    found_any = False
    try:
        for found in source(task):
            after = found.after
            if task.skips_first and not found_any and isinstance(found, Capture):
                found = _crashed(found, "the process that read it ended")
            found_any = True
            taken = _taken(found)
            size += _SMALL
            if isinstance(taken, Skipped):
                skipped.append(taken)
            else:
                captures.append(taken)
                size += len(taken.body or b"")
            if task.is_careful or len(captures) >= BATCH_CAPTURES or size >= BATCH_BYTES:
                yield Batch(task.path, captures, skipped, after)
                captures, skipped, size = [], [], 0
    except WebTableError as exc:
        error = exc.message, exc.hint
    except OSError as exc:
        error = f"'{task.path}' cannot be read: {exc.strerror or exc}", "check the file"
    yield Batch(task.path, captures, skipped, after, is_last=True, error=error)


def read_file(task: Task) -> Iterator[Capture | Skipped]:
    """Reads the file of a task."""
    return read_captures(task.path, task.start)


def _taken(found: Capture | Skipped) -> NewCapture | Skipped:
    """Returns a capture ready to be stored; skipped where making it ready fails, whatever for."""
    if isinstance(found, Skipped):
        return found
    try:
        return ready(found)
    except Exception as exc:  # noqa: BLE001  one page must not end a load
        return _crashed(found, f"parsing it failed: {exc!r:.200}")


def _crashed(capture: Capture, why: str) -> Skipped:
    return Skipped(
        "crashed",
        why,
        url=capture.url,
        record_id=capture.record_id,
        source=capture.source,
        position=capture.position,
        after=capture.after,
    )


class Workers:
    """Processes that read files. Yields batches as they come; each file's in its order.

    A context manager: leaving it ends the processes.
    """

    def __init__(self, tasks: Sequence[Task], count: int) -> None:
        self._waiting = deque(tasks)
        self._busy: dict[Connection, _Worker] = {}
        # Not forked: RocksDB has threads here that a copy of this process would lack.
        self._context = multiprocessing.get_context("spawn")
        self._count = max(1, min(count, len(tasks)))

    def __enter__(self) -> Workers:
        for _ in range(self._count):
            self._start(self._waiting.popleft())
        return self

    def __exit__(self, *_: object) -> None:
        for connection, worker in self._busy.items():
            connection.close()
            worker.process.terminate()
            worker.process.join()
        self._busy.clear()

    def batches(self) -> Iterator[Batch]:
        """Yields the batches of all files."""
        while self._busy:
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                worker = self._busy[connection]
                try:
                    batch = _DECODER.decode(connection.recv_bytes())
                except (EOFError, OSError):
                    yield from self._restart(connection, worker)
                    continue
                worker.task = Task(batch.path, batch.after, is_careful=worker.task.is_careful)
                worker.failures = 0
                yield batch
                if batch.is_last:
                    self._next(connection)

    def _start(self, task: Task) -> None:
        mine, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        mine.send_bytes(_ENCODER.encode(task))
        self._busy[mine] = _Worker(process, task)

    def _next(self, connection: Connection) -> None:
        """Gives a process the next file, or lets it end."""
        if self._waiting:
            self._busy[connection].task = self._waiting.popleft()
            connection.send_bytes(_ENCODER.encode(self._busy[connection].task))
            return
        worker = self._busy.pop(connection)
        connection.close()
        worker.process.join()

    def _restart(self, connection: Connection, worker: _Worker) -> Iterator[Batch]:
        """Starts a process again that died; a capture that kills it every time is passed over."""
        del self._busy[connection]
        connection.close()
        worker.process.join()
        path, start = worker.task.path, worker.task.start
        if worker.failures >= _MOST_FAILURES:
            error = f"reading '{path}' ended the process again and again", "report the file"
            yield Batch(path, [], [], start, is_last=True, error=error)
            if self._waiting:
                self._start(self._waiting.popleft())
            return
        skips = worker.failures > 0
        self._start(Task(path, start, is_careful=True, skips_first=skips))
        list(self._busy.values())[-1].failures = worker.failures + 1


class _Worker:
    """A process, and what it has been given to do, from where on."""

    def __init__(self, process: BaseProcess, task: Task) -> None:
        self.process = process
        self.task = task
        self.failures = 0


def limit_memory(most: int = MOST_MEMORY) -> None:
    """Lets this process have no more memory than that: what asks for more fails, and is skipped.

    Where the system knows no such limit there is none.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _serve(connection: Connection) -> None:
    """What a worker process does: reads the files that it is told, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory()
    # Captures and links are many small values without cycles: to look through them again and
    # again would take a tenth of the time.
    gc.freeze()
    gc.set_threshold(_RARELY)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = _TASKS.decode(connection.recv_bytes())
            for batch in read_batches(task, read_file):
                connection.send_bytes(_ENCODER.encode(batch))


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Batch)
_TASKS = msgspec.msgpack.Decoder(Task)
