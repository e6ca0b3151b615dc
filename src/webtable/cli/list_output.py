"""What commands that print lists share: their options, and how results are printed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click
import msgspec

from webtable.cli.options import Format
from webtable.cli.output import Column, Item, print_items, talk
from webtable.errors import InvalidRequest
from webtable.pages.asking.results import QueryCost, Results
from webtable.pages.page import Page
from webtable.pages.times import second_of

if TYPE_CHECKING:
    from webtable.webtable import WebTable

__all__ = [
    "DEFAULT_LIMIT",
    "Listing",
    "Moment",
    "domain_option",
    "list_options",
    "options_of",
    "print_groups",
    "print_pages",
    "print_results",
    "suggest_domain",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])

DEFAULT_LIMIT = 20
PAGE_COLUMNS = (
    Column("url", "URL", "name"),
    Column("title", "TITLE"),
    Column("status", "STATUS", "status"),
    Column("last_modified", "MODIFIED", "when"),
    Column("size", "SIZE", "size", spare=1),
    Column("outlinks", "LINKS", "count", spare=2),
    Column("inlinks", "INLINKS", "count"),
)
PAGE_KEYS = (
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


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain


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
        click.option(
            "--limit",
            metavar="N",
            type=click.IntRange(min=1),
            show_default=str(DEFAULT_LIMIT),
            help="Print at most N.",
        ),
    ):
        function = option(function)
    return function


def domain_option(text: str) -> Callable[[_Command], _Command]:
    """Returns the option `--domain`, with what it means for a list."""
    return click.option("--domain", metavar="DOMAIN", default="", help=text)


class ListOptions(TypedDict, total=False):
    """What every list of `WebTable` takes.

    Attributes:
        limit: how many results at most; without it, all.
        cursor: the `cursor` of earlier results of the same query, to go on behind them.
    """

    limit: int | None
    cursor: str | None


def options_of(listing: Listing) -> ListOptions:
    """Returns the options of a list as `WebTable` takes them."""
    limit = listing["limit"]
    if listing["everything"] and limit is not None:
        raise click.UsageError("--limit and --all exclude each other")
    if not listing["everything"] and limit is None:
        limit = DEFAULT_LIMIT
    return {"limit": limit, "cursor": listing["after"]}


def print_pages(results: Results[Page], form: Format, listing: Listing) -> bool:
    """Prints a list of pages; returns whether there was one."""
    keys = tuple(column.key for column in PAGE_COLUMNS) if form == "table" else PAGE_KEYS
    columns = PAGE_COLUMNS if form == "table" else tuple(Column(key, key) for key in PAGE_KEYS)

    def items(pages: Iterable[Page]) -> Iterable[Item]:
        return ({key: getattr(page, key) for key in keys} for page in pages)

    return _print(results, items, columns, form, listing)


def print_results(
    results: Results[Any],
    columns: Sequence[Column],
    form: Format,
    listing: Listing,
    item_of: Callable[[Any], dict[str, Any]] | None = None,
) -> None:
    """Prints a list: a table has the given columns, the other forms everything.

    Args:
        item_of: turns a result into an item, where its attributes are not what is shown.
    """
    if form == "table":
        shown = columns
        item_of = item_of or (lambda each: {key: getattr(each, key) for key, *_ in columns})
    else:
        item_of = item_of or _plain
        first = next(iter(results.page().items), None)
        keys = [column.key for column in columns] if first is None else list(item_of(first))
        shown = tuple(Column(key, key) for key in keys)

    def items(found: Iterable[Any]) -> Iterable[Item]:
        made = map(item_of, found)
        if form == "csv":
            return ({key: _joined(value) for key, value in each.items()} for each in made)
        return made

    _print(results, items, shown, form, listing)


def print_groups(
    results: Results[Any],
    columns: Sequence[Column],
    listing: Listing,
    rows_of: Callable[[Any], Iterable[Item]],
) -> None:
    """Prints a table in which a result takes several lines."""

    def items(found: Iterable[Any]) -> Iterable[Item]:
        return itertools.chain.from_iterable(map(rows_of, found))

    _print(results, items, columns, "table", listing)


def _print(
    results: Results[Any],
    items: Callable[[Iterable[Any]], Iterable[Item]],
    columns: Sequence[Column],
    form: Format,
    listing: Listing,
) -> bool:
    if listing["everything"]:
        # Read as it is printed: the list may be longer than memory.
        counted = _Counted(results)
        print_items(items(counted), columns, form, more=lambda: results.about)
        is_empty = not counted.has_any
    else:
        page = results.page()
        is_empty = not page.items
        print_items(
            items(page.items),
            columns,
            form,
            next_key=page.next,
            go_on="--after",
            more=lambda: page.about,
        )
    _explain(results.explain, listing["explain"])
    if is_empty:
        talk("nothing found" if listing["after"] is None else "nothing follows this cursor")
    return not is_empty


class _Counted:
    """Results that note whether there was one."""

    def __init__(self, results: Iterable[Any]) -> None:
        self._results = results
        self.has_any = False

    def __iter__(self) -> Iterator[Any]:
        for each in self._results:
            self.has_any = True
            yield each


def suggest_domain(web: WebTable, domain: str) -> bool:
    """Prints domains that may be meant, where a list of a domain is empty; says whether it did."""
    near = web.links.near_domains(domain) if domain else []
    if near:
        talk(f"no page of '{domain}' is stored; did you mean {' or '.join(near)}?")
    return bool(near)


def _explain(cost: QueryCost, is_wanted: bool) -> None:
    """Prints what a query has cost, where the user asked for it or it is much."""
    if is_wanted:
        source = f"index {cost.index}" if cost.index else "the pages themselves"
        talk(f"read from {source}: {cost.entries:,} entries, {cost.rows:,} pages")
    if cost.is_scan:
        talk("there is no index for this query: every page was read")
    if cost.is_whole_index:
        talk(f"the whole index was read; `webtable index build {cost.index}` avoids that")
    if cost.is_by_day:
        talk(
            f"the index has days, not times: all {cost.rows:,} pages of a day were read to sort"
            f" them; `webtable index build {cost.index}` avoids that"
        )


def _joined(value: Any) -> Any:
    """Returns a chain of URLs as one cell of CSV, with arrows; other values as they are."""
    is_chain = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return " -> ".join(value) if is_chain else value
