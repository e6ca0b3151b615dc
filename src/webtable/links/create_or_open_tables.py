"""Creates the tables of pages and links of a store together, and opens the link index to write."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from webtable.errors import AlreadyExists, NotFound, SchemaMismatch
from webtable.links.link_index import LinkIndex
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.store.store import Store

if TYPE_CHECKING:
    from webtable.links.updating.hook import LinkHook

__all__ = ["create_tables", "link_hook", "opened_links"]


def create_tables(store: Store, keys: str | None = None, profile: str | None = None) -> PageTable:
    """Creates the tables of a store of pages, or those that are missing.

    Raises:
        AlreadyExists: all of them exist.
        InvalidRequest: other tables have the same names.
    """
    try:
        pages = PageTable.open(store, parse_stored)
    except (NotFound, SchemaMismatch):
        links = LinkIndex.planned_tables(is_embedded=store.capabilities.atomic_commits)
        pages = PageTable.create(store, parse_stored, keys=keys, profile=profile, beside=links)
    else:
        with contextlib.suppress(NotFound):
            LinkIndex.open(pages)
            raise AlreadyExists(
                "store of pages", store.location, hint="open it, or drop its tables"
            )
    LinkIndex.create(pages)
    return pages


def opened_links(pages: PageTable) -> LinkIndex:
    """Opens the link index of a store of pages; creates its tables where they do not exist."""
    try:
        return LinkIndex.open(pages)
    except NotFound:
        # A creation that was interrupted, or a store from before there were link indexes.
        return LinkIndex.create(pages)


def link_hook(index: LinkIndex) -> LinkHook:
    """Returns the hook that keeps a link index up to date."""
    from webtable.links.updating.hook import LinkHook

    return LinkHook(index)
