"""Reading rows through a filter: HBase's region scanner and store scanner, on RocksDB.

A `FamilyCursor` walks through one family with one iterator, and jumps where the filter lets it.
What is visible is decided first, then the filter decides, and of what it keeps the newest versions
are returned: a filter sees as many versions as the family keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rocksdict import RdictIter, ReadOptions

from webtable.errors import StoreClosed
from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType, RawCell
from webtable.store.rocks.cell_keys import (
    SUFFIX_BYTES,
    TAGGED,
    decode_tagged,
    escape,
    is_put,
    row_end,
    unescape,
)
from webtable.store.rocks.files.database import Database
from webtable.store.rocks.filtering.cell_rules import (
    INCLUDE,
    INCLUDE_NEXT_ROW,
    NEXT_COLUMN,
    NEXT_ROW,
    SEEK,
    FilterCell,
    Hint,
    Rule,
)
from webtable.store.rocks.range_reader import FamilyRead, RowStream, View
from webtable.store.scan import ALL_VERSIONS

__all__ = ["FamilyCursor", "Span", "filtered_rows", "read_filtered"]

_PUT = int(CellType.PUT)
_NAMELESS = b"\x00"  # the column without a name, escaped and ended
_FEW = 4  # after so many skipped cells, a seek is cheaper than reading on


class Span(NamedTuple):
    """Which keys to read: from `first` on, escaped, up to the bound that the options have.

    `together` is whether to read families that do not matter for a decision before it is made.
    HBase does so backwards and in conditions, and some results depend on it.
    """

    first: bytes
    bounds: ReadOptions
    reverse: bool = False
    together: bool = False


class FamilyCursor:
    """A walk through one family; `prefix` is the current row, None at the end."""

    def __init__(self, read: FamilyRead, view: View, seeker: RdictIter, span: Span) -> None:
        self._family, self._wanted = read
        schema = read.family.schema
        self.name = schema.name.encode()
        self._seeker = seeker
        self._first = span.first
        self._reverse = span.reverse
        self._back_to: bytes | None = None
        self._versions = view.versions if view.raw else min(view.versions, schema.versions)
        everything = View(ALL_VERSIONS, view.time_range, raw=view.raw)
        self._matcher = everything.matcher(read)
        self._is_simple = everything.is_simple(self._family)
        self.prefix: bytes | None = None
        if span.reverse:
            seeker.seek_to_last()
        else:
            seeker.seek(span.first)
        self._stand()

    def go_to(self, prefix: bytes) -> None:
        """Goes forward to a row, or the first after it."""
        if self.prefix is not None and self.prefix < prefix:
            self._seeker.seek(prefix)
            self._stand()

    def read_row(  # noqa: PLR0915 - one loop, because a call a cell would double its cost
        self, row: bytes, rule: Rule
    ) -> list[RawCell]:
        """Returns what the filter keeps of the current row, and goes on to the next row."""
        prefix, seeker, matcher, wanted = self.prefix, self._seeker, self._matcher, self._wanted
        assert prefix is not None
        if self._reverse:
            seeker.seek(prefix)
        size, is_plain = len(prefix), self._is_simple
        matcher.start_row()
        cells: list[RawCell] = []
        column, kept, newest = b"", 0, b""
        while (key := seeker.key()) is not None and key.startswith(prefix):
            if rule.may_end and rule.is_done():
                break
            qualifier, kind = key[size:-SUFFIX_BYTES], 255 - key[-1]
            if wanted is not None and not self._is_selected(qualifier, kind):
                self._next_column(prefix, qualifier)
                continue
            timestamp = MAX_TIMESTAMP - int.from_bytes(key[-SUFFIX_BYTES:-1], "big")
            load: Callable[[], bytes] = seeker.value
            if is_plain and kind == _PUT:
                # No cell of this row so far hides another, so the rules are not needed.
                if qualifier == newest:
                    self._next_column(prefix, qualifier)
                    continue
                newest = matcher.column = qualifier
                matcher.is_done = wanted is not None
            else:
                if is_plain:
                    is_plain = False
                    matcher.start_row()
                    if newest:
                        matcher.resume_column(newest)
                ttl_ms = None
                if kind == TAGGED:
                    kind = _PUT
                    value, ttl_ms = decode_tagged(seeker.value())
                    load = _returning(value)
                if not matcher.sees(qualifier, timestamp, kind, ttl_ms):
                    self._pass_over(prefix, qualifier)
                    continue
            cell = FilterCell(row, self.name, self._family.column(qualifier), timestamp, load)
            code = rule.judge(cell)
            if code <= INCLUDE_NEXT_ROW:
                column, kept = qualifier, (kept + 1 if qualifier == column else 1)
                if kept <= self._versions:
                    rule.change(cell)
                    cells.append((cell.column, timestamp, cell.result, kind))
                else:
                    code = NEXT_ROW if code == INCLUDE_NEXT_ROW else NEXT_COLUMN
            if code == INCLUDE and not matcher.is_done:
                seeker.next()
            elif not self._go_on(code, rule, cell, qualifier):
                break
        self._leave_row(prefix)
        if rule.may_end and rule.is_done():
            # As in HBase: nothing more is read of this family, but maybe of others.
            self.prefix = None
        return cells

    def _is_selected(self, qualifier: bytes, kind: int) -> bool:
        """Whether a cell matters where columns are named: markers of the family always do."""
        wanted = self._wanted
        assert wanted is not None
        return qualifier in wanted or (qualifier == _NAMELESS and not is_put(kind))

    def _go_on(self, code: int, rule: Rule, cell: FilterCell, qualifier: bytes) -> bool:
        """Goes where a decision leads; returns False when that is another row, backwards."""
        prefix = self.prefix
        assert prefix is not None
        is_last = self._matcher.is_done and self._wanted is not None
        if code == SEEK and not (is_last and self._wanted and qualifier == self._wanted[-1]):
            return self._follow(rule.hint(cell), cell, prefix, qualifier)
        if code == SEEK or code % 3 == 2:
            self._next_row(prefix)
        elif code % 3 == 1:
            self._next_column(prefix, qualifier)
        else:
            self._pass_over(prefix, qualifier)
        return True

    def _follow(self, hint: Hint | None, cell: FilterCell, prefix: bytes, qualifier: bytes) -> bool:
        if hint is None:
            self._seeker.next()
        elif self._reverse:
            if len(hint) == 1 and hint[0] < cell.row:
                self._back_to = row_end(escape(hint[0]) + b"\x00")
                return False
            self._seeker.next()  # inside a row HBase follows no hints backwards
        elif hint <= cell.place:
            self._seeker.next()
        elif len(hint) == 1:
            self._jump(escape(hint[0]))
        elif qualifier == _NAMELESS:
            self._end_nameless()
        else:
            self._jump(prefix + escape(hint[2]))
        return True

    def _jump(self, target: bytes) -> None:
        """Goes to the first key at or after the target, which lies ahead and may be near."""
        self._seeker.next()
        key = self._seeker.key()
        if key is not None and key < target:
            self._seeker.seek(target)

    def _pass_over(self, prefix: bytes, qualifier: bytes) -> None:
        """Goes to the next version, or further where no older one will be seen."""
        matcher = self._matcher
        if matcher.is_done and matcher.column == qualifier and qualifier != _NAMELESS:
            self._next_column(prefix, qualifier)
        else:
            self._seeker.next()

    def _next_column(self, prefix: bytes, qualifier: bytes) -> None:
        wanted = self._wanted
        if qualifier == _NAMELESS:
            self._end_nameless()
        elif wanted is None:
            self._leave(prefix + qualifier, prefix + qualifier + b"\xff" * SUFFIX_BYTES)
        else:
            following = next((each for each in wanted if each > qualifier), None)
            self._jump(row_end(prefix) if following is None else prefix + following)

    def _next_row(self, prefix: bytes) -> None:
        self._leave(prefix, row_end(prefix))

    def _leave(self, part: bytes, end: bytes) -> None:
        """Goes past all keys that begin so."""
        seeker = self._seeker
        for _ in range(_FEW):
            seeker.next()
            key = seeker.key()
            if key is None or not key.startswith(part):
                return
        seeker.seek(end)

    def _end_nameless(self) -> None:
        # Markers of the whole family stand between the versions of this column, so it is walked
        # through to its end; only its puts are over.
        self._matcher.is_done = True
        self._seeker.next()

    def _leave_row(self, prefix: bytes) -> None:
        if self._reverse:
            self._seeker.seek_for_prev(self._back_to or prefix)
            self._back_to = None
        else:
            key = self._seeker.key()
            if key is not None and key.startswith(prefix):
                self._seeker.seek(row_end(prefix))
        self._stand()

    def _stand(self) -> None:
        """Notes the row that the iterator has come to."""
        key = self._seeker.key()
        if key is None:
            self._seeker.status()  # raises if it ended by an error
        if key is None or (self._reverse and key < self._first):
            self.prefix = None
        else:
            self.prefix = key[: key.index(0) + 1]


def read_filtered(
    database: Database, reads: Sequence[FamilyRead], view: View, span: Span, rule: Rule
) -> RowStream:
    """Yields the rows of a range with what a filter keeps of them."""

    def open_all() -> list[Any]:
        if database.is_closed:
            raise StoreClosed(database.path)
        return [read.family.rocks.iter(span.bounds) for read in reads]

    cursors = [
        FamilyCursor(read, view, seeker, span)
        for read, seeker in zip(reads, database.pin(open_all), strict=True)
    ]
    return filtered_rows(cursors, rule, span, lambda: database.is_closed)


def filtered_rows(
    cursors: Sequence[FamilyCursor], rule: Rule, span: Span, is_stopped: Callable[[], bool]
) -> RowStream:
    """Yields `(escaped row | 00, cells)` for every row of which the filter keeps something.

    Args:
        cursors: one for each family to read, in family order.
        is_stopped: called at every row that is checked; returns whether to end at once.
    """
    # Families that do not matter for the decision are read only for rows that pass.
    deciding = [each for each in cursors if span.together or rule.needs(each.name)]
    others = [each for each in cursors if each not in deciding]
    first = max if span.reverse else min
    while not is_stopped():
        standing = [each.prefix for each in deciding if each.prefix is not None]
        if not standing:
            return
        prefix = first(standing)
        row = unescape(prefix[:-1])
        if rule.may_end and rule.is_done():
            return
        if rule.leaves_out_key(row):
            if rule.is_done():
                return
            _read(deciding, prefix, row, rule)  # HBase shows such rows to the filter, too
        else:
            found = _decide(_read(deciding, prefix, row, rule), rule)
            if found is not None and others:
                for each in others:
                    each.go_to(prefix)
                found += _read(others, prefix, row, rule)
                found.sort(key=_by_position(cursors))
            cells = [cell for _, part in found for cell in part] if found else []
            if cells:
                rule.reset()
                yield prefix, cells
                if rule.may_end and rule.is_done():
                    return
                continue
        rule.reset()


def _read(
    cursors: Sequence[FamilyCursor], prefix: bytes, row: bytes, rule: Rule
) -> list[tuple[FamilyCursor, list[RawCell]]]:
    return [(each, each.read_row(row, rule)) for each in cursors if each.prefix == prefix]


def _decide(
    found: list[tuple[FamilyCursor, list[RawCell]]], rule: Rule
) -> list[tuple[FamilyCursor, list[RawCell]]] | None:
    """Returns what is left of a row, None when the row is left out."""
    if not any(cells for _, cells in found):
        if rule.checks_rows:
            rule.trim([])
        return None
    if not rule.checks_rows:
        return None if rule.leaves_out_row() else found
    found = [(cursor, rule.trim(cells)) for cursor, cells in found]
    # As in HBase: the filter does not see a row without remaining cells, and it may get cells from
    # families that did not matter for the decision.
    if any(cells for _, cells in found) and rule.leaves_out_row():
        return None
    return found


def _by_position(
    cursors: Sequence[FamilyCursor],
) -> Callable[[tuple[FamilyCursor, list[RawCell]]], int]:
    return lambda part: cursors.index(part[0])


def _returning(value: bytes) -> Callable[[], bytes]:
    return lambda: value
