"""Whether the write-ahead logs go on where the list of files ends, with nothing between.

RocksDB removes a log when all of it is in table files and the list of files (MANIFEST) names these.
If the end of the list is cut, they are not named any more, and the log is gone: the next log begins
behind cells that nothing holds. RocksDB replays it all the same, and so it does with a log that
was cut and has another one behind it. Each write has the number behind the last one, so both show
as numbers that are missing. Writes that skip the log (`"none"`) have numbers, too, and are missing
rightly; the caller must know that there are none.

What is read here of RocksDB's files has been the same since its first version: a log is blocks of
records, each a checksum, a length and a kind, and the bytes. In a write-ahead log these are
batches, which begin with the number of their first write and how many they have; in the list of
files they are edits, which begin with tagged numbers, one of them that of the last write by then.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["BLOCK_BYTES", "RECORD", "has_gap"]

BLOCK_BYTES = 32_768
RECORD = struct.Struct("<4xHB")
_BATCH = struct.Struct("<QI")
_FULL, _FIRST, _LAST = 1, 2, 4
# The tags at the front of an edit: texts, and numbers.
_TEXTS = frozenset({1, 8193})
_NUMBERS = frozenset({2, 3, 4, 9, 10, 203})
_LAST_SEQUENCE = 4
_IN_GROUP = b"\xac\x02"  # the tag 300
_GROUP_BYTES = 4


def has_gap(store: str, read_list: Callable[[], bytes]) -> bool:
    """Whether writes are missing between the table files and a log, or between two logs.

    Args:
        read_list: reads the list of files. Called after the logs were read: a writer that removes
            a log meanwhile has written into the list before that all of it is in table files.
    """
    spans = list(_spans(store))
    expected = _last_listed(read_list()) + 1
    for first, following in spans:
        if first > expected:
            return True
        expected = max(expected, following)
    return False


def _spans(store: str) -> Iterator[tuple[int, int]]:
    """Yields the first write of each log that has any, and the number behind its last one.

    Of the last log only the first write is looked at: what its end lacks shows otherwise.
    """
    logs = sorted(Path(store).glob("*.log"), key=lambda log: (len(log.name), log.name))
    for log in logs:
        try:
            with log.open("rb") as file:
                data = file.read(BLOCK_BYTES) if log == logs[-1] else file.read()
        except FileNotFoundError:  # a writer has just removed it
            continue
        first = following = 0
        for kind, payload in _records(data):
            if kind in (_FULL, _FIRST) and len(payload) >= _BATCH.size:
                sequence, count = _BATCH.unpack_from(payload)
                first = first or sequence
                following = sequence + count
        if first:
            yield first, following


def _last_listed(data: bytes) -> int:
    """Returns the number of the last write that the list of files knows of.

    Edits of one flush are a group, which RocksDB applies as a whole: of a group that is cut it
    applies nothing.
    """
    last, in_group, edit = 0, 0, b""
    for kind, payload in _records(data):
        edit = bytes(payload) if kind in (_FULL, _FIRST) else edit + payload
        if kind in (_FULL, _LAST):
            in_group = max(in_group, _sequence_of(edit))
            if not _edits_that_follow(edit):
                last, in_group = max(last, in_group), 0
    return last


def _edits_that_follow(edit: bytes) -> int:
    """Returns how many edits of the same group come behind one; 0 for one that is in no group."""
    # The group is the last field of an edit; no other field ends in its tag and a number.
    at = edit.rfind(_IN_GROUP, max(len(edit) - _GROUP_BYTES, 0))
    if at < 0:
        return 0
    number, end = _number(edit, at + len(_IN_GROUP))
    return number if end == len(edit) else 0


def _sequence_of(edit: bytes) -> int:
    """Returns the number of the last write in an edit; 0 where it has none."""
    at = 0
    while at < len(edit):
        tag, at = _number(edit, at)
        if tag not in _TEXTS | _NUMBERS:
            return 0
        number, at = _number(edit, at)
        if tag == _LAST_SEQUENCE:
            return number
        at += number if tag in _TEXTS else 0
    return 0


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Returns a number of seven bits a byte, the lowest first, and where it ends."""
    number = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return number, at


def _records(data: bytes) -> Iterator[tuple[int, memoryview]]:
    """Yields the kind and the bytes of each record, up to the first that is not whole."""
    at, view = 0, memoryview(data)
    while True:
        left = BLOCK_BYTES - at % BLOCK_BYTES
        if left < RECORD.size:  # the rest of a block that has no room for a header
            at += left
        if at + RECORD.size > len(data):
            return
        size, kind = RECORD.unpack_from(data, at)
        start = at + RECORD.size
        at = start + size
        if kind == 0 or at > len(data):
            return
        yield kind, view[start:at]
