"""What keeping, rebuilding and verifying the link index logs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.links.checking.test_verify import a_link_is_lost
from tests.links.web import captures
from webtable.links.checking.rebuild import rebuild
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored


@pytest.fixture
def index(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[LinkIndex]:
    with (
        caplog.at_level(logging.DEBUG, "webtable"),
        webtable.open(str(tmp_path / "store")) as store,
    ):
        pages = PageTable.create(store, parse_stored, keys="readable", profile="archive")
        index = LinkIndex.create(pages)
        pages.hook = LinkHook(index)
        pages.store_captures(list(captures()))
        yield index


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "webtable.links"]


def test_a_drain_is_logged_once_where_there_was_work(
    index: LinkIndex, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = LinkHook(index)
    assert logged(caplog) == []
    for _ in range(2):
        keeper.drain()
    (message,) = logged(caplog)
    assert message.startswith(f"store '{index.store.location}': drained link work; counts written")


def test_the_steps_of_a_rebuild(index: LinkIndex, caplog: pytest.LogCaptureFixture) -> None:
    report = rebuild(index)
    begin = f"store '{index.store.location}': the link index is rebuilt"
    assert logged(caplog) == [
        f"{begin}: it is emptied",
        f"{begin}: pages read: {report.pages}",
        f"{begin}: links written: {report.links}",
        f"{begin}, URIs in it: {report.uris}",
    ]


def test_verifying_and_repairing(index: LinkIndex, caplog: pytest.LogCaptureFixture) -> None:
    LinkHook(index).drain()
    a_link_is_lost(index)
    caplog.clear()
    report = verify_links(index, repair=True)
    assert report.repaired
    place = f"store '{index.store.location}': "
    messages = [each.removeprefix(place) for each in logged(caplog)]
    assert messages[0] == "repairing the link index"
    assert messages[1].startswith(
        f"repaired {report.repaired} differences of the link index, first:"
    )
    assert messages[2] == (
        f"link index verified over {report.pages} pages; differences: 0,"
        f" repaired: {report.repaired}, under way: 0"
    )
    assert len(messages) == 3
