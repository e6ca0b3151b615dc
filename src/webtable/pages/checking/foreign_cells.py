"""Finds cells and delete markers in page rows that no capture wrote, such as manual changes.

The cells of a capture have the timestamp of that capture. So a cell with a later timestamp than the
newest capture of its page was put by something else, and it hides cells that are loaded afterwards.
The same is true for a delete marker, since captures delete nothing. A cell is removed by a marker
for exactly its version. A marker is removed only by a major compaction; in an embedded store that
is possible for one row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from webtable.errors import CorruptData
from webtable.index.cell_encoding import decode_pending, decode_revision
from webtable.pages import schema
from webtable.pages.columns import (
    CAPTURE,
    CHANGED,
    FACTS,
    HEAD,
    INLINKS,
    INLINKS_AT,
    PENDING,
    REMOVED,
    REVISION,
    WAITS,
)
from webtable.pages.storing.capture_cells import (
    decode_note,
    decode_origin,
    encode_time,
    note_qualifier,
)
from webtable.pages.storing.content_revision import decode_changed
from webtable.pages.storing.page_versions import CaptureNote
from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType, Row
from webtable.store.mutation import Delete
from webtable.store.scan import ALL_VERSIONS, Get, Scan
from webtable.store.table import Table

__all__ = [
    "ForeignCell",
    "has_markers",
    "is_deleted",
    "read_later_cells",
    "remove_cells",
    "split_cells",
    "stray_cells",
]

# The content revision, the awaited digests and the counts of the link index have a revision as
# timestamp, not the time of a capture.
_DERIVED = frozenset({CHANGED, REMOVED, INLINKS, INLINKS_AT, WAITS})
_TRUTH = tuple(
    name.encode()
    for name in (schema.CONTENT, schema.METADATA, schema.OUTLINKS, schema.CAPTURES, schema.FACTS)
)
_SMALL = (schema.METADATA.encode(), schema.CAPTURES.encode())
_CAPTURES = (schema.CAPTURES.encode(),)
_KEPT = frozenset({REVISION, PENDING, CHANGED, REMOVED})
_VERSIONED = (schema.CONTENT.encode(), schema.OUTLINKS.encode())


class ForeignCell(NamedTuple):
    """A cell that no capture wrote."""

    column: bytes
    timestamp: int

    def __str__(self) -> str:
        at = encode_time(min(self.timestamp // 1000, 253_402_300_799))
        column = self.column.decode("utf-8", "backslashreplace")
        return f"{column} was not written by a capture: it has the timestamp {at}"


def split_cells(row: Row) -> tuple[dict[tuple[int, str], CaptureNote], list[ForeignCell]]:
    """Returns the captures of a row, and its cells that no capture wrote.

    Args:
        row: read with the families `metadata` and `captures`; other columns are checked as well,
            each head for its capture.

    Raises:
        CorruptData: a capture does not decode.
    """
    notes: dict[tuple[int, str], CaptureNote] = {}
    foreign: list[ForeignCell] = []
    for column, timestamp, value, _ in row.raw_cells:
        if column.startswith(CAPTURE):
            qualifier = column.partition(b":")[2]
            try:
                note = decode_note(qualifier, value)
                decode_origin(value)
            except CorruptData:
                if _is_stamped(qualifier, timestamp):
                    raise
                foreign.append(ForeignCell(column, timestamp))
                continue
            if note.time * 1000 == timestamp and note_qualifier(note) == qualifier:
                notes[note.time, note.digest] = note
            else:
                foreign.append(ForeignCell(column, timestamp))
        elif (column == REVISION and not _is_revision(value, timestamp)) or (
            (column == PENDING and not _is_pending(value))
            or (column == CHANGED and not _is_changed(value, timestamp))
        ):
            foreign.append(ForeignCell(column, timestamp))
    foreign += _stray_heads(row, notes.values())
    if notes:
        foreign += _later_cells(row, max(notes)[0])
        foreign += _facts_of_no_capture(row, {FACTS + digest.encode() for _, digest in notes})
    return notes, foreign


def _stray_heads(row: Row, notes: Iterable[CaptureNote]) -> list[ForeignCell]:
    """Returns the heads of a row that belong to none of its captures."""
    heads = [(cell[0], cell[1]) for cell in row.raw_cells if cell[0].startswith(HEAD)]
    if not heads:
        return []
    own = {(HEAD + note_qualifier(note), note.time * 1000) for note in notes}
    return [ForeignCell(*head) for head in heads if head not in own]


def _facts_of_no_capture(row: Row, known: Collection[bytes]) -> Iterable[ForeignCell]:
    for column, timestamp, _, _ in row.raw_cells:
        if column.startswith(FACTS) and column not in known:
            yield ForeignCell(column, timestamp)


def _later_cells(row: Row, newest: int) -> Iterable[ForeignCell]:
    limit = newest * 1000
    for column, timestamp, _, _ in row.raw_cells:
        if timestamp <= limit or column in (REVISION, PENDING) or column in _DERIVED:
            continue
        if column.partition(b":")[0] in _TRUTH and not column.startswith(CAPTURE):
            yield ForeignCell(column, timestamp)


def _is_stamped(qualifier: bytes, timestamp: int) -> bool:
    """Whether a capture's cell that does not decode may have been written by a load."""
    try:
        note = decode_note(qualifier, b"response\t0\t0\t\t\t")
    except CorruptData:
        # Its time does not decode either. Captures have timestamps of whole seconds.
        return timestamp % 1000 == 0
    return note.time * 1000 == timestamp


def _is_revision(value: bytes, timestamp: int) -> bool:
    try:
        return decode_revision(value).number == timestamp
    except CorruptData:
        return False


def _is_changed(value: bytes, timestamp: int) -> bool:
    try:
        return decode_changed(value).number == timestamp
    except CorruptData:
        return False


def _is_pending(value: bytes) -> bool:
    try:
        decode_pending(value)
    except (CorruptData, ValueError):
        return False
    return True


def read_later_cells(table: Table, newest: Mapping[bytes, int]) -> dict[bytes, list[ForeignCell]]:
    """Returns the versions of bodies and links that are newer than the newest captures of rows.

    Args:
        newest: row → the second of its newest capture.
    """
    gets = [
        Get(row, _VERSIONED, ALL_VERSIONS, (second * 1000 + 1, MAX_TIMESTAMP), "KeyOnlyFilter()")
        for row, second in newest.items()
    ]
    found: dict[bytes, list[ForeignCell]] = {}
    for later in table.get_many(gets):
        if later is None:
            continue
        # A load that ran meanwhile put a body and the cell of its capture in one step. A second
        # read returns that cell, so the new body does not count as foreign.
        again = table.get(later.key, _CAPTURES)
        notes = {} if again is None else split_cells(again)[0]
        limit = max(notes)[0] * 1000 if notes else 0
        cells = [ForeignCell(column, at) for column, at, _, _ in later.raw_cells if at > limit]
        if notes and cells:
            found[later.key] = cells
    return found


def remove_cells(table: Table, row: bytes, cells: Iterable[ForeignCell]) -> None:
    """Removes exactly these versions of a row."""
    delete = Delete(row)
    for column, timestamp in cells:
        delete.version(column, timestamp)
    if delete.markers:
        table.mutate(row, [delete])


def is_deleted(row: Row) -> bool:
    """Whether a row has only what stays of a page that was removed, or deleted by hand."""
    return all(column in _KEPT for column, _, _, _ in row.raw_cells)


def stray_cells(row: Row) -> list[ForeignCell]:
    """Returns the cells that the tombstone of a removed page should not have."""
    return [ForeignCell(column, at) for column, at, _, _ in row.raw_cells if column not in _KEPT]


def has_markers(table: Table, row: bytes) -> bool:
    """Whether delete markers may mask cells that captures wrote to a row."""
    # Bodies and links may be large, and are not read: markers of whole rows are in every family.
    scan = Scan(start=row, stop=row + b"\0", columns=_SMALL, versions=ALL_VERSIONS, raw=True)
    for found in table.scan(scan):
        return any(kind != CellType.PUT for _, _, _, kind in found.raw_cells)
    return False
