"""A worker process: reads and parses the files of its tasks, with limited memory.

`webtable.pages.loading.workers` starts it as a new interpreter and exchanges messages with it over
one connection. The process ends when that connection is closed.
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

from webtable.pages.loading.capture_batches import (
    Batch,
    Began,
    BodiesNeeded,
    Failed,
    Summaries,
    Task,
    Unparsed,
    read_file,
    read_unparsed,
)

__all__ = ["MAX_MEMORY_BYTES", "MAX_MESSAGE_BYTES", "limit_memory", "serve"]

MAX_MEMORY_BYTES = 1024 * 1024 * 1024
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The limit of one message: the storing process has several copies of it in memory."""
_RARELY = 100_000


def limit_memory(most: int = MAX_MEMORY_BYTES) -> None:
    """Limits the memory of this process: a record that needs more fails and is skipped.

    On a system without such limits it does nothing.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def serve(descriptor: int) -> None:
    """Reads the files of the tasks that arrive on a connection, until it is closed."""
    # The process that stores handles Ctrl-C; it blocked the signal while this one was started.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory()
    # Captures and links are many small values without cycles: frequent garbage collection would
    # take a tenth of the time.
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
    """Reads files, and exchanges messages with the storing process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sends_summaries = False

    def next_task(self) -> Task:
        """Waits for a file to read."""
        while not isinstance(message := self._receive(), Task):
            pass
        return message

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
            stored: set[int] = set()
            if not task.is_stream:
                while self._connection.poll():
                    self._receive()
                # After a death of the process, records are sent one by one to find the cause.
                if self._sends_summaries and not task.careful and (sent := batch.summaries()):
                    self.send(Summaries(list(sent.values())))
                    following = next(unparsed, None)
                    stored = self._stored_places(list(sent))
            self._send_parsed(batch, stored)
            batch = following or next(unparsed, None)

    def send(self, message: Batch | Summaries | Began | Failed) -> None:
        """Sends a message to the storing process."""
        self._connection.send_bytes(_ENCODER.encode(message))

    def _send_parsed(self, batch: Unparsed, stored: set[int]) -> None:
        """Sends a batch; the captures of a batch that is too large are sent one by one.

        Raises:
            MemoryError: the batch is too large and some of it is stored: a new process has to read
                it again.
        """
        try:
            message = _ENCODER.encode(batch.parsed(stored))
            if len(message) <= MAX_MESSAGE_BYTES:
                self._connection.send_bytes(message)
                return
        except MemoryError:
            if stored:
                raise
        if stored:
            raise MemoryError("the batch is too large")
        if len(batch.captures) > 1:
            for single in batch.singles():
                self._send_parsed(single, set())
        else:
            self.send(batch.without_capture("its parsed values are too large"))

    def _end_with_the_other(self) -> None:
        """Ends this process when the storing process ends, even while it waits for a pipe.

        The storing process sends nothing while a pipe is read: a readable connection is closed.
        """

        def watch() -> None:
            with contextlib.suppress(OSError):
                self._connection.poll(None)
            os._exit(0)

        threading.Thread(target=watch, daemon=True).start()

    def _stored_places(self, places: Sequence[int]) -> set[int]:
        """Waits for the response to summaries; returns the places of the stored captures."""
        while not isinstance(needed := self._receive(), BodiesNeeded) or needed.places is None:
            pass
        return set(places) - {places[each] for each in needed.places}

    def _receive(self) -> Task | BodiesNeeded:
        message = _RECEIVED.decode(self._connection.recv_bytes())
        if isinstance(message, BodiesNeeded):
            self._sends_summaries = message.send_summaries
        return message


_ENCODER = msgspec.msgpack.Encoder()
_RECEIVED: msgspec.msgpack.Decoder[Task | BodiesNeeded] = msgspec.msgpack.Decoder(
    Task | BodiesNeeded
)

if __name__ == "__main__":
    serve(int(sys.argv[1]))
