"""What the commands about pages share: dates, bounded answers and how they are printed."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from webtable.cli.options import ROW_KEY, Format
from webtable.cli.output import Column, Item, print_items, show_bytes, talk
from webtable.pages.asking.queries import ResultPage
from webtable.pages.page import Page
from webtable.pages.storing.cells import encode_time

__all__ = ["Moment", "Stamp", "answer_options", "cursor", "explain_answer", "print_answer", "shown"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

PAGE_COLUMNS = (
    Column("url", "URL"),
    Column("title", "TITLE"),
    Column("status", "STATUS", "count"),
    Column("last_modified", "MODIFIED"),
    Column("size", "SIZE", "size"),
    Column("outlinks", "LINKS", "count"),
    Column("inlinks", "INLINKS", "count"),
)
ITEM_KEYS = (
    "url",
    "row_key",
    "title",
    "status",
    "last_modified",
    "fetched",
    "size",
    "type",
    "outlinks",
    "inlinks",
)
_SHOWN_TITLE = 50
_DIGITS_ONLY = str.maketrans("", "", "-:TZ")
_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?Z?)?", re.ASCII)
_RIGHT_DATES = "write it as 2026-09-01, or as 2026-09-01T12:30:00Z for a time in UTC"


class Moment(click.ParamType[int]):
    """A day or a second in UTC, as seconds since 1970.

    Args:
        begins: whether a day stands for its first second, and not for its last.
    """

    name = "date"

    def __init__(self, *, begins: bool = False) -> None:
        self._begins = begins

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the seconds since 1970."""
        if isinstance(value, int):
            return value
        found = _DATE.fullmatch(value)
        if found is None:
            self.fail(f"'{value}' is not a date: {_RIGHT_DATES}", param, ctx)
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        if found[4] is None and not self._begins:
            hour, minute, second = 23, 59, 59
        try:
            moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            self.fail(f"'{value}' is not in the calendar: {_RIGHT_DATES}", param, ctx)
        return calendar.timegm(moment.timetuple())


class Stamp(click.ParamType[str]):
    """A day or a second in UTC, as questions take it; a day stands for its first second."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the time as `YYYYMMDDhhmmss`."""
        seconds = Moment(begins=True).convert(value, param, ctx)
        return encode_time(seconds).translate(_DIGITS_ONLY)


def answer_options(function: _Command) -> _Command:
    """Gives a command `--limit`, `--after` and `--explain`."""
    for option in (
        click.option("--explain", is_flag=True, help="Say what the answer has cost."),
        click.option("--after", metavar="CURSOR", type=ROW_KEY, help="Go on behind this one."),
        click.option(
            "--limit",
            metavar="N",
            type=click.IntRange(min=1),
            default=20,
            show_default=True,
            help="Print at most N.",
        ),
    ):
        function = option(function)
    return function


def print_answer(answer: ResultPage[Page], form: Format, explain: bool) -> None:
    """Prints an answer, and where it goes on."""
    explain_answer(answer, explain)
    items = [_item(each, most=_SHOWN_TITLE if form == "table" else None) for each in answer.items]
    columns = PAGE_COLUMNS if form == "table" else tuple(Column(key, key) for key in ITEM_KEYS)
    print_items(items, columns, form, next_key=shown(answer.next), go_on="--after")


def explain_answer(answer: ResultPage[Any], explain: bool) -> None:
    """Says what an answer has cost, where that was asked for or is much."""
    cost = answer.cost
    if explain:
        source = f"index {cost.index}" if cost.index else "the pages themselves"
        talk(f"read from {source}: {cost.entries:,} entries, {cost.rows:,} pages")
    if cost.is_scan:
        talk("no index answers this: every page was looked at")
    if cost.is_whole_index:
        talk(f"all of the index was read; `webtable index build {cost.index}` makes that needless")
    if cost.is_by_day:
        talk(
            f"the index knows days only: all {cost.rows:,} pages of a day were read to put them in"
            f" order; `webtable index build {cost.index}` makes that needless"
        )
    if not answer.items:
        after = click.get_current_context().params.get("after")
        talk("nothing found" if after is None else "nothing follows this cursor")


def _item(found: Page, most: int | None) -> Item:
    item = {key: getattr(found, key) for key in ITEM_KEYS}
    if most is not None and len(found.title) > most:
        item["title"] = found.title[: most - 1] + "…"
    return item


def cursor(after: bytes | None) -> str | None:
    """Returns a cursor as questions take it."""
    return None if after is None else after.decode("latin-1")


def shown(position: str | None) -> str | None:
    """Returns a cursor as people see and type it."""
    return None if position is None else show_bytes(position.encode("latin-1"))
