"""`webtable links top`, `in`, `out`, `domains`, `anchors`, `changes` and `dump`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack

import click

from webtable.cli.links.build_link_command import (
    LinkQuery,
    kind_options,
    link_list,
    open_links,
    print_links,
)
from webtable.cli.list_options import (
    Listing,
    Moment,
    domain_option,
    list_options,
    options_of,
)
from webtable.cli.list_printing import print_results
from webtable.cli.output_formats import Column, more_follows, talk
from webtable.cli.safe_text import show_text
from webtable.cli.shared_options import (
    Format,
    count_option,
    format_option,
    store_option,
)
from webtable.links.asking.link_queries import ANCHOR_SOURCES
from webtable.links.asking.link_reader import Kind
from webtable.pages.asking.paged_results import Results

if TYPE_CHECKING:
    from webtable.links.asking.dump import DumpCell
    from webtable.links.asking.link_queries import LinkFrom, LinkTo, Ranked
    from webtable.links.asking.links_api import Links

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
@link_list("Only pages of this domain or host.", RANK_COLUMNS)
def top(links: Links, **query: Unpack[LinkQuery]) -> Results[Ranked]:
    """List the pages with the most inlinks, the most linked first."""
    return links.top(**query)


@click.command("in", short_help="List the links to a page.")
@click.argument("url")
@link_list("Only links from pages of this domain.", IN_COLUMNS)
@as_of_option
def in_(
    links: Links, *, url: str, as_of: int | None, **query: Unpack[LinkQuery]
) -> Results[LinkTo]:
    """List the links to the page at URL, sorted by source, with their anchor texts.

    Several links on one source page are several items, but count as one inlink. first_seen and
    last_seen are the times of the first and the last stored capture of the source with this link.
    """
    return links.to(url, as_of=as_of, **query)


@click.command(short_help="List the links on a page.")
@click.argument("url")
@link_list("Only links to pages of this domain.", OUT_COLUMNS)
@as_of_option
def out(
    links: Links, *, url: str, as_of: int | None, **query: Unpack[LinkQuery]
) -> Results[LinkFrom]:
    """List the links on the page at URL, in page order, with the status of each target."""
    return links.on(url, as_of=as_of, **query)


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
@count_option(
    "--sources",
    "Count the anchor texts of the first N linking pages; 0 counts all.",
    least=0,
    default=ANCHOR_SOURCES,
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
        print_links(found, CHANGE_COLUMNS, form, listing)


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
