"""`webtable changes`: the change feeds of the pages and of their links, and their consumers."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from webtable.cli.output_formats import Column, page_of, print_items, talk
from webtable.cli.shared_options import (
    Format,
    count_option,
    format_option,
    hand_down_store,
    page_options,
    store_option,
)
from webtable.errors import InvalidRequest
from webtable.operations.feed_consumers import FeedConsumer
from webtable.webtable import WebTable

if TYPE_CHECKING:
    from webtable.pages.asking.change_feed import ChangeFeed

__all__ = ["changes"]

COLUMNS = (
    Column("revision", "REVISION"),
    Column("kind", "KIND"),
    Column("status", "STATUS", "status"),
    Column("fetched", "FETCHED", "when"),
    Column("url", "URL", "name"),
    Column("digest", "DIGEST", spare=1),
)
CONSUMER_COLUMNS = (
    Column("name", "CONSUMER", "name"),
    Column("feed", "FEED"),
    Column("revision", "REVISION"),
    Column("lag_seconds", "LAG (s)", "count"),
    Column("behind", "BEHIND", "count"),
    Column("committed", "COMMITTED", "when"),
    Column("is_valid", "VALID"),
    Column("cursor", "CURSOR", spare=1),
)
_POLL_SECONDS = 1.0
_COMMIT_EVERY = 1_000

Feed: TypeAlias = "ChangeFeed[Any] | FeedConsumer[Any]"


@click.group(short_help="List the pages that changed since a cursor.", invoke_without_command=True)
@store_option
@format_option
@click.option("--since", metavar="CURSOR", help="The cursor that the last call printed.")
@click.option("--consumer", metavar="NAME", help="Continue where this consumer ended.")
@click.option("--links", is_flag=True, help="The pages whose links changed, or their anchors.")
@count_option("--limit", "Print at most N.", show_default="all")
@click.option("--follow", is_flag=True, help="Wait for more changes; needs jsonl or csv.")
@click.pass_context
def changes(
    ctx: click.Context,
    location: str,
    form: Format,
    since: str | None,
    consumer: str | None,
    *,
    links: bool,
    limit: int | None,
    follow: bool,
) -> None:
    """List the pages that changed since CURSOR, each at its newest change, in order.

    Without --since, every page is listed. The kind of a change is new, changed, status (another
    HTTP status), gone (404 or 410 now) or removed; with --links it is new, changed or removed. The
    cursor to continue from is printed to stderr, and is next in json. On HBase, changes of the last
    eleven minutes may be listed again by the next call.

    With --consumer, the store keeps the cursor under that name. It is moved when the changes were
    written to the output: if the command is killed, the next one lists them again.
    """
    if ctx.invoked_subcommand is not None:
        hand_down_store(ctx, location)
        return
    if follow and form not in ("jsonl", "csv"):
        raise InvalidRequest(
            f"--follow with --format {form}", hint="use --format jsonl or --format csv"
        )
    with _opened(location, writes=consumer is not None) as web:
        feed: Feed = web.changes(since, consumer=consumer, links=links)  # type: ignore[call-overload]
        writes_lines = form in ("jsonl", "csv")
        changed = _followed(feed) if follow else _written(feed) if writes_lines else iter(feed)
        found = itertools.islice(changed, limit)
        items = (each.to_dict() for each in found)
        print_items(items, COLUMNS, form, more=lambda: {"next": feed.cursor})
        if isinstance(feed, FeedConsumer):
            feed.commit()
        else:
            talk(f"continue with --since '{feed.cursor}'")


@changes.command("consumers", short_help="List the consumers and how far behind they are.")
@page_options("NAME", "Begin with this consumer.")
def consumers_(location: str, form: Format, limit: int | None, start: str) -> None:
    """List the named consumers: what they have handled, and how much is new since.

    LAG is the time from the last change that a consumer has handled to the newest one, BEHIND the
    number of changes between them, at most 10,000.
    """
    with WebTable.open(location, read_only=True) as web:
        items = sorted(web.changes.consumers(), key=lambda each: each.name)
    found, following = page_of(items, lambda each: each.name, start, limit)
    print_items([each.to_dict() for each in found], CONSUMER_COLUMNS, form, next_key=following)


@changes.command("forget", short_help="Delete a consumer; it would begin from the beginning.")
@click.argument("name")
@store_option
def forget_(name: str, location: str) -> None:
    """Delete consumer NAME. The next consumer of that name begins from the beginning."""
    with _opened(location, writes=True) as web:
        web.changes.forget(name)
    talk(f"consumer '{name}' is forgotten")


def _opened(location: str, *, writes: bool) -> WebTable:
    """Opens a store to read its changes, and to write cursors of consumers.

    Those of an embedded store are written beside the process that writes the store.
    """
    is_cluster = location.startswith(("hbase://", "hbase+masters://"))
    return WebTable.open(location, create=False, read_only=not (writes and is_cluster))


def _followed(feed: Feed) -> Iterator[Any]:
    while True:
        yield from _written(feed)
        time.sleep(_POLL_SECONDS)


def _written(feed: Feed) -> Iterator[Any]:
    """Yields all changes up to now; stores now and then that those before are written."""
    for number, change in enumerate(feed, 1):
        yield change
        if number % _COMMIT_EVERY == 0:
            _commit(feed)
    _commit(feed)


def _commit(feed: Feed) -> None:
    # What is still in memory would be lost with this process.
    sys.stdout.flush()
    if isinstance(feed, FeedConsumer):
        feed.commit()
