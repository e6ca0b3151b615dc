"""The commands that read rows: get, scan, count, get_counter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from webtable import Row, Scan
from webtable.cli.output_formats import show_bytes
from webtable.cli.shell.cell_format import CellFormat, Column, check_formatter, parse_column
from webtable.cli.shell.language.ruby_constants import ALIASES
from webtable.cli.shell.language.ruby_values import (
    Value,
    check_keys,
    to_bool,
    to_bytes,
    to_hash,
    to_int,
    to_list,
    to_text,
)
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest
from webtable.filters import Filter, FilterList, FirstKeyOnlyFilter, parse_filter
from webtable.store.filtering.row_bounds import prefix_end

_SHOWING = {"FORMATTER", "FORMATTER_CLASS", "MAXLENGTH"}
# Hints that change how a cluster works, never its results.
_HINTS = {
    "ALLOW_PARTIAL_RESULTS", "CACHE", "CACHE_BLOCKS", "CONSISTENCY", "MAX_RESULT_SIZE", "READ_TYPE"
}  # fmt: skip
_CHOOSING = {"COLUMN", "COLUMNS", "FILTER", "TIMERANGE", "TIMESTAMP", "VERSIONS"}
_RANGE = {"LIMIT", "RAW", "REVERSED", "ROWPREFIXFILTER", "STARTROW", "STOPROW", "BATCH"}
_UNSUPPORTED = {
    "ALL_METRICS": "metrics of scans are not supported here",
    "METRICS": "metrics of scans are not supported here",
    "ATTRIBUTES": "attributes are not sent here",
    "AUTHORIZATIONS": "visibility labels are not supported here",
    "ISOLATION_LEVEL": "reads see what was committed, always",
    "REGION_REPLICA_ID": "replicas of regions are not supported here",
}


def get(session: Session, table: Value, row: Value, *rest: Value) -> None:
    r"""Reads one row, or parts of it.

    get 'webtable', 'com.example_about'
    get 'webtable', 'com.example_about', 'metadata:title'
    get 'webtable', 'com.example_about', ['metadata:title', 'content']
    get 'webtable', 'com.example_about', {COLUMN => 'content:html', VERSIONS => 3}
    get 'webtable', 'com.example_about', {TIMERANGE => [1704067200000, 1735689600000]}
    get 'webtable', 'com.example_about', {FILTER => "ValueFilter(=, 'substring:a')"}
    get 'counters', "key\x00", 'f:visits:toLong'
    """
    options = _get_options(rest)
    columns = _columns(options)
    cells = _cell_format(session, options, columns)
    found = session.table(table).get(
        to_bytes(row, "the row key"),
        [column.name for column in columns],
        versions=to_int(options.get("VERSIONS", 1), "VERSIONS"),
        time_range=_time_range(options),
        filter=_filter(options),
    )
    session.out.heading("COLUMN", "CELL")
    for cell in found.raw_cells if found else ():
        session.out.row(cells.column(cell[0]), cells.cell(*cell))
    session.out.footer(1 if found else 0)


def scan(session: Session, table: Value, options: Value = None) -> None:
    """Reads rows in key order.

    scan 'webtable'
    scan 'webtable', {COLUMNS => ['metadata:url', 'metadata:title'], LIMIT => 10}
    scan 'webtable', {STARTROW => 'com.example', STOPROW => 'com.example~'}
    scan 'webtable', {ROWPREFIXFILTER => 'com.example'}
    scan 'webtable', {REVERSED => true, LIMIT => 10}
    scan 'webtable', {FILTER => "SingleColumnValueFilter('metadata', 'status', >=, 'binary:400')"}
    scan 'webtable', {TIMERANGE => [1704067200000, 1735689600000], VERSIONS => 3}
    scan 'webtable', {RAW => true, VERSIONS => 10}
    scan 'counters', {COLUMNS => ['f:visits:toLong']}
    scan 'notes', {COLUMNS => 'f', FORMATTER => 'toString'}
    """
    given = _options("scan", options, _SHOWING | _HINTS | _CHOOSING | _RANGE)
    columns = _columns(given)
    cells = _cell_format(session, given, columns)
    batch = to_int(given.get("BATCH", 0), "BATCH")
    out, count = session.out, 0
    show_key, show_column, show_cell = cells.key, cells.column, cells.cell
    with _rows(session, table, _scan(given, columns, _filter(given))) as rows:
        out.heading("ROW", "COLUMN+CELL")
        for row in rows:
            key = show_key(row.key)
            for cell in row.raw_cells:
                out.row(key, f"column={show_column(cell[0])}, {show_cell(*cell)}")
            # With BATCH a row comes in several parts, and each of them counts.
            count += -(-len(row.raw_cells) // batch) if batch > 0 else 1
    out.footer(count)


def count(session: Session, table: Value, options: Value = None) -> int:
    """Counts rows; shows the count and the row key every 1,000 rows.

    count 'webtable'
    count 'webtable', INTERVAL => 100000
    count 'webtable', {STARTROW => 'com.example', STOPROW => 'com.example~'}
    count 'webtable', FILTER => "PrefixFilter('com.')"
    """
    if isinstance(options, int) and not isinstance(options, bool):
        options = {"INTERVAL": options}
    given = _options("count", options, {"INTERVAL"} | _HINTS | _CHOOSING | _RANGE)
    interval = to_int(given.get("INTERVAL", 1000), "INTERVAL")
    if interval < 1:
        raise InvalidRequest(f"INTERVAL {interval} is less than 1", hint="such as 1000")
    wanted = _filter(given)
    first_only = FirstKeyOnlyFilter()
    filter = FilterList((wanted, first_only)) if wanted is not None else first_only
    number = 0
    session.out.heading()
    with _rows(session, table, _scan(given, _columns(given), filter)) as rows:
        for row in rows:
            number += 1
            if number % interval == 0:
                session.out.row(f"Current count: {number}, row: {show_bytes(row.key)}")
                session.out.flush()
    session.out.footer(number)
    return number


def get_counter(session: Session, table: Value, row: Value, column: Value) -> None:
    """Shows the value of a counter.

    get_counter 'counters', 'com.example', 'f:visits'
    """
    name = parse_column(to_bytes(column, "the column")).name
    found = session.table(table).get(to_bytes(row, "the row key"), [name])
    value = found.raw_cells[0][2] if found else None
    if value is None:
        session.out.line("No counter found at specified coordinates")
        return
    if len(value) < 8:
        raise InvalidRequest(
            f"'{show_bytes(value):.80}' in {show_bytes(name)} is no counter",
            hint="a counter has 8 bytes; `incr` makes one",
        )
    session.out.line(f"COUNTER VALUE = {int.from_bytes(value[:8], 'big', signed=True)}")


def _options(command: str, options: Value, allowed: set[str]) -> dict[str, Value]:
    given = {} if options is None else to_hash(options, "the second argument")
    given = {ALIASES.get(key, key): value for key, value in given.items()}
    for key, reason in _UNSUPPORTED.items():
        if key in given:
            raise InvalidRequest(f"{command} cannot have {key}: {reason}", hint="leave it out")
    check_keys(command, given, allowed)
    return given


def _get_options(rest: tuple[Value, ...]) -> dict[str, Value]:
    if rest and isinstance(rest[0], dict):
        if len(rest) > 1:
            raise InvalidRequest("get takes nothing after its options", hint="see `help 'get'`")
        return _options("get", rest[0], _SHOWING | _HINTS | _CHOOSING)
    columns: list[Value] = []
    for each in rest:
        columns += each if isinstance(each, list) else [each]
    return {"COLUMNS": [each for each in columns if each is not None]}


def _columns(options: dict[str, Value]) -> list[Column]:
    given = options.get("COLUMNS", options.get("COLUMN", []))
    listed = to_list(given, "COLUMNS") if isinstance(given, list) else [given]
    return [parse_column(to_bytes(each, "a column")) for each in listed]


def _cell_format(session: Session, options: dict[str, Value], columns: list[Column]) -> CellFormat:
    formatter = check_formatter(
        to_text(options.get("FORMATTER", b"toStringBinary"), "FORMATTER"),
        to_text(
            options.get("FORMATTER_CLASS", b"org.apache.hadoop.hbase.util.Bytes"), "FORMATTER_CLASS"
        ),
    )
    maxlength = to_int(options.get("MAXLENGTH", -1), "MAXLENGTH")
    return CellFormat(
        columns,
        formatter,
        maxlength=None if maxlength < 0 else maxlength,
        epoch=session.epoch,
    )


def _time_range(options: dict[str, Value]) -> tuple[int, int] | None:
    if options.get("TIMERANGE") is not None:
        bounds = to_list(options["TIMERANGE"], "TIMERANGE")
        if len(bounds) != 2:
            raise InvalidRequest(
                f"TIMERANGE has {len(bounds)} entries", hint="such as [start, stop] in milliseconds"
            )
        return to_int(bounds[0], "TIMERANGE's start"), to_int(bounds[1], "TIMERANGE's stop")
    if options.get("TIMESTAMP") is not None:
        timestamp = to_int(options["TIMESTAMP"], "TIMESTAMP")
        return timestamp, timestamp + 1
    return None


def _filter(options: dict[str, Value]) -> Filter | None:
    text = options.get("FILTER")
    return None if text is None else parse_filter(to_bytes(text, "FILTER"))


def _scan(options: dict[str, Value], columns: list[Column], filter: Filter | None) -> Scan:
    start = to_bytes(options.get("STARTROW", b""), "STARTROW")
    stop = to_bytes(options.get("STOPROW", b""), "STOPROW")
    if "ROWPREFIXFILTER" in options:
        start = to_bytes(options["ROWPREFIXFILTER"], "ROWPREFIXFILTER")
        stop = prefix_end(start)
    reverse = to_bool(options.get("REVERSED", False), "REVERSED")
    if reverse:
        # HBase goes from the greater STARTROW, inclusive, down to STOPROW, exclusive; a Scan has
        # the smaller bound first. The key after k is k and a zero byte.
        start, stop = (stop and stop + b"\x00"), (start and start + b"\x00")
    limit = to_int(options.get("LIMIT", 0), "LIMIT")
    cache = to_int(options.get("CACHE", 0), "CACHE")
    return Scan(
        start=start,
        stop=stop,
        columns=tuple(column.name for column in columns),
        versions=max(1, to_int(options.get("VERSIONS", 1), "VERSIONS")),
        time_range=_time_range(options),
        limit=limit if limit > 0 else None,
        reverse=reverse,
        raw=to_bool(options.get("RAW", False), "RAW"),
        filter=filter,
        batch_rows=cache if cache > 0 else None,
    )


@contextmanager
def _rows(session: Session, table: Value, scan: Scan) -> Iterator[Iterator[Row]]:
    """Opens a scan and closes it however it ends, so that an interrupt frees everything at once."""
    rows = session.table(table).scan(scan)
    try:
        yield rows
    finally:
        if close := cast("Callable[[], None] | None", getattr(rows, "close", None)):
            close()
