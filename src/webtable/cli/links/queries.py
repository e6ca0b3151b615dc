"""`webtable links top`, `in`, `out`, `domains`, `anchors`, `changes` and `dump`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Unpack

import click
import msgspec

from webtable.cli.links.results import (
    Asked,
    bounds,
    kind_options,
    open_links,
    print_links,
    print_past,
)
from webtable.cli.options import ROW_KEY, Format, format_option, limit_option, store_option
from webtable.cli.output import Column, more_follows, print_items, talk
from webtable.cli.pages.results import Moment, answer_options, cursor, shown
from webtable.cli.safe_text import show_text
from webtable.links.asking.dump import Line, dump, layout
from webtable.links.asking.history import LinkHistory
from webtable.links.asking.queries import ANCHOR_SOURCES, LinkQueries
from webtable.links.asking.wide_rows import Kind
from webtable.pages.asking.results import QueryCost, bounded
from webtable.pages.urls import typed_url

__all__ = ["anchors", "changes", "domains", "dump_", "in_", "out", "top"]

RANK_COLUMNS = (Column("url", "URL"), Column("inlinks", "INLINKS", "count"))
DOMAIN_COLUMNS = (Column("domain", "DOMAIN"), Column("pages", "PAGES", "count"))
ANCHOR_COLUMNS = (Column("anchor", "ANCHOR"), Column("pages", "PAGES", "count"))
IN_COLUMNS = (
    Column("source", "SOURCE"),
    Column("anchor", "ANCHOR"),
    Column("rel", "REL"),
    Column("internal", "INTERNAL"),
    Column("first_seen", "FIRST SEEN"),
    Column("last_seen", "LAST SEEN"),
)
OUT_COLUMNS = (
    Column("target", "TARGET"),
    Column("anchor", "ANCHOR"),
    Column("rel", "REL"),
    Column("internal", "INTERNAL"),
    Column("status", "STATUS", "count"),
)
CHANGE_COLUMNS = (
    Column("change", "CHANGE"),
    Column("source", "SOURCE"),
    Column("target", "TARGET"),
    Column("anchor", "ANCHOR"),
    Column("was", "WAS"),
    Column("internal", "INTERNAL"),
    Column("at", "AT"),
)
DUMP_COLUMNS = tuple(Column(key, key) for key in ("row", "family", "qualifier", "value"))

as_of_option = click.option("--as-of", metavar="DATE", type=Moment(), help="As it was then.")


@click.command(short_help="List the pages with the most inlinks.")
@store_option
@format_option
@answer_options
@kind_options
@click.option("--domain", metavar="DOMAIN", default="", help="Only pages of it, or of a host.")
def top(location: str, form: Format, kind: Kind, domain: str, **asked: Unpack[Asked]) -> None:
    """List the pages with the most inlinks, the most linked first."""
    with open_links(location) as index:
        answer = LinkQueries(index).top(domain, kind=kind, **bounds(asked))
    print_links(answer, RANK_COLUMNS, form, explain=asked["explain"])


@click.command("in", short_help="List the links to a page.")
@click.argument("url")
@store_option
@format_option
@answer_options
@kind_options
@as_of_option
def in_(
    url: str, location: str, form: Format, kind: Kind, as_of: int | None, **asked: Unpack[Asked]
) -> None:
    """List the links to the page at URL, sorted by source, with their anchor texts.

    Several links of one source are several items; they count as one inlink. first_seen and
    last_seen are the first and the last stored capture of the source with such a link.
    """
    with open_links(location) as index:
        if as_of is not None:
            past = LinkHistory(index).inlinks(typed_url(url), as_of, kind=kind, **bounds(asked))
            print_past(past, IN_COLUMNS, form, explain=asked["explain"])
            return
        answer = LinkQueries(index).inlinks(typed_url(url), kind=kind, **bounds(asked))
    print_links(answer, IN_COLUMNS, form, explain=asked["explain"])


@click.command(short_help="List the links on a page.")
@click.argument("url")
@store_option
@format_option
@answer_options
@kind_options
@as_of_option
def out(
    url: str, location: str, form: Format, kind: Kind, as_of: int | None, **asked: Unpack[Asked]
) -> None:
    """List the links on the page at URL, in its order, with the status of each target."""
    with open_links(location) as index:
        if as_of is not None:
            past = LinkHistory(index).outlinks(typed_url(url), as_of, kind=kind, **bounds(asked))
            print_past(past, OUT_COLUMNS, form, explain=asked["explain"])
            return
        answer = LinkQueries(index).outlinks(typed_url(url), kind=kind, **bounds(asked))
    print_links(answer, OUT_COLUMNS, form, explain=asked["explain"])


@click.command(short_help="List the domains and their numbers of pages.")
@store_option
@format_option
@answer_options
def domains(location: str, form: Format, **asked: Unpack[Asked]) -> None:
    """List the domains, sorted, with the number of their pages that are crawled or linked to."""
    with open_links(location) as index:
        answer = LinkQueries(index).domains(**bounds(asked))
    print_links(answer, DOMAIN_COLUMNS, form, explain=asked["explain"])


@click.command(short_help="List the anchor texts of the links to a page.")
@click.argument("url")
@store_option
@format_option
@answer_options
@kind_options
@click.option(
    "--sources",
    metavar="N",
    type=click.IntRange(min=0),
    default=ANCHOR_SOURCES,
    show_default=True,
    help="Count the anchor texts of the first N linking pages; 0 counts all.",
)
def anchors(
    url: str, location: str, form: Format, kind: Kind, sources: int, **asked: Unpack[Asked]
) -> None:
    """List the anchor texts of the links to URL, the most frequent first."""
    with open_links(location) as index:
        asks = LinkQueries(index)
        answer, is_all = asks.anchors(typed_url(url), kind=kind, sources=sources, **bounds(asked))
    print_links(
        answer, ANCHOR_COLUMNS, form, explain=asked["explain"], more={"of_all_sources": is_all}
    )
    if not is_all:
        talk(
            f"more than {sources:,} pages link here: only the anchor texts of the first"
            f" {sources:,} were counted (see --sources)"
        )


@click.command(short_help="List gained and lost links to a page or a domain.")
@click.argument("name", metavar="URL|DOMAIN")
@store_option
@format_option
@answer_options
@kind_options
@click.option(
    "--since",
    metavar="DATE",
    type=Moment(),
    required=True,
    help="Links since then: a day counts from its end.",
)
@click.option("--until", metavar="DATE", type=Moment(), help="Links until then.  [default: now]")
def changes(
    name: str,
    location: str,
    form: Format,
    kind: Kind,
    *,
    since: int,
    until: int | None,
    **asked: Unpack[Asked],
) -> None:
    """List the links to a page or a domain that were gained, lost, or got another anchor text.

    A name without a slash is a domain. A page that had no capture by then counts as without links.
    """
    is_domain = "/" not in name
    with open_links(location) as index:
        found = LinkHistory(index).changes(
            name if is_domain else typed_url(name),
            (since, int(time.time()) if until is None else until),
            is_domain=is_domain,
            kind=kind,
            **bounds(asked),
        )
        print_past(found, CHANGE_COLUMNS, form, explain=asked["explain"])


@click.command("dump", short_help="Print the whole link index as one table.")
@store_option
@format_option
@limit_option
@click.option("--after", metavar="CURSOR", type=ROW_KEY, help="Go on behind this one.")
def dump_(location: str, form: Format, limit: int | None, after: bytes | None) -> None:
    """Print the whole index as one table of rows, families, qualifiers and values.

    d: rows are domains with their pages, p: rows pages with the links to them and on them, and
    t: rows all pages, the most linked first.
    """
    with open_links(location) as index:
        lines = dump(index, cursor(after))
        if limit is None and form in ("table", "jsonl"):
            _stream((line for _, line in lines), form)
            return
        answer = bounded(lines, limit or sys.maxsize, QueryCost())
    if form == "table":
        _stream(iter(answer.items), form)
        if answer.next is not None:
            more_follows("--after", shown(answer.next) or "")
        return
    items = [msgspec.to_builtins(line) for line in answer.items]
    print_items(items, DUMP_COLUMNS, form, next_key=shown(answer.next), go_on="--after")


def _stream(lines: Iterator[Line], form: Format) -> None:
    """Prints a table of any length as it is read."""
    if form == "table":
        for text in layout(lines):
            click.echo(show_text(text))
        return
    for line in lines:
        print_items([msgspec.to_builtins(line)], DUMP_COLUMNS, form)
