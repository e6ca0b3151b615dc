"""`webtable links broken`, `orphans`, `dead-ends` and `redirects`."""

from __future__ import annotations

from typing import Any, Unpack

import click
import msgspec

from webtable.cli.links_answers import Asked, bounds, kind_options, open_links, print_links
from webtable.cli.options import Format, format_option, store_option
from webtable.cli.output import Column, talk
from webtable.cli.page_answers import answer_options, print_answer
from webtable.links.reading import Kind
from webtable.links.redirects import redirects as ask_redirects
from webtable.links.redirects import resolved
from webtable.links.reports import LinkReports
from webtable.pages.urls import typed_url

__all__ = ["COMMANDS"]

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
    Column("is_loop", "LOOP"),
    Column("inlinks", "INLINKS", "count"),
    Column("linked_from", "LINKED FROM"),
)


@click.command(short_help="The links to pages that answer with errors.")
@store_option
@format_option
@answer_options
@kind_options
def broken(location: str, form: Format, kind: Kind, **asked: Unpack[Asked]) -> None:
    """The links to pages whose newest capture has a status from 400 on, and since when they do."""
    with open_links(location) as index:
        answer = LinkReports(index).broken(kind=kind, **bounds(asked))
    print_links(answer, BROKEN_COLUMNS, form, explain=asked["explain"])


@click.command(short_help="The pages that nobody links to.")
@store_option
@format_option
@answer_options
@kind_options
def orphans(location: str, form: Format, kind: Kind, **asked: Unpack[Asked]) -> None:
    """The crawled HTML pages that answer well, and that no page links to.

    With --internal those that no page of their own domain links to, with --external those that no
    page of another one does; these look at every page.
    """
    with open_links(location) as index:
        answer = LinkReports(index).orphans(kind=kind, **bounds(asked))
    print_answer(answer, form, asked["explain"])


@click.command("dead-ends", short_help="The pages without links.")
@store_option
@format_option
@answer_options
@kind_options
def dead_ends(location: str, form: Format, kind: Kind, **asked: Unpack[Asked]) -> None:
    """The HTML pages that answer well and link nowhere.

    With --internal those that have no link to a page of their own domain, with --external those
    that have none to another one; these look at every page.
    """
    with open_links(location) as index:
        answer = LinkReports(index).dead_ends(kind=kind, **bounds(asked))
    print_answer(answer, form, asked["explain"])


@click.command(short_help="The pages that lead elsewhere, and the links to them.")
@store_option
@format_option
@answer_options
@kind_options
@click.option(
    "--to", "url", metavar="URL", help="Only those that lead there, and how many links they bring."
)
def redirects(
    location: str, form: Format, kind: Kind, url: str | None, **asked: Unpack[Asked]
) -> None:
    """The pages that lead elsewhere: over how many hops, in a circle or not, who links to them.

    A chain is followed for five hops. With --to all redirects are read, and the pages are counted
    that link to URL or to a page that redirects there.
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


COMMANDS: tuple[click.Command, ...] = (broken, orphans, dead_ends, redirects)
