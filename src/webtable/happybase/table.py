"""`Table`: rows as dicts of bytes, by happybase's verbs."""

from __future__ import annotations

import contextlib
import itertools
import struct
import time
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypedDict

from webtable.errors import InvalidRequest, TableNotFound
from webtable.happybase import errors
from webtable.happybase.batch import Batch
from webtable.happybase.conversions import (
    Text,
    as_bytes,
    as_columns,
    as_integer,
    options_of,
    region_of,
)
from webtable.happybase.errors import raised, translated
from webtable.store import table as store_table
from webtable.store.cells_and_rows import Cell, Row
from webtable.store.filtering.filter_language import parse_filter
from webtable.store.filtering.filters import Filter
from webtable.store.mutation import MAX_ROW_BYTES, Increment
from webtable.store.scan import ALL_VERSIONS, Scan, prefix_end

if TYPE_CHECKING:
    from webtable.happybase.connection import Connection

__all__ = ["Table"]

Data: TypeAlias = dict[bytes, Any]
"""Column → value, or (value, timestamp) where timestamps were requested. `Any`, because programs
that never had types should not have to distinguish the two for a type checker."""

DEFAULT_BATCH_SIZE = 1000
_NOT_A_VALUE = "'value' must be an integer"
_pack_counter = struct.Struct(">q").pack


class _Bounds(TypedDict, total=False):
    start: bytes
    stop: bytes
    prefix: bytes


class Table:
    """A table of a connection. Make it with `Connection.table`; it costs nothing.

    `name` is the whole name, with the connection's prefix; it stays bytes or text as it was given.
    """

    def __init__(self, name: Text, connection: Connection) -> None:
        self.name = name
        self.connection = connection

    def __repr__(self) -> str:
        return f"<{__name__}.{type(self).__name__} name={self.name!r}>"

    @property
    def _table(self) -> store_table.Table:
        return self.connection.store.table(self.connection._store_name(self.name))

    # About the table

    def families(self) -> dict[bytes, dict[str, Any]]:
        """Returns the families and their options, named as in `Connection.create_table`."""
        with translated():
            families = self._table.schema().families
        return {family.name.encode(): options_of(family) for family in families}

    def _column_family_names(self) -> list[bytes]:
        return list(self.families())

    def regions(self) -> list[dict[str, Any]]:
        """Returns the regions in key order; none where the table does not exist."""
        with translated():
            try:
                return [region_of(region) for region in self._table.regions()]
            except TableNotFound:
                return []

    # Reading

    def row(
        self,
        row: Text,
        columns: Sequence[Text] | None = None,
        timestamp: SupportsIndex | None = None,
        include_timestamp: bool = False,
    ) -> Data:
        """Reads one row; an empty dict when the row does not exist.

        Args:
            columns: a list of families (`b"cf"`) and columns (`b"cf:q"`); None means all.
            timestamp: only versions older than this.
            include_timestamp: give `(value, timestamp)` instead of the value.
        """
        chosen = as_columns(columns)
        time_range = _before(timestamp)
        with translated():
            found = self._table.get(as_bytes(row), chosen, time_range=time_range)
        return {} if found is None else _data(found, include_timestamp)

    def rows(
        self,
        rows: Sequence[Text],
        columns: Sequence[Text] | None = None,
        timestamp: SupportsIndex | None = None,
        include_timestamp: bool = False,
    ) -> list[tuple[bytes, Data]]:
        """Reads many rows: `(row key, data)` in the given order, without missing rows.

        The other arguments are those of `row`.
        """
        chosen = as_columns(columns)
        if isinstance(rows, (str, bytes)):
            raise TypeError("'rows' must be a list of row keys")
        if not rows:
            return {}  # type: ignore[return-value] # happybase's own tests expect a dict here
        time_range = _before(timestamp)
        keys = [as_bytes(row) for row in rows]
        with translated():
            found = self._table.get_many(keys, chosen, time_range=time_range)
        return [(row.key, _data(row, include_timestamp)) for row in found if row is not None]

    def cells(
        self,
        row: Text,
        column: Text,
        versions: SupportsIndex | None = None,
        timestamp: SupportsIndex | None = None,
        include_timestamp: bool = False,
    ) -> list[Any]:
        """Reads the versions of one column, newest first; None means all that are stored."""
        at_most = ALL_VERSIONS
        if versions is not None:
            at_most = as_integer(versions, "'versions' argument must be a number or None")
            if at_most < 1:
                raise ValueError("'versions' argument must be at least 1 (or None)")
        time_range = _before(timestamp)
        with translated():
            found = self._table.get(
                as_bytes(row),
                (as_bytes(column),),
                versions=min(at_most, ALL_VERSIONS),
                time_range=time_range,
            )
        cells: Iterable[Cell] = () if found is None else found.cells
        return [(cell.value, cell.timestamp) if include_timestamp else cell.value for cell in cells]

    def scan(  # noqa: PLR0917 - the signature is happybase's
        self,
        row_start: Text | None = None,
        row_stop: Text | None = None,
        row_prefix: Text | None = None,
        columns: Iterable[Text] | None = None,
        filter: Text | Filter | None = None,
        timestamp: SupportsIndex | None = None,
        include_timestamp: bool = False,
        batch_size: SupportsIndex = DEFAULT_BATCH_SIZE,
        scan_batching: SupportsIndex | None = None,
        limit: SupportsIndex | None = None,
        sorted_columns: bool = False,
        reverse: bool = False,
    ) -> Generator[tuple[bytes, Data], None, None]:
        """Yields `(row key, data)` in key order. Arguments are checked with the first row.

        Args:
            row_start: the first row key; the last one with `reverse`.
            row_stop: the row key to stop before. Equal to `row_start` it means that one row.
            row_prefix: only rows whose keys begin with it; instead of `row_start` and `row_stop`.
            columns, timestamp, include_timestamp: as in `row`.
            filter: a filter in HBase's filter language, or one of `webtable.filters`.
            batch_size: rows to fetch from a server at a time; the default leaves it to the store.
            scan_batching: cells at most in one result; a row with more comes in several.
            limit: results at most.
            sorted_columns: give `OrderedDict`s with the columns in order.
            reverse: from high row keys to low ones.
        """
        batch_rows = _at_least_one("batch_size", batch_size)
        results = _at_least_one("limit", limit)
        cells_at_most = _at_least_one("scan_batching", scan_batching)
        self._check_compat(sorted_columns, reverse, filter)
        bounds = _bounds(row_start, row_stop, row_prefix, reverse)
        if isinstance(columns, (str, bytes)):
            raise TypeError("'columns' must be a list of columns")
        with translated():
            scan = Scan(
                **bounds,
                columns=tuple(as_bytes(column) for column in columns or ()),
                filter=parse_filter(filter) if isinstance(filter, bytes) else filter,
                time_range=_before(timestamp),
                limit=results,
                reverse=reverse,
                batch_rows=None if batch_rows == DEFAULT_BATCH_SIZE else batch_rows,
            )
            with _closing(self._table.scan(scan)) as rows:
                for row in rows if cells_at_most is None else _parts(rows, cells_at_most, results):
                    data = _data(row, include_timestamp)
                    yield row.key, OrderedDict(data) if sorted_columns else data

    def _check_compat(self, sorted_columns: bool, reverse: bool, filter: object) -> None:
        compat = self.connection.compat
        if sorted_columns and compat < "0.96":
            raise NotImplementedError("'sorted_columns' is only supported in HBase >= 0.96")
        if reverse and compat < "0.98":
            raise NotImplementedError("'reverse' is only supported in HBase >= 0.98")
        if filter is not None and compat == "0.90":
            raise NotImplementedError("'filter' is not supported in HBase 0.90")

    # Writing

    def put(
        self,
        row: Text,
        data: Mapping[Text, Text | None],
        timestamp: SupportsIndex | None = None,
        wal: bool = True,
    ) -> None:
        """Stores column → value in a row, all at once.

        Args:
            timestamp: the version to write; the time of the server when left out.
            wal: whether it must survive the death of a server.
        """
        with self.batch(timestamp=timestamp, wal=wal) as batch:
            batch.put(row, data)

    def delete(
        self,
        row: Text,
        columns: Iterable[Text] | None = None,
        timestamp: SupportsIndex | None = None,
        wal: bool = True,
    ) -> None:
        """Deletes a row, or families and columns of it, with every version up to `timestamp`."""
        with self.batch(timestamp=timestamp, wal=wal) as batch:
            # It is sent at once, so no check is needed first whether the table exists.
            batch._delete(row, columns)

    def batch(
        self,
        timestamp: SupportsIndex | None = None,
        batch_size: int | None = None,
        transaction: bool = False,
        wal: bool = True,
    ) -> Batch:
        """Returns a batch, which collects puts and deletes and sends them together; see `Batch`."""
        return Batch(self, timestamp, batch_size, transaction, wal)

    # Counters

    def counter_get(self, row: Text, column: Text) -> int:
        """Returns a counter's value; one that does not exist is made, with 0."""
        return self.counter_inc(row, column, value=0)

    def counter_set(self, row: Text, column: Text, value: SupportsIndex = 0) -> None:
        """Gives a counter a value, whatever it had."""
        packed = _pack_counter(value)
        # Each increment is at least a millisecond later than the one before, so the time of a busy
        # counter is ahead of the clock, and a put without a timestamp would be hidden by it.
        stored = self.cells(row, column, versions=1, include_timestamp=True)
        is_ahead = stored and stored[0][1] >= int(time.time() * 1000)
        self.put(row, {column: packed}, timestamp=stored[0][1] + 1 if is_ahead else None)

    def counter_inc(self, row: Text, column: Text, value: SupportsIndex = 1) -> int:
        """Adds to a counter as one atomic step and returns its new value.

        Raises:
            IOError: the column holds something that is not a counter.
        """
        added = as_integer(value, _NOT_A_VALUE)
        row_key, name = as_bytes(row), as_bytes(column)
        with translated():
            increment = Increment(row_key, {name if b":" in name else name + b":": added})
            try:
                found = self._table.mutate(row_key, (increment,))
            except InvalidRequest as exc:
                # Its form was right, so it was the stored value that could not be added to.
                raise raised(errors.IOError, exc.message, hint=exc.hint, code=exc.code) from exc
        assert found is not None, "a store returns the new value of an increment"
        return int.from_bytes(found.cells[0].value, "big", signed=True)

    def counter_dec(self, row: Text, column: Text, value: SupportsIndex = 1) -> int:
        """Takes from a counter as one atomic step and returns its new value."""
        return self.counter_inc(row, column, -as_integer(value, _NOT_A_VALUE))


def _data(row: Row, include_timestamp: bool) -> Data:
    if not include_timestamp:
        return row.values()
    return {cell.column: (cell.value, cell.timestamp) for cell in row.cells}


def _before(timestamp: SupportsIndex | None) -> tuple[int, int] | None:
    if timestamp is None:
        return None
    return (0, as_integer(timestamp, "'timestamp' must be an integer"))


def _at_least_one(name: str, given: SupportsIndex | None) -> int | None:
    if given is None:
        return None
    number = as_integer(given, f"'{name}' must be an integer")
    if number < 1:
        raise ValueError(f"'{name}' must be >= 1")
    return number


def _bounds(
    row_start: Text | None, row_stop: Text | None, row_prefix: Text | None, reverse: bool
) -> _Bounds:
    if row_prefix is not None:
        if row_start is not None or row_stop is not None:
            raise TypeError("'row_prefix' cannot be combined with 'row_start' or 'row_stop'")
        return {"prefix": as_bytes(row_prefix)}
    start, stop = as_bytes(row_start or b""), as_bytes(row_stop or b"")
    if start and start == stop:
        return {"start": start, "stop": _next_key(start)}
    if reverse:  # from `row_start` itself down to just above `row_stop`
        start, stop = stop and _next_key(stop), start and _next_key(start)
    return {"start": start, "stop": stop}


def _next_key(row: bytes) -> bytes:
    """Returns the first row key after this one; empty when no key follows."""
    return row + b"\0" if len(row) < MAX_ROW_BYTES else prefix_end(row)


@contextlib.contextmanager
def _closing(rows: Iterator[Row]) -> Iterator[Iterator[Row]]:
    """Ends a scan that is left early, wherever it is."""
    try:
        yield rows
    finally:
        close = getattr(rows, "close", None)
        if close is not None:
            close()


def _parts(rows: Iterator[Row], cells_at_most: int, limit: int | None) -> Iterator[Row]:
    """Yields the rows in parts of so many cells; `limit` counts the parts."""
    parts = (
        Row(row.key, cells[first : first + cells_at_most])
        for row in rows
        for cells in (row.cells,)
        for first in range(0, len(cells), cells_at_most)
    )
    return itertools.islice(parts, limit)
