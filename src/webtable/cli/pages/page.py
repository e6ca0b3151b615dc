"""`webtable page`: a page with its captures, headers, facts or body."""

from __future__ import annotations

import sys

import click

from webtable.cli.list_options import Moment
from webtable.cli.output_formats import Column, print_item, print_items, talk
from webtable.cli.safe_text import show_text
from webtable.cli.shared_options import (
    Format,
    count_option,
    format_option,
    store_option,
)
from webtable.errors import NotFound
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.urls import typed_url
from webtable.webtable import WebTable

__all__ = ["page"]

CAPTURE_COLUMNS = (
    Column("fetched", "FETCHED", "when"),
    Column("status", "STATUS", "status"),
    Column("size", "SIZE", "size"),
    Column("type", "TYPE", spare=1),
    Column("digest", "DIGEST", "name"),
    Column("redirect", "REDIRECT", "name"),
    Column("revisit", "REVISIT"),
    Column("file", "FILE", "name", spare=3),
    Column("offset", "OFFSET", spare=2),
)
REVISITED_COLUMNS = (
    Column("revisited_time", "REVISITED", "when"),
    Column("revisited_url", "REVISITED URL", "name"),
)
ORIGIN_COLUMNS = tuple(
    Column(name, name)
    for name in (
        "inside",
        "length",
        "record_id",
        "ip",
        "protocol",
        "truncated",
        "claimed_digest",
    )
)


@click.command(short_help="Show a page: now, at a date, its history, its body.")
@click.argument("url")
@store_option
@format_option
@click.option(
    "--as-of", metavar="DATE", type=Moment(), help="Show the page as it was at this time."
)
@count_option("--versions", "List the newest N captures.")
@click.option(
    "--body", is_flag=True, help="Print the stored body, byte for byte, and nothing else."
)
@click.option("--headers", is_flag=True, help="Print the status line and the headers as received.")
@click.option(
    "--facts",
    is_flag=True,
    help="Show what the body contains, and whether search engines may index the page.",
)
def page(
    url: str,
    location: str,
    form: Format,
    *,
    as_of: int | None,
    versions: int | None,
    body: bool,
    headers: bool,
    facts: bool,
) -> None:
    """Show the page at URL; https:// may be left out.

    --as-of shows the newest capture at that time. It does not count inlinks; `webtable links in URL
    --as-of DATE` lists them.
    """
    with WebTable.open(location, read_only=True) as web:
        if body:
            _print_body(web, url, as_of)
        elif headers:
            _print_headers(web, url, as_of, form)
        elif facts:
            _print_facts(web, url, as_of, form)
        elif versions is not None:
            _print_captures(web, url, as_of, versions, form)
        else:
            found = web.page(url, as_of=as_of)
            if found is None:
                raise _unknown(web, url, as_of)
            print_item(found.to_dict(), form)
            if as_of is not None and web.body(found.url, as_of=as_of) is None:
                talk("the body of that capture is not stored: title, links and charset are missing")


def _print_captures(web: WebTable, url: str, as_of: int | None, most: int, form: Format) -> None:
    until = "" if as_of is None else encode_time(as_of)
    newest = [each for each in web.history(url) if not until or each.fetched <= until]
    if not newest:
        raise _unknown(web, url, as_of)
    items = [each.to_dict() for each in newest[:most]]
    columns: tuple[Column, ...] = CAPTURE_COLUMNS
    if form == "csv" or any(item["revisited_time"] for item in items):
        columns += REVISITED_COLUMNS
    print_items(items, columns + ORIGIN_COLUMNS if form == "csv" else columns, form)


def _print_headers(web: WebTable, url: str, as_of: int | None, form: Format) -> None:
    found = web.headers(url, as_of=as_of)
    if found is None:
        shown = web.page(url, as_of=as_of)
        if shown is None:
            raise _unknown(web, url, as_of)
        raise NotFound(
            "headers",
            f"{shown.url} of {shown.fetched}",
            hint="the record had none, they have expired, or it was loaded before they were stored",
        )
    if form == "json":
        print_item(found.to_dict(), form)
    elif form == "table":
        lines = (f"{each.name}: {each.value}" for each in found.headers)
        for line in (found.status_line, *lines):
            click.echo(show_text(line, keep="\t"))
    else:
        columns = (Column("name", "NAME"), Column("value", "VALUE"))
        print_items([each.to_dict() for each in found.headers], columns, form)


def _print_facts(web: WebTable, url: str, as_of: int | None, form: Format) -> None:
    index = web.indexability(url, as_of=as_of)
    if index is None:
        raise _unknown(web, url, as_of)
    found = web.facts(url, as_of=as_of)
    if found is None:
        raise NotFound(
            "facts",
            typed_url(url),
            hint="its body is not stored, or is no HTML, robots.txt or sitemap; --versions lists"
            " the captures",
        )
    print_item({**found.to_dict(), "indexability": index.to_dict()}, form)


def _print_body(web: WebTable, url: str, as_of: int | None) -> None:
    content = web.body(url, as_of=as_of)
    if content is None:
        found = web.page(url, as_of=as_of)
        if found is None:
            raise _unknown(web, url, as_of)
        raise NotFound(
            "body",
            f"{found.url} of {found.fetched}",
            hint="it was not stored, or has expired; --versions lists the captures",
        )
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _unknown(web: WebTable, url: str, as_of: int | None) -> NotFound:
    known, url = web.history(url), typed_url(url)
    if known and as_of is not None:
        first = known[-1].fetched
        return NotFound(
            "capture", f"{url} by {encode_time(as_of)}", hint=f"its first capture is from {first}"
        )
    return NotFound("page", url, hint="`webtable pages DOMAIN` lists the pages of a domain")
