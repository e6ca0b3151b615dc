"""Reads the meta table: the regions of tables and where they are, and the states of tables.

It has a row a region, named `table,start key,id.hash.`, and a row a table, named after it. The
region of a row key is the last one that does not sort after `table,row key,:`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from google.protobuf.message import DecodeError, Message

from webtable.store.cells_and_rows import Row
from webtable.store.hbase.proto import base_pb2, client_pb2
from webtable.store.hbase.retry import Deadline
from webtable.store.hbase.wire.cell_blocks import cut_rows
from webtable.store.hbase.wire.choose_compiled_connection import RpcResponse
from webtable.store.hbase.wire.errors_and_responses import NotHBase, Server

__all__ = [
    "META",
    "META_REGION",
    "MetaTable",
    "Place",
    "region_of",
    "region_scan",
    "table_of",
    "unreadable_row",
]

M = TypeVar("M", bound=Message)

META = b"hbase:meta"
META_REGION = b"hbase:meta,,1"
_PAGE_ROWS = 500
_BY_NAME = base_pb2.RegionSpecifier.REGION_NAME
_COLUMNS = (b"regioninfo", b"server", b"serverstartcode")


class Place(NamedTuple):
    """A region and the server that has it, as the meta table had it at some time.

    `stop` is empty in a table's last region. `is_hint` means that the server was
    named by another server, which had the region before, and not by the meta table.
    """

    name: bytes
    table: bytes
    start: bytes
    stop: bytes
    region_id: int
    server: Server
    start_code: int = 0
    is_hint: bool = False

    def holds(self, row: bytes) -> bool:
        """Whether a row key belongs to the region."""
        return self.start <= row and (not self.stop or row < self.stop)

    def holds_before(self, row: bytes) -> bool:
        """Whether the keys just before a row key belong to the region; b"" is after all keys."""
        if not row:
            return not self.stop
        return self.start < row and (not self.stop or row <= self.stop)

    @property
    def process(self) -> tuple[Server, int]:
        """The run of the server's process; one that is started again is another."""
        return self.server, self.start_code

    @property
    def encoded_name(self) -> bytes:
        """The hash that names the region in administration."""
        return self.name.rstrip(b".").rpartition(b".")[2]


class CallMeta(Protocol):
    """Calls the server that has the meta table; returns its response, and the server."""

    def __call__(
        self, method: str, request: Message, kind: type[M], deadline: Deadline
    ) -> tuple[RpcResponse[M], Server]: ...


class MetaTable:
    """The queries of the meta table. Each call may raise `RpcError`."""

    def __init__(self, call: CallMeta) -> None:
        self._call = call

    def region_of(self, table: bytes, row: bytes, deadline: Deadline) -> Place | None:
        """Returns the region that has a row key; None while no region has it."""
        for place in self._backwards(table, b"%b,%b,:" % (table, row), deadline):
            return place if place.holds(row) else None
        return None

    def region_before(self, table: bytes, row: bytes, deadline: Deadline) -> Place | None:
        """Returns the region that has the keys just before a row key, the last for b"".

        None while no region has them.
        """
        bound = b"%b,%b," % (table, row) if row else b"%b ,," % table
        for place in self._backwards(table, bound, deadline):
            return place if place.holds_before(row) else None
        return None

    def regions(self, table: bytes, deadline: Deadline, limit: int = 0) -> Iterator[Place]:
        """Yields the regions of a table in key order, at most `limit` where it is given."""
        scan = region_scan(_COLUMNS, b"%b,," % table, b"%b ,," % table)
        for row in self._rows(scan, min(limit or _PAGE_ROWS, _PAGE_ROWS), limit, deadline):
            place = _place(row)
            if place is not None:
                yield place

    def table_state(self, table: bytes, deadline: Deadline) -> int | None:
        """Returns a table's state, a value of `TableState.State`; None when there is no table."""
        request = client_pb2.GetRequest()
        request.region.type = _BY_NAME
        request.region.value = META_REGION
        request.get.row = table
        request.get.column.add(family=b"table", qualifier=[b"state"])
        response, server = self._call("Get", request, client_pb2.GetResponse, deadline)
        count = response.message.result.associated_cell_count
        for row in _cut_rows(response, [count], server):
            state = row.value(b"table:state")
            if state:
                try:
                    return base_pb2.TableState.FromString(state).state
                except DecodeError as exc:
                    raise unreadable_row(row) from exc
        return None

    def tables(self, deadline: Deadline) -> list[bytes]:
        """Returns the names of all tables, system tables included."""
        scan = client_pb2.Scan(column=[client_pb2.Column(family=b"table", qualifier=[b"state"])])
        return [row.key for row in self._rows(scan, _PAGE_ROWS, 0, deadline)]

    def rows(self, scan: client_pb2.Scan, deadline: Deadline) -> Iterator[Row]:
        """Yields the rows that a scan of the meta table finds, whatever they contain."""
        return self._rows(scan, _PAGE_ROWS, 0, deadline)

    def _backwards(self, table: bytes, bound: bytes, deadline: Deadline) -> Iterator[Place]:
        scan = region_scan(_COLUMNS, bound, b"%b,," % table)
        scan.reversed = True
        scan.include_stop_row = True
        for row in self._rows(scan, 3, 0, deadline):
            place = _place(row)
            if place is not None:
                yield place

    def _rows(
        self, scan: client_pb2.Scan, page_rows: int, limit: int, deadline: Deadline
    ) -> Iterator[Row]:
        # Every page is a scan of its own, which the server closes when the page is full or the
        # table at its end. So the meta table may move between two pages, and nothing is left open.
        # Without random reads a server would interrupt the scan after some blocks, to change over.
        scan.readType = client_pb2.Scan.PREAD
        found = 0
        while True:
            rows = self._page(scan, page_rows, deadline)
            yield from rows
            found += len(rows)
            if len(rows) < page_rows or (limit and found >= limit):
                return
            scan.start_row = rows[-1].key
            scan.include_start_row = False

    def _page(self, scan: client_pb2.Scan, page_rows: int, deadline: Deadline) -> list[Row]:
        request = client_pb2.ScanRequest(scan=scan, limit_of_rows=page_rows)
        request.region.type = _BY_NAME
        request.region.value = META_REGION
        rows: list[Row] = []
        while True:
            request.number_of_rows = page_rows - len(rows)
            request.client_handles_partials = request.client_handles_heartbeats = True
            response, server = self._call("Scan", request, client_pb2.ScanResponse, deadline)
            message = response.message
            rows += _cut_rows(response, message.cells_per_result, server)
            is_over = message.HasField("more_results") and not message.more_results
            if is_over or not message.more_results_in_region or len(rows) >= page_rows:
                return rows
            # It searched for as long as it may without a word, and would go on.
            sequence = request.next_call_seq + 1 if request.HasField("scanner_id") else 0
            request = client_pb2.ScanRequest(scanner_id=message.scanner_id, next_call_seq=sequence)


def unreadable_row(row: Row) -> NotHBase:
    """Returns the error for a row that is not as HBase writes them, whichever server gave it."""
    return NotHBase(f"row {row.key!r:.200} of the meta table is unreadable", None)


def _cut_rows(response: RpcResponse[M], counts: Sequence[int], server: Server) -> list[Row]:
    try:
        return cut_rows(response.frame, response.block_at, counts)
    except ValueError as exc:
        raise NotHBase(f"unreadable cells: {exc}", server) from exc


def region_scan(columns: Sequence[bytes], start: bytes, stop: bytes) -> client_pb2.Scan:
    """Returns the scan of the rows of regions in a range of the meta table."""
    column = client_pb2.Column(family=b"info", qualifier=columns)
    return client_pb2.Scan(column=[column], start_row=start, stop_row=stop)


def region_of(row: Row) -> base_pb2.RegionInfo | None:
    """Returns the region of a row of the meta table.

    None for the parent of a split, whose daughters have rows of their own.
    """
    info = row.value(b"info:regioninfo")
    if not info:
        return None
    try:
        region = base_pb2.RegionInfo.FromString(info.removeprefix(b"PBUF"))
    except DecodeError as exc:
        raise unreadable_row(row) from exc
    return None if region.split or region.offline else region


def table_of(region: base_pb2.RegionInfo) -> bytes:
    """Returns the full name of the table of a region."""
    namespace, name = region.table_name.namespace, region.table_name.qualifier
    return name if namespace == b"default" else b"%b:%b" % (namespace, name)


def _place(row: Row) -> Place | None:
    server = row.value(b"info:server")
    region = region_of(row) if server else None
    if not server or region is None:
        return None  # one without a server was never opened yet
    try:
        host, _, port = server.decode().rpartition(":")
        where = Server(host, int(port))
    except ValueError as exc:
        raise unreadable_row(row) from exc
    return Place(
        name=row.key,
        table=table_of(region),
        start=region.start_key,
        stop=region.end_key,
        region_id=region.region_id,
        server=where,
        start_code=int.from_bytes(row.value(b"info:serverstartcode") or b"", "big"),
    )
