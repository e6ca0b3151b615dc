"""`webtable init`, `page`, `diff` and `pages`: a store of pages, and what is in it."""

from __future__ import annotations

import contextlib
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
from webtable.cli.pages.results import Moment, answer_options, cursor, print_answer
from webtable.cli.safe_text import show_text
from webtable.errors import AlreadyExists, InvalidRequest, NotFound, SchemaMismatch
from webtable.links.index import LinkIndex
from webtable.pages.asking.diff import compare
from webtable.pages.asking.page_at_time import described_captures, page_at
from webtable.pages.asking.queries import PageQueries
from webtable.pages.page import Page
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.cells import encode_time
from webtable.pages.storing.history import CaptureNote, counting
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
    Column("revisit", "REVISIT"),
)


@click.command(short_help="Create a store for pages.")
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
    show_default="live",
    help="live keeps 3 versions for 90 days, archive all of them for ever.",
)
def init(location: str, keys: str | None, profile: str | None) -> None:
    """Make the tables of a store for pages; `webtable load` fills it.

    An `init` that was interrupted is finished by the next one.
    """
    with webtable.open(location) as store:
        made, is_ready = make_store(store, keys, profile)
    talk(f"made '{location}' with {made.keys.name} keys and the profile {made.profile}")
    if not is_ready:
        talk("the link index lacks the pages that were loaded; run `webtable links rebuild`")


def make_store(
    store: webtable.Store, keys: str | None = None, profile: str | None = None
) -> tuple[PageTable, bool]:
    """Makes the tables of a store for pages, or those that are missing.

    Returns the pages, and whether the link index has all of them.

    Raises:
        AlreadyExists: everything is there.
        InvalidRequest: there are tables of the same names that are not those of a store of pages.
    """
    try:
        made = PageTable.open(store, parse_stored)
    except (NotFound, SchemaMismatch):
        links = LinkIndex.planned_tables(is_embedded=store.capabilities.atomic_commits)
        made = PageTable.create(store, parse_stored, keys=keys, profile=profile, beside=links)
    else:
        with contextlib.suppress(NotFound):
            LinkIndex.open(made)
            raise AlreadyExists(
                "store of pages", store.location, hint="open it, or drop its tables"
            )
    return made, LinkIndex.create(made).is_ready


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
    """Show the page at URL; https:// may be left out.

    With --as-of it is shown as its newest capture by then has it; how many pages linked to it then
    is not counted (see `webtable links in URL --as-of`).
    """
    url = typed_url(url)
    with open_for_reading(location) as store:
        pages = PageTable.open(store, parse_stored)
        if body:
            _print_body(pages, url, as_of)
            return
        if versions is not None:
            _print_captures(pages, url, as_of, versions, form)
            return
        found, has_body = _page(pages, url, as_of)
    print_item(msgspec.structs.asdict(found), form)
    if not has_body:
        talk("the body of then is not stored: title, links and charset are not known")


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
    if old is not None and new is not None and old > new:
        raise InvalidRequest(
            f"--from {encode_time(old)} is after --to {encode_time(new)}",
            hint="give the older date to --from",
        )
    with open_for_reading(location) as store:
        found = compare(PageTable.open(store, parse_stored), typed_url(url), old, new)
    if form == "table":
        for line in found.lines:
            color = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            click.secho(show_text(line, keep="\t"), fg=color)
        for sign, links in (("+", found.gained), ("-", found.lost)):
            for link in links:
                text = f"{sign} link to {link.url}  {link.rel}  {link.anchor}".rstrip()
                click.echo(show_text(text))
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
    """List the pages of DOMAIN, or those whose URLs begin with DOMAIN/DIRECTORY/.

    DOMAIN may have a port, as 127.0.0.1:8766: then only pages of that port are listed.
    """
    with open_for_reading(location) as store:
        asked = PageQueries(PageTable.open(store, parse_stored))
        if "/" in domain.rstrip("/"):
            answer = asked.in_directory(typed_url(domain), limit=limit, after=cursor(after))
        else:
            answer = asked.under(
                domain, with_subdomains=subdomains, limit=limit, after=cursor(after)
            )
    print_answer(answer, form, explain)
    if not answer.items and after is None:
        talk(f"no page of '{domain}' is stored; `webtable links domains` lists the domains")


def _page(pages: PageTable, url: str, as_of: int | None) -> tuple[Page, bool]:
    """Returns a page as it was, and whether what its body said is known."""
    if as_of is not None:
        past = page_at(pages, url, as_of)
    else:
        now = pages.page(url)
        past = None if now is None else (now, True)
    if past is None:
        raise _unknown(pages, url, as_of)
    return past


def _print_captures(pages: PageTable, url: str, as_of: int | None, most: int, form: Format) -> None:
    notes = described_captures(pages.captures(url))
    newest = [note for note in reversed(notes) if as_of is None or note.time <= as_of]
    if not newest:
        raise _unknown(pages, url, as_of)
    print_items([_capture_item(note) for note in newest[:most]], CAPTURE_COLUMNS, form)


def _print_body(pages: PageTable, url: str, as_of: int | None) -> None:
    content = pages.content(url, as_of)
    if content is None:
        raise _unknown(pages, url, as_of)
    if content.body is None:
        raise NotFound(
            "body",
            f"{url} of {encode_time(content.note.time)}",
            hint="it was never stored, or is not kept any more; see --versions",
        )
    sys.stdout.buffer.write(content.body)
    sys.stdout.buffer.flush()


def _unknown(pages: PageTable, url: str, as_of: int | None) -> NotFound:
    known = counting(pages.captures(url))
    if known and as_of is not None:
        first = encode_time(known[0].time)
        return NotFound(
            "capture", f"{url} by {encode_time(as_of)}", hint=f"its first capture is of {first}"
        )
    return NotFound("page", url, hint="list what is there with `webtable pages DOMAIN`")


def _capture_item(note: CaptureNote) -> Item:
    return {
        "fetched": encode_time(note.time),
        "status": note.status,
        # Of a revisit whose body was never loaded the size is not known.
        "size": None if note.is_revisit and not note.size else note.size,
        "type": note.type,
        "digest": note.digest,
        "redirect": note.redirect,
        "revisit": note.is_revisit,
    }
