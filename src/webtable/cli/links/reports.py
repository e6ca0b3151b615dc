"""`webtable links broken`, `orphans`, `dead-ends` and `redirects`."""

from __future__ import annotations

from typing import Any, Unpack

import click
import msgspec

from webtable.cli.links.results import Asked, bounds, kind_options, open_links, print_links
from webtable.cli.options import Format, format_option, store_option
from webtable.cli.output import Column, talk
from webtable.cli.pages.results import answer_options, print_answer
from webtable.links.asking.redirects import redirects as ask_redirects
from webtable.links.asking.redirects import resolved
from webtable.links.asking.reports import LinkReports
from webtable.links.asking.wide_rows import Kind
from webtable.pages.urls import typed_url

__all__ = ["broken", "dead_ends", "orphans", "redirects"]

BROKEN_COLUMNS = (
    Column("target", "TARGET"),
    Column("status", "STATUS", "count"),
    Column("since", "SINCE"),
    Column("source", "SOURCE"),
    Column("anchor", "ANCHOR"),
    Column("rel", "REL"),
    Column("internal", "INTERNAL"),
)
REDIRECT_COLUMNS = (
    Column("url", "URL"),
    Column("hops", "HOPS", "count"),
    Column("end", "END"),
    Column("status", "STATUS", "count"),
    Column("outcome", "OUTCOME"),
    Column("inlinks", "INLINKS", "count"),
    Column("linked_from", "LINKED FROM"),
)


@click.command(short_help="List the links to pages with an error status.")
@store_option
@format_option
@answer_options
@kind_options
def broken(location: str, form: Format, kind: Kind, **asked: Unpack[Asked]) -> None:
    """List the links to pages whose newest capture has a status of 400 or more, and since when."""
    with open_links(location) as index:
        answer = LinkReports(index).broken(kind=kind, **bounds(asked))
    print_links(answer, BROKEN_COLUMNS, form, explain=asked["explain"])


@click.command(short_help="List the pages without inlinks.")
@store_option
@format_option
@answer_options
@kind_options
def orphans(location: str, form: Format, kind: Kind, **asked: Unpack[Asked]) -> None:
    """List the HTML pages with a 2xx status that no page links to.

    With --internal: that no page of their own domain links to; with --external: that no page of
    another domain links to. These two read every page.
    """
    with open_links(location) as index:
        answer = LinkReports(index).orphans(kind=kind, **bounds(asked))
    print_answer(answer, form, asked["explain"])


@click.command("dead-ends", short_help="List the pages without links.")
@store_option
@format_option
@answer_options
@kind_options
def dead_ends(location: str, form: Format, kind: Kind, **asked: Unpack[Asked]) -> None:
    """List the HTML pages with a 2xx status that have no links.

    With --internal: no links to pages of their own domain; with --external: no links to pages of
    other domains. These two read every page.
    """
    with open_links(location) as index:
        answer = LinkReports(index).dead_ends(kind=kind, **bounds(asked))
    print_answer(answer, form, asked["explain"])


@click.command(short_help="List redirects, and the links to them.")
@store_option
@format_option
@answer_options
@kind_options
@click.option(
    "--to",
    "url",
    metavar="URL",
    help="Only redirects to URL, and the number of links that they bring.",
)
def redirects(
    location: str, form: Format, kind: Kind, url: str | None, **asked: Unpack[Asked]
) -> None:
    """List redirects: the number of hops, the outcome, and the pages that link to them.

    The outcome is "ok" or "broken" by the status of the last page, "not-crawled", "loop", or
    "too-long" after twenty hops. With --to all redirects are read, and the pages are counted that
    link to URL or to a page that redirects there within five hops.
    """
    more: dict[str, Any] = {}
    with open_links(location) as index:
        if url is None:
            answer = ask_redirects(index, kind=kind, **bounds(asked))
        else:
            count, answer = resolved(index, typed_url(url), kind=kind, **bounds(asked))
            more = {"resolved": msgspec.to_builtins(count)}
            talk(
                f"{count.resolved:,} pages link to {count.url}: {count.inlinks:,} directly, the"
                f" others through {count.redirects:,} redirects"
            )
    print_links(answer, REDIRECT_COLUMNS, form, explain=asked["explain"], more=more)
