"""Reads and parses crawls in worker processes, which send batches of captures to be stored.

One process reads each file and sends its captures in the order of the file. When storing is slower
than reading, the process waits for room in the pipe.

A process may die at any time: the system kills it because memory is short, or a record crashes a
library. A new process then continues behind the last batch that arrived, and sends the next records
one by one. A record at which several processes in a row died is skipped and reported. Where
processes die repeatedly before they reach a record, the records are not the cause; then their files
are given up, and the `error` of the last batch has the reason.

Where most of a crawl is stored already, a process sends summaries of each batch before it parses
it, reads the next batch while it waits for the response, and then parses and sends the captures
that are needed. It works on one batch at a time, so captures are stored in the order of the file.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from shutil import copyfileobj
from typing import IO, TypeAlias

import msgspec
from msgspec.structs import replace

from webtable.errors import InvalidRequest
from webtable.loggers import get_logger
from webtable.pages.captures import Position
from webtable.pages.formats.crawl_files import STANDARD_INPUT
from webtable.pages.loading.capture_batches import (
    Batch,
    Began,
    BodiesNeeded,
    Failed,
    Repeated,
    Summaries,
    Task,
)
from webtable.pages.page import CaptureSummary

__all__ = ["Workers", "task_of"]

MAX_DEATHS_AT_RECORD = 4
"""How many processes must die at a record, each at its first one, before it is skipped."""
MAX_DEATHS_BEFORE = 10
"""How many processes, for each that runs, may die before one of them sends a batch."""
MIN_TRIES = 3
"""How many processes each file gets at least."""
CAREFUL_RECORDS = 400
# Summaries cost a tenth of parsing: they pay where more than this share is stored by them.
_MIN_REPEATED_SHARE = 0.1
# Only this process has these open.
_OWN_DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_ENDING_SECONDS = 10

StoreSummaries: TypeAlias = Callable[[Sequence[CaptureSummary]], Sequence[int | None]]
"""Stores captures without their bodies; returns the number of links of each, None: body needed."""

_log = get_logger("webtable.pages.load")


def task_of(path: str, start: Position, most: int) -> Task:
    """Returns the task to read the file at a path."""
    # Names that are not UTF-8 cannot be sent as text, nor printed.
    name = os.fsencode(path)
    shown = name.decode("utf-8", "backslashreplace")
    if path == STANDARD_INPUT or path.startswith(_OWN_DESCRIPTORS):
        file, is_stream = STANDARD_INPUT.encode(), True
    else:
        file = b"" if shown == path else name
        is_stream = Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())
    return Task(shown, start, most=most, file=file, is_stream=is_stream)


class Workers:
    """Processes that read files. Yields batches as they arrive, those of each file in its order.

    A context manager: its exit ends the processes.

    Args:
        store_summaries: is called with the summaries that processes send; see `request_summaries`.
    """

    def __init__(
        self, tasks: Sequence[Task], count: int, store_summaries: StoreSummaries | None = None
    ) -> None:
        self._store_summaries = store_summaries
        self._waiting = deque(tasks)
        self._busy: dict[Connection, _Worker] = {}
        self._count = max(1, min(count, len(tasks)))
        self._deaths_before = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._busy.values():
            worker.end()
        self._busy.clear()

    def batches(self) -> Iterator[Batch]:
        """Yields the batches of all files."""
        while self._waiting or self._busy:
            while self._waiting and len(self._busy) < self._count:
                yield from self._start(_Worker(self._waiting.popleft()))
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                yield from self._receive(self._busy[connection])

    def request_summaries(self, path: str) -> None:
        """Makes the process that reads a file send summaries, until too few captures repeat."""
        if self._store_summaries is None:
            return
        for worker in self._busy.values():
            if (
                worker.task.path == path
                and not worker.sends_summaries
                and not worker.task.is_stream
            ):
                worker.sends_summaries = True
                worker.send(BodiesNeeded(None, send_summaries=True))

    def _receive(self, worker: _Worker) -> Iterator[Batch]:
        """Handles one message of a process, or its death."""
        try:
            sent = _SENT.decode(worker.connection.recv_bytes())
        except EOFError:
            yield from self._replace(worker, is_at_record=worker.has_begun)
        except OSError:  # it died while it sent a batch
            yield from self._replace(worker, is_at_record=False)
        else:
            if isinstance(sent, Summaries):
                worker.send(self._respond(worker, sent))
            elif isinstance(sent, Began):
                worker.has_begun = True
            elif isinstance(sent, Failed):
                worker.why = sent.why
            else:
                self._deaths_before = 0
                yield worker.arrived(sent)
                if sent.is_last:
                    self._finish(worker)

    def _respond(self, worker: _Worker, sent: Summaries) -> BodiesNeeded:
        assert self._store_summaries is not None
        found = self._store_summaries(sent.captures)
        worker.repeated = [
            Repeated(capture.url, links)
            for capture, links in zip(sent.captures, found, strict=True)
            if links is not None
        ]
        worker.sends_summaries = len(worker.repeated) >= _MIN_REPEATED_SHARE * len(found)
        needed = [place for place, links in enumerate(found) if links is None]
        return BodiesNeeded(needed, send_summaries=worker.sends_summaries)

    def _start(self, worker: _Worker) -> Iterator[Batch]:
        """Starts the process of a worker; yields the last batch of its file where that fails."""
        try:
            worker.start()
        except InvalidRequest as exc:
            yield _given_up(worker.task, exc.message, exc.hint)
        except OSError as exc:
            why = f"a process cannot be started: {exc.strerror or exc}"
            yield _given_up(worker.task, why, "free memory or processes, and load it again")
        else:
            self._busy[worker.connection] = worker

    def _finish(self, worker: _Worker) -> None:
        """Gives a process the next file, or ends it. A stream has a process of its own."""
        if self._waiting and not worker.task.is_stream and not self._waiting[0].is_stream:
            worker.begin(self._waiting.popleft())
            return
        del self._busy[worker.connection]
        worker.end()

    def _replace(self, worker: _Worker, *, is_at_record: bool) -> Iterator[Batch]:
        """Continues with a file in a new process after one died.

        Args:
            is_at_record: whether the first record that was not sent may be the cause.
        """
        del self._busy[worker.connection]
        how = worker.ending()
        task = worker.task
        _log.warning("a worker process %s; it read '%s' from %s on", how, task.path, task.start)
        if task.is_stream:
            why = f"the process that read it {how}"
            yield _given_up(task, why, "save the stream to a file, and load that file")
            return
        if is_at_record:
            worker.deaths_at_record += 1
        else:
            worker.deaths_before += 1
            self._deaths_before += 1
        if worker.deaths_at_record > 2 * MAX_DEATHS_AT_RECORD or (
            self._deaths_before > MAX_DEATHS_BEFORE * self._count
            and worker.deaths_before >= MIN_TRIES
        ):
            why = f"the processes that read it die repeatedly at position {task.start}: one {how}"
            hint = "if memory is short, load it again with --workers 1: the load continues there"
            yield _given_up(task, why, hint)
            return
        skip_first = worker.deaths_at_record >= MAX_DEATHS_AT_RECORD
        worker.task = replace(task, careful=CAREFUL_RECORDS, skip_first=skip_first)
        yield from self._start(worker)


class _Worker:
    """A process, the file that it reads, and the position behind its last batch."""

    connection: Connection
    process: subprocess.Popen[bytes]

    def __init__(self, task: Task) -> None:
        self.task = task
        self.deaths_before = 0
        self.deaths_at_record = 0
        self.repeated: list[Repeated] = []
        self._forget_process()

    def _forget_process(self) -> None:
        self.has_begun = False
        self.sends_summaries = False
        self.repeated = []
        self.why = ""

    def start(self) -> None:
        """Starts a process and sends it the file.

        Raises:
            OSError: the system has no process, memory or descriptor left.
            InvalidRequest: the file is a stream that cannot be opened.
        """
        self._forget_process()
        with contextlib.ExitStack() as stack:
            source = _opened(self.task, stack)
            self.connection, theirs = Pipe()
            stack.callback(theirs.close)
            try:
                self.process = _started(theirs.fileno(), source)
            except OSError:
                self.connection.close()
                raise
        self.send(self.task)

    def begin(self, task: Task) -> None:
        """Sends the process another file."""
        self.task = task
        self.has_begun = False
        self.send(task)

    def arrived(self, batch: Batch) -> Batch:
        """Notes a batch that arrived, so that a new process continues behind it."""
        self.task = replace(self.task, start=batch.after, skip_first=False)
        self.deaths_before = self.deaths_at_record = 0
        repeated, self.repeated = self.repeated, []
        return replace(batch, repeated=repeated) if repeated else batch

    def send(self, message: Task | BodiesNeeded) -> None:
        """Sends a message to the process."""
        # The death of the process is noticed at the next read.
        with contextlib.suppress(OSError):
            self.connection.send_bytes(_ENCODER.encode(message))

    def end(self) -> None:
        """Kills the process and waits for its end."""
        self.connection.close()
        self.process.kill()
        self.process.wait()

    def ending(self) -> str:
        """Returns how a process ended that has closed its connection."""
        self.connection.close()
        try:
            status = self.process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        if self.why:
            return f"failed ({self.why})"
        if status >= 0:
            return f"ended with status {status}"
        try:
            return f"was killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"was killed by signal {-status}"


def _given_up(task: Task, why: str, hint: str) -> Batch:
    return Batch(task.path, [], [], task.start, is_last=True, error=(why, hint))


def _started(descriptor: int, source: IO[bytes] | None) -> subprocess.Popen[bytes]:
    """Starts a worker process. It is not forked: a fork would lack the threads of RocksDB."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    # Until the process ignores Ctrl-C it would write a traceback; a blocked signal is inherited.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "webtable.pages.loading.worker_process", str(descriptor)],
            stdin=subprocess.DEVNULL if source is None else source,
            # Its output does not belong to the output of this process.
            stdout=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            env={**os.environ, "PYTHONPATH": paths},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _opened(task: Task, stack: contextlib.ExitStack) -> IO[bytes] | None:
    """Returns the standard input of a worker process, if only this process has its file open."""
    if os.fsdecode(task.file) != STANDARD_INPUT:
        return None
    if task.path != STANDARD_INPUT:
        try:
            return stack.enter_context(Path(task.path).open("rb"))
        except OSError as exc:
            why = f"'{task.path}' cannot be read: {exc.strerror or exc}"
            raise InvalidRequest(why, hint="check the path") from exc
    if sys.stdin is None:
        raise InvalidRequest("the standard input is closed", hint="name files to load")
    standard: IO[bytes] = sys.stdin.buffer
    try:
        standard.fileno()
    except io.UnsupportedOperation:  # the program has replaced sys.stdin
        spooled: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        copyfileobj(standard, spooled)
        spooled.seek(0)
        return spooled
    return standard


_ENCODER = msgspec.msgpack.Encoder()
_SENT: msgspec.msgpack.Decoder[Batch | Summaries | Began | Failed] = msgspec.msgpack.Decoder(
    Batch | Summaries | Began | Failed
)
