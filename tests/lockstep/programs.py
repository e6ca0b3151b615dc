"""Random programs: lists of operations on a few rows of one table, made to collide.

An operation is a frozen value whose `repr` is the Python that makes it, so that a failing program
can be pasted into `test_found.py`. Times are names, because some of them lie relative to the clock:
`old1`… are long gone for every TTL, `recent1`… an hour ago, `future1` days ahead, None means now.
`spent1`… are used by puts whose own TTL is over, and by nothing else: HBase may show what such a
put overwrote (see docs/explain/hbase-differences.md).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.lockstep.filter_draws import Vocabulary, filters_over
from webtable import ALL_VERSIONS, CompareOp, Family, TableSchema
from webtable.filters import Filter

__all__ = [
    "COLUMNS",
    "NAMED_COLUMNS",
    "SCHEMAS",
    "Appends",
    "Batched",
    "Checked",
    "Compact",
    "Deletes",
    "Flush",
    "Increments",
    "Mixed",
    "Operation",
    "Program",
    "Puts",
    "ReadRows",
    "ScanRows",
    "Step",
    "programs",
]

T = TypeVar("T")
DAY = 86_400
# A cluster that compacts or drops files on its own would decide for itself when hidden cells go.
BY_HAND = {
    "hbase.hstore.compaction.min": "10000",
    "hbase.hstore.blockingStoreFiles": "100000",
    "hbase.hregion.majorcompaction": "0",
    "hbase.store.delete.expired.storefile": "false",
}
SCHEMAS = {
    schema.name: schema
    for schema in (
        TableSchema(
            name="limits",
            families=(
                Family(name="a"),
                Family(name="b", versions=2),
                Family(name="c", versions=3),
            ),
            attributes=BY_HAND,
        ),
        TableSchema(
            name="kept",
            families=(
                Family(name="a", versions=ALL_VERSIONS),
                Family(name="b", versions=3, keep_deleted_cells="TRUE"),
                Family(name="c", versions=1, keep_deleted_cells="TRUE"),
            ),
            attributes=BY_HAND,
        ),
        TableSchema(
            name="aged",
            families=(
                Family(name="a", versions=3, ttl_seconds=DAY),
                Family(name="b", versions=3, ttl_seconds=DAY, min_versions=2),
                Family(name="c", versions=1, ttl_seconds=DAY, min_versions=1),
            ),
            attributes=BY_HAND,
        ),
        TableSchema(
            name="window",
            families=(
                Family(name="a", versions=2, ttl_seconds=DAY, keep_deleted_cells="TTL"),
                Family(
                    name="b",
                    versions=3,
                    ttl_seconds=DAY,
                    min_versions=1,
                    keep_deleted_cells="TTL",
                ),
                Family(
                    name="c",
                    versions=3,
                    ttl_seconds=DAY,
                    min_versions=1,
                    keep_deleted_cells="TRUE",
                ),
            ),
            attributes=BY_HAND,
        ),
        TableSchema(
            name="purged",
            families=(
                Family(name="a"),
                Family(name="b", versions=3, keep_deleted_cells="TRUE"),
                Family(name="c", versions=2, ttl_seconds=DAY, min_versions=1),
            ),
            attributes={**BY_HAND, "hbase.hstore.time.to.purge.deletes": str(DAY * 1000)},
        ),
    )
}

ROWS = (b"a", b"a\x00", b"b", b"b\xff")
COUNTERS = (b"a:n", b"b:n", b"c:n")
COLUMNS = (b"a:", b"a:x", b"a:x\x00", b"b:", b"b:x", b"c:x", *COUNTERS)
NAMED_COLUMNS = (*(column for column in COLUMNS if column[-1:] != b":"), b"a:y", b"b:y")
FAMILIES = (b"a", b"b", b"c")
TIMES = ("old1", "old2", "old3", "recent1", "recent2", "recent3")
SPENT_TIMES = ("spent1", "spent2")
ALL_TIMES = (*TIMES, *SPENT_TIMES, "future1")
VALUES = (b"", b"v", b"w", b"\x00", (7).to_bytes(8, "big"))


@dataclass(frozen=True)
class Puts:
    """A put; `ttl` is None, "ample" or "spent"."""

    row: bytes
    values: tuple[tuple[bytes, bytes], ...]
    at: str | None = None
    ttl: str | None = None


@dataclass(frozen=True)
class Deletes:
    """A delete; `parts` are (kind, column or family, time), none of them means the row."""

    row: bytes
    parts: tuple[tuple[str, bytes, str | None], ...] = ()
    at: str | None = None


@dataclass(frozen=True)
class Increments:
    """Increments of one row."""

    row: bytes
    amounts: tuple[tuple[bytes, int], ...]


@dataclass(frozen=True)
class Appends:
    """Appends to one row."""

    row: bytes
    values: tuple[tuple[bytes, bytes], ...]


Step = Puts | Deletes | Increments | Appends


@dataclass(frozen=True)
class Mixed:
    """Several steps on one row as one atomic step."""

    row: bytes
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Checked:
    """A conditional step; `between` is a time range of the condition.

    With a filter that is the condition, and column, operator and value do not count.
    """

    row: bytes
    column: bytes
    op: str
    value: bytes | None
    steps: tuple[Step, ...]
    between: tuple[str, str] | None = None
    filter: Filter | None = None


@dataclass(frozen=True)
class Batched:
    """Steps on any rows, sent together."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class ReadRows:
    """Gets of some rows."""

    rows: tuple[bytes, ...]
    columns: tuple[bytes, ...] = ()
    versions: int = 1
    between: tuple[str, str] | None = None
    filter: Filter | None = None


@dataclass(frozen=True)
class ScanRows:
    """A scan inside the program's rows."""

    columns: tuple[bytes, ...] = ()
    versions: int = 1
    between: tuple[str, str] | None = None
    start: bytes = b""
    stop: bytes = b""
    limit: int | None = None
    reverse: bool = False
    raw: bool = False
    filter: Filter | None = None


@dataclass(frozen=True)
class Flush:
    """A flush of the table."""


@dataclass(frozen=True)
class Compact:
    """A major compaction of the table."""


Operation = Step | Mixed | Checked | Batched | ReadRows | ScanRows | Flush | Compact


@dataclass(frozen=True)
class Program:
    """What one sequence does, and to which of the tables."""

    table: str
    operations: tuple[Operation, ...]


def _some(elements: st.SearchStrategy[bytes], most: int) -> st.SearchStrategy[tuple[bytes, ...]]:
    return st.lists(elements, min_size=1, max_size=most, unique=True).map(tuple)


def _weighted(*choices: tuple[int, st.SearchStrategy[T]]) -> st.SearchStrategy[T]:
    # Not `one_of` with repeats: it drops what it was given twice.
    positions = [at for at, (weight, _) in enumerate(choices) for _ in range(weight)]
    return st.sampled_from(positions).flatmap(lambda at: choices[at][1])


# Few rows and columns, some most often: programs are short and must meet themselves.
_rows = st.sampled_from((ROWS[0], ROWS[0], ROWS[0], *ROWS))
_columns = st.sampled_from((b"a:x", b"b:x", b"c:x", *COLUMNS))
_families = st.sampled_from(FAMILIES)
_values = st.sampled_from(VALUES)
_marker_times = st.sampled_from((*ALL_TIMES, None, None))
_between = st.one_of(
    st.none(),
    st.tuples(
        st.sampled_from(("zero", *ALL_TIMES, "start")),
        st.sampled_from((*ALL_TIMES, "start", "end")),
    ),
)
_amounts = st.sampled_from((1, 5, -3, 2**63 - 1))
_filters = _weighted(
    (2, st.none()),
    (
        1,
        filters_over(
            Vocabulary(
                rows=ROWS,
                prefixes=(b"", b"a", b"b"),
                families=FAMILIES,
                columns=NAMED_COLUMNS,
                qualifiers=(b"n", b"x", b"x\x00", b"y"),
                values=VALUES,
                times=(10, 20, 30),  # old1, old2, old3
                stem=1,
                # HBase may stamp the parts of one conditional step a millisecond apart.
                with_dependent=False,
            )
        ),
    ),
)


# Steps are drawn for the first row and moved to another: strategies made for each row are slow.
_several = st.dictionaries(_columns, _values, min_size=1, max_size=3)
_counter = st.sampled_from(COUNTERS).map(lambda column: {column: (41).to_bytes(8, "big")})
_put_values = _weighted((3, _several), (1, _counter)).map(lambda chosen: tuple(chosen.items()))
_puts = _weighted(
    (
        5,
        st.builds(
            Puts,
            st.just(ROWS[0]),
            _put_values,
            st.sampled_from((*TIMES, None, None, None, "future1")),
            st.sampled_from((None, None, None, "ample")),
        ),
    ),
    (
        1,
        st.builds(
            Puts,
            st.just(ROWS[0]),
            _put_values,
            st.sampled_from(SPENT_TIMES),
            st.just("spent"),
        ),
    ),
)
_parts = st.one_of(
    st.tuples(st.just("version"), _columns, _marker_times),
    st.tuples(st.just("column"), _columns, _marker_times),
    st.tuples(st.just("family"), _families, _marker_times),
    st.tuples(st.just("family_version"), _families, st.sampled_from(ALL_TIMES)),
)
_deletes = _weighted(
    (
        4,
        st.builds(Deletes, st.just(ROWS[0]), st.lists(_parts, min_size=1, max_size=3).map(tuple)),
    ),
    (1, st.builds(Deletes, st.just(ROWS[0]), st.just(()), _marker_times)),
)
_increments = st.dictionaries(
    _weighted((3, st.sampled_from(COUNTERS)), (1, _columns)), _amounts, min_size=1, max_size=2
).map(lambda amounts: Increments(ROWS[0], tuple(amounts.items())))
_appends = st.dictionaries(_columns, _values, min_size=1, max_size=2).map(
    lambda values: Appends(ROWS[0], tuple(values.items()))
)
_steps: st.SearchStrategy[Step] = _weighted(
    (5, _puts), (3, _deletes), (1, _increments), (1, _appends)
)
_one_step = st.builds(lambda row, step: replace(step, row=row), _rows, _steps)


def _on_row(row: bytes, steps: list[Step]) -> tuple[Step, ...]:
    return tuple(replace(step, row=row) for step in steps)


def _with_one_clock(steps: list[Step]) -> list[Step]:
    """Keeps the steps of a conditional step that do not meet in a column at different times.

    In one, HBase may stamp puts a millisecond before what else it stamps with the time.
    """
    put = {
        column
        for step in steps
        if isinstance(step, Puts) and step.at is None
        for column, _ in step.values
    }
    return [step for step in steps if not _clocked(step) & put]


def _clocked(step: Step) -> set[bytes]:
    """The columns whose newest version a step reads, or stamps with the time, without a put."""
    match step:
        case Increments(amounts=pairs) | Appends(values=pairs):
            return {column for column, _ in pairs}
        case Deletes():
            return {column for kind, column, when in step.parts if kind == "version" and not when}
        case _:
            return set()


_mixed = st.builds(
    lambda row, steps: Mixed(row, _on_row(row, steps)),
    _rows,
    st.lists(_steps, min_size=1, max_size=4),
)
_checked = st.builds(
    lambda row, column, op, value, steps, *more: Checked(
        row, column, op, value, _on_row(row, _with_one_clock(steps)), *more
    ),
    _rows,
    _columns,
    st.sampled_from([op.value for op in CompareOp]),
    st.one_of(st.none(), _values),
    st.lists(_steps, min_size=1, max_size=3),
    _weighted((2, st.none()), (1, _between)),
    _filters,
)


def _batched(steps: list[Step]) -> Batched:
    """Keeps the steps whose order in time is certain: none that share a row and need the clock."""
    kept: list[Step] = []
    for step in steps:
        others = [other for other in kept if other.row == step.row]
        if not others or not any(map(_needs_clock, (step, *others))):
            kept.append(step)
    return Batched(tuple(kept))


def _needs_clock(step: Step) -> bool:
    match step:
        case Puts():
            return step.at is None
        case Deletes():
            return any(when is None for _, _, when in step.parts) or not (step.parts or step.at)
        case _:
            return True


_selection = st.one_of(
    st.just(()),
    _some(_families, 2),
    _some(_columns, 4),
    _some(st.one_of(_columns, _families), 4),
)
_versions = st.sampled_from((1, 2, 3, ALL_VERSIONS))
_bounds = st.sampled_from((b"", b"", *ROWS))
_limits = st.sampled_from((None, None, 1, 2))
# Flushes and compactions are slow on a cluster and much happens in between, so they are rare.
_operations: st.SearchStrategy[Operation | None] = _weighted(
    (4, st.none()),
    (46, _one_step),
    (8, _mixed),
    (9, _checked),
    (4, st.lists(_one_step, min_size=1, max_size=5).map(_batched)),
    (12, st.builds(ReadRows, _some(_rows, 3), _selection, _versions, _between, _filters)),
    (
        8,
        st.builds(
            ScanRows,
            _selection,
            _versions,
            _between,
            _bounds,
            _bounds,
            _limits,
            st.booleans(),
            filter=_filters,
        ),
    ),
    (
        3,
        st.builds(
            ScanRows,
            st.one_of(st.just(()), _some(_families, 2)),
            _versions,
            _between,
            reverse=st.booleans(),
            raw=st.just(True),
        ),
    ),
    (4, st.just(Flush())),
    (2, st.just(Compact())),
)


def _without_nameless_markers(thing: Any) -> Any:
    """Returns an operation with deletes of named columns in place of families and nameless ones."""
    match thing:
        case Deletes(parts=()):
            named = (("column", b"a:x", thing.at), ("column", b"b:x", thing.at))
            return replace(thing, parts=named)
        case Deletes():
            kinds = {"family": "column", "family_version": "version"}
            parts = [
                (kinds.get(kind, kind), column.partition(b":")[0] + b":x", when)
                if kind in kinds or column.endswith(b":")
                else (kind, column, when)
                for kind, column, when in thing.parts
            ]
            return replace(thing, parts=tuple(parts))
        case Mixed() | Checked() | Batched():
            return replace(thing, steps=tuple(map(_without_nameless_markers, thing.steps)))
        case _:
            return thing


def _without_nameless_columns(thing: Any) -> Any:
    """Returns an operation, or a part of one, with a name for the columns that have none."""
    if isinstance(thing, bytes):
        return thing + b"y" if thing in {b"a:", b"b:"} else thing
    if isinstance(thing, tuple):
        return tuple(map(_without_nameless_columns, thing))
    if is_dataclass(thing) and not isinstance(thing, type):
        named = {f.name: _without_nameless_columns(getattr(thing, f.name)) for f in fields(thing)}
        return replace(thing, **named)
    return thing


def _without_filter(thing: Operation) -> Operation:
    if isinstance(thing, ReadRows | ScanRows | Checked):
        return replace(thing, filter=None)
    return thing


def _program(table: str, drawn: list[Operation | None], has_nameless: bool) -> Program:
    # HBase overlooks family markers behind a nameless column when its files have several blocks,
    # and may loop for ever over markers in such a column (see docs/explain/hbase-differences.md).
    # So a program has markers without a name, or columns, but not both. And filters only without
    # such columns, of which it may show them versions that they are done with.
    if not has_nameless:
        named = [_without_nameless_columns(each) for each in drawn if each is not None]
        return Program(table, tuple(named))
    marked = [_without_nameless_markers(each) for each in drawn if each is not None]
    return Program(table, tuple(map(_without_filter, marked)))


def programs(length: int) -> st.SearchStrategy[Program]:
    """Programs of about `length` operations, which shrink to few."""
    # A list of fixed length shrinks by growing gaps; lists of free length would mostly be short.
    operations = st.lists(_operations, min_size=length, max_size=length)
    return st.builds(_program, st.sampled_from(list(SCHEMAS)), operations, st.booleans())
