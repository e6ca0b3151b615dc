"""A scan over regions: one scanner at a time, the next answer under way while the caller works.

A server-side scanner can vanish at any time: its region moves or is split, its server dies, its
lease ends while the caller pauses. Then a new one is opened after the last whole row that was
handed out, so that no row is missed or repeated. Of a row that came in part only, the part is
thrown away and the row read again, so that a row is always one consistent view.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Generator, Iterator
from typing import TypeAlias

from webtable.store.hbase.cells import cut_row, message_cells
from webtable.store.hbase.cluster import CLIENT, Cluster, address_region
from webtable.store.hbase.connection import Answer, Call, Connection
from webtable.store.hbase.messages import scan_message
from webtable.store.hbase.meta import Place
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import Attempts, translate
from webtable.store.hbase.wire import NotHBase, RpcError
from webtable.store.model import RawCell, Row
from webtable.store.scan import Scan

__all__ = ["MAX_RESULT_BYTES", "scan_rows"]

MAX_RESULT_BYTES = 2 << 20
"""What a server puts into one answer at most, of one row too: the rest comes with the next."""

FEW_ROWS = 500
"""A scan that asks for no more is served by random reads throughout."""

CLOSING_SECONDS = 30.0
_ALL_ROWS = 2**31 - 1
_ScanAnswer = Answer[client_pb2.ScanResponse]
_Part: TypeAlias = tuple[bytes, list[RawCell]]
_Result: TypeAlias = tuple[bytes, list[RawCell], bool]


def scan_rows(
    cluster: Cluster, table: str, scan: Scan, max_result_bytes: int = MAX_RESULT_BYTES
) -> Iterator[Row]:
    """Returns the rows of a scan, which has begun: an unknown table or family raises here.

    Closing the iterator, or dropping it, closes the scanner on the server.
    """
    rows = _Scanner(cluster, table, scan, max_result_bytes).run()
    # Runs up to its first yield; only from there on is the generator's clean-up sure to happen.
    next(rows)
    return rows


class _Scanner:
    """The state of one scan.

    `_from` is where to open next: the first row key, itself wanted only if `_is_inclusive`; in a
    reverse scan the key to go down from, itself never wanted, b"" meaning from the end. `_last` is
    the last whole row of this region that was handed out, `_part` what came of the next one.
    """

    def __init__(self, cluster: Cluster, table: str, scan: Scan, max_result_bytes: int) -> None:
        self._cluster = cluster
        self._shown = table
        self._table = cluster.names.full(table)
        self._reverse = scan.reverse
        self._start, self._stop = scan.bounds()
        self._from = self._stop if scan.reverse else self._start
        self._is_inclusive = not scan.reverse
        self._batch_rows = min(scan.batch_rows or _ALL_ROWS, _ALL_ROWS)
        self._wanted = scan.limit if scan.limit is not None else -1
        self._message = scan_message(scan)
        self._message.max_result_size = max_result_bytes
        self._message.stop_row = self._start if scan.reverse else self._stop
        self._message.include_stop_row = scan.reverse
        if 0 <= self._wanted <= FEW_ROWS:
            self._message.readType = client_pb2.Scan.PREAD

        self._is_done = False
        self._place: Place | None = None
        self._connection: Connection | None = None
        self._scanner_id: int | None = None
        self._sequence = 0
        self._call: Call | None = None
        self._is_broken = False
        self._part: _Part | None = None
        self._last: bytes | None = None

    def run(self) -> Generator[Row, None, None]:
        """Yields one row that is none, when the scan has begun, and then its rows."""
        try:
            rows = self._next_rows()
            yield Row(b"", ())
            while rows is not None:
                yield from rows
                rows = self._next_rows()
        except ValueError as exc:
            raise self._unreadable(exc) from exc
        finally:
            self._close()

    def _next_rows(self) -> Iterator[Row] | None:
        attempts = self._cluster.attempts(self._shown)
        while not self._is_done:
            if self._is_broken:
                self._rewind()
            try:
                answer = self._receive(attempts)
                rows = self._take(answer)
            except RpcError as exc:
                self._reopen(exc, attempts)
                continue
            if not self._is_done:
                self._prefetch()
            if rows is not None:
                return rows
            # An answer without rows says that the server is still searching: it is alive.
            attempts = self._cluster.attempts(self._shown)
        return None

    def _receive(self, attempts: Attempts) -> _ScanAnswer:
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
        if self._scanner_id is not None:
            assert self._connection is not None
            request.scanner_id = self._scanner_id
            request.next_call_seq = self._sequence
            self._sequence += 1
        else:
            regions = self._cluster.regions
            find = regions.locate_before if self._reverse else regions.locate
            self._place = None
            self._place = find(self._table, self._from, deadline)
            self._connection = self._cluster.connections.to(
                self._place.server, CLIENT, deadline.attempt()
            )
            self._message.start_row = self._from
            self._message.include_start_row = self._is_inclusive
            address_region(request, self._place)
            request.scan.CopyFrom(self._message)
            self._sequence = 0
            if 0 < self._wanted <= _ALL_ROWS:
                request.limit_of_rows = self._wanted
        self._call = self._connection.submit("Scan", request, deadline.attempt())

    def _prefetch(self) -> None:
        try:
            self._send(self._cluster.attempts(self._shown))
        except RpcError:
            # Met again, and dealt with, when these rows are handed out and more are wanted.
            self._is_broken = True

    def _take(self, answer: _ScanAnswer) -> Iterator[Row] | None:
        """Notes where the scan stands after an answer, and returns the answer's rows if any."""
        response = answer.message
        if self._scanner_id is None and response.HasField("scanner_id"):
            self._scanner_id = response.scanner_id
        is_scan_over = response.HasField("more_results") and not response.more_results
        is_region_over = is_scan_over or (
            response.HasField("more_results_in_region") and not response.more_results_in_region
        )
        part, self._part = self._part, None
        rows = self._rows(_results(answer), part, is_region_over)
        found = _count_rows(answer, part, is_region_over)
        if not found:
            whole = list(rows)
            rows, found = iter(whole), len(whole)
        if 0 <= self._wanted < found:
            rows, found = itertools.islice(rows, self._wanted), self._wanted
        if self._wanted >= 0:
            self._wanted -= found
        if is_region_over:
            self._leave_region()
        if is_scan_over or self._wanted == 0:
            self._is_done = True
        return rows if found else None

    def _rows(
        self, results: Iterator[_Result], part: _Part | None, is_region_over: bool
    ) -> Iterator[Row]:
        """Yields the whole rows of an answer, the first joined to what came of it before.

        At its end it notes the last row, and what came of another only in part.
        """
        last = None
        for key, cells, is_partial in results:
            if part is not None:
                if part[0] == key:
                    part[1].extend(cells)
                    cells = part[1]
                else:
                    last = part[0]
                    yield Row(*part)  # its last part was marked as if more would come
                part = None
            if is_partial:
                part = (key, cells)
            else:
                last = key
                yield Row(key, cells)
        if is_region_over:
            if part is not None:
                yield Row(*part)
            return
        self._part = part
        if last is not None:
            self._last = last

    def _leave_region(self) -> None:
        # The server has closed the scanner by itself.
        self._scanner_id = None
        place = self._place
        assert place is not None
        if self._message.readType == client_pb2.Scan.DEFAULT:
            # Left to itself a server begins with random reads and interrupts the scan after some
            # blocks, to change over. A scan that goes on to another region is a long one.
            self._message.readType = client_pb2.Scan.STREAM
        if self._reverse:
            self._is_done = not place.start or place.start <= self._start
            self._from = place.start
        else:
            self._is_done = not place.stop or bool(self._stop and self._stop <= place.stop)
            self._from, self._is_inclusive = place.stop, True
        self._last = None

    def _reopen(self, error: RpcError, attempts: Attempts) -> None:
        self._cluster.recover(self._place, error, attempts)
        self._rewind()

    def _rewind(self) -> None:
        self._close()
        self._part = None
        self._is_broken = False
        last, self._last = self._last, None
        if last is not None:
            self._from, self._is_inclusive = last, False

    def _close(self) -> None:
        call, self._call = self._call, None
        scanner_id, self._scanner_id = self._scanner_id, None
        connection = self._connection
        if connection is not None and connection.is_open and (call or scanner_id is not None):
            # Not here: this may run in any thread at any point, as part of collecting garbage.
            self._cluster.in_background(lambda: _end_scanner(connection, call, scanner_id))

    def _unreadable(self, exc: Exception) -> Exception:
        server = self._place.server if self._place is not None else None
        return translate(NotHBase(f"unreadable cells: {exc}", server), self._shown)


def _results(answer: _ScanAnswer) -> Iterator[_Result]:
    """Yields key, cells, and whether more cells of the row may follow, of every result."""
    response, frame, at = answer
    for result in response.results:
        if result.cell:
            yield result.cell[0].row, message_cells(result.cell), result.partial
    for count, is_partial in zip(
        response.cells_per_result, response.partial_flag_per_result, strict=True
    ):
        row, at = cut_row(frame, at, count)
        yield row.key, list(row.raw_cells), is_partial


def _count_rows(answer: _ScanAnswer, part: _Part | None, is_region_over: bool) -> int | None:
    """Returns how many whole rows an answer will give; None where that shows only on reading."""
    response = answer.message
    flags = list(response.partial_flag_per_result)
    if response.results or True in flags[:-1]:
        return None
    if not flags:
        return 1 if part is not None and is_region_over else 0
    count = len(flags) - (flags[-1] and not is_region_over)
    if part is not None and part[0] != cut_row(answer.frame, answer.block_at, 1)[0].key:
        count += 1
    return count


def _end_scanner(connection: Connection, call: Call | None, scanner_id: int | None) -> None:
    """Closes a scanner on its server, after the answer to the call that it works on."""
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
