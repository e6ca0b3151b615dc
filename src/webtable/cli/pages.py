"""`webtable init`, `page`, `diff` and `pages`: a store of pages, and what is in it."""

from __future__ import annotations

import sys

import click
import msgspec

import webtable
from webtable.cli.options import (
    Format,
    format_option,
    open_for_reading,
    store_option,
)
from webtable.cli.output import Column, Item, print_item, print_items, talk
from webtable.cli.page_answers import Moment, answer_options, cursor, print_answer
from webtable.errors import NotFound
from webtable.links.graph import LinkIndex
from webtable.pages.cells import encode_time
from webtable.pages.compare import compare
from webtable.pages.history import CaptureNote, counting
from webtable.pages.parsing import parse_stored
from webtable.pages.queries import Questions
from webtable.pages.table import PageTable
from webtable.pages.urls import typed_url

__all__ = ["diff", "init", "page", "pages"]

CAPTURE_COLUMNS = (
    Column("fetched", "FETCHED"),
    Column("status", "STATUS", "count"),
    Column("size", "SIZE", "size"),
    Column("type", "TYPE"),
    Column("digest", "DIGEST"),
    Column("redirect", "REDIRECT"),
)


@click.command(short_help="Make a store for pages.")
@store_option
@click.option(
    "--keys",
    type=click.Choice(["readable", "salted"]),
    show_default="readable in a directory, salted on HBase",
    help="How pages are keyed.",
)
@click.option(
    "--profile",
    type=click.Choice(["live", "archive"]),
    default="live",
    show_default=True,
    help="live keeps 3 versions for 90 days, archive all of them for ever.",
)
def init(location: str, keys: str | None, profile: str) -> None:
    """Make the tables of a store for pages; `webtable load` fills it."""
    with webtable.open(location) as store:
        made = PageTable.create(store, parse_stored, keys=keys, profile=profile)
        LinkIndex.create(made)
    talk(f"made '{location}' with {made.keys.name} keys and the profile {made.profile}")


@click.command(short_help="Show a page: now, at a date, its history, its body.")
@click.argument("url")
@store_option
@format_option
@click.option("--as-of", metavar="DATE", type=Moment(), help="As it was then.")
@click.option("--versions", metavar="N", type=click.IntRange(min=1), help="The newest N captures.")
@click.option(
    "--body", is_flag=True, help="Print the stored body, byte for byte, and nothing else."
)
def page(
    url: str,
    location: str,
    form: Format,
    *,
    as_of: int | None,
    versions: int | None,
    body: bool,
) -> None:
    """Show the page at URL; https:// may be left out."""
    url = typed_url(url)
    with open_for_reading(location) as store:
        pages = PageTable.open(store, parse_stored)
        if body:
            _print_body(pages, url, as_of)
            return
        notes = [note for note in pages.captures(url) if as_of is None or note.time <= as_of]
        if not notes:
            raise _unknown(pages, url)
        if versions is not None or as_of is not None:
            newest = sorted(notes, key=lambda note: (note.time, note.digest), reverse=True)
            items = [_capture_item(note) for note in newest[: versions or 1]]
            print_items(items, CAPTURE_COLUMNS, form)
            return
        found = pages.page(url)
        assert found is not None
        print_item(msgspec.structs.asdict(found), form)


@click.command(short_help="Show what changed between two versions of a page.")
@click.argument("url")
@store_option
@format_option
@click.option("--from", "old", metavar="DATE", type=Moment(), help="The older one.")
@click.option("--to", "new", metavar="DATE", type=Moment(), help="The newer one.  [default: now]")
def diff(url: str, location: str, form: Format, *, old: int | None, new: int | None) -> None:
    """Show what changed in the page at URL, in its text and in its links.

    Without --from it is compared with the version before.
    """
    with open_for_reading(location) as store:
        found = compare(PageTable.open(store, parse_stored), typed_url(url), old, new)
    if form == "table":
        for line in found.lines:
            click.secho(line, fg={"+": "green", "-": "red", "@": "cyan"}.get(line[:1]))
        for sign, links in (("+", found.gained), ("-", found.lost)):
            for link in links:
                click.echo(f"{sign} link to {link.url}  {link.rel}  {link.anchor}".rstrip())
        if found.is_empty:
            talk("nothing changed")
        return
    item = {
        "url": found.url,
        "from": encode_time(found.old.time),
        "to": encode_time(found.new.time),
        "text": found.lines,
        "links_gained": [link._asdict() for link in found.gained],
        "links_lost": [link._asdict() for link in found.lost],
    }
    print_item(item, form)


@click.command(short_help="List the pages of a domain or a directory.")
@click.argument("domain")
@store_option
@format_option
@answer_options
@click.option("--subdomains/--no-subdomains", default=True, show_default=True)
def pages(
    domain: str,
    location: str,
    form: Format,
    *,
    limit: int,
    after: bytes | None,
    explain: bool,
    subdomains: bool,
) -> None:
    """List the pages of DOMAIN, or those whose URLs begin with DOMAIN/DIRECTORY/."""
    with open_for_reading(location) as store:
        asked = Questions(PageTable.open(store, parse_stored))
        if "/" in domain.rstrip("/"):
            answer = asked.in_directory(typed_url(domain), limit=limit, after=cursor(after))
        else:
            answer = asked.under(
                domain, with_subdomains=subdomains, limit=limit, after=cursor(after)
            )
    print_answer(answer, form, explain)


def _print_body(pages: PageTable, url: str, as_of: int | None) -> None:
    content = pages.content(url, as_of)
    if content is None:
        raise _unknown(pages, url)
    if content.body is None:
        raise NotFound(
            "body",
            f"{url} of {encode_time(content.note.time)}",
            hint="it was never stored, or is not kept any more; see --versions",
        )
    sys.stdout.buffer.write(content.body)
    sys.stdout.buffer.flush()


def _unknown(pages: PageTable, url: str) -> NotFound:
    known = counting(pages.captures(url))
    if known:
        first = encode_time(known[0].time)
        return NotFound("page", url, hint=f"its first capture is of {first}")
    return NotFound("page", url, hint="list what is there with `webtable pages DOMAIN`")


def _capture_item(note: CaptureNote) -> Item:
    return {
        "fetched": encode_time(note.time),
        "status": note.status,
        "size": note.size,
        "type": note.type,
        "digest": note.digest,
        "redirect": note.redirect,
        "revisit": note.is_revisit,
    }
