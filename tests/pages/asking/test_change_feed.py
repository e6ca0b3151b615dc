"""The change feed: every page at its newest change, in order, nothing missed."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from webtable import WebTable
from webtable.errors import ConflictError, InvalidRequest
from webtable.index.write_protocol import SystemClock
from webtable.pages.asking.change_feed import ChangeFeed
from webtable.pages.asking.page_feed import PageChange
from webtable.pages.formats.program_captures import capture_of_program
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored, ready


@pytest.fixture(params=["readable", "salted"])
def web(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WebTable]:
    with WebTable.create(str(tmp_path / "store"), keys=request.param) as opened:
        yield opened


def put(web: WebTable, name: str, body: str, status: int = 200, day: int = 1) -> None:
    fetched = f"2026-09-{day:02}T12:00:00Z"
    web.put(f"https://{name}.example/", body, status=status, fetched=fetched)


def kinds(changes: list[PageChange]) -> list[tuple[str, str]]:
    return [(each.url.partition("//")[2][:-9], each.kind) for each in changes]


def test_every_page_is_there_once_at_its_newest_change(web: WebTable) -> None:
    for name in "cab":
        put(web, name, "one")
    put(web, "c", "two", day=2)
    feed = web.changes()
    assert kinds(feed.read()) == [("a", "new"), ("b", "new"), ("c", "changed")]
    assert feed.read() == []
    revisions = [each.revision for each in web.changes()]
    assert revisions == sorted(set(revisions))


def test_a_cursor_continues_where_the_feed_was(web: WebTable) -> None:
    feed = web.changes()
    assert list(feed) == []
    put(web, "a", "one")
    put(web, "b", "one")
    (first,) = feed.read(1)
    assert first.url == "https://a.example/"
    again = web.changes(since=feed.cursor)
    assert kinds(again.read()) == [("b", "new")]
    put(web, "a", "gone", status=404, day=3)
    assert kinds(again.read()) == [("a", "gone")]
    assert kinds(list(web.changes(since=feed.cursor))) == [("b", "new"), ("a", "gone")]
    assert list(web.changes(since=again.cursor)) == []


def test_what_is_no_change_of_the_page_is_not_in_the_feed(web: WebTable) -> None:
    put(web, "a", "<a href='https://b.example/'>b</a>")
    put(web, "b", "one")
    feed = web.changes()
    assert len(feed.read()) == 2
    put(web, "a", "<a href='https://b.example/'>b</a>", day=2)  # the same again
    put(web, "a", "older", day=1)  # not the newest
    put(web, "c", "<a href='https://b.example/'>b</a>")  # b has another inlink
    assert kinds(feed.read()) == [("c", "new")]


def test_kinds_of_changes(web: WebTable) -> None:
    feed = web.changes()
    found = []
    for day, (body, status) in enumerate(
        [("x", 200), ("y", 200), ("y", 503), ("z", 410), ("z2", 404), ("y", 200)], 1
    ):
        put(web, "a", body, status, day)
        found += [each.kind for each in feed.read()]
    assert found == ["new", "changed", "status", "gone", "status", "status"]


@pytest.mark.parametrize("cursor", ["", "x", "€", "MTIz", "eA", "eAkxCXk", "eAktMQl5", "a" * 999])
def test_a_wrong_cursor_is_rejected(web: WebTable, cursor: str) -> None:
    with pytest.raises((InvalidRequest, ConflictError)):
        web.changes(since=cursor)


def test_the_cursor_of_another_store_is_rejected(web: WebTable, tmp_path: Path) -> None:
    with WebTable.open(str(tmp_path / "other")) as other:
        cursor = other.changes().cursor
    with pytest.raises(ConflictError, match="another store"):
        web.changes(since=cursor)


def test_revisions_grow_although_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [2_000_000_000_000]
    monkeypatch.setattr("webtable.index.write_protocol.SystemClock.now_ms", lambda _: now[0])
    location, chance = str(tmp_path / "store"), random.Random(3)
    seen: dict[str, int] = {}
    cursor = None
    for turn in range(12):
        with WebTable.open(location) as web:
            names = [chance.choice("abcdef") for _ in range(3)]
            for number, name in enumerate(names):
                put(web, name, f"{turn} {number}", day=turn + 1)
            feed = web.changes(since=cursor)
            changes = list(feed)
            assert {each.url[8] for each in changes} == set(names)
            for each in changes:
                assert each.revision > max(seen.values(), default=0)
            seen |= {each.url: each.revision for each in changes}
            cursor = feed.cursor
            stored = web.store.table("webtable_settings").get(b"revision", (b"a:highest",))
            assert stored is not None
            ((_, timestamp, value, _),) = stored.raw_cells
            assert timestamp == int(value) >= max(seen.values())
        now[0] -= 86_400_000


def test_a_follower_sees_the_changes_of_the_writer(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with WebTable.open(location) as writer:
        put(writer, "a", "one")
        with WebTable.open(location, read_only=True) as reader:
            feed = reader.changes()
            assert kinds(list(feed)) == [("a", "new")]
            put(writer, "b", "one")
            assert kinds(list(feed)) == [("b", "new")]


def test_limits_do_not_lose_changes(web: WebTable) -> None:
    for number in range(25):
        put(web, f"site{number:02}", "x")
    feed: ChangeFeed[PageChange] = web.changes()
    found: list[PageChange] = []
    while some := feed.read(4):
        assert len(some) <= 4
        found += some
        feed = web.changes(since=feed.cursor)
    assert [each.url[8:14] for each in found] == [f"site{number:02}" for number in range(25)]


SECOND = 1_788_264_000


class LateClock(SystemClock):
    """The clock of a writer that chose its revisions minutes ago."""

    def now_ms(self) -> int:
        return super().now_ms() - 5 * 60_000


@pytest.mark.hbase
def test_on_a_cluster_a_late_writer_is_not_missed(
    hbase_location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtable.pages.asking.change_feed._SWEEP_MS", 0)
    location = f"{hbase_location}?namespace=feed{uuid.uuid4().hex[:8]}"
    with WebTable.create(location) as web:
        put(web, "a", "one")
        feed = web.changes()
        assert kinds(list(feed)) == [("a", "new")]
        late = PageTable.open(web.store, parse_stored, clock=LateClock())
        late.rows.clock_check = None  # its clock is right; it was paused since
        late.store_captures(
            [ready(capture_of_program("https://late.example/", "x", 200, (), SECOND))]
        )
        put(web, "b", "one")
        assert sorted(kinds(list(feed))) == [("b", "new"), ("late", "new")]
        assert list(feed) == []
        # The cursor is behind the window: a restart delivers the same changes again, and no others.
        again = web.changes(since=feed.cursor)
        assert sorted(kinds(list(again))) == [("a", "new"), ("b", "new"), ("late", "new")]
        put(web, "a", "two", status=404, day=2)
        assert kinds(list(again)) == [("a", "gone")]
        monkeypatch.setattr("webtable.pages.asking.change_feed.WINDOW_MS", -60_000)
        assert list(again) == []
        assert list(web.changes(since=again.cursor)) == []
        for name in web.store.tables():
            web.store.drop_table(name)
