"""`webtable tables`: what a store holds."""

from __future__ import annotations

import click

from webtable import Table
from webtable.cli.open_store import open_for_reading
from webtable.cli.output_formats import Column, Item, page_of, print_items
from webtable.cli.shared_options import Format, page_options

__all__ = ["tables"]

TABLE_COLUMNS = (
    Column("table", "TABLE", "name"),
    Column("families", "FAMILIES"),
    Column("disk_bytes", "DISK", "size"),
    Column("memory_bytes", "MEMORY", "size"),
    Column("cells", "CELLS", "count"),
)


@click.command(short_help="List the tables with their families and sizes.")
@page_options("TABLE", "Begin with this table, or the first one after it.")
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
