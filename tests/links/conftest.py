"""The small web of `tests.links.web` in stores on both engines, one for all tests of a session."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

import webtable
from tests.links.web import captures
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.local.hbase import LocalHBase
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.store.store import Store


@pytest.fixture(scope="session", params=["readable", "salted"])
def web(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LinkIndex]:
    """The link index of the small web, with all its crawls, embedded. Only read it."""
    with webtable.open(str(tmp_path_factory.mktemp("web") / "store")) as store:
        yield kept(store, request.param)


@pytest.fixture(scope="module")
def web_on_hbase(hbase_location: str, local_hbase: LocalHBase | None) -> Iterator[LinkIndex]:
    """The same on HBase, where the links to a page are spread over sixteen rows."""
    with webtable.open(f"{hbase_location}?namespace=linksweb_{uuid.uuid4().hex[:8]}") as store:
        # Readable keys: one region a table, which is quicker to make.
        yield kept(store, "readable")
        if local_hbase is None:  # A cluster that ends with the tests need not be cleared up.
            for name in store.tables():
                store.drop_table(name)


def kept(store: Store, keys: str) -> LinkIndex:
    """Stores the small web, and lets its index follow."""
    pages = PageTable.create(store, parse_stored, keys=keys, profile="archive")
    index = LinkIndex.create(pages)
    keeper = LinkHook(index)
    pages.hook = keeper
    pages.store_captures(list(captures()))
    keeper.drain()
    return index
