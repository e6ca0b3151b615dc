"""A scan over regions: one scanner at a time, the next answer under way while the caller works.

A server-side scanner can vanish at any time: its region moves or is split, its server dies, its
lease ends while the caller pauses. Then a new one is opened after the last whole row that was
handed out, so that no row is missed or repeated. Of a row that came in part only, the part is
thrown away and the row read again, so that a row is always one consistent view.
"""

from __future__ import annotations

import contextlib
import itertools
import struct
from collections.abc import Generator, Iterator, Sequence

from webtable.store.hbase.cells import iter_rows, message_cells, read_cells, skip_cells
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
    reverse scan the key to go down from, itself never wanted, b"" meaning from the end.
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
        self._part: tuple[bytes, list[RawCell]] | None = None
        # Where the last answer with whole rows has its last one, for opening anew after it.
        self._last: tuple[bytes, int, Sequence[int]] | bytes | None = None

    def run(self) -> Generator[Row, None, None]:
        """Yields one row that is none, when the scan has begun, and then its rows."""
        try:
            rows = self._next_rows()
            yield Row(b"", ())
            while rows is not None:
                yield from rows
                rows = self._next_rows()
        except (struct.error, IndexError) as exc:
            raise self._unreadable(exc) from exc
        finally:
            self._close()

    def _next_rows(self) -> Iterator[Row] | None:
        attempts = self._cluster.attempts(self._shown)
        while not self._is_done:
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
            self._rewind()  # the error is met again, and dealt with, when more rows are wanted

    def _take(self, answer: _ScanAnswer) -> Iterator[Row] | None:
        """Notes where the scan stands after an answer, and returns the answer's rows if any."""
        response = answer.message
        if self._scanner_id is None and response.HasField("scanner_id"):
            self._scanner_id = response.scanner_id
        is_scan_over = response.HasField("more_results") and not response.more_results
        is_region_over = is_scan_over or (
            response.HasField("more_results_in_region") and not response.more_results_in_region
        )
        counts = list(response.cells_per_result)
        rows: Iterator[Row]
        if (
            self._part is None
            and not response.results
            and True not in response.partial_flag_per_result
        ):
            rows, found = self._whole_rows(answer, counts), len(counts)
        else:
            whole = self._joined_rows(answer, counts, is_region_over)
            rows, found = iter(whole), len(whole)
            if whole:
                self._last = whole[-1].key
        if 0 <= self._wanted < found:
            rows, found = itertools.islice(rows, self._wanted), self._wanted
        if self._wanted >= 0:
            self._wanted -= found
        if is_region_over:
            self._leave_region()
        if is_scan_over or self._wanted == 0:
            self._is_done = True
        return rows if found else None

    def _whole_rows(self, answer: _ScanAnswer, counts: Sequence[int]) -> Iterator[Row]:
        if counts:
            self._last = (answer.frame, answer.block_at, counts)
        return iter_rows(answer.frame, answer.block_at, counts)

    def _joined_rows(
        self, answer: _ScanAnswer, counts: Sequence[int], is_region_over: bool
    ) -> list[Row]:
        rows: list[Row] = []
        for key, cells, is_partial in _results(answer, counts):
            if self._part is not None and self._part[0] != key:
                rows.append(Row(*self._part))  # its last part was marked as if more would come
                self._part = None
            if self._part is not None:
                self._part[1].extend(cells)
            else:
                self._part = (key, cells)
            if not is_partial:
                rows.append(Row(*self._part))
                self._part = None
        if is_region_over and self._part is not None:
            rows.append(Row(*self._part))
            self._part = None
        return rows

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
        last, self._last = self._last, None
        if last is not None:
            self._from, self._is_inclusive = _last_key(last), False

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


def _results(
    answer: _ScanAnswer, counts: Sequence[int]
) -> Iterator[tuple[bytes, list[RawCell], bool]]:
    flags = answer.message.partial_flag_per_result
    for result in answer.message.results:
        if result.cell:
            yield result.cell[0].row, message_cells(result.cell), result.partial
    at = answer.block_at
    for number, count in enumerate(counts):
        if count:
            key, cells, at = read_cells(answer.frame, at, count)
            yield key, cells, number < len(flags) and flags[number]


def _last_key(last: tuple[bytes, int, Sequence[int]] | bytes) -> bytes:
    if isinstance(last, bytes):
        return last
    frame, at, counts = last
    at = skip_cells(frame, at, sum(counts[:-1]))
    return read_cells(frame, at, 1)[0]


def _end_scanner(connection: Connection, call: Call | None, scanner_id: int | None) -> None:
    """Closes a scanner on its server, after the answer to the call that it works on."""
    with contextlib.suppress(RpcError):
        if call is not None:
            response = call.wait(client_pb2.ScanResponse, CLOSING_SECONDS).message
            if not (response.more_results and response.more_results_in_region):
                return  # the server has closed it
            scanner_id = response.scanner_id
        request = client_pb2.ScanRequest(
            scanner_id=scanner_id, close_scanner=True, number_of_rows=0
        )
        connection.call("Scan", request, client_pb2.ScanResponse, CLOSING_SECONDS)
