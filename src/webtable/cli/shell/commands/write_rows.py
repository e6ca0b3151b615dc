"""The commands that write rows: put, delete, deleteall, incr, append, truncate."""

from __future__ import annotations

from webtable import Delete, TableSchema
from webtable.cli.output_formats import show_bytes
from webtable.cli.shell.language.ruby_values import (
    Value,
    check_keys,
    to_bytes,
    to_hash,
    to_int,
    to_text,
)
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest
from webtable.store.cells_and_rows import MAX_TIMESTAMP

_NOT_SENT = {
    "ATTRIBUTES": "attributes are not sent here",
    "VISIBILITY": "visibility labels are not supported here",
}


def put(
    session: Session, table: Value, row: Value, column: Value, value: Value, *rest: Value
) -> None:
    r"""Stores a value in a column of a row.

    put 'webtable', 'com.example_about', 'metadata:title', 'About us'
    put 'webtable', 'com.example_about', 'metadata:title', 'About us', 1735689600000
    put 'webtable', 'com.example_about', 'metadata:title', 'About us', {TTL => 60000}
    put 'counters', "key\x00\xff", 'f:bytes', "\x00\x01"
    """
    timestamp, options = _tail("put", rest, {"TTL"})
    ttl = options.get("TTL")
    session.table(table).put(
        to_bytes(row, "the row key"),
        {_column(column): to_bytes(value, "the value")},
        timestamp=timestamp,
        ttl_ms=None if ttl is None else to_int(ttl, "TTL"),
    )


def delete(session: Session, table: Value, row: Value, column: Value, *rest: Value) -> None:
    """Deletes one version of a column: the newest, or the one with a timestamp.

    delete 'webtable', 'com.example_about', 'metadata:title'
    delete 'webtable', 'com.example_about', 'metadata:title', 1735689600000
    """
    timestamp, _ = _tail("delete", rest, set())
    name = to_bytes(column, "the column")
    mutation = Delete(to_bytes(row, "the row key"))
    if b":" in name:
        mutation.version(name, timestamp)
    elif name:
        mutation.family_version(name, MAX_TIMESTAMP if timestamp is None else timestamp)
    else:
        raise InvalidRequest("the column is empty", hint="`deleteall` deletes a whole row")
    session.table(table).mutate(mutation.row, [mutation])


def deleteall(
    session: Session, table: Value, row: Value, column: Value = None, *rest: Value
) -> None:
    """Deletes a row, a family or a column of it, with all versions; or all rows of a prefix.

    deleteall 'webtable', 'com.example_about'
    deleteall 'webtable', 'com.example_about', 'metadata:title'
    deleteall 'webtable', 'com.example_about', 'metadata:title', 1735689600000
    deleteall 'webtable', 'com.example_about', '', 1735689600000
    deleteall 'webtable', {ROWPREFIXFILTER => 'com.example'}
    """
    timestamp, _ = _tail("deleteall", rest, set())
    columns = [to_bytes(column, "the column")] if column not in (None, b"") else []
    found = session.table(table)
    if not isinstance(row, dict):
        found.delete(to_bytes(row, "the row key"), columns, timestamp=timestamp)
        return
    check_keys("deleteall", row, {"ROWPREFIXFILTER", "CACHE"})
    prefix = to_bytes(row.get("ROWPREFIXFILTER"), "ROWPREFIXFILTER")
    if not prefix:
        raise InvalidRequest("ROWPREFIXFILTER is empty", hint="`truncate` deletes all rows")
    size = to_int(row.get("CACHE", 100), "CACHE")
    with found.batch(size=size) as batch:
        for each in found.scan(prefix=prefix, filter="KeyOnlyFilter() AND FirstKeyOnlyFilter()"):
            batch.delete(each.key, columns, timestamp=timestamp)


def incr(session: Session, table: Value, row: Value, column: Value, *rest: Value) -> None:
    """Adds to a counter, by default 1, and shows its new value.

    incr 'counters', 'com.example', 'f:visits'
    incr 'counters', 'com.example', 'f:visits', 10
    incr 'counters', 'com.example', 'f:visits', -1
    """
    amount, _ = _tail("incr", rest, set())
    key = to_bytes(row, "the row key")
    new = session.table(table).increment(key, _column(column), 1 if amount is None else amount)
    session.out.line(f"COUNTER VALUE = {new}")


def append(
    session: Session, table: Value, row: Value, column: Value, value: Value, *rest: Value
) -> None:
    """Adds to the end of a value, and shows the whole.

    append 'webtable', 'com.example_about', 'metadata:title', ' (old)'
    """
    _tail("append", (None, *rest), set())
    whole = session.table(table).append(
        to_bytes(row, "the row key"), _column(column), to_bytes(value, "the value")
    )
    session.out.line(f"CURRENT VALUE = {show_bytes(whole)}")


def truncate(session: Session, table: Value) -> None:
    """Removes all rows of a table, and its split keys.

    truncate 'webtable'
    """
    _truncate(session, to_text(table, "the table's name"), with_splits=False)


def truncate_preserve(session: Session, table: Value) -> None:
    """Removes all rows of a table; its regions stay.

    truncate_preserve 'webtable'
    """
    _truncate(session, to_text(table, "the table's name"), with_splits=True)


def _truncate(session: Session, name: str, *, with_splits: bool) -> None:
    store, out = session.store, session.out
    was_enabled = store.admin.is_enabled(name)
    out.line(f"Truncating '{name}' table (it may take a while):")
    if was_enabled:
        out.line("Disabling table...")
    out.line("Truncating table...")
    if with_splits or len(store.admin.regions(name)) == 1:
        store.truncate_table(name)
        # As in HBase a truncated table is in service, whatever it was before.
        store.admin.enable_table(name)
        return
    schema: TableSchema = store.describe_table(name)
    store.drop_table(name)
    store.create_table(schema)


def _column(column: Value) -> bytes:
    """Returns the column to write to; a family alone is its column without a qualifier."""
    name = to_bytes(column, "the column")
    return name if b":" in name else name + b":"


def _tail(
    command: str, rest: tuple[Value, ...], allowed: set[str]
) -> tuple[int | None, dict[str, Value]]:
    """Returns the number and the options that may end a command, in either's absence too."""
    number = rest[0] if rest and not isinstance(rest[0], dict) else None
    options = rest if rest and isinstance(rest[0], dict) else rest[1:]
    if len(options) > 1:
        raise InvalidRequest(f"{command} has too many arguments", hint=f"see `help '{command}'`")
    given = to_hash(options[0], "the last argument") if options and options[0] is not None else {}
    for key, reason in _NOT_SENT.items():
        if key in given:
            raise InvalidRequest(f"{command} cannot have {key}: {reason}", hint="leave it out")
    if given and not allowed:
        raise InvalidRequest(f"{command} has no options here", hint=f"see `help '{command}'`")
    check_keys(command, given, allowed)
    return None if number is None else to_int(number, "the number after the column"), given
