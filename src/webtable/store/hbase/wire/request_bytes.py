"""The requests that programs make most, as bytes: gets and writes of rows, and their conditions.

Messages of protobuf take several times as long to fill and to write out; so these
are written by hand here, in the order of the fields' numbers as protobuf does it. Their region is
not part of them: it comes first, see `region_field`. Responses are read by hand where they have
their usual form; `requests_and_results` reads the others. The cells of a write go beside the
message.

This module may be running compiled, by Cython from this very file and the C types in
`_request_bytes.pxd`; `requests_and_results` imports the form that is to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType
from webtable.store.filtering.filter_language import as_filter
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire.cell_blocks import encode_cells, encode_marker
from webtable.store.hbase.wire.filter_messages import fill_filter
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
from webtable.store.scan import ALL_VERSIONS, Get

__all__ = [
    "COMPILED",
    "action_field",
    "atomic_step",
    "cells_in_result",
    "column_fields",
    "condition_bytes",
    "done_entries",
    "get_bytes",
    "get_request",
    "mutate_request",
    "mutation_bytes",
    "nonce_group_field",
    "region_action",
    "region_field",
    "sized",
    "time_range_field",
    "varint",
]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable
_DURABILITY: dict[Durability, bytes] = {"sync": b"\x30\x04", "wal": b"", "none": b"\x30\x01"}
_COMPARE = {
    CompareOp.LESS: b"\x20\x00",
    CompareOp.LESS_OR_EQUAL: b"\x20\x01",
    CompareOp.EQUAL: b"\x20\x02",
    CompareOp.NOT_EQUAL: b"\x20\x03",
    CompareOp.GREATER_OR_EQUAL: b"\x20\x04",
    CompareOp.GREATER: b"\x20\x05",
}
_BINARY = b"\x0a\x2forg.apache.hadoop.hbase.filter.BinaryComparator"
_region_fields: dict[bytes, bytes] = {}  # programs call the same regions again
_KEPT_REGIONS = 10_000
_ONE_BYTE = tuple(bytes((number,)) for number in range(0x80))


# As in `frames`, once more: compiled, a call within a module is C's.
def varint(number: int) -> bytes:
    """Returns a number of at most 64 bits in as many bytes as it needs, seven bits each."""
    if number < 0x80:
        return _ONE_BYTE[number]
    if _compiled:
        return c_varint(number)  # type: ignore[name-defined,no-any-return]  # noqa: F821
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def sized(tag: bytes, content: bytes) -> bytes:
    """Returns a field of bytes: its tag, the length, the content."""
    return b"".join((tag, varint(len(content)), content))


def region_field(name: bytes) -> bytes:
    """Returns the field with the region of a request; every request begins with it."""
    field = _region_fields.get(name)
    if field is None:
        field = sized(b"\x0a", b"\x08\x01" + sized(b"\x12", name))
        if len(_region_fields) >= _KEPT_REGIONS:
            _region_fields.clear()
        _region_fields[name] = field
    return field


def get_bytes(get: Get) -> bytes:
    """Returns a get as its message."""
    message = sized(b"\x0a", get.row)
    if get.columns:
        message += column_fields(b"\x12", get.columns)
    if get.filter is not None:
        filter_message = client_pb2.Filter()
        fill_filter(filter_message, as_filter(get.filter))
        message += sized(b"\x22", filter_message.SerializeToString())
    if get.time_range is not None:
        message += time_range_field(b"\x2a", get.time_range)
    if get.versions != 1:
        message += b"\x30" + varint(min(get.versions, ALL_VERSIONS))
    return message


def mutation_bytes(
    parts: list[bytes], mutation: Mutation, durability: Durability, nonce: int
) -> tuple[bytes, int]:
    """Returns a mutation as its message, adds its cells to `parts`, and returns their size too.

    Raises:
        InvalidRequest: a column or a value is not valid.
    """
    row = mutation.row
    key = sized(b"\x0a", row)
    kept = _DURABILITY[durability]
    if isinstance(mutation, Put):
        size = encode_cells(parts, row, mutation.values.items(), mutation.timestamp)
        count = len(mutation.values)
        lifetime = b""
        if mutation.ttl_ms is not None:
            ttl_ms = min(mutation.ttl_ms, MAX_TIMESTAMP)
            lifetime = b"\x2a\x10\x0a\x04_ttl\x12\x08" + ttl_ms.to_bytes(8, "big")
        if mutation.clears:
            # A server takes the cells of a put as they come, delete markers too.
            count += len(mutation.clears)
            for column in mutation.clears:
                marker = Marker(CellType.DELETE_COLUMN, column, mutation.timestamp)
                size += encode_marker(parts, row, marker)
        return b"%b\x10\x02%b%b\x40%b" % (key, lifetime, kept, varint(count)), size
    if isinstance(mutation, Delete):
        when = varint(MAX_TIMESTAMP if mutation.timestamp is None else mutation.timestamp)
        size, count = 0, len(mutation.markers)
        for marker in mutation.markers:
            size += encode_marker(parts, row, marker)
        return b"%b\x10\x03\x20%b%b\x40%b" % (key, when, kept, varint(count)), size
    if isinstance(mutation, Increment):
        kind = b"\x01"
        values = [
            (column, amount.to_bytes(8, "big", signed=True))
            for column, amount in mutation.amounts.items()
        ]
    else:
        assert isinstance(mutation, Append)
        kind = b"\x00"
        values = list(mutation.values.items())
    size = encode_cells(parts, row, values, None)
    return (
        b"%b\x10%b%b\x40%b\x48%b" % (key, kind, kept, varint(len(values)), varint(nonce)),
        size,
    )


def action_field(
    parts: list[bytes], index: int, entry: Get | Mutation, durability: Durability, nonce: int
) -> tuple[bytes, int]:
    """Returns an entry of a batch as its field; see `mutation_bytes`."""
    size = 0
    if isinstance(entry, Get):
        content = sized(b"\x1a", get_bytes(entry))
    else:
        message, size = mutation_bytes(parts, entry, durability, nonce)
        content = sized(b"\x12", message)
    return sized(b"\x1a", b"\x08%b%b" % (varint(index), content)), size


def get_request(get: bytes) -> bytes:
    """Returns a request of one get, without its region."""
    return sized(b"\x12", get)


def mutate_request(mutation: bytes, row: bytes, check: Check | None, nonce_group: bytes) -> bytes:
    """Returns a request of one mutation, without its region; `nonce_group` is a varint."""
    condition = b"" if check is None else sized(b"\x1a", condition_bytes(row, check))
    return b"%b%b\x20%b" % (sized(b"\x12", mutation), condition, nonce_group)


def atomic_step(
    parts: list[bytes],
    mutations: Sequence[Mutation],
    durability: Durability,
    nonce: int,
    condition: bytes | None,
) -> tuple[bytes, int]:
    """Returns the mutations of one row as fields of an atomic action, without its region.

    Adds their cells to `parts`, and returns the size of the cells too.
    """
    fields, size = [b"\x10\x01"], 0
    for index, mutation in enumerate(mutations):
        field, cells = action_field(parts, index, mutation, durability, nonce)
        fields.append(field)
        size += cells
    if condition is not None:
        fields.append(sized(b"\x22", condition))
    return b"".join(fields), size


def region_action(fields: bytes) -> bytes:
    """Returns the actions of one region, which begin with it, as a field of a multi request."""
    return sized(b"\x0a", fields)


def nonce_group_field(nonce_group: bytes) -> bytes:
    """Returns the last field of a multi request; `nonce_group` is a varint."""
    return b"\x10" + nonce_group


def condition_bytes(row: bytes, check: Check) -> bytes:
    """Returns a condition as its message."""
    message = sized(b"\x0a", row)
    if check.filter is None:
        family, _, qualifier = check.column.partition(b":")
        # For HBase no value at all means that the column must be absent.
        value = b"" if check.value is None else sized(b"\x0a", check.value)
        comparator = _BINARY + sized(b"\x12", sized(b"\x0a", value))
        message += b"%b%b%b%b" % (
            sized(b"\x12", family),
            sized(b"\x1a", qualifier),
            _COMPARE[check.op],
            sized(b"\x2a", comparator),
        )
    if check.time_range is not None:
        message += time_range_field(b"\x32", check.time_range)
    if check.filter is not None:
        filter_message = client_pb2.Filter()
        fill_filter(filter_message, check.filter)
        message += sized(b"\x3a", filter_message.SerializeToString())
    return message


def cells_in_result(response: bytes) -> int:
    """Returns how many cells beside the response are its result; -1 where it must be read in full.

    The response to a get, an increment or an append usually has only that number.
    """
    # result (1): cell count (2), and that it is not stale (4), which is left out where it is empty
    size = len(response)
    if size < 4 or response[0] != 0x0A or response[1] != size - 2 or response[2] != 0x10:
        return -1
    count = response[3]
    if count < 0x80 and (size == 4 or (size == 6 and response[4] == 0x20 and not response[5])):
        return count
    return -1


def done_entries(response: bytes) -> list[list[int]] | None:
    """Returns the entries that are done by the response to a batch, those of each region.

    None where it has something else or more, and must be read in full.
    """
    regions: list[list[int]] = []
    at, size = 0, len(response)
    while at + 1 < size:
        # One region's results, or the load of the server, which is of no use here.
        tag = response[at]
        length, shift = 0, 0
        while True:
            at += 1
            if at >= size or shift > 28:
                return None
            byte = response[at]
            piece = byte & 0x7F
            length |= piece << shift
            shift += 7
            if byte < 0x80:
                break
        at += 1
        end = at + length
        if end > size or (tag != 0x0A and tag != 0x1A):
            return None
        if tag == 0x0A:
            entries: list[int] = []
            while at < end:
                # 0a size, then 08 index 12 00: an entry and its empty result
                if at + 4 > end or response[at] != 0x0A:
                    return None
                entry_end = at + 2 + response[at + 1]
                if (
                    response[at + 1] < 4
                    or response[at + 1] > 8
                    or entry_end > end
                    or response[at + 2] != 0x08
                    or response[entry_end - 2] != 0x12
                    or response[entry_end - 1] != 0
                    or response[entry_end - 3] >= 0x80
                ):
                    return None
                index = response[entry_end - 3]
                for middle in range(entry_end - 4, at + 2, -1):
                    if response[middle] < 0x80:
                        return None
                    piece = response[middle] & 0x7F
                    index = index << 7 | piece
                entries.append(index)
                at = entry_end
            regions.append(entries)
        at = end
    return regions if at == size else None


def column_fields(tag: bytes, columns: Iterable[bytes]) -> bytes:
    """Returns families and columns as the fields in which gets and scans name them."""
    qualifiers: dict[bytes, list[bytes] | None] = {}
    for column in columns:
        family, colon, qualifier = column.partition(b":")
        if not colon:
            qualifiers[family] = None  # the whole family, whatever else of it is named
        else:
            named = qualifiers.setdefault(family, [])
            if named is not None:
                named.append(sized(b"\x12", qualifier))
    return b"".join(
        [
            sized(tag, sized(b"\x0a", family) + b"".join(named or ()))
            for family, named in qualifiers.items()
        ]
    )


def time_range_field(tag: bytes, time_range: tuple[int, int]) -> bytes:
    """Returns a time range as the field in which a request names it."""
    start, stop = time_range
    return sized(tag, b"\x08%b\x10%b" % (varint(start), varint(stop)))
