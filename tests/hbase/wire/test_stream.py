"""The bytes of a connection: sent, received and waited for, in both forms of the module."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from tests.hbase.wire.forms import form_of
from webtable.store.hbase.wire.stream import Stream

SLICE_MICROS = 20_000
MANY = 1 << 16


@pytest.fixture(params=["plain", "compiled"])
def form(request: pytest.FixtureRequest) -> ModuleType:
    return form_of("webtable.store.hbase.wire", "stream", request.param)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    return form_of("webtable.store.hbase.wire", "stream", "compiled")


@contextmanager
def pair(form: ModuleType, *, spins: bool = True) -> Iterator[tuple[Stream, socket.socket]]:
    """Yields a stream, and the other end of its socket."""
    mine, other = socket.socketpair()
    with mine, other:
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, SLICE_MICROS))
        yield form.Stream(mine, spins=spins), other


def learn(stream: Stream, other: socket.socket, *, is_alone: bool = True) -> int:
    """Receives responses that are there already; returns how many in a row counted as quick."""
    for _ in range(50):  # a busy machine may take the processor away in between
        other.send(b"answer")
        assert stream.receive(MANY, is_alone) == b"answer"
        if stream._quick >= 3:
            break
    return stream._quick


def patiently(stream: Stream) -> bytes:
    while True:
        with contextlib.suppress(BlockingIOError):
            return stream.receive(MANY, True)


def test_bytes_go_and_come(form: ModuleType) -> None:
    with pair(form) as (stream, other):
        assert stream.send(b"question") == 8
        assert other.recv(MANY) == b"question"
        other.send(b"answer")
        assert stream.receive(4, True) == b"answ"
        assert stream.receive(1 << 20, False) == b"er"
        assert not stream.is_ended()


def test_nothing_comes_within_a_moment(form: ModuleType) -> None:
    with pair(form) as (stream, _other), pytest.raises(BlockingIOError):
        stream.receive(MANY, True)


def test_a_full_socket_takes_nothing(form: ModuleType) -> None:
    with pair(form) as (stream, _other):
        with contextlib.suppress(BlockingIOError):
            while True:
                assert 0 < stream.send(bytes(MANY)) <= MANY
        with pytest.raises(BlockingIOError):
            stream.send(b"more")


def test_received_bytes_are_returned_at_once(compiled: ModuleType) -> None:
    with pair(compiled) as (stream, other):
        assert stream.take(MANY) is None
        other.send(b"answer")
        assert stream.take(4) == b"answ"
        assert stream.take(1 << 20) is None  # more than it has room for is for `receive`
        assert stream.take(MANY) == b"er"


def test_the_plain_form_takes_nothing_at_once() -> None:
    with pair(form_of("webtable.store.hbase.wire", "stream", "plain")) as (stream, other):
        other.send(b"answer")
        assert stream.take(MANY) is None
        assert stream.receive(MANY, True) == b"answer"


def test_the_other_side_ends_it(form: ModuleType) -> None:
    with pair(form) as (stream, other):
        other.send(b"last")
        other.close()
        assert not stream.is_ended()  # something is left to be read
        assert stream.receive(MANY, True) == b"last"
        assert stream.is_ended()
        assert stream.receive(MANY, True) == b""
        with pytest.raises(OSError, match="Broken pipe"):
            stream.send(b"more")


def test_it_spins_after_some_quick_responses_and_not_after_a_slow_one(compiled: ModuleType) -> None:
    with pair(compiled) as (stream, other):
        assert learn(stream, other) == 3
        other.send(b"quick")
        assert stream.receive(MANY, True) == b"quick"
        assert stream._quick == 3
        with pytest.raises(BlockingIOError):
            stream.receive(MANY, True)
        assert stream._quick == 0


def test_spinning_finds_the_end(compiled: ModuleType) -> None:
    with pair(compiled) as (stream, other):
        assert learn(stream, other) == 3
        other.close()
        assert stream.receive(MANY, True) == b""


def test_it_does_not_spin_where_others_wait_too(compiled: ModuleType) -> None:
    with pair(compiled) as (stream, other):
        assert learn(stream, other, is_alone=False) == 0
        assert learn(stream, other) == 3
        other.send(b"for somebody else")
        assert stream.receive(MANY, False) == b"for somebody else"
        assert stream._quick == 0


def test_it_does_not_spin_where_that_is_switched_off(form: ModuleType) -> None:
    with pair(form, spins=False) as (stream, other):
        assert learn(stream, other) == 0


def test_it_does_not_spin_on_one_processor(
    form: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0})
    with pair(form) as (stream, other):
        assert learn(stream, other) == 0


def test_an_ended_stream_leaves_the_number_of_its_socket_alone(compiled: ModuleType) -> None:
    with pair(compiled) as (stream, other):
        assert learn(stream, other) == 3
        stream.end()
        other.send(b"answer")
        assert stream.take(MANY) is None
        assert stream.receive(MANY, True) == b"answer"  # through Python, which knows what is open


def test_bytes_arrive_as_they_were_sent_while_others_look_at_the_connection(
    form: ModuleType,
) -> None:
    chance = random.Random(5)
    answers = [chance.randbytes(chance.randrange(1, 300)) for _ in range(1_500)]
    with pair(form) as (stream, other):
        is_over = threading.Event()

        def serve() -> None:
            for answer in answers:
                assert other.recv(1) == b"?"
                if chance.random() < 0.1:
                    time.sleep(chance.random() * 0.001)
                other.send(answer)

        def look() -> None:
            while not is_over.is_set():
                assert not stream.is_ended()
                time.sleep(0.00005)  # lets the others have Python's lock

        threads = [threading.Thread(target=work) for work in (serve, look, look)]
        for thread in threads:
            thread.start()
        try:
            for answer in answers:
                stream.send(b"?")
                assert patiently(stream) == answer
        finally:
            is_over.set()
            for thread in threads[1:]:
                thread.join()
            other.shutdown(socket.SHUT_RDWR)
            threads[0].join()
