"""`webtable links broken`, `orphans`, `dead-ends` and `redirects`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

import click

from webtable.cli.links.build_link_command import LinkQuery, link_list
from webtable.cli.output_formats import Column, talk

if TYPE_CHECKING:
    from webtable.links.asking.link_problems import BrokenLink
    from webtable.links.asking.links_api import Links
    from webtable.links.asking.redirects import Redirect
    from webtable.pages.asking.paged_results import Results
    from webtable.pages.page import Page

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
@link_list("Only links to pages of this domain.", BROKEN_COLUMNS)
def broken(links: Links, **query: Unpack[LinkQuery]) -> Results[BrokenLink]:
    """List the links to pages whose newest capture has a status of 400 or more, and since when."""
    return links.broken(**query)


@click.command(short_help="List the pages without inlinks.")
@link_list("Only pages of this domain.")
def orphans(links: Links, **query: Unpack[LinkQuery]) -> Results[Page]:
    """List the HTML pages with a 2xx status that no page links to.

    With --internal: that no page of their own domain links to; with --external: that no page of
    another domain links to. These two read every page.
    """
    return links.orphans(**query)


@click.command("dead-ends", short_help="List the pages without links.")
@link_list("Only pages of this domain.")
def dead_ends(links: Links, **query: Unpack[LinkQuery]) -> Results[Page]:
    """List the HTML pages with a 2xx status that have no links.

    With --internal: no links to pages of their own domain; with --external: no links to pages of
    other domains. These two read every page.
    """
    return links.dead_ends(**query)


@click.command(short_help="List redirects, and the links to them.")
@link_list("Only redirects of pages of this domain.", REDIRECT_COLUMNS)
@click.option(
    "--to",
    "url",
    metavar="URL",
    help="Only redirects that lead to URL; prints also how many links they bring to it.",
)
def redirects(links: Links, *, url: str | None, **query: Unpack[LinkQuery]) -> Results[Redirect]:
    """List redirects: the number of hops, the outcome, and the pages that link to them.

    The outcome is "ok" or "broken" by the status of the last page, "not-crawled", "loop", or
    "too-long" after twenty hops. --to reads all redirects, and counts the pages that link to URL or
    to a page that redirects to it within five hops.
    """
    found = links.redirects(to=url, **query)
    if url is not None:
        count = cast("dict[str, Any]", found.page().about["resolved"])
        talk(
            f"{count['resolved']:,} pages link to {count['url']}: {count['inlinks']:,}"
            f" directly, the others through {count['redirects']:,} redirects"
        )
    return found
