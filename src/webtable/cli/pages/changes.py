"""`webtable changes`: the change feed of the pages."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from webtable.cli.output_formats import Column, print_items, talk
from webtable.cli.shared_options import Format, count_option, format_option, store_option
from webtable.errors import InvalidRequest
from webtable.webtable import WebTable

if TYPE_CHECKING:
    from webtable.pages.asking.change_feed import ChangeFeed, PageChange

__all__ = ["changes"]

COLUMNS = (
    Column("revision", "REVISION"),
    Column("kind", "KIND"),
    Column("status", "STATUS", "status"),
    Column("fetched", "FETCHED", "when"),
    Column("url", "URL", "name"),
    Column("digest", "DIGEST", spare=1),
)
_POLL_SECONDS = 1.0


@click.command(short_help="List the pages that changed since a cursor.")
@store_option
@format_option
@click.option("--since", metavar="CURSOR", help="The cursor that the last call printed.")
@count_option("--limit", "Print at most N.", show_default="all")
@click.option("--follow", is_flag=True, help="Wait for more changes; needs jsonl or csv.")
def changes(
    location: str, form: Format, since: str | None, limit: int | None, *, follow: bool
) -> None:
    """List the pages that changed since CURSOR, each at its newest change, in order.

    Without --since, every page is listed. The kind of a change is new, changed, status (another
    HTTP status) or gone (404 or 410 now). The cursor to continue from is printed to stderr, and is
    next in json. On HBase, changes of the last eleven minutes may be listed again by the next call.
    """
    if follow and form not in ("jsonl", "csv"):
        raise InvalidRequest(
            f"--follow with --format {form}", hint="use --format jsonl or --format csv"
        )
    with WebTable.open(location, read_only=True) as web:
        feed = web.changes(since)
        found = itertools.islice(_followed(feed) if follow else iter(feed), limit)
        items = (each.to_dict() for each in found)
        print_items(items, COLUMNS, form, more=lambda: {"next": feed.cursor})
        talk(f"continue with --since '{feed.cursor}'")


def _followed(feed: ChangeFeed) -> Iterator[PageChange]:
    while True:
        yield from feed
        sys.stdout.flush()
        time.sleep(_POLL_SECONDS)
