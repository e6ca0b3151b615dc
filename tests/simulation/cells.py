"""The cells of one row in memory, and which of them a read sees: HBase's rules, kept simple."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from webtable.store.cells_and_rows import CellType, RawCell, split_column
from webtable.store.mutation import Delete, Put
from webtable.store.schema import TableSchema

__all__ = ["Row", "Stored"]

_PUT = int(CellType.PUT)
_VERSION_MARKERS = (int(CellType.DELETE), int(CellType.DELETE_FAMILY_VERSION))


class Stored(NamedTuple):
    """One cell; `number` grows with every write, so of equal cells the later one counts."""

    timestamp: int
    number: int
    type: int
    value: bytes


class Row:
    """The cells of one row: column, or family for markers of the whole family → its cells."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: dict[bytes, list[Stored]] = {}

    def put(self, put: Put, now_ms: int, number: int) -> None:
        timestamp = now_ms if put.timestamp is None else put.timestamp
        for column, value in put.values.items():
            self.cells.setdefault(column, []).append(Stored(timestamp, number, _PUT, value))

    def delete(self, delete: Delete, schema: TableSchema, now_ms: int, number: int) -> None:
        if not delete.markers:
            stamp = now_ms if delete.timestamp is None else delete.timestamp
            for family in schema.families:
                marker = Stored(stamp, number, int(CellType.DELETE_FAMILY), b"")
                self.cells.setdefault(family.name.encode(), []).append(marker)
        for kind, column, chosen in delete.markers:
            timestamp = now_ms if chosen is None else chosen
            if chosen is None and kind == CellType.DELETE:
                newest = self.read(schema, (column,), now_ms, 1)
                timestamp = newest[0][1] if newest else now_ms
            marker = Stored(timestamp, number, int(kind), b"")
            self.cells.setdefault(column, []).append(marker)

    def read(
        self,
        schema: TableSchema,
        columns: tuple[bytes, ...],
        now_ms: int,
        versions: int,
        time_range: tuple[int, int] | None = None,
    ) -> list[RawCell]:
        """Returns the cells that a read sees, in the store's order."""
        wanted = [c for c in self.cells if b":" in c and _is_wanted(c, columns)]
        if len(wanted) > 1:
            wanted.sort(key=lambda column: column.partition(b":")[::2])
        seen: list[RawCell] = []
        for column in wanted:
            family = schema.family(split_column(column)[0].decode())
            assert family is not None
            oldest = 0 if family.ttl_seconds is None else now_ms - family.ttl_seconds * 1000
            low, high = time_range or (0, 2**63)
            left = min(versions, family.versions)
            for cell in self._unhidden(column):
                if cell.timestamp < oldest or cell.timestamp < low or left == 0:
                    break
                if cell.timestamp < high:
                    seen.append((column, cell.timestamp, cell.value, _PUT))
                    left -= 1
        return seen

    def raw(self, columns: tuple[bytes, ...]) -> list[RawCell]:
        """Returns every stored cell and delete marker, the newest of a column first."""
        seen: list[RawCell] = []
        for column in sorted(self.cells, key=lambda column: column.partition(b":")[::2]):
            if _is_wanted(column, columns):
                name = column if b":" in column else column + b":"
                newest = sorted(self.cells[column], key=lambda each: -each.timestamp)
                seen += [(name, each.timestamp, each.value, each.type) for each in newest]
        return seen

    def compact(self, schema: TableSchema, upto: int, purges: Callable[[int], bool] | None) -> None:
        """Drops what a compaction of the cells up to a number drops.

        Args:
            upto: later cells are still in memory and take no part, not even as markers.
            purges: for a major compaction, says of a marker's timestamp whether it may go.
        """
        filed = Row()
        filed.cells = {
            column: [cell for cell in cells if cell.number <= upto]
            for column, cells in self.cells.items()
        }
        for column, cells in list(self.cells.items()):
            kept = set(_markers(filed.cells[column], purges))
            if b":" in column:
                family = schema.family(split_column(column)[0].decode())
                assert family is not None
                kept.update(filed._unhidden(column)[: family.versions])
            self.cells[column] = [cell for cell in cells if cell.number > upto or cell in kept]
            if not self.cells[column]:
                del self.cells[column]

    def _unhidden(self, column: bytes) -> list[Stored]:
        """Returns the puts of a column that no marker hides, newest first."""
        cells = self.cells[column]
        family = self.cells.get(column.partition(b":")[0])
        if not family and len(cells) == 1:
            return cells if cells[0].type == _PUT else []
        until, exact = -1, set()
        for cell in cells if family is None else [*family, *cells]:
            if cell.type in _VERSION_MARKERS:
                exact.add(cell.timestamp)
            elif cell.type != _PUT and cell.timestamp > until:
                until = cell.timestamp
        newest: dict[int, Stored] = {}
        for cell in cells:
            if cell.type == _PUT and cell.timestamp > until and cell.timestamp not in exact:
                known = newest.get(cell.timestamp)
                if known is None or cell.number >= known.number:
                    newest[cell.timestamp] = cell
        return sorted(newest.values(), reverse=True)


def _markers(cells: Iterable[Stored], purges: Callable[[int], bool] | None) -> list[Stored]:
    markers = [cell for cell in cells if cell.type != _PUT]
    if purges is None:
        return markers
    return [cell for cell in markers if not purges(cell.timestamp)]


def _is_wanted(column: bytes, columns: tuple[bytes, ...]) -> bool:
    return not columns or column in columns or column.partition(b":")[0] in columns
