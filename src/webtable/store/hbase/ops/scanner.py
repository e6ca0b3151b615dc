"""A scan of one range of keys: one server-side scanner at a time, region after region.

A server-side scanner can vanish at any time: its region moves or is split, its server dies, its
lease ends while the caller pauses. Then a new one is opened after the last whole row that was
read, so that no row is missed or repeated. Of a row that came in part only, the part is
thrown away and the row read again, so that a row is always one consistent view.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from webtable.errors import WebTableError
from webtable.loggers import get_logger
from webtable.store.hbase.cluster.cluster import CLIENT, Cluster, address_region
from webtable.store.hbase.cluster.meta import Place
from webtable.store.hbase.ops.row_assembler import Batch, ScanResult, Stitching
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.choose_compiled_connection import Call, Connection
from webtable.store.hbase.wire.errors_and_responses import NotHBase, RpcError
from webtable.store.hbase.wire.requests_and_results import scan_message
from webtable.store.scan import Scan

__all__ = ["FEW_ROWS", "MAX_RESULT_BYTES", "RangeScanner", "ScanJob"]

MAX_RESULT_BYTES = 2 << 20
"""What a server puts into one response at most, of one row too; the rest is in the next."""

FEW_ROWS = 500
"""A scan of no more rows is served by random reads throughout."""

CLOSING_SECONDS = 30.0
_ALL_ROWS = 2**31 - 1

_log = get_logger("webtable.store.hbase")


class ScanJob(NamedTuple):
    """What all parts of one scan have in common."""

    cluster: Cluster
    table: str
    scan: Scan
    max_result_bytes: int = MAX_RESULT_BYTES


class RangeScanner:
    """Reads the rows of one range, response by response. For one thread at a time.

    `_from` is where to open next: the first row key, itself wanted only if `_is_inclusive`; in a
    reverse scan the key to go down from, itself never wanted, b"" meaning from the end. `_stock`
    has the responses that came early; they are not decoded until they are used, because rows take
    more memory.

    Attributes:
        is_over: whether all rows have been handed out.
        is_last: whether the server has reported that the whole scan is over, as a filter can
            decide.
    """

    def __init__(self, job: ScanJob, start: bytes, stop: bytes, *, wanted: int = -1) -> None:
        scan = job.scan
        self._cluster = job.cluster
        self._shown = job.table
        self._table = job.cluster.names.full(job.table)
        self._reverse = scan.reverse
        self._start, self._stop = start, stop
        self._from = stop if scan.reverse else start
        self._is_inclusive = not scan.reverse
        self._batch_rows = min(scan.batch_rows or _ALL_ROWS, _ALL_ROWS)
        self._wanted = wanted
        self._message = scan_message(scan)
        self._message.max_result_size = job.max_result_bytes
        self._message.stop_row = start if scan.reverse else stop
        self._message.include_stop_row = scan.reverse
        if 0 <= wanted <= FEW_ROWS:
            self._message.readType = client_pb2.Scan.PREAD
        # HBase 2.6.4 loses rows and cells in a reverse scanner that is open while its region is
        # flushed (docs/explain/hbase-differences.md). So there a scanner gives one response, and
        # the next one goes on after the last whole row. A filter may count, and needs its scanner.
        self._is_brief = scan.reverse and scan.filter is None
        self._stays_open = not self._is_brief

        self.is_over = False
        self.is_last = False
        self._place: Place | None = None
        self.connection: Connection | None = None
        self.scanner_id: int | None = None
        self._sequence = 0
        self._call: Call | None = None
        self._error: RpcError | None = None
        self._stitching = Stitching()
        self._stock: deque[ScanResult] = deque()

    def expect_many(self) -> None:
        """Takes it for certain that the scan is a long one.

        Left to itself a server begins with random reads and interrupts the scan after some
        blocks, to change over.
        """
        if self._message.readType == client_pb2.Scan.DEFAULT:
            self._message.readType = client_pb2.Scan.STREAM

    def send_request(self) -> None:
        """Sends for the next rows, if that is not done already. Does not wait, and does not fail.

        A failure is handled when the rows are needed.
        """
        if self._call is None and self._error is None and not self._has_all():
            with contextlib.suppress(WebTableError):
                try:
                    self._send(self._cluster.attempts(self._shown))
                except RpcError as exc:
                    self._error = exc

    def _has_all(self) -> bool:
        return self.is_over or bool(self._stock and _is_region_over(self._stock[-1].message))

    @property
    def has_response(self) -> bool:
        """Whether there is something to take without waiting."""
        return bool(self._stock) or (self._call is not None and self._call.is_settled)

    def stock_up(self, most: int) -> int:
        """Buffers up to `most` responses that came, and requests more; returns their count."""
        while len(self._stock) < most and self._call is not None and self._call.is_settled:
            try:
                response = self._receive(self._cluster.attempts(self._shown))
            except RpcError as exc:
                self._error = exc
                break
            self._stock.append(response)
            self._note_scanner(response.message)
            if _is_region_over(response.message) or self._is_brief:
                break  # the next start is known only when this one is read
            self.send_request()
        return len(self._stock)

    def next_rows(self) -> Batch | None:
        """Returns more rows, as soon as they come; None when the range has no more.

        Raises:
            WebTableError: they could not be had.
        """
        attempts = self._cluster.attempts(self._shown)
        while not self.is_over:
            try:
                rows = self._take(self._stock.popleft() if self._stock else self._receive(attempts))
            except RpcError as exc:
                is_open = self.scanner_id is not None
                self._cluster.recover(self._place, exc, attempts)
                self._rewind()
                if is_open:
                    _log.info(
                        "scan of table '%s' opens a new scanner at row %.80r: %.300s",
                        *(self._shown, self._from, exc),
                    )
                continue
            if rows:
                attempts.succeeded("Scan", self._place.server if self._place else None)
                return rows
            # A response without rows means that the server is still searching: it is alive.
            attempts = self._cluster.attempts(self._shown)
        return None

    def give_up(self) -> Callable[[], None] | None:
        """Forgets the scanner; returns what closes it on its server, where that is to be done."""
        self.is_over = True
        self._stock.clear()
        return self._drop_scanner()

    def _receive(self, attempts: Attempts) -> ScanResult:
        error, self._error = self._error, None
        if error is not None:
            raise error
        if self._call is None:
            self._send(attempts)
        call, self._call = self._call, None
        assert call is not None
        return call.wait(client_pb2.ScanResponse, attempts.deadline.attempt())

    def _send(self, attempts: Attempts) -> None:
        deadline = attempts.deadline
        request = client_pb2.ScanRequest(
            number_of_rows=self._batch_rows
            if self._wanted < 0
            else min(self._batch_rows, self._wanted),
            client_handles_partials=True,
            client_handles_heartbeats=True,
        )
        if self.scanner_id is not None:
            assert self.connection is not None
            request.scanner_id = self.scanner_id
            request.next_call_seq = self._sequence
            self._sequence += 1
        else:
            regions = self._cluster.regions
            find = regions.locate_before if self._reverse else regions.locate
            self._place = None
            self._place = find(self._table, self._from, deadline)
            self.connection = self._cluster.connections.to(
                self._place.server, CLIENT, deadline.attempt()
            )
            self._message.start_row = self._from
            self._message.include_start_row = self._is_inclusive
            address_region(request, self._place)
            request.scan.CopyFrom(self._message)
            self._sequence = 0
            request.close_scanner = not self._stays_open
            if 0 < self._wanted <= _ALL_ROWS:
                request.limit_of_rows = self._wanted
        self._call = self.connection.submit("Scan", request, deadline.attempt())

    def _take(self, response: ScanResult) -> Batch:
        """Notes the position of the scan after a response, and returns the response's rows."""
        message = response.message
        self._note_scanner(message)
        is_scan_over, is_region_over = _is_scan_over(message), _is_region_over(message)
        server = self._place.server if self._place is not None else None
        try:
            rows = self._stitching.rows(response, is_region_over=is_region_over)
        except ValueError as exc:
            raise NotHBase(f"unreadable cells: {exc}", server) from exc
        if self._stays_open and self.scanner_id is None and not is_region_over:
            # Another request would open another scanner, without end.
            raise NotHBase("a scanner that is to go on, without its number", server)
        if rows:
            self._from, self._is_inclusive = rows.last_key(), False
        if self._wanted >= 0:
            rows.cut(self._wanted)
            self._wanted -= len(rows)
        if self._is_brief:
            self._renew(is_region_over, has_rows=bool(rows))
        if is_region_over:
            self._leave_region()
        if is_scan_over or self._wanted == 0:
            self.is_over = True
            self.is_last = is_scan_over
        return rows

    def _renew(self, is_region_over: bool, *, has_rows: bool) -> None:
        """Makes the next response of a reverse scan come from a new scanner.

        Where a response has no whole row, because it is too large or was not found in time, the
        next scanner stays open until a whole row comes.
        """
        if not self._stays_open:
            self._stitching.forget()
        elif has_rows and not is_region_over:
            self._rewind()
        self._stays_open = not has_rows and not is_region_over

    def _note_scanner(self, response: client_pb2.ScanResponse) -> None:
        if not self._stays_open:
            return
        if self.scanner_id is None and response.HasField("scanner_id"):
            self.scanner_id = response.scanner_id

    def _leave_region(self) -> None:
        # The server has closed the scanner by itself.
        self.scanner_id = None
        place = self._place
        assert place is not None
        self.expect_many()  # for it goes on to another region
        if self._reverse:
            self.is_over = not place.start or place.start <= self._start
            self._from = place.start
        else:
            self.is_over = not place.stop or bool(self._stop and self._stop <= place.stop)
            self._from, self._is_inclusive = place.stop, True

    def _rewind(self) -> None:
        self._stitching.forget()
        self._stock.clear()
        end = self._drop_scanner()
        if end is not None:
            self._cluster.in_background(end)

    def _drop_scanner(self) -> Callable[[], None] | None:
        call, self._call = self._call, None
        scanner_id, self.scanner_id = self.scanner_id, None
        connection = self.connection
        if connection is None or not connection.is_open or not (call or scanner_id is not None):
            return None
        return lambda: _end_scanner(connection, call, scanner_id)


def _is_scan_over(response: client_pb2.ScanResponse) -> bool:
    return response.HasField("more_results") and not response.more_results


def _is_region_over(response: client_pb2.ScanResponse) -> bool:
    return _is_scan_over(response) or (
        response.HasField("more_results_in_region") and not response.more_results_in_region
    )


def _end_scanner(connection: Connection, call: Call | None, scanner_id: int | None) -> None:
    """Closes a scanner on its server, after the response to the call that it works on."""
    if call is not None:
        try:
            response = call.wait(client_pb2.ScanResponse, CLOSING_SECONDS).message
        except RpcError:
            pass
        else:
            is_open = response.more_results and response.more_results_in_region
            scanner_id = response.scanner_id if is_open else None
    if scanner_id is not None:
        request = client_pb2.ScanRequest(
            scanner_id=scanner_id, close_scanner=True, number_of_rows=0
        )
        with contextlib.suppress(RpcError):
            connection.call("Scan", request, client_pb2.ScanResponse, CLOSING_SECONDS)
