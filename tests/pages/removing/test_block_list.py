"""The block list: what it blocks, what it stores, and when other processes see it."""

from __future__ import annotations

import pytest

from webtable.errors import NotFound, UrlBlocked
from webtable.pages.page_table import PageTable
from webtable.pages.removing.block_list import BlockList
from webtable.pages.removing.targets import target_of
from webtable.pages.schema import SETTINGS_TABLE

NOW = 1_788_264_000_000


@pytest.fixture
def blocked(pages: PageTable) -> BlockList:
    return BlockList(pages.store, pages.keys, pages.rows.new_token)


def test_the_stored_rows(pages: PageTable, blocked: BlockList) -> None:
    targets = [target_of(t, pages.keys) for t in ("e.example/a", "d.example", "p.example/b/*")]
    blocked.add(targets, NOW)
    table = pages.store.table(SETTINGS_TABLE)
    for target, row in zip(targets, ("url:", "domain:", "prefix:0020:"), strict=True):
        found = table.get(f"blocked:{row}{target.hash}".encode())
        assert found is not None
        assert found.values() == {b"a:since": b"2026-09-01T12:00:00Z"}
    entries = {(each.kind, each.length, each.hash) for each in blocked.entries()}
    assert {(each.kind, each.length, each.hash) for each in targets} <= entries
    assert "example" not in "".join(each.to_json() for each in blocked.entries())


def test_what_is_blocked(pages: PageTable, blocked: BlockList) -> None:
    for text in ("one.test/a", "two.test", "three.test:8080", "four.test/x/*"):
        blocked.add([target_of(text, pages.keys)], NOW)
    for url in (
        "https://one.test/a",
        "https://two.test/",
        "http://www.two.test/y",
        "http://three.test:8080/z",
        "https://four.test/x/",
        "https://four.test/x/1?q",
    ):
        assert blocked.blocks(url), url
        with pytest.raises(UrlBlocked):
            blocked.check(url)
    for url in (
        "http://one.test/a",
        "https://one.test/ab",
        "https://nottwo.test/",
        "http://three.test/",
        "https://four.test/x",
        "https://test/",
    ):
        assert not blocked.blocks(url), url


def test_another_writer_sees_a_change_when_it_refreshes(
    pages: PageTable, blocked: BlockList
) -> None:
    other = BlockList(pages.store, pages.keys, pages.rows.new_token)
    other.refresh()
    target = target_of("seen.test/a", pages.keys)
    blocked.add([target], NOW)
    assert not other.blocks("https://seen.test/a")
    assert other.refresh()
    assert other.blocks("https://seen.test/a")
    assert not other.refresh()
    blocked.remove(target)
    other.refresh()
    assert not other.blocks("https://seen.test/a")
    with pytest.raises(NotFound):
        blocked.remove(target)
