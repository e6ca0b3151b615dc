"""`webtable snapshot …`: tables as they were at one time, kept by the cluster."""

from __future__ import annotations

import click

from webtable.cli.open_store import open_for_reading, open_for_writing
from webtable.cli.output_formats import Column, print_named, talk
from webtable.cli.shared_options import (
    Format,
    group_store_option,
    page_options,
    store_option,
    yes_option,
)

__all__ = ["snapshot"]

COLUMNS = (
    Column("name", "SNAPSHOT"),
    Column("table", "TABLE"),
    Column("created_ms", "TAKEN", "time"),
    Column("owner", "OWNER"),
    Column("ttl_seconds", "TTL", "count"),
)


@click.group(short_help="Take, list, restore, clone and delete snapshots of tables.")
@group_store_option
def snapshot() -> None:
    """Take, list, restore, clone and delete snapshots of tables on HBase.

    The embedded store has `webtable checkpoint` instead.
    """


@snapshot.command(short_help="Keep a table as it is now.")
@click.argument("name")
@click.argument("table")
@store_option
def take(name: str, table: str, location: str) -> None:
    """Keep TABLE as it is now under NAME; it needs almost no space at first."""
    with open_for_writing(location) as store:
        store.admin.take_snapshot(name, table)
    talk(f"took snapshot '{name}' of table '{table}'")


@snapshot.command("list", short_help="List the snapshots of the store's tables.")
@page_options("NAME", "Begin with this one.")
def list_(location: str, form: Format, limit: int | None, start: str) -> None:
    """List the snapshots of the store's tables by name."""
    with open_for_reading(location) as store:
        print_named(store.admin.snapshots(), COLUMNS, form, start=start, limit=limit)


@snapshot.command(short_help="Make a table what it was.")
@click.argument("name")
@yes_option
@store_option
def restore(name: str, location: str) -> None:
    """Make a table what it was when snapshot NAME was taken.

    The table must be disabled, and stays so; what was written since is lost. A table that was
    dropped is made again.
    """
    with open_for_writing(location) as store:
        store.admin.restore_snapshot(name)
    talk(f"restored snapshot '{name}'; if its table is disabled, enable it: webtable table enable")


@snapshot.command(short_help="Make a new table of a snapshot.")
@click.argument("name")
@click.argument("table")
@store_option
def clone(name: str, table: str, location: str) -> None:
    """Make a new table TABLE of snapshot NAME."""
    with open_for_writing(location) as store:
        store.admin.clone_snapshot(name, table)
    talk(f"made table '{table}' of snapshot '{name}'")


@snapshot.command(short_help="Remove a snapshot.")
@click.argument("name")
@yes_option
@store_option
def delete(name: str, location: str) -> None:
    """Remove snapshot NAME; tables are not touched."""
    with open_for_writing(location) as store:
        store.admin.delete_snapshot(name)
    talk(f"deleted snapshot '{name}'")
