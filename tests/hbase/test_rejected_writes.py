"""Writes that a server rejects for good: what is sent again, and the message of the error."""

from __future__ import annotations

import pytest

from webtable.errors import BatchError, InvalidRequest
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.rejected_writes import rejection_of
from webtable.store.hbase.wire.cell_blocks import encode_cells
from webtable.store.mutation import Append, Delete, Increment, Mutation, Put

from .played import played
from .servers import Peer, Request

TIMEOUT = 20.0
REFUSAL = "org.apache.hadoop.hbase.DoNotRetryIOException"
TOO_LARGE = "Cell[r/f:v/LATEST_TIMESTAMP/Put] with size 12 exceeds limit of 10 bytes"


class Refusing:
    """Rejects every action of a region that has one of these rows in it, as a whole."""

    def __init__(self, *bad: bytes) -> None:
        self.calls: list[list[list[bytes]]] = []
        self.nonces: dict[bytes, set[int]] = {}
        self._bad = bad

    def __call__(self, peer: Peer, request: Request) -> None:
        message = client_pb2.MultiRequest.FromString(request.body)
        actions = [[each.mutation for each in some.action] for some in message.regionAction]
        self.calls.append([[each.row for each in some] for some in actions])
        response = client_pb2.MultiResponse()
        cells: list[bytes] = []
        for some, region in zip(actions, message.regionAction, strict=True):
            result = response.regionActionResult.add()
            if any(each.row in self._bad for each in some):
                result.exception.name = REFUSAL
                result.exception.value = f"{REFUSAL}: {TOO_LARGE}".encode()
            for each, action in zip(some, region.action, strict=True):
                if each.HasField("nonce"):
                    self.nonces.setdefault(each.row, set()).add(each.nonce)
                if result.HasField("exception"):
                    continue
                done = result.resultOrException.add(index=action.index).result
                done.SetInParent()
                if each.HasField("nonce"):
                    done.associated_cell_count = 1
                    encode_cells(cells, each.row, [(b"f:n", bytes(8))], 1)
        peer.answer(request.header.call_id, response, b"".join(cells))


def test_what_is_rejected_together_is_sent_once_more_one_by_one() -> None:
    server = Refusing(b"1")
    mutations: list[Mutation] = [Put(b"%d" % number, {b"f:v": b"v"}) for number in range(4)]
    mutations.append(Increment(b"4", {b"f:n": 1}))
    with played(server, TIMEOUT) as (cluster, _), pytest.raises(BatchError) as caught:
        HBaseEngine(cluster).mutate_many("t", mutations, "wal")
    assert caught.value.positions == (1,)
    assert "row b'1' of table 't' is too large" in str(caught.value.exceptions[0])
    rows = [b"0", b"1", b"2", b"3"]
    assert server.calls == [[rows], [[row] for row in rows], [[b"4"]]]


def test_what_has_a_nonce_is_sent_again_with_the_same() -> None:
    server = Refusing(b"1")
    increments = [Increment(b"%d" % number, {b"f:n": 1}) for number in range(3)]
    with played(server, TIMEOUT) as (cluster, _), pytest.raises(BatchError) as caught:
        HBaseEngine(cluster).mutate_many("t", increments, "wal")
    assert caught.value.positions == (1,)
    rows = [b"0", b"1", b"2"]
    assert server.calls == [[rows], [[row] for row in rows]]
    assert all(len(nonces) == 1 for nonces in server.nonces.values())  # it does each once


def test_puts_and_increments_do_not_go_together() -> None:
    # HBase 2.6.4 may end where they do and one of the puts is rejected.
    server = Refusing()
    mutations: list[Mutation] = [
        Put(b"0", {b"f:v": b"v"}),
        Increment(b"1", {b"f:n": 1}),
        Put(b"2", {b"f:v": b"v"}),
        Append(b"3", {b"f:n": b"v"}),
        Increment(b"0", {b"f:n": 1}),
        Put(b"1", {b"f:v": b"v"}),
    ]
    with played(server, TIMEOUT) as (cluster, _):
        made = HBaseEngine(cluster).mutate_many("t", mutations, "wal")
    assert [row is not None for row in made] == [False, True, False, True, True, False]
    assert server.calls == [[[b"0", b"2"]], [[b"1", b"3", b"0"]], [[b"1"]]]


def test_where_all_is_rejected_it_is_sent_twice() -> None:
    rows = [b"%03d" % number for number in range(150)]
    server = Refusing(*rows)
    puts = [Put(row, {b"f:v": b"v"}) for row in rows]
    with played(server, TIMEOUT) as (cluster, _), pytest.raises(BatchError) as caught:
        HBaseEngine(cluster).mutate_many("t", puts, "wal")
    assert caught.value.positions == tuple(range(150))
    sent = sorted(row for call in server.calls for some in call for row in some)
    assert sent == sorted(rows * 2)


def test_mutations_of_one_row_that_were_rejected_go_one_after_the_other() -> None:
    # One that is to be tried again must not come after the next one of its row.
    server = Refusing(b"b")
    mutations: list[Mutation] = [
        Put(b"a", {b"f:v": b"1"}),
        Delete(b"a"),
        Put(b"b", {b"f:v": b"1"}),
    ]
    with played(server, TIMEOUT) as (cluster, _), pytest.raises(BatchError) as caught:
        HBaseEngine(cluster).mutate_many("t", mutations, "wal")
    assert caught.value.positions == (2,)
    assert server.calls == [[[b"a", b"a", b"b"]], [[b"a"], [b"b"]], [[b"a"]]]


@pytest.mark.parametrize(
    ("detail", "mutations", "said"),
    [
        (
            "Field is not a long, it's 1 bytes wide",
            [Put(b"r", {b"f:v": b"v"}), Increment(b"r", {b"f:n": 1})],
            "column b'f:n' of row b'r' of table 't' is not a counter: its value has 1 bytes, not 8",
        ),
        (
            "Field is not a long, it's 3 bytes wide",
            [Increment(b"r", {b"f:%d" % number: 1 for number in range(7)})],
            "one of the columns b'f:0', b'f:1', b'f:2', b'f:3', b'f:4', … of row b'r' of table 't'",
        ),
        (
            TOO_LARGE,
            [Put(b"r", {b"f:a": b"1", b"f:b": b"123"}), Append(b"r", {b"f:c": b"12"})],
            "column b'f:b' of row b'r' of table 't' is too large: its cell has 12 bytes, and the "
            "server takes 10",
        ),
        (TOO_LARGE, [Delete(b"r")], "a column of row b'r' of table 't' is too large"),
    ],
)
def test_words(detail: str, mutations: list[Mutation], said: str) -> None:
    error = rejection_of(detail, "t", mutations)
    assert isinstance(error, InvalidRequest)
    assert said in str(error)


def test_other_words_are_the_servers() -> None:
    assert rejection_of("no", "t", [Put(b"r", {b"f:v": b"v"})]) is None
    assert rejection_of(TOO_LARGE, "t", []) is None
    assert rejection_of("Field is not a long, it's 1 bytes wide", "t", [Delete(b"r")]) is None
