"""How a command prints the results of a query: a page of them or all, what they cost, what follows.

`webtable.cli.list_options` has the options of such commands, `output_formats` the forms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from webtable.cli.list_options import Listing
from webtable.cli.output_formats import Column, Item, print_items, talk
from webtable.cli.shared_options import Format
from webtable.pages.asking.paged_results import QueryCost, Results
from webtable.pages.page import Page

if TYPE_CHECKING:
    from webtable.webtable import WebTable

__all__ = ["print_groups", "print_pages", "print_results", "suggest_domain"]

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


def print_pages(results: Results[Page], form: Format, listing: Listing) -> bool:
    """Prints a list of pages; returns whether it has results."""
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
) -> bool:
    """Prints a list; returns whether it has results.

    A table has the given columns, the other forms have all attributes.

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

    return _print(results, items, shown, form, listing)


def print_groups(
    results: Results[Any],
    columns: Sequence[Column],
    listing: Listing,
    rows_of: Callable[[Any], Iterable[Item]],
) -> None:
    """Prints a table in which a result has several lines."""

    def items(found: Iterable[Any]) -> Iterable[Item]:
        return itertools.chain.from_iterable(map(rows_of, found))

    _print(results, items, columns, "table", listing)


def suggest_domain(web: WebTable, domain: str) -> bool:
    """Suggests similar domains after an empty list of a domain; returns whether it did."""
    near = web.links.near_domains(domain) if domain else []
    if near:
        talk(f"no page of '{domain}' is stored; did you mean {' or '.join(near)}?")
    return bool(near)


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


def _explain(cost: QueryCost, is_wanted: bool) -> None:
    """Prints what a query has read, if the user wants it or if the query read a lot."""
    if is_wanted:
        source = f"index {cost.index}" if cost.index else "the pages themselves"
        talk(f"read from {source}: {cost.entries:,} entries, {cost.rows:,} pages")
    if cost.is_scan:
        talk("there is no index for this query: every page was read")


def _joined(value: Any) -> Any:
    """Returns a chain of URLs as one cell of CSV, with arrows; other values as they are."""
    is_chain = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return " -> ".join(value) if is_chain else value


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain
