"""`webtable report …`: lists of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Unpack

import click

from webtable.cli.list_options import (
    Listing,
    Moment,
    domain_option,
    list_options,
    listing_of,
    options_of,
)
from webtable.cli.list_printing import (
    print_groups,
    print_pages,
    print_results,
    suggest_domain,
)
from webtable.cli.output_formats import Column
from webtable.cli.shared_options import (
    Format,
    count_option,
    format_option,
    group_store_option,
    store_option,
)
from webtable.pages.asking.duplicates import MOST_DUPLICATES
from webtable.pages.asking.paged_results import Results
from webtable.pages.asking.reports import Reports
from webtable.pages.page import Page
from webtable.webtable import WebTable

__all__ = ["report"]

DUPLICATE_COLUMNS = (
    Column("digest", "DIGEST", "name"),
    Column("pages", "PAGES", "name"),
    Column("truncated", "TRUNCATED"),
)
DUPLICATE_LINES = (Column("digest", "DIGEST", "name"), Column("page", "PAGE", "name"))
_of_domain = domain_option("Only pages of this domain.")


@click.group(short_help="List pages: errors, largest, modified …")
@group_store_option
def report() -> None:
    """List pages with something in common, such as errors, the largest, or no title.

    Lists are limited (--limit, --all); --after continues a list.
    """


def _report(
    name: str, summary: str, ask: Callable[..., Results[Page]], *parameters: Callable[[Any], Any]
) -> None:
    """Adds a report; its parameters are passed to the query by their names."""

    def run(location: str, form: Format, **given: Any) -> None:
        listing = listing_of(given)
        with WebTable.open(location, read_only=True) as web:
            found = ask(web.reports, **given, **options_of(listing))
            if not print_pages(found, form, listing) and listing["after"] is None:
                suggest_domain(web, given["domain"])

    run.__doc__ = summary
    decorated: Callable[..., Any] = run
    for decorate in reversed((*parameters, _of_domain, store_option, format_option, list_options)):
        decorated = decorate(decorated)
    report.command(name, short_help=summary)(decorated)


_report("largest", "The pages with the largest bodies, the largest first.", Reports.largest)
_report("errors", "The pages with a status of 400 or more.", Reports.errors)
_report("redirects", "The pages that redirect to another one.", Reports.redirects)
_report("dead-ends", "The HTML pages with a 2xx status and without links.", Reports.dead_ends)
_report("untitled", "The HTML pages without a title. Reads every page.", Reports.untitled)
_report(
    "inlinked",
    "The pages with the most inlinks.",
    Reports.inlinked,
    count_option("--least", "Only pages with at least N inlinks.", least=0, default=1),
)
_report(
    "outdated",
    "The pages that did not change since a time, the oldest first.",
    Reports.outdated,
    click.option(
        "--before",
        metavar="DATE",
        type=Moment(begins=True),
        required=True,
        help="Only pages whose last change is before this day or time (UTC).",
    ),
)
_report(
    "modified",
    "The pages that changed in a range of time, the newest first.",
    Reports.modified,
    click.option(
        "--since",
        metavar="DATE",
        type=Moment(begins=True),
        help="Only changes at or after this day or time (UTC).",
    ),
    click.option(
        "--until",
        metavar="DATE",
        type=Moment(begins=True),
        help="Only changes before this day or time (UTC).",
    ),
)
_report(
    "search",
    "The pages with a text in title or body. Reads every page.",
    Reports.search,
    click.argument("words"),
)


@report.command("linking-to", short_help="The pages with a link to a URL.")
@click.argument("url")
@_of_domain
@store_option
@format_option
@list_options
def linking_to(
    url: str, domain: str, location: str, form: Format, **listing: Unpack[Listing]
) -> None:
    """The pages with a link to URL. Reads every page where there is no link index."""
    with WebTable.open(location, read_only=True) as web:
        found = web.links.linking_pages(url, domain=domain, **options_of(listing))
        print_pages(found, form, listing)


@report.command(short_help="Groups of pages with the same body.")
@count_option("--most", "Show at most N pages of each group.", least=2, default=MOST_DUPLICATES)
@domain_option("Only groups that have a page of this domain.")
@store_option
@format_option
@list_options
def duplicates(
    most: int, domain: str, location: str, form: Format, **listing: Unpack[Listing]
) -> None:
    """Groups of pages with the same body."""
    with WebTable.open(location, read_only=True) as web:
        found = web.reports.duplicates(domain=domain, most=most, **options_of(listing))
        if form == "table":
            print_groups(found, DUPLICATE_LINES, listing, _lines_of)
        else:
            print_results(found, DUPLICATE_COLUMNS, form, listing, item_of=_group)


def _group(group: Any) -> dict[str, Any]:
    return {
        "digest": group.digest,
        "pages": [each.url for each in group.pages],
        "truncated": group.is_truncated,
    }


def _lines_of(group: Any) -> Iterator[dict[str, str]]:
    """Yields the lines of a group in a table: one for each page; the first has the digest."""
    digest = group.digest
    for each in group.pages:
        yield {"digest": digest, "page": each.url}
        digest = ""
    if group.is_truncated:
        yield {"digest": "", "page": "…"}
