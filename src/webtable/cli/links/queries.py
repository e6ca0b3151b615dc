"""`webtable links top`, `in`, `out`, `domains`, `anchors`, `changes` and `dump`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack

import click

from webtable.cli.links.results import kind_options, open_links, print_past
from webtable.cli.list_output import (
    Listing,
    Moment,
    domain_option,
    list_options,
    options_of,
    print_results,
)
from webtable.cli.options import Format, format_option, store_option
from webtable.cli.output import Column, more_follows, talk
from webtable.cli.safe_text import show_text
from webtable.links.asking.queries import ANCHOR_SOURCES
from webtable.links.asking.wide_rows import Kind

if TYPE_CHECKING:
    from webtable.links.asking.dump import DumpCell

__all__ = ["anchors", "changes", "domains", "dump_", "in_", "out", "top"]

RANK_COLUMNS = (Column("url", "URL", "name"), Column("inlinks", "INLINKS", "count"))
DOMAIN_COLUMNS = (Column("domain", "DOMAIN"), Column("pages", "PAGES", "count"))
ANCHOR_COLUMNS = (Column("anchor", "ANCHOR"), Column("pages", "PAGES", "count"))
IN_COLUMNS = (
    Column("source", "SOURCE", "name"),
    Column("anchor", "ANCHOR"),
    Column("rel", "REL", spare=2),
    Column("internal", "INTERNAL", spare=1),
    Column("first_seen", "FIRST SEEN", "when"),
    Column("last_seen", "LAST SEEN", "when"),
)
OUT_COLUMNS = (
    Column("target", "TARGET", "name"),
    Column("anchor", "ANCHOR"),
    Column("rel", "REL", spare=2),
    Column("internal", "INTERNAL", spare=1),
    Column("status", "STATUS", "status"),
)
CHANGE_COLUMNS = (
    Column("change", "CHANGE"),
    Column("source", "SOURCE", "name"),
    Column("target", "TARGET", "name"),
    Column("anchor", "ANCHOR"),
    Column("was", "WAS"),
    Column("internal", "INTERNAL", spare=1),
    Column("at", "AT", "when"),
)
DUMP_COLUMNS = tuple(Column(key, key) for key in ("row", "family", "qualifier", "value"))

as_of_option = click.option(
    "--as-of",
    metavar="DATE",
    type=Moment(),
    help="Show the links as they were at this day or time (UTC).",
)


@click.command(short_help="List the pages with the most inlinks.")
@store_option
@format_option
@list_options
@kind_options
@domain_option("Only pages of this domain or host.")
def top(
    location: str, form: Format, *, kind: Kind, domain: str, **listing: Unpack[Listing]
) -> None:
    """List the pages with the most inlinks, the most linked first."""
    with open_links(location) as web:
        found = web.links.top(domain=domain, kind=kind, **options_of(listing))
        print_results(found, RANK_COLUMNS, form, listing)


@click.command("in", short_help="List the links to a page.")
@click.argument("url")
@store_option
@format_option
@list_options
@kind_options
@domain_option("Only links from pages of this domain.")
@as_of_option
def in_(
    url: str,
    location: str,
    form: Format,
    *,
    kind: Kind,
    domain: str,
    as_of: int | None,
    **listing: Unpack[Listing],
) -> None:
    """List the links to the page at URL, sorted by source, with their anchor texts.

    Several links on one source page are several items, but count as one inlink. first_seen and
    last_seen are the times of the first and the last stored capture of the source with this link.
    """
    with open_links(location) as web:
        found = web.links.to(url, as_of=as_of, kind=kind, domain=domain, **options_of(listing))
        show = print_results if as_of is None else print_past
        show(found, IN_COLUMNS, form, listing)


@click.command(short_help="List the links on a page.")
@click.argument("url")
@store_option
@format_option
@list_options
@kind_options
@domain_option("Only links to pages of this domain.")
@as_of_option
def out(
    url: str,
    location: str,
    form: Format,
    *,
    kind: Kind,
    domain: str,
    as_of: int | None,
    **listing: Unpack[Listing],
) -> None:
    """List the links on the page at URL, in page order, with the status of each target."""
    with open_links(location) as web:
        found = web.links.on(url, as_of=as_of, kind=kind, domain=domain, **options_of(listing))
        show = print_results if as_of is None else print_past
        show(found, OUT_COLUMNS, form, listing)


@click.command(short_help="List the domains and their numbers of pages.")
@store_option
@format_option
@list_options
def domains(location: str, form: Format, **listing: Unpack[Listing]) -> None:
    """List the domains, sorted, with the number of their pages that are crawled or linked to."""
    with open_links(location) as web:
        print_results(web.links.domains(**options_of(listing)), DOMAIN_COLUMNS, form, listing)


@click.command(short_help="List the anchor texts of the links to a page.")
@click.argument("url")
@store_option
@format_option
@list_options
@kind_options
@click.option(
    "--sources",
    metavar="N",
    type=click.IntRange(min=0),
    default=ANCHOR_SOURCES,
    show_default=True,
    help="Count the anchor texts of the first N linking pages; 0 counts all.",
)
@domain_option("Only links from pages of this domain.")
def anchors(
    url: str,
    location: str,
    form: Format,
    *,
    kind: Kind,
    sources: int,
    domain: str,
    **listing: Unpack[Listing],
) -> None:
    """List the anchor texts of the links to URL, the most frequent first."""
    with open_links(location) as web:
        found = web.links.anchors(
            url, kind=kind, sources=sources, domain=domain, **options_of(listing)
        )
        print_results(found, ANCHOR_COLUMNS, form, listing)
    if not found.about["of_all_sources"]:
        talk(
            f"more than {sources:,} pages link here: only the anchor texts of the first"
            f" {sources:,} were counted (see --sources)"
        )


@click.command(short_help="List gained and lost links to a page or a domain.")
@click.argument("name", metavar="URL|DOMAIN")
@store_option
@format_option
@list_options
@kind_options
@click.option(
    "--since",
    metavar="DATE",
    type=Moment(),
    required=True,
    help="Changes after this time; a day counts from its end.",
)
@click.option(
    "--until",
    metavar="DATE",
    type=Moment(),
    help="Changes up to this time; a day counts to its end.  [default: now]",
)
@domain_option("Only links from pages of this domain.")
def changes(
    name: str,
    location: str,
    form: Format,
    *,
    kind: Kind,
    since: int,
    until: int | None,
    domain: str,
    **listing: Unpack[Listing],
) -> None:
    """List the links to a page or a domain that were gained, lost, or got another anchor text.

    A name without a slash is a domain. A page without a capture at --since had no links then.
    """
    with open_links(location) as web:
        found = web.links.changes(
            name, since, until, kind=kind, domain=domain, **options_of(listing)
        )
        print_past(found, CHANGE_COLUMNS, form, listing)


@click.command("dump", short_help="Print the whole link index as one table.")
@store_option
@format_option
@list_options
def dump_(location: str, form: Format, **listing: Unpack[Listing]) -> None:
    """Print the link index as one table of rows, families, qualifiers and values.

    Rows that begin with d: are domains with their pages, those with p: are pages with the links to
    them and on them, and those with t: list all pages, the most linked first. Without --limit the
    whole link index is printed.
    """
    listing["everything"] = listing["limit"] is None
    with open_links(location) as web:
        found = web.links.dump(**options_of(listing))
        if form != "table":
            print_results(found, DUMP_COLUMNS, form, listing)
            return
        _print_lines(iter(found if listing["everything"] else found.page().items))
        if not listing["everything"] and found.cursor is not None:
            more_follows("--after", found.cursor)


def _print_lines(lines: Iterator[DumpCell]) -> None:
    """Prints a table of any length as it is read."""
    from webtable.links.asking.dump import layout

    for text in layout(lines):
        click.echo(show_text(text))
