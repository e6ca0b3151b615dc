"""`webtable verify` and `webtable index`: whether a store of pages is right, and its indexes."""

from __future__ import annotations

import click
import msgspec

from webtable.cli.options import (
    Format,
    format_option,
    group_store_option,
    open_for_reading,
    open_for_writing,
    store_option,
)
from webtable.cli.output import Column, print_item, print_items, show_bytes, talk
from webtable.errors import NotFound
from webtable.links.graph import LinkIndex
from webtable.links.verify import LinkReport, verify_links
from webtable.pages.checking import PageReport, verify_pages
from webtable.pages.indexes import DIGESTS
from webtable.pages.parsing import parse_stored
from webtable.pages.table import PageTable
from webtable.records.upkeep import build

__all__ = ["index", "verify"]

DIFFERENT = 6


@click.command(short_help="Check that pages and indexes agree; mend what does not.")
@store_option
@format_option
@click.option("--repair", is_flag=True, help="Mend what can be, and remove what is left over.")
@click.option(
    "--sample",
    metavar="N",
    type=click.IntRange(min=1),
    help="Look at N pages, chosen by chance, and the links around them.",
)
@click.pass_context
def verify(
    ctx: click.Context, location: str, form: Format, repair: bool, sample: int | None
) -> None:
    """Check pages against their captures, indexes against pages, and the link index against both.

    Leftovers of writers that died are garbage, not differences, and what loads have left to do
    about links is told apart. The exit code is 6 where something differs that was not mended.
    """
    opened = open_for_writing(location) if repair else open_for_reading(location)
    with opened as store:
        pages = PageTable.open(store, parse_stored)
        report = verify_pages(pages, repair=repair, sample=sample)
        links = _verify_links(pages, repair=repair, sample=sample)
    _print(report, links, form)
    is_mended = repair and not report.differences and not report.indexes.conflicts
    if not (report.is_clean or is_mended) or not (links is None or links.is_clean):
        ctx.exit(DIFFERENT)


def _verify_links(pages: PageTable, *, repair: bool, sample: int | None) -> LinkReport | None:
    """Checks the link index; None where there is none."""
    try:
        found = LinkIndex.open(pages)
    except NotFound:
        return None
    return verify_links(found, repair=repair, sample=sample)


def _print(report: PageReport, links: LinkReport | None, form: Format) -> None:
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
    item |= {} if links is None else _links_item(links)
    whole: dict[str, object] = {**item, "examples": examples}
    if links is not None:
        whole["link_examples"] = msgspec.to_builtins(links.examples)
    print_item(whole, form, shown=item)
    if form == "json":
        return
    for each, example in zip(report.examples, examples, strict=True):
        mended = "mended: " if each.is_mended else ""
        talk(f"{mended}{example['row_key']}: {each.what}")
    missing = [*indexes.missing]
    if links is not None:
        for found in links.examples:
            talk(f"{'mended: ' if found.is_mended else ''}links, {found.name}: {found.what}")
        if links.work:
            talk("work about links is left: run `webtable links drain`, then verify again")
        missing += links.ranks.missing if links.ranks is not None else []
    for entry in missing[:20]:
        talk(f"{entry.name} lacks {show_bytes(entry.key)}")


def _links_item(links: LinkReport) -> dict[str, int]:
    return {
        "links": links.links,
        "uris": links.uris,
        "link_differences": links.differences,
        "link_ranks_missing": 0 if links.ranks is None else len(links.ranks.missing),
        "links_mended": links.mended,
        "link_work": links.work,
        "links_under_way": links.under_way,
    }


@click.group(short_help="Look after the indexes of pages.")
@group_store_option
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
        pages = PageTable.open(store, parse_stored)
        if name == DIGESTS and not pages.rows.index(name).is_grouped:
            pages = pages.with_groups()
        rows = pages.rows
        if rows.state(name) == "ready":
            rows.set_state(name, "building")
        count = build(rows, name)
    talk(f"{name}: built from {count:,} pages")
