"""`webtable index …`: the indexes of pages."""

from __future__ import annotations

import click

from webtable.cli.output_formats import Column, print_items, talk
from webtable.cli.shared_options import (
    Format,
    format_option,
    group_store_option,
    store_option,
)
from webtable.webtable import WebTable

__all__ = ["index"]


@click.group(short_help="List and build the indexes of pages.")
@group_store_option
def index() -> None:
    """List and build the indexes of pages."""


@index.command("list", short_help="List the indexes and their states.")
@store_option
@format_option
def list_(location: str, form: Format) -> None:
    """List the indexes and whether they are ready."""
    with WebTable.open(location, read_only=True) as web:
        items = [{"index": name, "state": state} for name, state in web.indexes().items()]
    print_items(items, (Column("index", "INDEX"), Column("state", "STATE")), form)


@index.command("build", short_help="Rebuild an index; loads may run meanwhile.")
@click.argument("name")
@store_option
def build_(name: str, location: str) -> None:
    """Rebuild index NAME from the pages; queries that need it fail until it is complete."""
    with WebTable.open(location, create=False) as web:
        count = web.build_index(name)
    talk(f"{name}: built from {count:,} pages")
