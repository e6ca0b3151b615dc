"""`webtable links broken`, `orphans`, `dead-ends` and `redirects`."""

from __future__ import annotations

from typing import Any, Unpack, cast

import click

from webtable.cli.links.results import kind_options, open_links
from webtable.cli.list_output import (
    Listing,
    domain_option,
    list_options,
    options_of,
    print_pages,
    print_results,
)
from webtable.cli.options import Format, format_option, store_option
from webtable.cli.output import Column, talk
from webtable.links.asking.wide_rows import Kind

__all__ = ["broken", "dead_ends", "orphans", "redirects"]

BROKEN_COLUMNS = (
    Column("target", "TARGET", "name"),
    Column("status", "STATUS", "status"),
    Column("since", "SINCE", "when"),
    Column("source", "SOURCE", "name"),
    Column("anchor", "ANCHOR"),
    Column("rel", "REL", spare=2),
    Column("internal", "INTERNAL", spare=1),
)
REDIRECT_COLUMNS = (
    Column("url", "URL", "name"),
    Column("hops", "HOPS", "count", spare=1),
    Column("end", "END", "name"),
    Column("status", "STATUS", "status"),
    Column("outcome", "OUTCOME"),
    Column("inlinks", "INLINKS", "count"),
    Column("linked_from", "LINKED FROM", "name"),
)


@click.command(short_help="List the links to pages with an error status.")
@store_option
@format_option
@list_options
@kind_options
@domain_option("Only links to pages of this domain.")
def broken(
    location: str, form: Format, *, kind: Kind, domain: str, **listing: Unpack[Listing]
) -> None:
    """List the links to pages whose newest capture has a status of 400 or more, and since when."""
    with open_links(location) as web:
        found = web.links.broken(domain=domain, kind=kind, **options_of(listing))
        print_results(found, BROKEN_COLUMNS, form, listing)


@click.command(short_help="List the pages without inlinks.")
@store_option
@format_option
@list_options
@kind_options
@domain_option("Only pages of this domain.")
def orphans(
    location: str, form: Format, *, kind: Kind, domain: str, **listing: Unpack[Listing]
) -> None:
    """List the HTML pages with a 2xx status that no page links to.

    With --internal: that no page of their own domain links to; with --external: that no page of
    another domain links to. These two read every page.
    """
    with open_links(location) as web:
        found = web.links.orphans(domain=domain, kind=kind, **options_of(listing))
        print_pages(found, form, listing)


@click.command("dead-ends", short_help="List the pages without links.")
@store_option
@format_option
@list_options
@kind_options
@domain_option("Only pages of this domain.")
def dead_ends(
    location: str, form: Format, *, kind: Kind, domain: str, **listing: Unpack[Listing]
) -> None:
    """List the HTML pages with a 2xx status that have no links.

    With --internal: no links to pages of their own domain; with --external: no links to pages of
    other domains. These two read every page.
    """
    with open_links(location) as web:
        found = web.links.dead_ends(domain=domain, kind=kind, **options_of(listing))
        print_pages(found, form, listing)


@click.command(short_help="List redirects, and the links to them.")
@store_option
@format_option
@list_options
@kind_options
@domain_option("Only redirects of pages of this domain.")
@click.option(
    "--to",
    "url",
    metavar="URL",
    help="Only redirects that lead to URL; prints also how many links they bring to it.",
)
def redirects(
    location: str,
    form: Format,
    *,
    kind: Kind,
    domain: str,
    url: str | None,
    **listing: Unpack[Listing],
) -> None:
    """List redirects: the number of hops, the outcome, and the pages that link to them.

    The outcome is "ok" or "broken" by the status of the last page, "not-crawled", "loop", or
    "too-long" after twenty hops. --to reads all redirects, and counts the pages that link to URL or
    to a page that redirects to it within five hops.
    """
    with open_links(location) as web:
        found = web.links.redirects(to=url, domain=domain, kind=kind, **options_of(listing))
        if url is not None:
            count = cast("dict[str, Any]", found.page().about["resolved"])
            talk(
                f"{count['resolved']:,} pages link to {count['url']}: {count['inlinks']:,}"
                f" directly, the others through {count['redirects']:,} redirects"
            )
        print_results(found, REDIRECT_COLUMNS, form, listing)
