"""`webtable stats`: how much a store holds, by family, and of pages by part and by domain."""

from __future__ import annotations

import click

from webtable import Store
from webtable.cli.open_store import open_for_reading
from webtable.cli.output_formats import Column, Item, page_of, print_items
from webtable.cli.shared_options import Format, page_options

__all__ = ["stats"]

FAMILY_COLUMNS = (
    Column("table", "TABLE", "name"),
    Column("family", "FAMILY"),
    Column("disk_bytes", "DISK", "size"),
    Column("memory_bytes", "MEMORY", "size"),
    Column("cells", "CELLS", "count"),
    Column("files", "FILES", "count"),
)
PART_COLUMNS = (
    Column("part", "PART"),
    Column("disk_bytes", "DISK", "size"),
    Column("memory_bytes", "MEMORY", "size"),
    Column("entries", "ENTRIES", "count"),
    Column("per_page", "A PAGE", "size"),
    Column("share", "OF PAGES", "share"),
)
DOMAIN_COLUMNS = (
    Column("domain", "DOMAIN"),
    Column("pages", "PAGES", "count"),
    Column("body_bytes", "BODIES", "size"),
    Column("average_bytes", "AVERAGE", "size"),
    Column("largest_bytes", "LARGEST", "size"),
    Column("largest", "WHICH", "name"),
)
MOST_DOMAINS = 20


@click.command(short_help="Show sizes and counts: by family, part or domain.")
@click.argument("table", required=False)
@page_options("TABLE", "Begin with this table, or the first one after it.")
@click.option(
    "--pages",
    "by",
    flag_value="pages",
    help="Of a store of pages: the main table, each index, and what they cost a page.",
)
@click.option(
    "--domains",
    "by",
    flag_value="domains",
    help="Of a store of pages: the domains with the largest bodies. Reads every page.",
)
def stats(
    table: str | None, location: str, form: Format, limit: int | None, *, start: str, by: str | None
) -> None:
    """Show sizes and counts of TABLE, or of all tables, family by family.

    --limit counts tables, or domains. Cells are an estimate and count every version; '-' means
    that the engine does not measure it. HBase measures whole regions: there a family has sizes only
    if it is the only one of its table; `webtable tables` has the sizes of whole tables.
    """
    if by and table:
        raise click.UsageError(f"--{by} is about the whole store; leave out '{table}'")
    with open_for_reading(location) as store:
        if by:
            _print_pages(store, by, form, limit)
            return
        names = [table] if table else store.tables()
        chosen, next_table = page_of(names, str, "" if table else start, limit)
        items = [item for name in chosen for item in _family_items(store, name)]
    print_items(items, FAMILY_COLUMNS, form, next_key=next_table)


def _family_items(store: Store, name: str) -> list[Item]:
    return [{"table": name, **family._asdict()} for family in store.table(name).stats().families]


def _print_pages(store: Store, by: str, form: Format, limit: int | None) -> None:
    from webtable.links.schema import CHANGES, INDEX_TABLE, WORK_TABLE
    from webtable.pages.checking.storage_size import domain_sizes, storage_parts
    from webtable.pages.page_table import PageTable
    from webtable.pages.storing.capture_parser import parse_stored

    pages = PageTable.open(store, parse_stored)
    if by == "domains":
        found = domain_sizes(pages, MOST_DOMAINS if limit is None else limit)
        print_items([each._asdict() for each in found], DOMAIN_COLUMNS, form)
        return
    parts = [each._asdict() for each in storage_parts(pages, (INDEX_TABLE, CHANGES, WORK_TABLE))]
    if form != "table":  # there an indent shows what is a part of what
        parts = [{**each, "part": each["part"].strip()} for each in parts]
    print_items(parts, PART_COLUMNS, form)
