"""Requests written by hand, against protobuf's own messages, in plain Python and compiled."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hbase.wire.forms import form_of
from webtable.store.cells_and_rows import MAX_TIMESTAMP
from webtable.store.filtering.filter_language import as_filter
from webtable.store.hbase.proto import base_pb2, client_pb2
from webtable.store.hbase.wire.filter_messages import fill_filter
from webtable.store.mutation import Append, Check, CompareOp, Delete, Increment, Mutation, Put
from webtable.store.scan import ALL_VERSIONS, Get

FILTER = "PrefixFilter('a') AND KeyOnlyFilter()"
ROWS = st.binary(min_size=1, max_size=300)
COLUMNS = st.sampled_from([b"f", b"f:a", b"f:b", b"g:", b"g", b"h:" + b"q" * 200])
CELLS = st.sampled_from([b"f:a", b"g:", b"h:" + b"q" * 200])
VALUES = st.binary(max_size=200)
TIMES = st.integers(0, MAX_TIMESTAMP - 1)
RANGES = st.none() | st.tuples(TIMES, TIMES).map(lambda pair: (min(pair), max(pair)))
COMPARE = {op: getattr(base_pb2, op.name) for op in CompareOp}
DURABILITIES = {"sync": 4, "none": 1, "wal": None}


@pytest.fixture(scope="module", params=["plain", "compiled"])
def requests(request: pytest.FixtureRequest) -> ModuleType:
    """Each form of the module."""
    return form_of("webtable.store.hbase.wire", "request_bytes", request.param)


def fill_time_range(message: base_pb2.TimeRange, time_range: tuple[int, int] | None) -> None:
    if time_range is not None:
        setattr(message, "from", time_range[0])
        message.to = time_range[1]


@given(
    get=st.builds(
        Get,
        ROWS,
        st.lists(COLUMNS, max_size=4).map(tuple),
        st.sampled_from([1, 2, 300, ALL_VERSIONS, 2**40]),
        RANGES,
        st.sampled_from([None, FILTER]),
    )
)
def test_a_get(requests: ModuleType, get: Get) -> None:
    message = client_pb2.Get(row=get.row)
    whole = {column for column in get.columns if b":" not in column}
    for family in dict.fromkeys(column.partition(b":")[0] for column in get.columns):
        named = [
            column.partition(b":")[2]
            for column in get.columns
            if column.partition(b":")[0] == family and family not in whole
        ]
        message.column.add(family=family, qualifier=named)
    if get.versions != 1:
        message.max_versions = min(get.versions, ALL_VERSIONS)
    if get.time_range is not None:
        fill_time_range(message.time_range, get.time_range)
    if get.filter is not None:
        fill_filter(message.filter, as_filter(get.filter))
    assert requests.get_bytes(get) == message.SerializeToString()


def deletes() -> st.SearchStrategy[Delete]:
    def make(row: bytes, timestamp: int | None, columns: list[bytes]) -> Delete:
        delete = Delete(row, timestamp=timestamp)
        for column in columns:
            delete.column(column)
        return delete

    return st.builds(make, ROWS, st.none() | TIMES, st.lists(CELLS, max_size=3))


@given(
    mutation=st.one_of(
        st.builds(
            Put,
            ROWS,
            st.dictionaries(CELLS, VALUES, min_size=1),
            timestamp=st.none() | TIMES,
            ttl_ms=st.none() | st.integers(1, 2**70),
            clears=st.lists(st.sampled_from([b"x:1", b"x:2"]), unique=True),
        ),
        deletes(),
        st.builds(
            Increment,
            ROWS,
            st.dictionaries(CELLS, st.integers(-(2**63), 2**63 - 1), min_size=1),
        ),
        st.builds(Append, ROWS, st.dictionaries(CELLS, VALUES, min_size=1)),
    ),
    durability=st.sampled_from(["sync", "wal", "none"]),
    nonce=st.integers(1, 2**64 - 1),
)
def test_a_mutation(requests: ModuleType, mutation: Mutation, durability: str, nonce: int) -> None:
    message = client_pb2.MutationProto(row=mutation.row)
    if DURABILITIES[durability] is not None:
        message.durability = DURABILITIES[durability]  # type: ignore[assignment]
    if isinstance(mutation, Put):
        message.mutate_type = client_pb2.MutationProto.PUT
        message.associated_cell_count = len(mutation.values) + len(mutation.clears)
        if mutation.ttl_ms is not None:
            lifetime = min(mutation.ttl_ms, MAX_TIMESTAMP).to_bytes(8, "big")
            message.attribute.add(name="_ttl", value=lifetime)
    elif isinstance(mutation, Delete):
        message.mutate_type = client_pb2.MutationProto.DELETE
        message.associated_cell_count = len(mutation.markers)
        message.timestamp = MAX_TIMESTAMP if mutation.timestamp is None else mutation.timestamp
    else:
        message.nonce = nonce
        is_increment = isinstance(mutation, Increment)
        kinds = client_pb2.MutationProto
        message.mutate_type = kinds.INCREMENT if is_increment else kinds.APPEND
        columns = mutation.amounts if isinstance(mutation, Increment) else mutation.values
        message.associated_cell_count = len(columns)
    parts: list[bytes] = []
    content, size = requests.mutation_bytes(parts, mutation, durability, nonce)
    assert content == message.SerializeToString()
    assert size == len(b"".join(parts))
    action = client_pb2.Action(index=300, mutation=message).SerializeToString()
    field, size = requests.action_field([], 300, mutation, durability, nonce)
    assert field == requests.sized(b"\x1a", action)


@given(
    row=ROWS,
    check=st.builds(
        Check,
        CELLS,
        st.sampled_from(CompareOp),
        st.none() | VALUES,
        time_range=RANGES,
    )
    | st.builds(Check.matches, st.just(FILTER), time_range=RANGES),
)
def test_a_condition(requests: ModuleType, row: bytes, check: Check) -> None:
    message = client_pb2.Condition(row=row)
    if check.time_range is not None:
        fill_time_range(message.time_range, check.time_range)
    if check.filter is not None:
        fill_filter(message.filter, check.filter)
    else:
        message.family, _, message.qualifier = check.column.partition(b":")
        message.compare_type = COMPARE[check.op]
        comparator = client_pb2.BinaryComparator()
        comparator.comparable.SetInParent()
        if check.value is not None:
            comparator.comparable.value = check.value
        message.comparator.name = "org.apache.hadoop.hbase.filter.BinaryComparator"
        message.comparator.serialized_comparator = comparator.SerializeToString()
    assert requests.condition_bytes(row, check) == message.SerializeToString()


@given(name=st.binary(min_size=1, max_size=300))
def test_a_region(requests: ModuleType, name: bytes) -> None:
    request = client_pb2.GetRequest.FromString(requests.region_field(name) + b"\x12\x03\x0a\x01r")
    assert request.region.type == base_pb2.RegionSpecifier.REGION_NAME
    assert (request.region.value, request.get.row) == (name, b"r")


def test_regions_without_end(requests: ModuleType) -> None:
    # More than are remembered: what is forgotten is made again.
    names = [b"t,%d,1." % number for number in range(10_100)]
    fields = [requests.region_field(name) for name in names]
    assert [requests.region_field(name) for name in names] == fields
    found = [client_pb2.GetRequest.FromString(field + b"\x12\x03\x0a\x01r") for field in fields]
    assert [request.region.value for request in found] == names


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("0a021000", 0),  # as a server says that there is no such row
        ("0a0410052000", 5),
        ("0a04107f2000", 127),
        ("0a05108001 2000", -1),  # a larger number is read from the message
        ("0a0410052001", -1),  # a stale response
        ("0a0610052000 2801", -1),  # a part of a row
        ("0a0410052000 1001", -1),
        ("1001", -1),
        ("", -1),
    ],
)
def test_the_usual_response_to_a_get(requests: ModuleType, answer: str, count: int) -> None:
    assert requests.cells_in_result(bytes.fromhex(answer)) == count


def batch_answer(counts: list[int], start: int) -> client_pb2.MultiResponse:
    response = client_pb2.MultiResponse()
    for count in counts:
        result = response.regionActionResult.add()
        for index in range(start, start + count):
            result.resultOrException.add(index=index).result.SetInParent()
    return response


@given(
    counts=st.lists(st.integers(0, 5), max_size=4),
    start=st.sampled_from([0, 120, 16_380, 2**31]),
    load=st.sampled_from([b"", b"\x1a\x00", b"\x1a\x02\x08\x01"]),
)
def test_all_entries_of_a_batch_are_done(
    requests: ModuleType, counts: list[int], start: int, load: bytes
) -> None:
    answer = batch_answer(counts, start).SerializeToString() + load
    expected = [list(range(start, start + count)) for count in counts]
    assert requests.done_entries(answer) == expected
    assert requests.done_entries(answer + b"\x0a") is None
    assert requests.done_entries(answer + b"\x0a\x05") is None


@given(
    counts=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    start=st.sampled_from([0, 120]),
    which=st.integers(0, 100),
    kind=st.sampled_from(["region", "entry", "cells", "processed"]),
)
def test_not_all_entries_of_a_batch_are_done(
    requests: ModuleType, counts: list[int], start: int, which: int, kind: str
) -> None:
    response = batch_answer(counts, start)
    region = response.regionActionResult[which % len(counts)]
    entry = region.resultOrException[which % len(region.resultOrException)]
    if kind == "region":
        region.exception.name = "java.io.IOException"
    elif kind == "entry":
        entry.exception.name = "java.io.IOException"
    elif kind == "cells":
        entry.result.associated_cell_count = 1
    else:
        region.processed = True
    assert requests.done_entries(response.SerializeToString()) is None


@given(
    data=st.binary(max_size=40) | st.lists(st.sampled_from(b"\n\x08\0\x12\x04\x1a\x80")).map(bytes)
)
def test_both_forms_read_any_bytes_alike(data: bytes) -> None:
    plain = form_of("webtable.store.hbase.wire", "request_bytes", "plain")
    quick = form_of("webtable.store.hbase.wire", "request_bytes", "compiled")
    assert quick.done_entries(data) == plain.done_entries(data)
    assert quick.cells_in_result(data) == plain.cells_in_result(data)
