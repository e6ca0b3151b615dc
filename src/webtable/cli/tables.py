"""`webtable tables` and `webtable stats`: what a store holds, and how much of it."""

from __future__ import annotations

import click

from webtable import Store, Table
from webtable.cli.options import (
    Format,
    format_option,
    limit_option,
    open_for_reading,
    store_option,
)
from webtable.cli.output import Column, Item, page_of, print_items

__all__ = ["stats", "tables"]

TABLE_COLUMNS = (
    Column("table", "TABLE"),
    Column("families", "FAMILIES"),
    Column("disk_bytes", "DISK", "size"),
    Column("memory_bytes", "MEMORY", "size"),
    Column("cells", "CELLS", "count"),
)

FAMILY_COLUMNS = (
    Column("table", "TABLE"),
    Column("family", "FAMILY"),
    Column("disk_bytes", "DISK", "size"),
    Column("memory_bytes", "MEMORY", "size"),
    Column("cells", "CELLS", "count"),
    Column("files", "FILES", "count"),
)

start_option = click.option(
    "--start", metavar="TABLE", default="", help="Begin with this table, or the first one after it."
)


@click.command(short_help="List the tables with their families and sizes.")
@store_option
@format_option
@limit_option
@start_option
def tables(location: str, form: Format, limit: int | None, start: str) -> None:
    """List the tables with their families and sizes.

    Cells are an estimate and count every version; '-' where the engine does not know.
    """
    with open_for_reading(location) as store:
        names, next_table = page_of(store.tables(), str, start, limit)
        items = [_table_item(store.table(name)) for name in names]
    print_items(items, TABLE_COLUMNS, form, next_key=next_table)


@click.command(short_help="Show sizes and counts, family by family.")
@click.argument("table", required=False)
@store_option
@format_option
@limit_option
@start_option
def stats(table: str | None, location: str, form: Format, limit: int | None, start: str) -> None:
    """Show sizes and counts of TABLE, or of all tables, family by family.

    --limit counts tables. Cells are an estimate and count every version; '-' where the engine
    does not know. HBase measures whole regions: there a family's sizes are known where it is
    the only one of its table; `webtable tables` has the sizes of whole tables.
    """
    with open_for_reading(location) as store:
        names = [table] if table else store.tables()
        chosen, next_table = page_of(names, str, "" if table else start, limit)
        items = [item for name in chosen for item in _family_items(store, name)]
    print_items(items, FAMILY_COLUMNS, form, next_key=next_table)


def _table_item(table: Table) -> Item:
    stats = table.stats()
    counts = [family.cells for family in stats.families]
    return {
        "table": table.name,
        "families": [family.family for family in stats.families],
        "disk_bytes": stats.disk_bytes,
        "memory_bytes": stats.memory_bytes,
        "cells": None if None in counts else sum(count or 0 for count in counts),
    }


def _family_items(store: Store, name: str) -> list[Item]:
    return [{"table": name, **family._asdict()} for family in store.table(name).stats().families]
