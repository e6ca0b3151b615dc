"""Marks of what several rows share in an index, so that it is found without reading all the rest.

A group is all entries whose keys are the same but for the row's key at their end. Where two rows or
more are in one, the table of the index has a mark: a row that is called like the group, with one
empty cell in a family of its own, stamped with the revision of a row that came to the group.

On a cluster a writer looks, after its entries are put and before its row is written, whether others
have entries in their groups, and then puts the marks. Of two writers at least one sees the other's
entry; so no group of two rows lacks its mark. A mark of a group that has fallen apart is garbage:
readers ignore it, `verify` removes it. With atomic commits the marks are exact.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from webtable.index.entry_reader import scans_of_few
from webtable.index.index_and_change import MARK, MARKS_FAMILY, Index
from webtable.index.row_write_attempt import RowAttempt
from webtable.index.table_and_indexes import IndexHome
from webtable.store.filtering.filters import MultiRowRangeFilter, RowRange
from webtable.store.mutation import Delete, Mutation, Put
from webtable.store.scan import Scan, prefix_end

__all__ = ["commit_marks", "group_of", "marked", "new_marks", "put_mark", "sizes"]

_FAMILY = MARKS_FAMILY.encode()
_PAIR = 2
_FEW = 8


def group_of(key: bytes, row: bytes) -> bytes:
    """Returns the group of an entry.

    >>> group_of(b"London/ada", b"ada")
    b'London/'
    """
    return key[: len(key) - len(row)]


def marked(
    home: IndexHome, index: Index, start: bytes = b"", *, few: int = 256
) -> Iterator[tuple[bytes, int]]:
    """Yields the groups that have marks, in order, and the timestamps of these.

    Args:
        start: the first group.
        few: how many are probably enough. They may be in any of the ranges at whose borders the
            table is split, so so many of each are requested at once.
    """
    borders = [start, *(each for each in index.splits if each > start), b""]
    scans = [
        Scan(start=low, stop=high, columns=(_FAMILY,), batch_rows=few)
        for low, high in pairwise(borders)
    ]
    for rows in scans_of_few(home.store.table(index.table), scans):
        for row in rows:
            yield row.key, row.raw_cells[0][1]


def sizes(home: IndexHome, index: Index, groups: Sequence[bytes]) -> list[int]:
    """Returns how many entries there are in each of some groups; two stand for more, too."""
    limits = [(group, _PAIR) for group in groups]
    return [len(keys) for keys in _keys(home, index, limits)]


def _keys(
    home: IndexHome, index: Index, limits: Iterable[tuple[bytes, int]]
) -> Iterator[list[bytes]]:
    """Yields the keys of the first entries of each group, so many at most."""
    family = (index.family.encode(),)
    scans = [
        Scan(prefix=group, columns=family, limit=most, batch_rows=most) for group, most in limits
    ]
    for rows in home.store.table(index.table).scan_many(scans):
        yield [row.key for row in rows]


# On a cluster


def new_marks(home: IndexHome, attempts: Sequence[RowAttempt]) -> list[tuple[str, Mutation]]:
    """Returns the marks for attempts that have put their entries and not yet their rows.

    A group that has a mark gets another one without a read of its entries, which may be many: the
    one that is there may be about to be removed.
    """
    marks: list[tuple[str, Mutation]] = []
    for table, index in home.grouped.items():
        added = [
            (group_of(put.row, attempt.row), put.row, attempt.revision.number)
            for attempt in attempts
            for where, put in attempt.put_entries
            if where == table
        ]
        groups = sorted({group for group, _, _ in added})
        stored = home.store.table(table).get_many(groups, (MARK,))
        unmarked = [group for group, mark in zip(groups, stored, strict=True) if mark is None]
        found = _first_keys(home, index, unmarked)
        for group, key, number in added:
            if group not in found or any(other != key for other in found[group]):
                marks.append((table, Put(group, {MARK: b""}, timestamp=number)))
    return marks


def _first_keys(home: IndexHome, index: Index, groups: Sequence[bytes]) -> dict[bytes, list[bytes]]:
    """Returns keys of entries of some groups without marks; more than one where there are more."""
    is_ready = index.name in home.ready
    if len(groups) <= _FEW or not is_ready or not home.store.capabilities.cluster:
        limits = [(group, _PAIR) for group in groups]
        return dict(zip(groups, _keys(home, index, limits), strict=True))
    # Without marks they have few entries: one call a region reads those of all groups in it.
    ranges = tuple(RowRange(group, prefix_end(group)) for group in groups)
    scan = Scan(
        start=groups[0],
        stop=prefix_end(groups[-1]),
        columns=(index.family.encode(),),
        filter=MultiRowRangeFilter(ranges),
        ordered=False,
    )
    found: dict[bytes, list[bytes]] = {group: [] for group in groups}
    for row in home.store.table(index.table).scan(scan):
        found[groups[bisect.bisect_right(groups, row.key) - 1]].append(row.key)
    return found


# In one atomic commit


def commit_marks(home: IndexHome, attempts: Sequence[RowAttempt]) -> list[tuple[str, Mutation]]:
    """Returns how the marks change with a commit of some attempts, in their order."""
    writes: list[tuple[str, Mutation]] = []
    for table, index in home.grouped.items():
        moved = _moved(table, attempts)
        if not moved:
            continue
        is_building = index.name not in home.ready
        limits = [(group, _PAIR + len(keys)) for group, keys in moved.items()]
        found = _keys(home, index, limits)
        number = max(attempt.revision.number for attempt in attempts)
        for (group, keys), before in zip(moved.items(), found, strict=True):
            after = {key for key in before if key not in keys}
            after.update(key for key, is_there in keys.items() if is_there)
            was, now = len(before) >= _PAIR, len(after) >= _PAIR
            if now and (is_building or not was):
                writes.append((table, put_mark(home, index, group, number)))
            elif was and not now:
                writes.append((table, _removed(home, index, group)))
    return writes


def _moved(table: str, attempts: Iterable[RowAttempt]) -> dict[bytes, dict[bytes, bool]]:
    """Returns group → key of an entry → whether it is there after some attempts."""
    moved: dict[bytes, dict[bytes, bool]] = {}
    for attempt in attempts:
        row = attempt.row
        for where, put in attempt.put_entries:
            if where == table:
                moved.setdefault(group_of(put.row, row), {})[put.row] = True
        for gone in attempt.gone:
            if gone.table == table:
                moved.setdefault(group_of(gone.key, row), {})[gone.key] = False
    return moved


def put_mark(home: IndexHome, index: Index, group: bytes, number: int) -> Put:
    """Returns a mark that no earlier removal hides, whatever the clock did since."""
    newest = max(_stamps(home, index, group), default=0)
    return Put(group, {MARK: b""}, timestamp=max(number, newest + 1))


def _removed(home: IndexHome, index: Index, group: bytes) -> Delete:
    newest = max(_stamps(home, index, group), default=1)
    return Delete(group, timestamp=newest).column(MARK)


def _stamps(home: IndexHome, index: Index, group: bytes) -> list[int]:
    """Returns the timestamps of a mark, and of what removed one."""
    scan = Scan(start=group, stop=group + b"\0", columns=(_FAMILY,), raw=True, versions=8)
    rows = islice(home.store.table(index.table).scan(scan), 1)
    return [cell[1] for row in rows for cell in row.raw_cells]
