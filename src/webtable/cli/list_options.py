"""The options of commands that print lists, and the times that such commands take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

import click

from webtable.cli.shared_options import count_option
from webtable.errors import InvalidRequest
from webtable.pages.time_arguments import second_of

__all__ = [
    "DEFAULT_LIMIT",
    "ListOptions",
    "Listing",
    "Moment",
    "domain_option",
    "list_options",
    "listing_of",
    "options_of",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])

DEFAULT_LIMIT = 20


class Listing(TypedDict):
    """What `list_options` gives a command."""

    limit: int | None
    everything: bool
    after: str | None
    explain: bool


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
        try:
            return second_of(value, begins=self._begins)
        except InvalidRequest as error:
            self.fail(f"{error.message}: {error.hint}", param, ctx)


def list_options(function: _Command) -> _Command:
    """Gives a command `--limit`, `--all`, `--after` and `--explain`."""
    for option in (
        click.option(
            "--explain",
            is_flag=True,
            help="Print which index was read, and how many entries and pages.",
        ),
        click.option(
            "--after",
            metavar="CURSOR",
            help="Continue a list: the cursor that its last page printed.",
        ),
        click.option("--all", "everything", is_flag=True, help="Print all results."),
        count_option("--limit", "Print at most N.", show_default=str(DEFAULT_LIMIT)),
    ):
        function = option(function)
    return function


def listing_of(given: dict[str, Any]) -> Listing:
    """Takes the options of `list_options` out of what a command was given."""
    options: Any = {name: given.pop(name) for name in Listing.__annotations__}
    listing: Listing = options
    return listing


def domain_option(text: str) -> Callable[[_Command], _Command]:
    """Returns the option `--domain`, with what it means for a list."""
    return click.option("--domain", metavar="DOMAIN", default="", help=text)


class ListOptions(TypedDict, total=False):
    """The arguments that every list of `WebTable` has.

    Attributes:
        limit: the maximum number of results; None for all.
        cursor: the `cursor` of earlier results of the same query, to resume behind them.
    """

    limit: int | None
    cursor: str | None


def options_of(listing: Listing) -> ListOptions:
    """Returns the options of a list as arguments of `WebTable`."""
    limit = listing["limit"]
    if listing["everything"] and limit is not None:
        raise click.UsageError("--limit and --all exclude each other")
    if not listing["everything"] and limit is None:
        limit = DEFAULT_LIMIT
    return {"limit": limit, "cursor": listing["after"]}
