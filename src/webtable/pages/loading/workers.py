"""Reading and parsing crawls in worker processes: batches of captures that are ready to be stored.

Each file is read by one process, which sends what it finds in the order of the file; the pipe
between is what holds it back when storing is slower.

A process may die at any time: killed because the system is out of memory, or by a record that
makes a library crash. A fresh one then goes on behind the last batch that arrived, and sends the
next records one by one. A record at which several processes in a row died is passed over, by name.
Where processes die again and again before they are at a record, nothing of that is due to the
record; their files are given up, which is the `error` of their last batch.

Where most of a crawl is known, a process offers each batch before it parses it, reads the next one
while it waits for the answer, and then parses and sends what is wanted. One batch is under way at
a time; so captures are stored in the order of the file all the same.
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
from webtable.logs import get_logger
from webtable.pages.captures import Position
from webtable.pages.formats.crawl_files import STANDARD_INPUT
from webtable.pages.loading.batches import Batch, Began, Failed, Offer, Repeated, Task, Wanted
from webtable.pages.storing.newest_cell import Offered

__all__ = ["Workers", "task_of"]

MAX_DEATHS_AT_RECORD = 4
"""So many processes must die at a record, each at its first one, before it is passed over."""
MAX_DEATHS_BEFORE = 10
"""So many for each that works at once may die before any of them sends something."""
MIN_TRIES = 3
"""Each file is given so many processes all the same."""
CAREFUL_RECORDS = 400
# An offer costs a tenth of what parsing does.
_LEAST_TAKEN = 0.1
# Only this process has these open.
_OWN_DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_ENDING_SECONDS = 10

Take: TypeAlias = Callable[[Sequence[Offered]], Sequence[int | None]]
"""Stores what it can of captures without bodies; tells their numbers of links, or None."""

_log = get_logger("webtable.pages.load")


def task_of(path: str, start: Position, most: int) -> Task:
    """Returns the task to read a file, by the path that was given for it."""
    # Names that are no UTF-8 cannot be sent as text, nor printed.
    name = os.fsencode(path)
    shown = name.decode("utf-8", "backslashreplace")
    if path == STANDARD_INPUT or path.startswith(_OWN_DESCRIPTORS):
        file, is_stream = STANDARD_INPUT.encode(), True
    else:
        file = b"" if shown == path else name
        is_stream = Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())
    return Task(shown, start, most=most, file=file, is_stream=is_stream)


class Workers:
    """Processes that read files. Yields batches as they come; each file's in its order.

    A context manager: leaving it ends the processes.

    Args:
        take: is given what processes offer, once they were told to by `ask_for_offers`.
    """

    def __init__(self, tasks: Sequence[Task], count: int, take: Take | None = None) -> None:
        self._take = take
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

    def ask_for_offers(self, path: str) -> None:
        """Lets the process that reads a file offer what comes, until too little is repeated."""
        if self._take is None:
            return
        for worker in self._busy.values():
            if worker.task.path == path and not worker.offers and not worker.task.is_stream:
                worker.offers = True
                worker.tell(Wanted(None, offers=True))

    def _receive(self, worker: _Worker) -> Iterator[Batch]:
        """Takes one message of a process, or notes that it died."""
        try:
            sent = _SENT.decode(worker.connection.recv_bytes())
        except EOFError:
            yield from self._replace(worker, is_at_record=worker.has_begun)
        except OSError:  # it died while it sent what it had done
            yield from self._replace(worker, is_at_record=False)
        else:
            if isinstance(sent, Offer):
                worker.tell(self._answer(worker, sent))
            elif isinstance(sent, Began):
                worker.has_begun = True
            elif isinstance(sent, Failed):
                worker.why = sent.why
            else:
                self._deaths_before = 0
                yield worker.arrived(sent)
                if sent.is_last:
                    self._finish(worker)

    def _answer(self, worker: _Worker, offer: Offer) -> Wanted:
        assert self._take is not None
        found = self._take(offer.captures)
        worker.repeated = [
            Repeated(capture.url, links)
            for capture, links in zip(offer.captures, found, strict=True)
            if links is not None
        ]
        worker.offers = len(worker.repeated) >= _LEAST_TAKEN * len(found)
        wanted = [place for place, links in enumerate(found) if links is None]
        return Wanted(wanted, offers=worker.offers)

    def _start(self, worker: _Worker) -> Iterator[Batch]:
        """Starts the process of a worker; yields the end of its file where that cannot be done."""
        try:
            worker.start()
        except InvalidRequest as exc:
            yield _given_up(worker.task, exc.message, exc.hint)
        except OSError as exc:
            why = f"no process can be started: {exc.strerror or exc}"
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
        """Goes on with a file in a fresh process where one died.

        Args:
            is_at_record: whether the first record behind what was sent may be the reason.
        """
        del self._busy[worker.connection]
        how = worker.ending()
        task = worker.task
        _log.warning("a worker process %s; it read '%s' from %s on", how, task.path, task.start)
        if task.is_stream:
            why = f"the process that read it {how}"
            yield _given_up(task, why, "save it in a file, and load that")
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
            why = f"processes that read it die again and again at position {task.start}: one {how}"
            hint = "if memory is short, load it again with --workers 1: it goes on there"
            yield _given_up(task, why, hint)
            return
        skip_first = worker.deaths_at_record >= MAX_DEATHS_AT_RECORD
        worker.task = replace(task, careful=CAREFUL_RECORDS, skip_first=skip_first)
        yield from self._start(worker)


class _Worker:
    """A process, the file that it reads, and from where on."""

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
        self.offers = False
        self.repeated = []
        self.why = ""

    def start(self) -> None:
        """Starts a process, and gives it the file.

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
        self.tell(self.task)

    def begin(self, task: Task) -> None:
        """Gives the process another file."""
        self.task = task
        self.has_begun = False
        self.tell(task)

    def arrived(self, batch: Batch) -> Batch:
        """Notes what was sent, so that a fresh process goes on behind it."""
        self.task = replace(self.task, start=batch.after, skip_first=False)
        self.deaths_before = self.deaths_at_record = 0
        repeated, self.repeated = self.repeated, []
        return replace(batch, repeated=repeated) if repeated else batch

    def tell(self, message: Task | Wanted) -> None:
        """Sends something to the process."""
        # That it is not there any more shows when it is read from.
        with contextlib.suppress(OSError):
            self.connection.send_bytes(_ENCODER.encode(message))

    def end(self) -> None:
        """Ends the process, and waits for that."""
        self.connection.close()
        self.process.kill()
        self.process.wait()

    def ending(self) -> str:
        """Says how a process ended that has closed its connection."""
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
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"


def _given_up(task: Task, why: str, hint: str) -> Batch:
    return Batch(task.path, [], [], task.start, is_last=True, error=(why, hint))


def _started(descriptor: int, source: IO[bytes] | None) -> subprocess.Popen[bytes]:
    """Starts a worker process. Not forked: RocksDB has threads that a copy would lack."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    # Until the process ignores Ctrl-C it would write a traceback; a blocked signal is inherited.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "webtable.pages.loading.worker_process", str(descriptor)],
            stdin=subprocess.DEVNULL if source is None else source,
            # What it prints is no part of an answer.
            stdout=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            env={**os.environ, "PYTHONPATH": paths},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _opened(task: Task, stack: contextlib.ExitStack) -> IO[bytes] | None:
    """Returns what a worker process reads as its standard input, if its file is only open here."""
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
    except io.UnsupportedOperation:  # a program put something else in its place
        spooled: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        copyfileobj(standard, spooled)
        spooled.seek(0)
        return spooled
    return standard


_ENCODER = msgspec.msgpack.Encoder()
_SENT: msgspec.msgpack.Decoder[Batch | Offer | Began | Failed] = msgspec.msgpack.Decoder(
    Batch | Offer | Began | Failed
)
