"""Reading and parsing crawls in worker processes: batches of captures that are ready to be stored.

Each file is read by one process, which sends what it finds in the order of the file; the pipe
between is what holds it back when storing is slower. A process that dies, whatever made it, is
started again behind what it has sent.

Where most of a crawl is known, a process offers each batch before it parses it, reads the next one
while it waits for the answer, and then parses and sends what is wanted. One batch is under way at
a time; so captures are stored in the order of the file all the same.
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
from msgspec.structs import replace

from webtable.pages.batches import (
    Answer,
    Batch,
    Offer,
    Taken,
    Task,
    read_file,
    read_unparsed,
)
from webtable.pages.held import Offered

__all__ = ["Workers", "limit_memory"]

MOST_MEMORY = 1024 * 1024 * 1024
_MOST_FAILURES = 3
_RARELY = 100_000
# An offer costs a tenth of what parsing does.
_LEAST_TAKEN = 0.1

Take: TypeAlias = Callable[[Sequence[Offered]], Sequence[int | None]]
"""Stores what it can of captures without bodies; tells their numbers of links, or None."""


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
                    sent = _SENT.decode(connection.recv_bytes())
                except (EOFError, OSError):
                    yield from self._restart(connection, worker)
                    continue
                if isinstance(sent, Offer):
                    _tell(connection, self._answer(worker, sent))
                    continue
                worker.task = replace(worker.task, start=sent.after, skips_first=False)
                worker.failures = 0
                taken, worker.taken = worker.taken, []
                yield replace(sent, taken=taken) if taken else sent
                if sent.is_last:
                    self._next(connection)

    def ask_for_offers(self, path: str) -> None:
        """Lets the process that reads a file offer what comes, until too little is taken."""
        if self._take is None:
            return
        for connection, worker in self._busy.items():
            if worker.task.path == path and not worker.offers:
                worker.offers = True
                _tell(connection, Answer(None, offers=True))

    def _answer(self, worker: _Worker, offer: Offer) -> Answer:
        assert self._take is not None
        found = self._take(offer.captures)
        worker.taken = [
            Taken(capture.url, links)
            for capture, links in zip(offer.captures, found, strict=True)
            if links is not None
        ]
        worker.offers = len(worker.taken) >= _LEAST_TAKEN * len(found)
        wanted = [place for place, links in enumerate(found) if links is None]
        return Answer(wanted, offers=worker.offers)

    def _start(self, task: Task) -> None:
        mine, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        _tell(mine, task)
        self._busy[mine] = _Worker(process, task)

    def _next(self, connection: Connection) -> None:
        """Gives a process the next file, or lets it end."""
        if self._waiting:
            self._busy[connection].task = self._waiting.popleft()
            _tell(connection, self._busy[connection].task)
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
        self._start(replace(worker.task, is_careful=True, skips_first=skips))
        list(self._busy.values())[-1].failures = worker.failures + 1


class _Worker:
    """A process, and what it has been given to do, from where on."""

    def __init__(self, process: BaseProcess, task: Task) -> None:
        self.process = process
        self.task = task
        self.failures = 0
        self.offers = False
        self.taken: list[Taken] = []


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
        reader = _Reader(connection)
        while True:
            reader.read(reader.next_task())


class _Reader:
    """Reads files in a worker process, and talks with the process that stores."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._offers = False

    def next_task(self) -> Task:
        """Waits for a file to read."""
        while not isinstance(told := self._hear(), Task):
            pass
        return told

    def read(self, task: Task) -> None:
        """Reads a file and sends its batches."""
        unparsed = read_unparsed(task, read_file)
        batch = next(unparsed, None)
        while batch is not None:
            while self._connection.poll():
                self._hear()
            following = None
            taken: set[int] = set()
            # Where a capture ended the process before, the one that did shall be found.
            if self._offers and not task.is_careful and (offered := batch.offered()):
                self._send(Offer(list(offered.values())))
                following = next(unparsed, None)
                taken = self._taken(list(offered))
            self._send(batch.parsed(taken))
            batch = following or next(unparsed, None)

    def _taken(self, places: Sequence[int]) -> set[int]:
        """Waits for what became of an offer; returns the places of those that were stored."""
        while not isinstance(told := self._hear(), Answer) or told.wanted is None:
            pass
        return set(places) - {places[each] for each in told.wanted}

    def _hear(self) -> Task | Answer:
        told = _TOLD.decode(self._connection.recv_bytes())
        if isinstance(told, Answer):
            self._offers = told.offers
        return told

    def _send(self, message: Batch | Offer) -> None:
        self._connection.send_bytes(_ENCODER.encode(message))


def _tell(connection: Connection, message: Task | Answer) -> None:
    # That a process is not there any more shows when it is read from.
    with contextlib.suppress(OSError):
        connection.send_bytes(_ENCODER.encode(message))


_ENCODER = msgspec.msgpack.Encoder()
_SENT: msgspec.msgpack.Decoder[Batch | Offer] = msgspec.msgpack.Decoder(Batch | Offer)
_TOLD: msgspec.msgpack.Decoder[Task | Answer] = msgspec.msgpack.Decoder(Task | Answer)
