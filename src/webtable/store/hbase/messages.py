"""Requests as messages: gets, scans, mutations and conditions, and results as rows.

Cells of mutations go beside the message, in the cell block; the message only counts them.
"""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

from webtable.store.filter_text import as_filter
from webtable.store.hbase.cells import cut_row, encode_cells, encode_marker, message_cells
from webtable.store.hbase.filters import fill_filter
from webtable.store.hbase.proto import base_pb2, client_pb2
from webtable.store.hbase.wire import NotHBase
from webtable.store.model import MAX_TIMESTAMP, CellType, Row
from webtable.store.mutation import (
    Append,
    Check,
    CompareOp,
    Delete,
    Durability,
    Increment,
    Marker,
    Mutation,
    Put,
)
from webtable.store.scan import ALL_VERSIONS, Get, Scan

__all__ = [
    "fill_condition",
    "fill_get",
    "fill_mutation",
    "has_nonce",
    "result_row",
    "scan_message",
]

_Mutation = client_pb2.MutationProto
# Looked up once: in the class of a message that takes a microsecond each time.
_PUT, _DELETE = _Mutation.PUT, _Mutation.DELETE
_INCREMENT, _APPEND = _Mutation.INCREMENT, _Mutation.APPEND
_DURABILITY: dict[Durability, client_pb2.MutationProto.Durability] = {
    "sync": _Mutation.FSYNC_WAL,
    "none": _Mutation.SKIP_WAL,
}
_COMPARE = {
    CompareOp.LESS: base_pb2.LESS,
    CompareOp.LESS_OR_EQUAL: base_pb2.LESS_OR_EQUAL,
    CompareOp.EQUAL: base_pb2.EQUAL,
    CompareOp.NOT_EQUAL: base_pb2.NOT_EQUAL,
    CompareOp.GREATER_OR_EQUAL: base_pb2.GREATER_OR_EQUAL,
    CompareOp.GREATER: base_pb2.GREATER,
}
_BINARY = "org.apache.hadoop.hbase.filter.BinaryComparator"
_TRUE = b"\xff"


def fill_get(message: client_pb2.Get, get: Get) -> None:
    """Writes a get into its message."""
    message.row = get.row
    if get.columns:
        _add_columns(message.column, get.columns)
    if get.versions != 1:
        message.max_versions = min(get.versions, ALL_VERSIONS)
    if get.time_range is not None:
        _fill_time_range(message.time_range, get.time_range)
    if get.filter is not None:
        fill_filter(message.filter, as_filter(get.filter))


def scan_message(scan: Scan) -> client_pb2.Scan:
    """Returns a scan as a message, all but its range."""
    message = client_pb2.Scan(max_versions=min(scan.versions, ALL_VERSIONS), reversed=scan.reverse)
    _add_columns(message.column, scan.columns)
    if scan.time_range is not None:
        _fill_time_range(message.time_range, scan.time_range)
    if scan.raw:
        message.attribute.add(name="_raw_", value=_TRUE)
    if scan.filter is not None:
        fill_filter(message.filter, as_filter(scan.filter))
        if scan.reverse:
            # What servers do by themselves to read less they refuse to do backwards.
            message.load_column_families_on_demand = False
    return message


def fill_mutation(
    message: client_pb2.MutationProto,
    parts: list[bytes],
    mutation: Mutation,
    durability: Durability,
    nonce: int,
) -> int:
    """Writes a mutation into its message and its cells into `parts`; returns their bytes.

    Raises:
        InvalidRequest: a column or a value is not one.
    """
    message.row = row = mutation.row
    if durability != "wal":
        message.durability = _DURABILITY[durability]
    if type(mutation) is Put:
        size = encode_cells(parts, row, mutation.values.items(), mutation.timestamp)
        message.mutate_type = _PUT
        message.associated_cell_count = len(mutation.values)
        if mutation.ttl_ms is not None:
            ttl_ms = min(mutation.ttl_ms, MAX_TIMESTAMP)
            message.attribute.add(name="_ttl", value=ttl_ms.to_bytes(8, "big"))
        if mutation.clears:
            # A server takes the cells of a put as they come, delete markers too.
            message.associated_cell_count += len(mutation.clears)
            for column in mutation.clears:
                marker = Marker(CellType.DELETE_COLUMN, column, mutation.timestamp)
                size += encode_marker(parts, row, marker)
        return size
    if isinstance(mutation, Delete):
        message.mutate_type = _DELETE
        message.timestamp = MAX_TIMESTAMP if mutation.timestamp is None else mutation.timestamp
        message.associated_cell_count = len(mutation.markers)
        return sum(encode_marker(parts, row, marker) for marker in mutation.markers)
    message.nonce = nonce
    if isinstance(mutation, Increment):
        message.mutate_type = _INCREMENT
        amounts = [
            (column, amount.to_bytes(8, "big", signed=True))
            for column, amount in mutation.amounts.items()
        ]
        message.associated_cell_count = len(amounts)
        return encode_cells(parts, row, amounts, None)
    assert isinstance(mutation, Append)
    message.mutate_type = _APPEND
    message.associated_cell_count = len(mutation.values)
    return encode_cells(parts, row, mutation.values.items(), None)


def has_nonce(mutation: Mutation) -> bool:
    """Whether a mutation carries a nonce, by which a server does it only once."""
    return isinstance(mutation, Increment | Append)


def fill_condition(message: client_pb2.Condition, row: bytes, check: Check) -> None:
    """Writes a condition into its message."""
    message.row = row
    if check.time_range is not None:
        _fill_time_range(message.time_range, check.time_range)
    if check.filter is not None:
        fill_filter(message.filter, check.filter)
        return
    family, _, qualifier = check.column.partition(b":")
    message.family = family
    message.qualifier = qualifier
    message.compare_type = _COMPARE[check.op]
    comparator = client_pb2.BinaryComparator()
    comparator.comparable.SetInParent()
    # No value at all is how HBase asks whether the column is absent.
    if check.value is not None:
        comparator.comparable.value = check.value
    message.comparator.name = _BINARY
    message.comparator.serialized_comparator = comparator.SerializeToString()


def result_row(result: client_pb2.Result, frame: bytes, at: int) -> tuple[Row | None, int]:
    """Returns the row that a result holds, and the position in the cell block after it.

    Its cells are in the message or beside it, as the server likes.

    Raises:
        NotHBase: the cells are unreadable.
    """
    if result.cell:
        return Row(result.cell[0].row, message_cells(result.cell)), at
    count = result.associated_cell_count
    if not count:
        return None, at
    try:
        return cut_row(frame, at, count)
    except ValueError as exc:
        raise NotHBase(f"unreadable cells: {exc}", None, maybe_applied=True) from exc


def _add_columns(
    into: RepeatedCompositeFieldContainer[client_pb2.Column], columns: Iterable[bytes]
) -> None:
    qualifiers: dict[bytes, list[bytes] | None] = {}
    for column in columns:
        family, colon, qualifier = column.partition(b":")
        if not colon:
            qualifiers[family] = None  # the whole family, whatever else of it is named
        else:
            named = qualifiers.setdefault(family, [])
            if named is not None:
                named.append(qualifier)
    for family, named in qualifiers.items():
        into.add(family=family, qualifier=named or ())


def _fill_time_range(message: base_pb2.TimeRange, time_range: tuple[int, int]) -> None:
    setattr(message, "from", time_range[0])  # a word that Python keeps for itself
    message.to = time_range[1]
