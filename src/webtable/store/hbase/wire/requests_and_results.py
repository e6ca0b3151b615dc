"""Requests as messages: gets, scans, mutations and conditions, and results as rows.

Cells of mutations go beside the message, in the cell block; the message only counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from webtable import compiled
from webtable.store.cells_and_rows import Row
from webtable.store.filtering.filter_language import as_filter
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire.cell_blocks import cut_row, message_cells
from webtable.store.hbase.wire.errors_and_responses import AsBytes, NotHBase, RpcResponse
from webtable.store.hbase.wire.filter_messages import fill_filter
from webtable.store.mutation import Append, Increment, Mutation
from webtable.store.scan import ALL_VERSIONS, Get, Scan

__all__ = [
    "action_field",
    "atomic_step",
    "condition_bytes",
    "done_entries",
    "get_bytes",
    "get_request",
    "has_nonce",
    "mutate_request",
    "mutation_bytes",
    "nonce_group_field",
    "region_action",
    "region_field",
    "response_row",
    "result_row",
    "scan_message",
    "varint",
    "was_processed",
]

if TYPE_CHECKING:
    from webtable.store.hbase.wire import request_bytes
else:
    request_bytes = compiled.load("webtable.store.hbase.wire", "request_bytes")

action_field = request_bytes.action_field
atomic_step = request_bytes.atomic_step
condition_bytes = request_bytes.condition_bytes
done_entries = request_bytes.done_entries
get_bytes = request_bytes.get_bytes
get_request = request_bytes.get_request
mutate_request = request_bytes.mutate_request
mutation_bytes = request_bytes.mutation_bytes
nonce_group_field = request_bytes.nonce_group_field
region_action = request_bytes.region_action
region_field = request_bytes.region_field
varint = request_bytes.varint
_WITH_NONCE = (Increment, Append)
_TRUE = b"\xff"
_PROCESSED = b"\x10\x01"


def scan_message(scan: Scan) -> client_pb2.Scan:
    """Returns a scan as a message, all but its range."""
    message = client_pb2.Scan(max_versions=min(scan.versions, ALL_VERSIONS), reversed=scan.reverse)
    message.MergeFromString(request_bytes.column_fields(b"\x0a", scan.columns))
    if scan.time_range is not None:
        message.MergeFromString(request_bytes.time_range_field(b"\x32", scan.time_range))
    if scan.raw:
        message.attribute.add(name="_raw_", value=_TRUE)
    if scan.filter is not None:
        fill_filter(message.filter, as_filter(scan.filter))
        if scan.reverse:
            # Servers reject this option, which lets them read less, in reverse scans.
            message.load_column_families_on_demand = False
    return message


def has_nonce(entry: Get | Mutation) -> bool:
    """Whether a request carries a nonce, by which a server does it only once."""
    return type(entry) in _WITH_NONCE


def response_row(message: bytes, frame: bytes, at: int) -> Row | None:
    """Returns the row in the response to a get or a mutation of one row.

    Args:
        at: where in the frame the cells begin.

    Raises:
        NotHBase: it is unreadable.
    """
    count = request_bytes.cells_in_result(message)
    if count < 0:
        return result_row(_response(message).result, frame, at)[0]
    return _cut_row(frame, at, count)[0]


def was_processed(response: RpcResponse[AsBytes]) -> bool:
    """Whether a put or delete was made: without a condition it always is.

    Raises:
        NotHBase: the response is unreadable, or does not contain it.
    """
    if response.message == _PROCESSED:
        return True
    message = _response(response.message)
    if not message.HasField("processed"):
        raise NotHBase(
            "the response does not contain whether the write was made", None, maybe_applied=True
        )
    return message.processed


def _response(message: bytes) -> client_pb2.MutateResponse:
    # The response to a get has one of its fields, under the same number.
    try:
        return client_pb2.MutateResponse.FromString(message)
    except DecodeError as exc:
        raise NotHBase(f"unreadable response: {exc}", None, maybe_applied=True) from exc


def result_row(result: client_pb2.Result, frame: bytes, at: int) -> tuple[Row | None, int]:
    """Returns the row of a result, and the position in the cell block after it.

    Its cells are in the message or beside it, as the server likes.

    Raises:
        NotHBase: the cells are unreadable.
    """
    if result.cell:
        return Row(result.cell[0].row, message_cells(result.cell)), at
    return _cut_row(frame, at, result.associated_cell_count)


def _cut_row(frame: bytes, at: int, count: int) -> tuple[Row | None, int]:
    if not count:
        return None, at
    try:
        return cut_row(frame, at, count)
    except ValueError as exc:
        raise NotHBase(f"unreadable cells: {exc}", None, maybe_applied=True) from exc
