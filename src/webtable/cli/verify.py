"""`webtable verify` and `webtable index`: whether a store of pages is right, and its indexes."""

from __future__ import annotations

import click

from webtable.cli.options import (
    Format,
    format_option,
    open_for_reading,
    open_for_writing,
    store_option,
)
from webtable.cli.output import Column, print_item, print_items, show_bytes, talk
from webtable.pages.checking import PageReport, verify_pages
from webtable.pages.parsing import parse_stored
from webtable.pages.table import PageTable
from webtable.records.upkeep import build

__all__ = ["index", "verify"]

DIFFERENT = 6


@click.command(short_help="Check that pages and indexes agree; mend what does not.")
@store_option
@format_option
@click.option("--repair", is_flag=True, help="Mend what can be, and remove what is left over.")
@click.pass_context
def verify(ctx: click.Context, location: str, form: Format, repair: bool) -> None:
    """Check every page against its captures, and the indexes against the pages.

    Leftovers of writers that died are garbage, not differences. The exit code is 6 where
    something differs that was not mended.
    """
    opened = open_for_writing(location) if repair else open_for_reading(location)
    with opened as store:
        report = verify_pages(PageTable.open(store, parse_stored), repair=repair)
    _print(report, form)
    is_mended = repair and not report.differences and not report.indexes.conflicts
    if not report.is_clean and not is_mended:
        ctx.exit(DIFFERENT)


def _print(report: PageReport, form: Format) -> None:
    indexes = report.indexes
    item = {
        "pages": report.pages,
        "differences": report.differences,
        "missing": len(indexes.missing),
        "pending": indexes.pending,
        "leftovers": indexes.leftovers,
        "young": indexes.young,
        "repaired": indexes.repaired,
    }
    examples = [
        {"row_key": show_bytes(each.row), "url": each.url, "what": each.what}
        for each in report.examples
    ]
    print_item({**item, "examples": examples}, form, shown=item)
    if form == "json":
        return
    for each, example in zip(report.examples, examples, strict=True):
        mended = "mended: " if each.is_mended else ""
        talk(f"{mended}{example['row_key']}: {each.what}")
    for missing in indexes.missing[:20]:
        talk(f"{missing.name} lacks {show_bytes(missing.key)}")


@click.group(short_help="Look after the indexes of pages.")
def index() -> None:
    """Look after the indexes of pages."""


@index.command("list", short_help="List the indexes and whether they are ready.")
@store_option
@format_option
def list_(location: str, form: Format) -> None:
    """List the indexes and whether they are ready."""
    with open_for_reading(location) as store:
        rows = PageTable.open(store, parse_stored).rows
        items = [{"index": name, "state": rows.state(name)} for name in rows.indexes]
    print_items(items, (Column("index", "INDEX"), Column("state", "STATE")), form)


@index.command("build", short_help="Build an index anew, while loading goes on.")
@click.argument("name")
@store_option
def build_(name: str, location: str) -> None:
    """Build index NAME anew from the pages; it answers nothing until that is done."""
    with open_for_writing(location) as store:
        rows = PageTable.open(store, parse_stored).rows
        if rows.state(name) == "ready":
            rows.set_state(name, "building")
        count = build(rows, name)
    talk(f"{name}: built from {count:,} pages")
