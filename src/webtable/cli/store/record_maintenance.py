"""`webtable records`: looking after tables of records, by their class."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from webtable.cli.open_store import open_for_writing
from webtable.cli.output_formats import Column, print_items, talk
from webtable.cli.shared_options import (
    Format,
    format_option,
    group_store_option,
    store_option,
)
from webtable.errors import InvalidRequest
from webtable.operations.schema_update.declared_tables import record_class
from webtable.records import Collection, Record, clean_ghosts, find_ghosts

__all__ = ["record_class_here", "records"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
DIFFERENT = 6  # the exit code for data that is not as it should be

GHOSTS = [
    Column("field", "FIELD"),
    Column("records", "RECORDS", "count"),
    Column("row", "FOR EXAMPLE IN ROW"),
]
REPORT = [
    Column("rows", "ROWS", "count"),
    Column("entries", "ENTRIES", "count"),
    Column("missing", "MISSING", "count"),
    Column("conflicts", "CONFLICTS", "count"),
    Column("pending", "PENDING", "count"),
    Column("leftovers", "LEFTOVERS", "count"),
    Column("young", "YOUNG", "count"),
]


def record_option(function: _Command) -> _Command:
    """Gives a command `--record MODULE:CLASS`, passed as `record`."""
    return click.option(
        "--record",
        metavar="MODULE:CLASS",
        required=True,
        callback=lambda _ctx, _option, text: record_class_here(text),
        help="The record class; MODULE is imported from the current directory.",
    )(function)


def record_class_here(text: str) -> type[Record]:
    """Returns the record class `MODULE:CLASS`; the module may be in the current folder.

    Raises:
        InvalidRequest: it cannot be imported, or is not a record class.
    """
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    return record_class(text)


@click.group(short_help="Maintain tables of records: fields, indexes.")
@group_store_option
def records() -> None:
    """Maintain tables of records: remove ghost fields, verify and build indexes."""


@records.command(short_help="Find cells of fields that the class has no more, and clean them.")
@record_option
@click.option("--clean", is_flag=True, help="Delete the cells of ghost fields.")
@click.option("--field", "fields", multiple=True, help="Clean only this field; may be repeated.")
@format_option
@store_option
def ghosts(
    *, record: type[Record], clean: bool, fields: tuple[str, ...], form: Format, location: str
) -> None:
    """Find ghost fields: cells of fields that the record class does not have any more.

    They are never read, but need space. The whole table is scanned. With --clean they are deleted;
    by then every program must run with the class as it is now.
    """
    if fields and not clean:
        raise InvalidRequest("--field without --clean", hint="without --clean all are listed")
    with open_for_writing(location) as store:
        found = clean_ghosts(store, record, fields) if clean else find_ghosts(store, record)
    items = [{"field": each.name, "records": each.records, "row": each.row} for each in found]
    print_items(items, GHOSTS, form)
    if clean:
        talk(f"deleted {sum(each.records for each in found):,} cells")


@records.command(short_help="Verify indexes against the records.")
@record_option
@click.option("--repair", is_flag=True, help="Repair what is missing, remove what is left over.")
@format_option
@store_option
def verify(*, record: type[Record], repair: bool, form: Format, location: str) -> None:
    """Compare the indexes of a record class with its records, while others write.

    Ends with exit code 6 when an entry is missing, or two records have one key of a unique index.
    Entries left over by writers that died are counted; they do no harm.
    """
    with open_for_writing(location) as store:
        collection = Collection(store, record, create=False)
        report = now = collection.verify(repair=repair)
        if repair and not report.is_clean:
            now = collection.verify()  # the repair itself is verified
    item = {
        "rows": report.rows,
        "entries": report.entries,
        "missing": report.lacking,
        "conflicts": len(report.conflicts),
        "pending": report.pending,
        "leftovers": report.leftovers,
        "young": report.young,
    }
    print_items([item], REPORT, form)
    if not now.is_clean:
        talk(
            "the indexes still differ from the records after the repair"
            if repair
            else "the indexes differ from the records; see --repair"
        )
        sys.exit(DIFFERENT)


@records.command("build-index", short_help="Fill an index that was added to a class.")
@click.argument("index")
@record_option
@store_option
def build_index(index: str, *, record: type[Record], location: str) -> None:
    """Add the records that were there before INDEX to it, and make it ready to be read.

    Every program that writes must know the index by then.
    """
    with open_for_writing(location) as store:
        count = Collection(store, record).build_index(index)
    talk(f"{index}: built from {count:,} rows")
