"""What the commands about pages share: dates, bounded answers and how they are printed."""

from __future__ import annotations

import calendar
import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from webtable.cli.options import ROW_KEY, Format
from webtable.cli.output import Column, Item, print_items, show_bytes, talk
from webtable.pages.cells import encode_time
from webtable.pages.page import Page
from webtable.pages.queries import Answer

__all__ = ["Day", "Moment", "answer_options", "cursor", "explain_answer", "print_answer", "shown"]

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
_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?Z?)?")


class Moment(click.ParamType[int]):
    """A day or a second in UTC; a day stands for its last second."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the seconds since 1970."""
        if isinstance(value, int):
            return value
        found = _DATE.fullmatch(value)
        if found is None:
            self.fail(f"'{value}' is not a date: use YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ")
        year, month, day = (int(part) for part in found.groups()[:3])
        hour, minute, second = (int(part or 0) for part in found.groups()[3:])
        if found[4] is None:
            hour, minute, second = 23, 59, 59
        seconds = calendar.timegm((year, month, day, hour, minute, second))
        if time.gmtime(seconds)[:6] != (year, month, day, hour, minute, second):
            self.fail(f"'{value}' is not a date that there is")
        return seconds


class Day(click.ParamType[str]):
    """A day in UTC."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the day as `YYYYMMDD`."""
        if not value:
            return ""
        return encode_time(Moment().convert(value, param, ctx))[:10].replace("-", "")


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


def print_answer(answer: Answer[Page], form: Format, explain: bool) -> None:
    """Prints an answer, and where it goes on."""
    explain_answer(answer, explain)
    items = [_item(each, most=_SHOWN_TITLE if form == "table" else None) for each in answer.items]
    columns = PAGE_COLUMNS if form == "table" else tuple(Column(key, key) for key in ITEM_KEYS)
    print_items(items, columns, form, next_key=shown(answer.next), go_on="--after")


def explain_answer(answer: Answer[Any], explain: bool) -> None:
    """Says what an answer has cost, where that was asked for or is much."""
    cost = answer.explained
    if explain:
        source = f"index {cost.index}" if cost.index else "the pages themselves"
        talk(f"read from {source}: {cost.entries:,} entries, {cost.rows:,} pages")
    if cost.is_scan:
        talk("no index answers this: every page was looked at")
    if cost.is_whole_index:
        talk(f"all of the index was read; `webtable index build {cost.index}` makes that needless")


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
