"""`webtable tables`: what a store holds."""

from __future__ import annotations

import click

from webtable import Table
from webtable.cli.options import (
    Format,
    format_option,
    limit_option,
    open_for_reading,
    store_option,
)
from webtable.cli.output import Column, Item, page_of, print_items

__all__ = ["tables"]

TABLE_COLUMNS = (
    Column("table", "TABLE", "name"),
    Column("families", "FAMILIES"),
    Column("disk_bytes", "DISK", "size"),
    Column("memory_bytes", "MEMORY", "size"),
    Column("cells", "CELLS", "count"),
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
