"""What the commands about links share: opening the index, options, printing answers."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypedDict

import click
import msgspec

from webtable.cli.options import Format, open_for_reading
from webtable.cli.output import Column, Item, print_items, talk
from webtable.cli.pages.results import cursor, explain_answer, shown
from webtable.errors import NotFound, StaleIndex
from webtable.links.asking.history import PastPage
from webtable.links.asking.wide_rows import Kind
from webtable.links.index import LinkIndex
from webtable.pages.asking.results import ResultPage
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.cells import encode_time
from webtable.pages.table import PageTable

__all__ = [
    "Asked",
    "bounds",
    "kind_options",
    "open_links",
    "print_links",
    "print_past",
    "ready_links",
]

_SHOWN_WORDS = 50


class Asked(TypedDict):
    """What `answer_options` gives every command."""

    limit: int
    after: bytes | None
    explain: bool


class Bounds(TypedDict):
    """The same, as questions take it."""

    limit: int
    after: str | None


def bounds(asked: Asked) -> Bounds:
    """Returns limit and cursor as questions take them."""
    return {"limit": asked["limit"], "after": cursor(asked["after"])}


@contextlib.contextmanager
def open_links(location: str) -> Iterator[LinkIndex]:
    """Opens the link index of a store, beside its writer.

    Raises:
        NotFound: there is none.
        StaleIndex: it does not have all pages.
    """
    with open_for_reading(location) as store:
        index = LinkIndex.open(PageTable.open(store, parse_stored))
        if not index.is_ready:
            raise StaleIndex(
                f"the link index of '{location}' does not have all pages",
                hint="write it anew with `webtable links rebuild`",
            )
        # Only the marks: on a cluster every page that is loaded leaves an intent for a moment.
        if next(index.work.scan(prefix=b"m:", limit=1), None) is not None:
            talk("links are on their way into the counts; `webtable links drain` finishes that")
        yield index


def ready_links(pages: PageTable) -> LinkIndex | None:
    """Returns the link index of pages, if it has all of them."""
    try:
        index = LinkIndex.open(pages)
    except NotFound:
        return None
    return index if index.is_ready else None


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


def print_links(
    answer: ResultPage[Any],
    columns: Sequence[Column],
    form: Format,
    *,
    explain: bool,
    more: Item | None = None,
) -> None:
    """Prints the items of an answer, and where it goes on; `more` is said in json only."""
    explain_answer(answer, explain)
    items = [msgspec.to_builtins(item) for item in answer.items]
    if form == "table":
        items = [
            {column.key: _short(getattr(item, column.key)) for column in columns}
            for item in answer.items
        ]
    else:
        keys = list(items[0]) if items else [column.key for column in columns]
        columns = tuple(Column(key, key) for key in keys)
    if form == "csv":
        items = [{key: _joined(value) for key, value in item.items()} for item in items]
    print_items(items, columns, form, next_key=shown(answer.next), go_on="--after", more=more)


def print_past(
    found: PastPage[Any], columns: Sequence[Column], form: Format, *, explain: bool
) -> None:
    """Prints an answer about earlier times, and how far back it reaches."""
    kept = found.kept
    since = None if kept.since is None else encode_time(kept.since)
    more = {"kept_since": since, "kept_versions": kept.versions, "not_kept": found.not_kept}
    print_links(found.answer, columns, form, explain=explain, more=more)
    reach = f"since {since}" if since else "since the first capture"
    versions = f", {kept.versions} versions of a page" if kept.versions else ""
    talk(f"links are kept {reach}{versions}")
    if found.not_kept:
        talk(f"of {found.not_kept:,} pages they are not kept so far back: these are left out")


def _joined(value: Any) -> Any:
    """Returns a chain of URLs as one cell of CSV, with arrows; other values as they are."""
    is_chain = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return " -> ".join(value) if is_chain else value


def _short(value: Any) -> Any:
    if isinstance(value, str) and "://" not in value and len(value) > _SHOWN_WORDS:
        return value[: _SHOWN_WORDS - 1] + "…"
    return value
