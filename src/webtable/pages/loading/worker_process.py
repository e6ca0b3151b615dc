"""A worker process: it reads and parses the files that it is told, with limited memory.

It is a fresh interpreter, started by `webtable.pages.loading.workers`, which it talks to over one
connection. It ends when that is closed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection

import msgspec

from webtable.pages.loading.batches import (
    Batch,
    Began,
    Failed,
    Offer,
    Task,
    Unparsed,
    Wanted,
    read_file,
    read_unparsed,
)

__all__ = ["MAX_MEMORY_BYTES", "MAX_MESSAGE_BYTES", "limit_memory", "serve"]

MAX_MEMORY_BYTES = 1024 * 1024 * 1024
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""What may be sent at once: the storing process holds it in memory, several times over."""
_RARELY = 100_000


def limit_memory(most: int = MAX_MEMORY_BYTES) -> None:
    """Lets this process have no more memory than that: what asks for more fails, and is skipped.

    Where the system knows no such limit there is none.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def serve(descriptor: int) -> None:
    """Reads the files that the other end of a connection tells, until it is closed."""
    # The process that stores handles Ctrl-C; it blocked the signal while this one was started.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory()
    # Captures and links are many small values without cycles: to look through them again and
    # again would take a tenth of the time.
    gc.freeze()
    gc.set_threshold(_RARELY)
    connection = Connection(descriptor)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        reader = _Reader(connection)
        while True:
            task = reader.next_task()
            try:
                reader.read(task)
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise
            except Exception as exc:  # noqa: BLE001  the other process decides what to do
                reader.send(Failed(f"{exc!r:.200}"))
                return


class _Reader:
    """Reads files, and talks with the process that stores."""

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
        if task.is_stream:
            self._end_with_the_other()
        if task.careful:
            self.send(Began())
        unparsed = read_unparsed(task, read_file)
        batch = next(unparsed, None)
        while batch is not None:
            following = None
            taken: set[int] = set()
            if not task.is_stream:
                while self._connection.poll():
                    self._hear()
                # Where a record ended the process before, the one that did shall be found.
                if self._offers and not task.careful and (offered := batch.offered()):
                    self.send(Offer(list(offered.values())))
                    following = next(unparsed, None)
                    taken = self._taken(list(offered))
            self._send_parsed(batch, taken)
            batch = following or next(unparsed, None)

    def send(self, message: Batch | Offer | Began | Failed) -> None:
        """Sends something to the process that stores."""
        self._connection.send_bytes(_ENCODER.encode(message))

    def _send_parsed(self, batch: Unparsed, taken: set[int]) -> None:
        """Sends a batch; what is too large together is sent one by one.

        Raises:
            MemoryError: that cannot be done because some of it was taken: a fresh process has to
                read it again.
        """
        try:
            message = _ENCODER.encode(batch.parsed(taken))
            if len(message) <= MAX_MESSAGE_BYTES:
                self._connection.send_bytes(message)
                return
        except MemoryError:
            if taken:
                raise
        if taken:
            raise MemoryError("the batch is too large")
        if len(batch.captures) > 1:
            for single in batch.singles():
                self._send_parsed(single, set())
        else:
            self.send(batch.without_capture("what was parsed of it is too large"))

    def _end_with_the_other(self) -> None:
        """Ends this process when the other one ends, though it may wait for a pipe then.

        The other one sends nothing while a pipe is read: what can be read is the end.
        """

        def watch() -> None:
            with contextlib.suppress(OSError):
                self._connection.poll(None)
            os._exit(0)

        threading.Thread(target=watch, daemon=True).start()

    def _taken(self, places: Sequence[int]) -> set[int]:
        """Waits for what became of an offer; returns the places of those that were stored."""
        while not isinstance(told := self._hear(), Wanted) or told.wanted is None:
            pass
        return set(places) - {places[each] for each in told.wanted}

    def _hear(self) -> Task | Wanted:
        told = _TOLD.decode(self._connection.recv_bytes())
        if isinstance(told, Wanted):
            self._offers = told.offers
        return told


_ENCODER = msgspec.msgpack.Encoder()
_TOLD: msgspec.msgpack.Decoder[Task | Wanted] = msgspec.msgpack.Decoder(Task | Wanted)

if __name__ == "__main__":
    serve(int(sys.argv[1]))
