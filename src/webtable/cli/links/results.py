"""What the commands about links share: opening the store, options, printing results."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from webtable.cli.list_output import Listing, print_results
from webtable.cli.options import Format
from webtable.cli.output import Column, talk
from webtable.links.asking.wide_rows import Kind
from webtable.pages.asking.results import Results
from webtable.webtable import WebTable

__all__ = ["kind_options", "open_links", "print_past"]


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


def print_past(
    results: Results[Any], columns: Sequence[Column], form: Format, listing: Listing
) -> None:
    """Prints results about earlier times, and how far back they reach."""
    print_results(results, columns, form, listing)
    about = results.about
    since = about["kept_since"]
    reach = f"since {since}" if since else "since the first capture"
    versions = f", {about['kept_versions']} versions of a page" if about["kept_versions"] else ""
    talk(f"links are kept {reach}{versions}")
    if about["not_kept"]:
        talk(f"{about['not_kept']:,} pages are left out: their versions of that time have expired")
