"""`webtable flush`, `compact` and `checkpoint`: looking after a store's files."""

from __future__ import annotations

import click

from webtable import Store, Table
from webtable.cli.open_store import open_for_reading, open_for_writing
from webtable.cli.output_formats import show_size, talk
from webtable.cli.shared_options import store_option, wait_option
from webtable.errors import InvalidRequest, NotFound

__all__ = ["checkpoint", "compact", "flush"]


@click.command(short_help="Write what is in memory to files.")
@click.argument("table", required=False)
@click.option("--server", help="Flush all regions of this server, not a table.")
@store_option
def flush(table: str | None, server: str | None, location: str) -> None:
    """Write the data that TABLE, or every table, has in memory to files."""
    if table and server:
        raise InvalidRequest("a table and --server exclude each other", hint="name one of them")
    with open_for_writing(location) as store:
        if server:
            store.admin.flush_server(server)
            talk(f"{server}: flushed")
            return
        for each in _chosen(store, table):
            each.flush()
            talk(f"{each.name}: flushed, {_size(each)} on disk")


@click.command(short_help="Rewrite tables without deleted, expired and surplus cells.")
@click.argument("table", required=False)
@click.option("--family", help="Only this family, in TABLE or in every table that has it.")
@click.option("--minor", is_flag=True, help="Only merge some files; the engine chooses them.")
@wait_option
@store_option
def compact(
    table: str | None, *, family: str | None, minor: bool, wait: bool, location: str
) -> None:
    """Major-compact TABLE, or every table: rewrite it without deleted, expired and surplus cells.

    Delete markers are removed together with the cells that they mask.
    """
    with open_for_writing(location) as store:
        for each in _chosen(store, table, family):
            before = _size(each)
            store.admin.compact(each.name, family, major=not minor, wait=wait)
            if wait:
                talk(f"{each.name}: compacted, {before} before, {_size(each)} now on disk")
            else:
                talk(f"{each.name}: to be compacted, see `webtable table compaction`")


@click.command(short_help="Write a consistent copy of the store.")
@click.argument("directory", metavar="DIR", type=click.Path())
@store_option
def checkpoint(directory: str, location: str) -> None:
    """Write a consistent copy of the store to DIR, which must not exist yet.

    The copy is a store of its own: open it with --store DIR. On the same disk it shares files
    with the original and needs almost no space at first. A store that another process writes to can
    be copied, too: the copy has all that was acknowledged before the command began.
    """
    with open_for_reading(location) as store:
        store.checkpoint(directory)
        talk(f"copied {store.location} to {directory}")


def _chosen(store: Store, table: str | None, family: str | None = None) -> list[Table]:
    """Returns the named table, or every table, with this family where one is named.

    Raises:
        TableNotFound: the named table does not exist.
        NotFound: no table has the family.
    """
    if table is not None:
        return [store.table(table)]
    tables = [store.table(name) for name in store.tables()]
    if family is None:
        return tables
    chosen = [each for each in tables if each.schema().family(family) is not None]
    if not chosen:
        known = {known.name for each in tables for known in each.schema().families}
        raise NotFound("family", family, known)
    return chosen


def _size(table: Table) -> str:
    size_bytes = table.stats().disk_bytes
    return "an unknown size" if size_bytes is None else show_size(size_bytes)
