"""`webtable report …`: questions about all pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from webtable.cli.links.results import ready_links
from webtable.cli.options import (
    Format,
    format_option,
    group_store_option,
    open_for_reading,
    store_option,
)
from webtable.cli.output import Column, print_items
from webtable.cli.pages.results import (
    Stamp,
    answer_options,
    cursor,
    explain_answer,
    print_answer,
    shown,
)
from webtable.links.asking.reports import linking_pages
from webtable.pages.asking.queries import MOST_DUPLICATES, PageQueries, ResultPage
from webtable.pages.page import Page
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.table import PageTable
from webtable.pages.urls import typed_url

__all__ = ["report"]


@click.group(short_help="List pages: errors, largest, modified …")
@group_store_option
def report() -> None:
    """Ask about all pages. Each answer is bounded; --after goes on from it."""


def _question(
    name: str, summary: str, ask: Callable[..., ResultPage[Page]], *parameters: Callable[[Any], Any]
) -> None:
    """Adds a report; its parameters are passed to the question by their names."""

    def run(
        location: str,
        form: Format,
        limit: int,
        after: bytes | None,
        explain: bool,
        **given: Any,
    ) -> None:
        with open_for_reading(location) as store:
            asked = PageQueries(PageTable.open(store, parse_stored))
            asked_for = {name: value for name, value in given.items() if value is not None}
            answer = ask(asked, limit=limit, after=cursor(after), **asked_for)
        print_answer(answer, form, explain)

    run.__doc__ = summary
    decorated: Callable[..., Any] = run
    for decorate in reversed((*parameters, store_option, format_option, answer_options)):
        decorated = decorate(decorated)
    report.command(name, short_help=summary)(decorated)


_question("largest", "The pages with the largest bodies, the largest first.", PageQueries.largest)
_question("errors", "The pages that answer with a status from 400 on.", PageQueries.errors)
_question("redirects", "The pages that lead elsewhere.", PageQueries.redirects)
_question("dead-ends", "The pages that answer well and link nowhere.", PageQueries.dead_ends)
_question("untitled", "The pages without a title. Looks at every page.", PageQueries.untitled)
_question(
    "inlinked",
    "The pages that most others link to.",
    PageQueries.inlinked,
    click.option(
        "--least",
        metavar="N",
        type=click.IntRange(min=0),
        default=1,
        show_default=True,
        help="With so many links.",
    ),
)
_question(
    "outdated",
    "The pages that did not change since a time, the oldest first.",
    PageQueries.outdated,
    click.option(
        "--before", metavar="DATE", type=Stamp(), required=True, help="A day, or a time in UTC."
    ),
)
_question(
    "modified",
    "The pages that changed in a range of time, the newest first.",
    PageQueries.modified,
    click.option("--since", metavar="DATE", type=Stamp(), help="From this day or time on."),
    click.option("--until", metavar="DATE", type=Stamp(), help="Before this day or time."),
    click.option("--domain", metavar="DOMAIN", default="", help="Only pages under it."),
)
_question(
    "search",
    "The pages with some words in title or body. Looks at every page.",
    PageQueries.search,
    click.argument("words"),
)


@report.command("linking-to", short_help="The pages with a link to a URL.")
@click.argument("url")
@store_option
@format_option
@answer_options
def linking_to(
    url: str, location: str, form: Format, *, limit: int, after: bytes | None, explain: bool
) -> None:
    """The pages with a link to URL. Looks at every page where there is no link index."""
    with open_for_reading(location) as store:
        pages = PageTable.open(store, parse_stored)
        index = ready_links(pages)
        if index is not None:
            answer = linking_pages(index, typed_url(url), limit=limit, after=cursor(after))
        else:
            answer = PageQueries(pages).linking_to(typed_url(url), limit=limit, after=cursor(after))
    print_answer(answer, form, explain)


@report.command(short_help="Groups of pages with the same body.")
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(min=2),
    default=MOST_DUPLICATES,
    show_default=True,
    help="Show at most N pages of each group.",
)
@store_option
@format_option
@answer_options
def duplicates(
    most: int, location: str, form: Format, *, limit: int, after: bytes | None, explain: bool
) -> None:
    """Groups of pages with the same body."""
    with open_for_reading(location) as store:
        asked = PageQueries(PageTable.open(store, parse_stored))
        answer = asked.duplicates(most=most, limit=limit, after=cursor(after))
    items = [
        {
            "digest": group.digest,
            "pages": [each.url for each in group.pages],
            "truncated": group.is_truncated,
        }
        for group in answer.items
    ]
    explain_answer(answer, explain)
    columns = (
        Column("digest", "DIGEST"),
        Column("pages", "PAGES"),
        Column("truncated", "TRUNCATED"),
    )
    print_items(items, columns, form, next_key=shown(answer.next), go_on="--after")
