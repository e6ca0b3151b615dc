"""What a write is: puts, deletes, increments and appends of one row, and conditions on a row.

A mutation is built once, checked where it is built, and then handed to an engine as it is.
Timestamps of None mean the time at which the engine writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias, get_args

from webtable.errors import InvalidRequest
from webtable.store.argument_checks import (
    MAX_ROW_BYTES,
    check_column,
    check_row_key,
    check_time_range,
    check_timestamp,
)
from webtable.store.cells_and_rows import CellType, Row
from webtable.store.filtering.filter_language import as_filter
from webtable.store.filtering.filters import Filter

__all__ = [
    "MAX_ROW_BYTES",
    "Append",
    "Check",
    "CheckResult",
    "CompareOp",
    "Conditional",
    "Delete",
    "Durability",
    "Increment",
    "Marker",
    "Mutation",
    "Put",
    "Spread",
    "Write",
    "check_column",
    "check_durability",
    "check_row_key",
    "check_time_range",
    "check_timestamp",
]

Durability: TypeAlias = Literal["sync", "wal", "none"]
"""`sync`: on disk before the call returns. `wal`: survives the death of the process.
`none`: may be lost until the next flush."""

_DURABILITIES = get_args(Durability)


class CompareOp(Enum):
    """How a condition compares.

    As in HBase the *given* value is on the left: `LESS` holds when the given value is less
    than the stored one.
    """

    LESS = "<"
    LESS_OR_EQUAL = "<="
    EQUAL = "=="
    NOT_EQUAL = "!="
    GREATER_OR_EQUAL = ">="
    GREATER = ">"


def check_durability(durability: Durability) -> Durability:
    """Returns the durability if it is valid.

    Raises:
        InvalidRequest: it is not.
    """
    if durability not in _DURABILITIES:
        raise InvalidRequest(
            f"durability {durability!r:.80} is not valid", hint=f"one of {', '.join(_DURABILITIES)}"
        )
    return durability


class Put:
    """Stores values in columns of one row; every column at the same timestamp.

    `clears` are columns to delete in the same atomic step, with all their versions up to that
    timestamp. Unlike a `Delete` beside a `Put`, which needs a separate step for each row, a put
    that clears can be one of many in a batch.
    """

    __slots__ = ("clears", "row", "timestamp", "ttl_ms", "values")

    def __init__(
        self,
        row: bytes,
        values: Mapping[bytes, bytes],
        *,
        timestamp: int | None = None,
        ttl_ms: int | None = None,
        clears: Sequence[bytes] = (),
    ) -> None:
        # The check of the key is repeated here because a call a row costs a tenth of a put.
        if type(row) is not bytes or not 0 < len(row) <= MAX_ROW_BYTES:
            check_row_key(row)
        self.row = row
        self.values = values
        self.timestamp = None if timestamp is None else check_timestamp(timestamp)
        if not values:
            raise InvalidRequest(f"put of row {row!r:.80} has no columns", hint="give at least one")
        if ttl_ms is not None and ttl_ms <= 0:
            raise InvalidRequest(f"ttl_ms {ttl_ms} is not positive", hint="leave it out for none")
        self.ttl_ms = ttl_ms
        self.clears = clears
        if clears:
            for column in clears:
                if check_column(column) in values:
                    raise InvalidRequest(
                        f"put of row {row!r:.80} both stores and clears column {column!r:.80}",
                        hint="do one of them",
                    )

    def __repr__(self) -> str:
        more = f", timestamp={self.timestamp}" if self.timestamp is not None else ""
        more += f", ttl_ms={self.ttl_ms}" if self.ttl_ms is not None else ""
        more += f", clears={self.clears!r}" if self.clears else ""
        return f"Put({self.row!r}, {dict(self.values)!r}{more})"


class Marker(NamedTuple):
    """One delete marker to write: its kind, what it covers, and up to or at which time.

    `column` is a family for the two family kinds. A timestamp of None means now, and for
    `DELETE` the newest version there is.
    """

    type: CellType
    column: bytes
    timestamp: int | None


class Delete:
    """Deletes a row, or parts of it: families, columns, or single versions.

    Without a call of one of its methods it deletes the whole row, up to `timestamp`.
    """

    __slots__ = ("markers", "row", "timestamp")

    def __init__(self, row: bytes, *, timestamp: int | None = None) -> None:
        self.row = check_row_key(row)
        self.timestamp = check_timestamp(timestamp)
        self.markers: list[Marker] = []

    def family(self, family: bytes, timestamp: int | None = None) -> Delete:
        """Deletes every version of every column of a family, up to the timestamp."""
        return self._add(CellType.DELETE_FAMILY, _family(family), timestamp)

    def family_version(self, family: bytes, timestamp: int) -> Delete:
        """Deletes the versions of a family that have exactly this timestamp."""
        return self._add(CellType.DELETE_FAMILY_VERSION, _family(family), timestamp)

    def column(self, column: bytes, timestamp: int | None = None) -> Delete:
        """Deletes every version of a column, up to the timestamp."""
        return self._add(CellType.DELETE_COLUMN, check_column(column), timestamp)

    def version(self, column: bytes, timestamp: int | None = None) -> Delete:
        """Deletes one version of a column: the one with this timestamp, or the newest."""
        return self._add(CellType.DELETE, check_column(column), timestamp)

    def _add(self, kind: CellType, column: bytes, timestamp: int | None) -> Delete:
        chosen = check_timestamp(timestamp)
        self.markers.append(Marker(kind, column, self.timestamp if chosen is None else chosen))
        return self

    def __repr__(self) -> str:
        return f"Delete({self.row!r}, timestamp={self.timestamp}, markers={self.markers!r})"


class Increment:
    """Adds to counters of one row: 8-byte big-endian numbers; an absent one counts as 0."""

    __slots__ = ("amounts", "row")

    def __init__(self, row: bytes, amounts: Mapping[bytes, int]) -> None:
        self.row = check_row_key(row)
        for column, amount in amounts.items():
            check_column(column)
            if not isinstance(amount, int) or not -(2**63) <= amount < 2**63:
                raise InvalidRequest(
                    f"increment of {column!r:.80} by {amount!r:.40}",
                    hint="an amount is a whole number of 64 bits",
                )
        if not amounts:
            raise InvalidRequest(
                f"increment of row {row!r:.80} has no columns", hint="give at least one"
            )
        self.amounts = amounts

    def __repr__(self) -> str:
        return f"Increment({self.row!r}, {dict(self.amounts)!r})"


class Append:
    """Adds bytes to the end of values of one row; an absent one counts as empty."""

    __slots__ = ("row", "values")

    def __init__(self, row: bytes, values: Mapping[bytes, bytes]) -> None:
        self.row = check_row_key(row)
        for column in values:
            check_column(column)
        if not values:
            raise InvalidRequest(
                f"append to row {row!r:.80} has no columns", hint="give at least one"
            )
        self.values = values

    def __repr__(self) -> str:
        return f"Append({self.row!r}, {dict(self.values)!r})"


class Spread:
    """Stores one column of many rows, at one timestamp; each row has a value of its own.

    For commits only, which are atomic over rows: there it is what a put for each row would be, at a
    third of the cost. Where the value is None, the column of that row is deleted instead, with all
    its versions up to the timestamp.

    Args:
        values: row key → value.
        before, after: the bytes before and after each of those keys, where all have them in
            common.
    """

    __slots__ = ("after", "before", "column", "timestamp", "values")

    def __init__(
        self,
        column: bytes,
        values: Mapping[bytes, bytes | None],
        *,
        timestamp: int,
        before: bytes = b"",
        after: bytes = b"",
    ) -> None:
        self.column = check_column(column)
        if check_timestamp(timestamp) is None:
            raise InvalidRequest(
                f"spread of column {column!r:.80} has no timestamp", hint="give one"
            )
        self.timestamp = timestamp
        if not values:
            raise InvalidRequest(
                f"spread of column {column!r:.80} has no rows", hint="give at least one"
            )
        most = MAX_ROW_BYTES - len(before) - len(after)
        for row in values:
            if type(row) is not bytes or not 0 < len(row) <= most:
                check_row_key(before + check_row_key(row) + after)
        self.values = values
        self.before = before
        self.after = after

    def __repr__(self) -> str:
        values = {self.before + row + self.after: value for row, value in self.values.items()}
        return f"Spread({self.column!r}, {values!r}, timestamp={self.timestamp})"


Mutation: TypeAlias = Put | Delete | Increment | Append

Write: TypeAlias = Mutation | Spread
"""What a commit contains."""


class Check:
    """A condition on the newest visible version of one column of the row.

    A value of None means that the column must be absent; as in HBase an empty stored value counts
    as absent too. An absent column matches no comparison with a value. `Check.matches` makes a
    condition on the whole row instead: `filter` is set then, and `column` is empty.

    `unique` is a promise of the caller: the mutations put a value into the checked column that no
    other write ever puts there. Where the response of a server was lost, a read of the column then
    shows whether they were made; without it that is an error.
    """

    __slots__ = ("column", "filter", "op", "time_range", "unique", "value")

    def __init__(
        self,
        column: bytes,
        op: CompareOp = CompareOp.EQUAL,
        value: bytes | None = None,
        *,
        time_range: tuple[int, int] | None = None,
        unique: bool = False,
    ) -> None:
        self.column = check_column(column)
        self.unique = unique
        try:
            self.op = CompareOp(op)
        except ValueError as exc:
            signs = ", ".join(f"CompareOp.{each.name}" for each in CompareOp)
            message = f"comparison {op!r:.80} is not valid"
            raise InvalidRequest(message, hint=f"one of {signs}") from exc
        if value is not None and not isinstance(value, bytes):
            raise InvalidRequest(
                f"the value to compare {column!r:.80} with is {type(value).__name__}, not bytes",
                hint="encode it first",
            )
        self.value = value
        self.time_range = check_time_range(time_range)
        self.filter: Filter | None = None

    @classmethod
    def matches(cls, filter: Filter | str, *, time_range: tuple[int, int] | None = None) -> Check:
        """A read of the row through this filter, or its text, finds something."""
        check = cls.__new__(cls)
        check.column, check.op, check.value = b"", CompareOp.EQUAL, None
        check.unique = False
        check.time_range = check_time_range(time_range)
        check.filter = as_filter(filter)
        return check

    @classmethod
    def absent(cls, column: bytes, *, unique: bool = False) -> Check:
        """The column has no visible version, or an empty value."""
        return cls(column, CompareOp.EQUAL, None, unique=unique)

    @classmethod
    def equal(cls, column: bytes, value: bytes, *, unique: bool = False) -> Check:
        """The newest version has exactly this value."""
        return cls(column, CompareOp.EQUAL, value, unique=unique)

    def __repr__(self) -> str:
        if self.filter is not None:
            return f"Check.matches({self.filter!r}, time_range={self.time_range})"
        more = ", unique=True" if self.unique else ""
        return (
            f"Check({self.column!r}, {self.op}, {self.value!r}, time_range={self.time_range}{more})"
        )


class Conditional(NamedTuple):
    """Mutations of one row that are made, as one atomic step, if a condition on it holds.

    Attributes:
        row: the row key.
        check: the condition.
        mutations: puts, deletes, increments and appends of that row.
    """

    row: bytes
    check: Check
    mutations: Sequence[Mutation]


class CheckResult(NamedTuple):
    """Whether a condition held and its mutations were made, and the new values of counters.

    Attributes:
        success: whether they were made; the result itself is true then.
        row: the new values of increments and appends, None when there were none.
    """

    success: bool
    row: Row | None = None

    def __bool__(self) -> bool:
        return self.success


def _family(family: bytes) -> bytes:
    if not isinstance(family, bytes) or not family or b":" in family:
        raise InvalidRequest(
            f"family {family!r:.80} is not a family's name", hint='write b"family"'
        )
    return family


def check_one_row(row: bytes, mutations: Sequence[Mutation]) -> None:
    """Makes sure that all mutations are of the one row that an atomic step is about.

    Raises:
        InvalidRequest: the list is empty, or a mutation is of another row.
    """
    if not mutations:
        raise InvalidRequest(f"no mutations for row {row!r:.80}", hint="give at least one")
    for mutation in mutations:
        if mutation.row != row:
            raise InvalidRequest(
                f"a mutation of row {mutation.row!r:.80} in an atomic step on row {row!r:.80}",
                hint="one step changes one row; use a batch for several",
            )
