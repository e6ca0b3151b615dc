"""What the commands about links share: opening the store, options, lists."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from webtable.cli.list_options import (
    Listing,
    ListOptions,
    domain_option,
    list_options,
    listing_of,
    options_of,
)
from webtable.cli.list_printing import print_pages, print_results, suggest_domain
from webtable.cli.output_formats import Column, talk
from webtable.cli.shared_options import Format, format_option, store_option
from webtable.links.asking.link_reader import Kind
from webtable.pages.asking.paged_results import Results
from webtable.webtable import WebTable

__all__ = ["LinkQuery", "kind_options", "link_list", "open_links", "print_links"]


class LinkQuery(ListOptions):
    """What `link_list` gives a query."""

    kind: Kind
    domain: str


@contextlib.contextmanager
def open_links(location: str) -> Iterator[WebTable]:
    """Opens a store whose link index is complete, beside its writer.

    Raises:
        NotFound: there is no link index.
        StaleIndex: it does not have all pages.
    """
    with WebTable.open(location, read_only=True) as web:
        if not web.links.are_counts_complete:
            talk("some counts are not up to date yet; `webtable links drain` updates them")
        yield web


def kind_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--internal` and `--external`, passed as `kind`."""

    @functools.wraps(function)
    def run(*args: Any, internal: bool, external: bool, **given: Any) -> Any:
        if internal and external:
            raise click.UsageError("--internal and --external exclude each other")
        kind: Kind = "internal" if internal else "external" if external else "all"
        return function(*args, kind=kind, **given)

    run = click.option("--external", is_flag=True, help="Only links between two domains.")(run)
    return click.option("--internal", is_flag=True, help="Only links inside a domain.")(run)


def link_list(
    domain_means: str, columns: Sequence[Column] = ()
) -> Callable[[Callable[..., Results[Any]]], Callable[..., None]]:
    """Makes a command of a query of links: gives it its options, and prints what it returns.

    Args:
        domain_means: the help text of `--domain`.
        columns: of a table; without them, the results are pages.
    """

    def decorate(ask: Callable[..., Results[Any]]) -> Callable[..., None]:
        @functools.wraps(ask)
        def run(location: str, form: Format, **given: Any) -> None:
            listing = listing_of(given)
            with open_links(location) as web:
                found = ask(web.links, **given, **options_of(listing))
                if columns:
                    has_results = print_links(found, columns, form, listing)
                else:
                    has_results = print_pages(found, form, listing)
                if not has_results and listing["after"] is None:
                    suggest_domain(web, given["domain"])

        decorated: Callable[..., None] = kind_options(domain_option(domain_means)(run))
        return store_option(format_option(list_options(decorated)))

    return decorate


def print_links(
    results: Results[Any], columns: Sequence[Column], form: Format, listing: Listing
) -> bool:
    """Prints a list, and how far back it reaches if it is of an earlier time.

    Returns whether it has results.
    """
    has_results = print_results(results, columns, form, listing)
    about = results.about
    if "kept_since" not in about:
        return has_results
    since = about["kept_since"]
    reach = f"since {since}" if since else "since the first capture"
    versions = f", {about['kept_versions']} versions of a page" if about["kept_versions"] else ""
    talk(f"links are kept {reach}{versions}")
    if about["not_kept"]:
        talk(f"{about['not_kept']:,} pages are left out: their versions of that time have expired")
    return has_results
