"""Stores of pages on both engines, one for all tests of a session: each takes URLs of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import webtable
from webtable.pages.page import PageInfo
from webtable.pages.page_table import PageTable

ENGINES = ["rocks", pytest.param("hbase", marks=pytest.mark.hbase)]


def parse(url: str, body: bytes, media_type: str) -> PageInfo:
    """Reads the bodies of these tests: words, of which each is a link of that page, too."""
    words = body.decode().split()
    links = "\n".join(f"https://{word}.example/\t\t{word}" for word in words)
    return PageInfo(title=body.decode(), links=links, link_count=len(words))


@pytest.fixture(scope="session", params=ENGINES)
def pages(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageTable]:
    if request.param == "rocks":
        location = str(tmp_path_factory.mktemp("pages") / "store")
    else:
        location = request.getfixturevalue("hbase_location") + "?namespace=pages"
    with webtable.open(location) as store:
        yield PageTable.create(store, parse, profile="archive")
        # A cluster that ends with the tests need not be cleared up.
        if request.param == "hbase" and request.getfixturevalue("local_hbase") is None:
            for name in store.tables():
                store.drop_table(name)
