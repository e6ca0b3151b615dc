"""Random rows, and random reads of them through random filters.

Everything is a frozen value whose `repr` is the Python that makes it. Row keys are names; a test
that runs the reads puts a prefix before all of them, also before those inside filters.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.lockstep.filter_draws import Vocabulary, filters_over, tuples
from webtable import ALL_VERSIONS
from webtable import filters as f
from webtable.store.filtering.filters import inner_filters

__all__ = ["Dataset", "FilteredRead", "Written", "datasets", "filters"]

ROWS = (b"a0", b"a1", b"a1x", b"b0", b"b1", b"c0")
FAMILIES = (b"a", b"b", b"c")
COLUMNS = (b"a:n", b"a:x", b"a:xy", b"b:x", b"b:y", b"c:n", b"c:x", b"c:z")
QUALIFIERS = (b"n", b"x", b"xy", b"y", b"z", b"w")
TIMES = (10, 20, 30, 40)
VALUES = (b"", b"v", b"V", b"vw", b"w\n", "é".encode(), b"\xff\x00")
NUMBERS = (0, 7, -1)


@dataclass(frozen=True)
class Written:
    """One write: a put of a value, or a delete; `kind` is put, version, column or family."""

    kind: str
    row: bytes
    column: bytes
    timestamp: int
    value: bytes = b""


@dataclass(frozen=True)
class FilteredRead:
    """A scan through a filter; a get of `row` if that is given; a condition if `checks`."""

    filter: f.Filter
    columns: tuple[bytes, ...] = ()
    versions: int = 1
    time_range: tuple[int, int] | None = None
    start: bytes = b""
    stop: bytes = b""
    limit: int | None = None
    reverse: bool = False
    raw: bool = False
    row: bytes | None = None
    checks: bool = False


@dataclass(frozen=True)
class Dataset:
    """What is written to a table, and then read."""

    table: str
    writes: tuple[Written, ...]
    is_flushed: bool
    reads: tuple[FilteredRead, ...]


_VOCABULARY = Vocabulary(
    rows=ROWS,
    prefixes=(b"", b"a", b"b", b"a1", b"b0"),
    families=FAMILIES,
    columns=COLUMNS,
    qualifiers=QUALIFIERS,
    values=VALUES,
    times=TIMES,
    stem=2,
    numbered=(b"a:n", b"c:n"),
    numbers=NUMBERS,
)
filters: st.SearchStrategy[f.Filter] = filters_over(_VOCABULARY)
"""Any filter."""

_rows = st.sampled_from(ROWS)
_columns = st.sampled_from(COLUMNS)
_values = st.sampled_from(VALUES)
_times = st.sampled_from(TIMES)


def _has_no_numbers(filter: f.Filter) -> bool:
    return not any(
        isinstance(getattr(each, "comparator", None), f.LongComparator)
        for each in inner_filters(filter)
    )


_writes = st.one_of(
    *[st.builds(Written, st.just("put"), _rows, _columns, _times, _values)] * 5,
    st.builds(Written, st.sampled_from(("version", "column", "family")), _rows, _columns, _times),
)
_selection = st.one_of(
    st.just(()),
    st.just(()),
    tuples(st.sampled_from(FAMILIES), 2),
    tuples(_columns, 4),
)
_between = st.one_of(
    st.none(),
    st.none(),
    st.tuples(_times, _times).map(lambda pair: (min(pair), max(pair) + 1)),
)
_versions = st.sampled_from((1, 2, ALL_VERSIONS))
_reads = st.one_of(
    *[
        st.builds(
            FilteredRead,
            filters,
            _selection,
            _versions,
            _between,
            st.sampled_from((b"", b"", b"a1", b"b0")),
            st.sampled_from((b"", b"", b"b1", b"c0")),
            st.sampled_from((None, None, 1, 3)),
            st.booleans(),
        )
    ]
    * 5,
    # A marker has no value, so it is no number either.
    st.builds(FilteredRead, filters.filter(_has_no_numbers), versions=_versions, raw=st.just(True)),
    *[st.builds(FilteredRead, filters, _selection, _versions, _between, row=_rows)] * 2,
    st.builds(FilteredRead, filters, time_range=_between, row=_rows, checks=st.just(True)),
)


def _numbered(write: Written) -> Written:
    """Gives the columns that are counters a number."""
    if not write.column.endswith(b":n"):
        return write
    number = NUMBERS[(len(write.value) + write.timestamp) % len(NUMBERS)]
    return Written(
        write.kind, write.row, write.column, write.timestamp, number.to_bytes(8, "big", signed=True)
    )


def datasets(reads: int) -> st.SearchStrategy[Dataset]:
    """Rows and so many reads of them."""
    return st.builds(
        Dataset,
        st.sampled_from(("limits", "kept")),
        st.lists(_writes.map(_numbered), min_size=1, max_size=40).map(tuple),
        st.sampled_from((False,) * 5 + (True,)),
        st.lists(_reads, min_size=reads, max_size=reads).map(tuple),
    )
