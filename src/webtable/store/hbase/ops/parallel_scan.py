"""A scan over many regions: several of them are read at a time, without a thread for it.

The range is cut at the borders of the regions as they are cached when the scan comes there, and
each piece is read by a `RangeScanner` of its own. The pieces are ranges of keys, so it does not
matter that regions move, split and merge meanwhile. The servers work, and their responses come in,
while this client hands out rows or waits for others.

How much is ahead of the caller is bounded, and grows only with what the caller has read: a
caller that stops after the first rows has used no more than one scanner.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence

from webtable.errors import WebTableError
from webtable.store.cells_and_rows import Row
from webtable.store.hbase.ops.row_assembler import Batch
from webtable.store.hbase.ops.scanner import RangeScanner, ScanJob
from webtable.store.hbase.retry import Deadline
from webtable.store.hbase.wire.errors_and_responses import RpcError

__all__ = ["scan_rows", "scans_rows"]

MOST_SCANNERS = 4
"""How many regions are read at a time."""

MOST_AHEAD = 4
"""How many responses of later regions are buffered, besides one under way of each."""

MOST_SCANS = 40
"""How many of several scans wait for their first rows at a time.

A server lets ten calls wait for each of its threads, and rejects more: then the calls
need pauses.
"""

ONE_BY_ONE_ROWS = 10_000
"""A scan that is limited to no more rows reads one region after the other."""


def scan_rows(job: ScanJob) -> Iterator[Row]:
    """Returns the rows of a scan, which has begun: an unknown table or family raises here.

    Closing the iterator, or dropping it, closes the scanners on the servers.
    """
    rows = _ParallelScan(job).run()
    # Runs up to its first yield; only from there on is the generator's clean-up sure to happen.
    next(rows)
    return rows


def scans_rows(jobs: Sequence[ScanJob]) -> list[Iterator[Row]]:
    """Returns what `scan_rows` does for each, after requests for the first rows of all."""
    scans = [_ParallelScan(job) for job in jobs]
    started = [scan.run() for scan in scans]
    try:
        for number, scan in enumerate(scans):
            if number >= MOST_SCANS:
                next(started[number - MOST_SCANS])
            scan.begin()
        for rows in started[-MOST_SCANS:]:
            next(rows)
    except BaseException:
        for scan in scans:
            scan.close()
        raise
    return list(started)


class _Pieces:
    """Cuts a range at the borders of regions, piece by piece in the order of the scan."""

    def __init__(self, job: ScanJob) -> None:
        self._cluster = job.cluster
        self._shown = job.table
        self._table = job.cluster.names.full(job.table)
        self._reverse = job.scan.reverse
        self._start, self._stop = job.scan.bounds()
        self.are_over = False

    def take_all(self) -> tuple[bytes, bytes]:
        """Returns all that is left as one piece."""
        self.are_over = True
        return self._start, self._stop

    def take(self) -> tuple[bytes, bytes]:
        """Returns the next piece, after waiting for its region where that is on its way.

        Raises:
            WebTableError: the table was dropped, or the region cannot be found.
        """
        attempts = self._cluster.attempts(self._shown)
        while True:
            try:
                return self._cut(attempts.deadline)
            except RpcError as exc:
                self._cluster.recover(None, exc, attempts)

    def try_to_take(self) -> tuple[bytes, bytes] | None:
        """Returns the next piece; None where its region cannot be found at once."""
        try:
            return self._cut(self._cluster.attempts(self._shown).deadline)
        except (RpcError, WebTableError):
            return None  # whatever it is, it is met again when the piece's turn comes

    def _cut(self, deadline: Deadline) -> tuple[bytes, bytes]:
        regions, start, stop = self._cluster.regions, self._start, self._stop
        if self._reverse:
            border = regions.locate_before(self._table, stop, deadline).start
            if border <= start:
                return self.take_all()
            self._stop = border
            return border, stop
        border = regions.locate(self._table, start, deadline).stop
        if not border or (stop and stop <= border):
            return self.take_all()
        self._start = border
        return start, border


class _ParallelScan:
    """The state of one scan: the scanners that are open, in the order of their pieces."""

    def __init__(self, job: ScanJob) -> None:
        limit = job.scan.limit
        self._job = job
        self._pieces = _Pieces(job)
        self._left = -1 if limit is None else limit
        self._scanners: deque[RangeScanner] = deque()
        self._most_scanners = 1
        self._has_begun = False
        if 0 <= self._left <= ONE_BY_ONE_ROWS:
            start, stop = self._pieces.take_all()
            self._scanners.append(RangeScanner(job, start, stop, wanted=self._left))

    def begin(self) -> None:
        """Requests the first rows, without waiting for them."""
        if not self._scanners:
            piece = self._pieces.try_to_take()
            if piece is None:
                return  # `run` meets the same trouble, and deals with it
            self._open(*piece)
        self._scanners[0].send_request()

    def run(self) -> Generator[Row, None, None]:
        """Yields an empty row when the scan has begun, and then its rows."""
        next_rows = self._next_in_order if self._job.scan.ordered else self._next_of_any
        try:
            rows = next_rows()
            yield Row(b"", ())
            while rows is not None:
                is_enough = 0 <= self._left <= len(rows)
                if is_enough:
                    rows.cut(self._left)
                self._left -= len(rows)
                while few := rows.take():
                    # Returned rows are released: the next cells are read into their memory.
                    few.reverse()
                    while few:
                        yield few.pop()
                rows = None if is_enough else next_rows()
        finally:
            self.close()

    def _next_in_order(self) -> Batch | None:
        while self._scanners or not self._pieces.are_over:
            if not self._scanners:
                self._open(*self._pieces.take())
            first = self._scanners[0]
            rows = first.next_rows()
            first.send_request()
            if first.is_over:
                self._scanners.popleft()
                if first.is_last:
                    self._end_early()
            self._look_ahead()
            if rows is not None:
                return rows
        return None

    def _look_ahead(self) -> None:
        """Sends requests to more regions, and reads the responses of later ones."""
        self._open_more()
        room = MOST_AHEAD
        for scanner in itertools.islice(self._scanners, 1, None):
            if scanner.connection is not None:
                scanner.connection.take_in()
            room -= scanner.stock_up(room)

    def _next_of_any(self) -> Batch | None:
        while self._scanners or not self._pieces.are_over:
            if not self._scanners:
                self._open(*self._pieces.take())
            chosen = self._first_ready()
            rows = chosen.next_rows()
            chosen.send_request()
            self._scanners.remove(chosen)
            if not chosen.is_over:
                self._scanners.append(chosen)  # at the end: the others come first
            self._open_more()
            if rows is not None:
                return rows
        return None

    def _first_ready(self) -> RangeScanner:
        for scanner in self._scanners:
            if not scanner.has_response and scanner.connection is not None:
                scanner.connection.take_in()
            if scanner.has_response:
                return scanner
        return self._scanners[0]

    def _open_more(self) -> None:
        while len(self._scanners) < self._most_scanners and not self._pieces.are_over:
            piece = self._pieces.try_to_take()
            if piece is None:
                return
            self._open(*piece)
        self._most_scanners = min(self._most_scanners + 1, MOST_SCANNERS)

    def _open(self, start: bytes, stop: bytes) -> None:
        scanner = RangeScanner(self._job, start, stop)
        if self._has_begun:
            scanner.expect_many()
        self._has_begun = True
        self._scanners.append(scanner)
        scanner.send_request()

    def _end_early(self) -> None:
        self._pieces.take_all()
        self.close()

    def close(self) -> None:
        """Closes the scanners that are open on the servers."""
        ends = [scanner.give_up() for scanner in self._scanners]
        self._scanners.clear()
        open_scanners = [end for end in ends if end is not None]
        if open_scanners:
            # Not here: this may run in any thread at any point, as part of collecting garbage.
            self._job.cluster.in_background(lambda: _run_all(open_scanners))


def _run_all(ends: list[Callable[[], None]]) -> None:
    for end in ends:
        end()
