"""Responses that are well-formed messages, but not what HBase would send: never a success."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from google.protobuf.message import Message

from webtable.errors import BatchError, RetryableError, ServerUnavailable, WebTableError
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.proto import client_pb2
from webtable.store.mutation import Append, Check, Conditional, Increment, Mutation, Put
from webtable.store.scan import Get
from webtable.store.table import Table

from .played import played
from .servers import Peer, Request

TIMEOUT = 20.0
PUTS = [Put(row, {b"f:q": b"v"}) for row in (b"r", b"s")]
STEP = [Put(b"r", {b"f:q": b"v"}), Put(b"r", {b"f:p": b"v"})]
CHECK = Check.equal(b"f:q", b"u", unique=True)

Operation = Callable[[HBaseEngine], object]


def get_many(engine: HBaseEngine) -> object:
    return engine.get_many("t", [Get(b"r"), Get(b"s")])


def put_many(engine: HBaseEngine) -> object:
    return engine.mutate_many("t", PUTS, "wal")


def increment_many(engine: HBaseEngine) -> object:
    mutations: list[Mutation] = [Increment(row, {b"f:q": 1}) for row in (b"r", b"s")]
    return engine.mutate_many("t", mutations, "wal")


def mutate(engine: HBaseEngine) -> object:
    return engine.mutate_row("t", b"r", STEP, "wal")


def increment_step(engine: HBaseEngine) -> object:
    return engine.mutate_row("t", b"r", [*STEP, Increment(b"r", {b"f:n": 1})], "wal")


def check_step(engine: HBaseEngine) -> object:
    return engine.check_and_mutate("t", Conditional(b"r", CHECK, STEP), "wal")


def check_many(engine: HBaseEngine) -> object:
    steps = [Conditional(put.row, CHECK, [put]) for put in PUTS]
    for outcome in engine.check_and_mutate_many("t", steps, "wal"):
        if isinstance(outcome, WebTableError):
            raise outcome
    return None


def put(engine: HBaseEngine) -> object:
    return engine.mutate_row("t", b"r", PUTS[:1], "wal")


def check(engine: HBaseEngine) -> object:
    return engine.check_and_mutate("t", Conditional(b"r", CHECK, PUTS[:1]), "wal")


def increment(engine: HBaseEngine) -> object:
    return Table(engine, "t").increment(b"r", b"f:q")


def append(engine: HBaseEngine) -> object:
    return engine.mutate_row("t", b"r", [Append(b"r", {b"f:q": b"v"})], "wal")


def batch_of(*regions: list[int]) -> client_pb2.MultiResponse:
    """Returns a response that says of these entries, region by region, that they are done."""
    response = client_pb2.MultiResponse()
    for indexes in regions:
        result = response.regionActionResult.add()
        for index in indexes:
            result.resultOrException.add(index=index).result.SetInParent()
    return response


def with_cells(answer: client_pb2.MultiResponse) -> client_pb2.MultiResponse:
    """Returns the response, announcing cells that do not follow."""
    answer.regionActionResult[0].resultOrException[0].result.associated_cell_count = 1
    return answer


def refused(engine: HBaseEngine, operation: Operation) -> WebTableError:
    with pytest.raises(WebTableError) as caught:
        operation(engine)
    if isinstance(caught.value, BatchError):
        assert caught.value.positions == (0, 1)
        last = caught.value.exceptions[1]
        assert isinstance(last, WebTableError)
        return last
    return caught.value


@pytest.mark.parametrize(
    "answer",
    [
        batch_of(),
        batch_of([]),
        batch_of([0]),
        batch_of([0, 2]),
        batch_of([0, 0]),
        batch_of([0, 1, 2]),
        batch_of([0, 2**31]),
        batch_of([0], [1]),
        batch_of([0, 1], []),
        with_cells(batch_of([0, 1])),
    ],
    ids=lambda answer: " ".join(str(answer).split()),
)
@pytest.mark.parametrize(
    "operation",
    [get_many, put_many, increment_many, mutate, increment_step, check_step, check_many],
    ids=lambda operation: operation.__name__,
)
def test_a_batch_whose_response_belongs_to_another_call(
    operation: Operation, answer: client_pb2.MultiResponse
) -> None:
    def reply(peer: Peer, request: Request) -> None:
        is_batch = request.header.method_name == "Multi"
        peer.answer(request.header.call_id, answer if is_batch else client_pb2.MutateResponse())

    with played(reply, TIMEOUT) as (cluster, server):
        error = refused(HBaseEngine(cluster), operation)
    assert isinstance(error, ServerUnavailable)
    assert f"{server} does not respond as HBase does: " in str(error)
    assert operation is get_many or error.maybe_applied


@pytest.mark.parametrize(
    "answer",
    [
        client_pb2.MutateResponse(),
        client_pb2.MutateResponse(result=client_pb2.Result(associated_cell_count=0)),
        client_pb2.MutateResponse(result=client_pb2.Result(associated_cell_count=1)),
    ],
    ids=["nothing", "no cells", "missing cells"],
)
@pytest.mark.parametrize(
    "operation", [put, check, increment, append], ids=lambda operation: operation.__name__
)
def test_a_write_whose_response_belongs_to_another_call(
    operation: Operation, answer: Message
) -> None:
    def reply(peer: Peer, request: Request) -> None:
        peer.answer(request.header.call_id, answer)

    with played(reply, TIMEOUT) as (cluster, server):
        error = refused(HBaseEngine(cluster), operation)
    assert isinstance(error, RetryableError)
    assert f"{server} does not respond as HBase does: " in str(error)
    assert error.maybe_applied


@pytest.mark.parametrize("is_first", [True, False])
def test_a_get_whose_cells_are_missing_names_the_server(is_first: bool) -> None:
    answers = [client_pb2.GetResponse()] * (not is_first)

    def reply(peer: Peer, request: Request) -> None:
        missing = client_pb2.GetResponse(result=client_pb2.Result(associated_cell_count=1))
        peer.answer(request.header.call_id, answers.pop() if answers else missing)

    with played(reply, TIMEOUT) as (cluster, server):
        engine = HBaseEngine(cluster)
        while answers:
            assert engine.get("t", Get(b"r")) is None
        error = refused(engine, lambda engine: engine.get("t", Get(b"r")))
    assert f"{server} does not respond as HBase does: unreadable cells" in str(error)
