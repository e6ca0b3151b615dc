"""`webtable verify` and `webtable index`: whether a store of pages is right, and its indexes."""

from __future__ import annotations

import click
import msgspec

from webtable.cli.options import Format, format_option, group_store_option, store_option
from webtable.cli.output import Column, print_item, print_items, show_bytes, talk
from webtable.links.checking.store_report import StoreReport
from webtable.links.checking.verify import LinkReport
from webtable.pages.checking.verify import Difference, PageReport
from webtable.webtable import WebTable

__all__ = ["index", "verify"]

DIFFERENT = 6
_SHOWN = 20


@click.command(short_help="Verify everything stored, and repair it.")
@store_option
@format_option
@click.option(
    "--repair", is_flag=True, help="Repair what can be repaired, and remove what is left over."
)
@click.option(
    "--quick", is_flag=True, help="Read no bodies, and not all files: only rows and indexes."
)
@click.option(
    "--sample",
    metavar="N",
    type=click.IntRange(min=1),
    help="Verify N random pages and their links only.",
)
@click.pass_context
def verify(
    ctx: click.Context,
    location: str,
    form: Format,
    *,
    repair: bool,
    quick: bool,
    sample: int | None,
) -> None:
    """Read everything and verify it: files, bodies, pages, indexes, links.

    Every block of every file against its checksum (an embedded store), every body against its
    digest, pages against their captures, indexes against pages, and the link index against both.
    Leftovers of writers that died are garbage, not differences, and what loads have left to do
    about links is reported apart. What --repair changed is checked again. The exit code is 6 where
    something is wrong and was not repaired.
    """
    with WebTable.open(location, read_only=not repair, create=False) as web:
        report = web.verify(repair=repair, quick=quick, sample=sample)
    _print(report, form)
    if not report.is_clean:
        ctx.exit(DIFFERENT)


def _print(report: StoreReport, form: Format) -> None:
    item, pages, links = report.to_dict(), report.pages, report.links
    examples = [
        {
            "row_key": show_bytes(each.row),
            "url": each.url,
            "what": each.what,
            "mended": each.is_mended,
        }
        for each in pages.examples
    ]
    more = {"examples": examples, "link_examples": msgspec.to_builtins(links.examples)}
    print_item({**item, **more}, form, shown=item)
    if form != "json":
        _talk(pages, links)


def _talk(report: PageReport, links: LinkReport) -> None:
    for each in _remaining(report):
        name = show_bytes(each.row) or "store"
        talk(f"{'mended: ' if each.is_mended else ''}{name}: {each.what}")
    for found in links.examples:
        talk(f"{'mended: ' if found.is_repaired else ''}links, {found.name}: {found.what}")
    for found in [] if links.left is None else links.left.examples:
        talk(
            f"not mended: links, {found.name}: {found.what}; `webtable links rebuild` writes all"
            " of it anew"
        )
    if links.work:
        talk("work about links is left: run `webtable links drain`, then verify again")
    missing = [*(report.left or report).indexes.missing]
    if links.ranks is not None:
        missing += (links.left or links).ranks_missing
    for entry in missing[:_SHOWN]:
        talk(f"{entry.name} lacks {show_bytes(entry.key)}")


def _remaining(report: PageReport) -> list[Difference]:
    """Returns what was found; of what was repaired, only what a second look did not find again."""
    if report.left is None:
        return report.examples
    still = {each.row for each in report.left.examples}
    return [
        *(each for each in report.examples if each.is_mended and each.row not in still),
        *report.left.examples,
    ]


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
