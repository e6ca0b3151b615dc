"""`webtable namespace …`: the namespaces of a cluster or store."""

from __future__ import annotations

import click

from webtable.cli.open_store import open_for_reading, open_for_writing
from webtable.cli.output_formats import Column, print_named, talk
from webtable.cli.shared_options import (
    Format,
    group_store_option,
    page_options,
    store_option,
)

__all__ = ["namespace"]

COLUMNS = (Column("name", "NAMESPACE"), Column("tables", "TABLES", "count"))


@click.group(short_help="List, create and drop namespaces.")
@group_store_option
def namespace() -> None:
    """List, create and drop namespaces.

    The tables of one are named NAMESPACE:TABLE; `hbase://HOST?namespace=NAME` sees only those.
    """


@namespace.command("list", short_help="List the namespaces.")
@page_options("NAME", "Begin with this one.")
def list_(location: str, form: Format, limit: int | None, start: str) -> None:
    """List the namespaces with the number of their tables."""
    with open_for_reading(location) as store:
        print_named(store.admin.namespaces(), COLUMNS, form, start=start, limit=limit)


@namespace.command(short_help="Create a namespace.")
@click.argument("name")
@store_option
def create(name: str, location: str) -> None:
    """Create a namespace. Creating a table in one creates it too."""
    with open_for_writing(location) as store:
        store.admin.create_namespace(name)
    talk(f"created namespace '{name}'")


@namespace.command(short_help="Remove a namespace that has no tables.")
@click.argument("name")
@store_option
def drop(name: str, location: str) -> None:
    """Remove a namespace that has no tables."""
    with open_for_writing(location) as store:
        store.admin.drop_namespace(name)
    talk(f"dropped namespace '{name}'")
