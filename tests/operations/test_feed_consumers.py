"""Named consumers of the change feeds: what they have handled, and what they never miss."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from webtable import WebTable
from webtable.errors import ConflictError, CorruptData, InvalidRequest, NotFound
from webtable.operations.feed_consumers import lowest_position
from webtable.operations.operational_state import OperationalState, open_state
from webtable.pages.asking.change_feed import Position
from webtable.pages.asking.page_feed import PageFeed
from webtable.pages.settings import PURGED


@pytest.fixture(params=["readable", "salted"])
def web(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WebTable]:
    with WebTable.create(str(tmp_path / "store"), keys=request.param) as opened:
        yield opened


def put(web: WebTable, *names: str, body: str = "one") -> None:
    for name in names:
        web.put(f"https://{name}.example/", body)


def names(changes: object) -> str:
    return "".join(each.url[8] for each in changes)  # type: ignore[attr-defined]


def source_of(web: WebTable) -> PageFeed:
    return PageFeed(web.changes._pages)


def set_purged(web: WebTable, revision: int) -> None:
    table, row, column = PURGED
    web.store.table(table).put(row, {column: b"%d" % revision})


def test_a_consumer_continues_after_what_it_committed(web: WebTable) -> None:
    put(web, *"abc")
    with web.changes(consumer="one") as feed:
        assert names(feed.read(2)) == "ab"
    with web.changes(consumer="one") as feed:
        assert names(feed) == "c"
        put(web, "d")
        assert names(feed) == "d"
    assert web.changes(consumer="one").read() == []
    assert names(web.changes(consumer="other")) == "abcd"


def test_what_was_not_committed_comes_again(web: WebTable) -> None:
    put(web, *"abc")
    feed = web.changes(consumer="one")
    assert names(feed.read(1)) == "a"
    feed.commit()
    assert names(feed.read(1)) == "b"

    def fail() -> None:
        with web.changes(consumer="one") as failing:
            assert names(failing.read(1)) == "b"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names(web.changes(consumer="one")) == "bc"


def test_of_two_processes_with_one_name_the_second_is_rejected(web: WebTable) -> None:
    put(web, *"ab")
    one, other = web.changes(consumer="one"), web.changes(consumer="one")
    assert names(one.read(1)) == "a"
    assert names(other) == "ab"
    one.commit()
    with pytest.raises(ConflictError, match="another process has moved consumer 'one'"):
        other.commit()
    assert names(web.changes(consumer="one")) == "b"
    assert names(one) == "b"
    one.commit()
    one.commit()  # nothing is new: that is no error


def test_a_consumer_that_was_forgotten_meanwhile_is_rejected(web: WebTable) -> None:
    put(web, "a")
    feed = web.changes(consumer="one")
    assert names(feed) == "a"
    web.changes.forget("one")
    with pytest.raises(ConflictError, match="consumer 'one'"):
        feed.commit()
    assert names(web.changes(consumer="one")) == "a"
    with pytest.raises(NotFound, match=r"consumer 'two' does not exist; known consumers: one"):
        web.changes.forget("two")


def test_consumers_are_listed_with_their_lag(web: WebTable) -> None:
    assert web.changes.consumers() == []
    put(web, *"ab")
    web.changes(consumer="new")
    with web.changes(consumer="at-end") as feed:
        (a, b) = feed.read()
    with web.changes(consumer="links", links=True) as links:
        assert names(links) == "ab"
    put(web, "c")
    (c,) = web.changes(feed.cursor).read()
    found = {each.name: each for each in web.changes.consumers()}
    assert list(found) == ["at-end", "links", "new"]
    end, new, of_links = found["at-end"], found["new"], found["links"]
    assert (end.feed, end.revision, end.behind) == ("pages", b.revision, 1)
    assert end.lag_seconds == (c.revision - b.revision) / 1000
    assert (new.feed, new.revision, new.behind) == ("pages", 0, 3)
    assert new.lag_seconds == (c.revision - a.revision) / 1000
    assert (of_links.feed, of_links.behind) == ("links", 1)
    assert all(each.is_valid and each.committed[:2] == "20" for each in found.values())
    with web.changes(consumer="at-end") as feed:
        feed.read()
    assert [each.lag_seconds for each in web.changes.consumers() if each.name == "at-end"] == [0]


def test_a_consumer_has_one_feed(web: WebTable) -> None:
    web.changes(consumer="one")
    with pytest.raises(ConflictError, match="consumer 'one' reads the feed of pages, not that of"):
        web.changes(consumer="one", links=True)
    with pytest.raises(InvalidRequest, match="both a cursor and a consumer"):
        web.changes(web.changes().cursor, consumer="one")  # type: ignore[call-overload]


def test_a_consumer_of_another_incarnation_is_rejected(web: WebTable) -> None:
    put(web, "a")
    with web.changes(consumer="one") as feed:
        feed.read()
    web.store.table("webtable_settings").put(b"pages", {b"a:incarnation": b"another"})
    with WebTable(web.store) as restored:
        with pytest.raises(ConflictError, match=r"consumer 'one' cannot .* changes forget one"):
            restored.changes(consumer="one")
        (listed,) = restored.changes.consumers()
        assert (listed.is_valid, listed.behind) == (False, 0)
        assert lowest_position(open_state(web.store), source_of(restored)) is None
        restored.changes.forget("one")
        assert names(restored.changes(consumer="one")) == "a"


def test_the_lowest_position_is_that_of_the_slowest_consumer_of_the_pages(web: WebTable) -> None:
    state, source = open_state(web.store), source_of(web)
    assert lowest_position(state, source) is None
    put(web, *"ab")
    web.changes(consumer="links", links=True)
    assert lowest_position(state, source) is None
    with web.changes(consumer="fast") as fast:
        a, b = fast.read()
    lowest = lowest_position(state, source)
    assert lowest is not None
    assert lowest.revision == b.revision
    assert Position(b.revision, lowest.row) <= lowest
    with web.changes(consumer="slow") as slow:
        assert lowest_position(state, source) == Position(0)
        slow.read(1)
    lowest = lowest_position(state, source)
    assert lowest is not None
    assert lowest.revision == a.revision
    web.changes.forget("slow")
    web.changes.forget("fast")
    assert lowest_position(state, source) is None


def test_a_cursor_before_purged_tombstones_is_rejected(web: WebTable) -> None:
    put(web, *"abc")
    whole = web.changes()
    _, second, _ = whole.read()
    begin = web.changes()
    some = web.changes()
    assert names(some.read(1)) == "a"
    early = web.changes(consumer="early")
    set_purged(web, second.revision)
    for rejected in (some.cursor, begin.cursor):
        with pytest.raises(ConflictError, match=r"removals before .* read from the beginning"):
            web.changes(rejected)
    with pytest.raises(ConflictError, match="removals before"):
        some.read()
    with pytest.raises(ConflictError, match="removals before"):
        early.read()
    with pytest.raises(ConflictError, match=r"consumer 'early' cannot continue: removals before"):
        web.changes(consumer="early")
    # A reader behind the mark, and one that begins now, miss nothing.
    assert names(web.changes(whole.cursor)) == ""
    feed = web.changes()
    found = feed.read(1)
    while some_more := web.changes(feed.cursor).read(1):
        feed = web.changes(feed.cursor)
        found += feed.read(1)
        assert some_more == found[-1:]
    assert names(found) == "abc"


def test_a_tombstone_that_is_purged_while_a_reader_is_on_its_way(web: WebTable) -> None:
    put(web, *"abc")
    _, second, _ = web.changes().read()
    feed = web.changes()
    changes = iter(feed)
    # The chunk is read, and the mark after it: these changes are whole.
    assert next(changes).url == "https://a.example/"
    set_purged(web, second.revision)
    assert names(changes) == "bc"
    assert names(feed.read()) == ""


def test_consumers_of_a_follower_work_beside_the_writer(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with WebTable.create(location) as writer:
        put(writer, "a")
        with WebTable.open(location, read_only=True) as reader:
            feed = reader.changes(consumer="one")
            assert names(feed) == "a"
            feed.commit()
            put(writer, "b")
            assert names(feed) == "b"
            feed.commit()
        assert writer.changes(consumer="one").read() == []


def test_a_copied_directory_has_its_consumers(tmp_path: Path) -> None:
    with WebTable.create(str(tmp_path / "store")) as web:
        put(web, "a")
        with web.changes(consumer="one") as feed:
            feed.read()
        web.store.checkpoint(str(tmp_path / "checkpoint"))
    shutil.copytree(tmp_path / "store", tmp_path / "copy")
    with WebTable.open(tmp_path / "copy") as copy:
        assert copy.changes(consumer="one").read() == []
    with WebTable.open(tmp_path / "checkpoint") as copy:
        assert names(copy.changes(consumer="one")) == "a"


def stored(state: OperationalState, name: str) -> bytes:
    value = state.get("consumer", name)
    assert value is not None
    return value


def test_the_stored_bytes_are_frozen(web: WebTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtable.index.write_protocol.SystemClock.now_ms", lambda _: 1_788_264_000)
    state = open_state(web.store)
    feed = web.changes(consumer="one")
    assert json.loads(stored(state, "one")) == {
        "feed": "pages",
        "cursor": feed.cursor,
        "committed_ms": 1_788_264_000,
        "commits": 0,
    }
    put(web, "a")
    feed.read()
    feed.commit()
    expected = b'{"feed":"pages","cursor":"%b","committed_ms":1788264000,"commits":1}'
    assert stored(state, "one") == expected % feed.cursor.encode()
    state.put_if("consumer", "one", stored(state, "one"), b"{}")
    with pytest.raises(CorruptData, match="consumer 'one' does not decode"):
        web.changes(consumer="one")


@pytest.mark.hbase
def test_consumers_on_a_cluster(hbase_location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtable.pages.asking.change_feed._SWEEP_MS", 0)
    location = f"{hbase_location}?namespace=consumers{uuid.uuid4().hex[:8]}"
    with WebTable.create(location) as web:
        put(web, *"ab")
        with web.changes(consumer="one") as feed:
            assert sorted(names(feed)) == ["a", "b"]
        # Its cursor is behind the window, so the same changes come again.
        one, other = web.changes(consumer="one"), web.changes(consumer="one")
        assert sorted(names(one)) == ["a", "b"]
        monkeypatch.setattr("webtable.pages.asking.change_feed.WINDOW_MS", -60_000)
        assert sorted(names(other)) == ["a", "b"]
        other.commit()
        assert names(one) == ""
        with pytest.raises(ConflictError, match="another process has moved consumer 'one'"):
            one.commit()
        assert web.changes(consumer="one").read() == []
        with web.changes(consumer="links", links=True) as links:
            assert sorted(names(links)) == ["a", "b"]
        put(web, "a", body="<a href='https://b.example/'>b</a>")
        with web.changes(consumer="links", links=True) as links:
            assert [(each.url[8], each.kind) for each in links] == [("a", "changed")]
        assert [(each.name, each.behind) for each in web.changes.consumers()] == [
            ("links", 0),
            ("one", 1),
        ]
        web.changes.forget("one")
        for name in web.store.tables():
            web.store.drop_table(name)
