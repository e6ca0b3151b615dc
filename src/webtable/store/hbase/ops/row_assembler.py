"""Whole rows from the responses of a scanner, which may bring a row in parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from webtable.store.cells_and_rows import RawCell, Row
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire.cell_blocks import Rows, message_cells
from webtable.store.hbase.wire.errors_and_responses import RpcResponse

__all__ = ["Batch", "ScanResult", "Stitching"]

AT_A_TIME = 128
"""How many rows are made before they are handed out: few enough to stay in the caches."""

ScanResult: TypeAlias = RpcResponse[client_pb2.ScanResponse]


class Batch:
    """Rows in order, most of which are made when they are read."""

    def __init__(self, *pieces: Rows | list[Row]) -> None:
        self._left = sum(map(len, pieces))
        self._pieces = [piece for piece in reversed(pieces) if len(piece)]

    def __len__(self) -> int:
        return self._left

    def last_key(self) -> bytes:
        """Returns the key of the last row; there must be one, and none cut off."""
        last = self._pieces[0]
        return last[-1].key if isinstance(last, list) else last.last_key()

    def cut(self, length: int) -> None:
        """Releases the rows after so many."""
        self._left = min(self._left, length)

    def take(self) -> list[Row]:
        """Returns the next few rows; an empty list at the end."""
        if not self._left:
            return []
        piece = self._pieces[-1]
        rows = piece if isinstance(piece, list) else piece.take(AT_A_TIME)
        if rows is piece or not len(piece):
            self._pieces.pop()
        del rows[self._left :]
        self._left -= len(rows)
        return rows


class Stitching:
    """Puts the rows of one scanner together.

    `_part` is what came of a row that is not whole yet.
    """

    def __init__(self) -> None:
        self._part: tuple[bytes, list[RawCell]] | None = None

    def forget(self) -> None:
        """Forgets what came of a row that is not whole, for it will come again."""
        self._part = None

    def rows(self, response: ScanResult, *, is_region_over: bool) -> Batch:
        """Returns the whole rows of a response, the first joined to its part from before.

        Raises:
            ValueError: the response is inconsistent.
        """
        message = response.message
        rows = Rows(response.frame, response.block_at, message.cells_per_result)
        noted = len(message.partial_flag_per_result)
        if len(rows) != noted:  # before they are made into a list: each has a byte on the wire
            raise ValueError(f"{len(rows)} rows, {noted} notes about them")
        flags = list(message.partial_flag_per_result)
        if self._part is None and True not in flags and not message.results:
            return Batch(rows)
        if len(rows) < 3 or True in flags[:-1] or message.results:
            listed = list(zip(rows.take(len(rows)), flags, strict=True))
            listed += [
                (Row(result.cell[0].row, message_cells(result.cell)), result.partial)
                for result in message.results
                if result.cell
            ]
            return Batch(self._join(listed, is_region_over))
        # The usual response has parts at its ends only.
        head = self._join([(row, False) for row in rows.take(1)], False)
        tail = self._join([(rows.take_last(), flags[-1])], is_region_over)
        return Batch(head, rows, tail)

    def _join(self, results: Iterable[tuple[Row, bool]], is_region_over: bool) -> list[Row]:
        """Returns the whole rows among results of which some are parts, and keeps the last part."""
        rows: list[Row] = []
        part, self._part = self._part, None
        for row, is_partial in results:
            if part is not None and part[0] != row.key:
                rows.append(Row(*part))  # its last part was marked as if more would come
                part = None
            if part is not None:
                part[1].extend(row.raw_cells)
                if not is_partial:
                    rows.append(Row(*part))
                    part = None
            elif is_partial:
                part = (row.key, list(row.raw_cells))
            else:
                rows.append(row)
        if part is not None and is_region_over:
            rows.append(Row(*part))
        else:
            self._part = part
        return rows
