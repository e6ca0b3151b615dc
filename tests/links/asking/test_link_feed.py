"""The feed of the links: every page at the newest change of its links, nothing missed."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.links.naive import differences
from webtable import WebTable
from webtable.errors import ConflictError
from webtable.links import schema
from webtable.links.asking.link_feed import LinkChange
from webtable.links.link_index import LinkIndex, change_index


@pytest.fixture(params=["readable", "salted"])
def web(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WebTable]:
    with WebTable.create(str(tmp_path / "store"), keys=request.param) as opened:
        yield opened


def put(web: WebTable, name: str, *targets: str, day: int = 1, status: int = 200) -> None:
    links = "".join(f"<a href='https://{each[0]}.example/'>{each}</a>" for each in targets)
    fetched = f"2026-09-{day:02}T12:00:00Z"
    web.put(f"https://{name}.example/", links, status=status, fetched=fetched)


def kinds(changes: list[LinkChange]) -> list[tuple[str, str]]:
    return [(each.url[8], each.kind) for each in changes]


def links_of(web: WebTable) -> LinkIndex:
    return LinkIndex.open(web.changes._pages)


def test_every_change_of_the_links_of_a_page_is_listed(web: WebTable) -> None:
    feed = web.changes(links=True)
    found = []
    for day, targets in enumerate(
        [("b one",), ("b one", "c"), ("b two", "c"), ("b two", "c"), ("c",), ()], 1
    ):
        put(web, "a", *targets, day=day)
        found.append(kinds(feed.read()))
    new, changed = [("a", "new")], [("a", "changed")]
    assert found == [new, changed, changed, [], changed, changed]
    assert kinds(web.changes(links=True).read()) == changed
    (change,) = web.changes(links=True)
    assert (change.status, change.fetched) == (200, "2026-09-06T12:00:00Z")
    assert change.digest.startswith("sha1:")


def test_counts_of_links_to_a_page_are_no_changes(web: WebTable) -> None:
    put(web, "b")
    feed = web.changes(links=True)
    assert kinds(feed.read()) == [("b", "new")]
    for name in "cde":
        put(web, name, "b")
        assert kinds(feed.read()) == [(name, "new")]
    assert len(list(web.links.to("https://b.example/"))) == 3
    assert kinds(web.changes(links=True).read()) == [(name, "new") for name in "bcde"]


def test_an_error_has_no_links(web: WebTable) -> None:
    feed = web.changes(links=True)
    put(web, "a", "b")
    put(web, "a", day=2, status=404)
    assert [(each.kind, each.status) for each in feed] == [("changed", 404)]
    put(web, "c", status=500)
    assert [(each.kind, each.status) for each in feed] == [("new", 500)]


def test_an_older_capture_changes_nothing(web: WebTable) -> None:
    put(web, "a", "b", day=5)
    feed = web.changes(links=True)
    feed.read()
    put(web, "a", "c", day=2)
    assert feed.read() == []


def test_cursors_of_the_two_feeds_are_kept_apart(web: WebTable) -> None:
    put(web, "a", "b")
    pages, links = web.changes(), web.changes(links=True)
    pages.read()
    links.read()
    assert web.changes(links.cursor, links=True).read() == []
    with pytest.raises(ConflictError, match="the feed of 'pages', not to that of links"):
        web.changes(pages.cursor, links=True)
    with pytest.raises(ConflictError, match="the feed of 'links', not to that of pages"):
        web.changes(links.cursor)


def test_random_pages(web: WebTable) -> None:
    """A reader that restarts from its cursor ends with the newest links of every page."""
    chance, cursor = random.Random(7), None
    known: dict[str, tuple[int, list[str]]] = {}
    for day in range(1, 28):
        for name in chance.sample("abcdef", 3):
            targets = [f"{c} {chance.choice('xy')}" for c in chance.sample("abc", 2)]
            put(web, name, *targets, day=day)
        feed = web.changes(cursor, links=True)
        for change in feed.read(chance.choice([1, 3, 100])):
            before = known.get(change.url, (0, []))[0]
            assert change.revision > before
            lines = [f"{each.target} {each.anchor}" for each in web.links.on(change.url)]
            known[change.url] = change.revision, lines
        cursor = feed.cursor
    for change in web.changes(cursor, links=True):
        lines = [f"{each.target} {each.anchor}" for each in web.links.on(change.url)]
        known[change.url] = change.revision, lines
    for url, (_, lines) in known.items():
        assert lines == [f"{each.target} {each.anchor}" for each in web.links.on(url)]
    assert len(known) == len(list(web.pages()))
    assert differences(links_of(web)) == []


def test_revisions_grow_although_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [2_000_000_000_000]
    monkeypatch.setattr("webtable.index.write_protocol.SystemClock.now_ms", lambda _: now[0])
    location, highest, cursor = str(tmp_path / "store"), 0, None
    for turn in range(8):
        with WebTable.open(location) as web:
            name = "abc"[turn % 3]
            put(web, name, f"z {turn}", day=turn + 1)
            feed = web.changes(cursor, links=True)
            (change,) = feed.read()
            assert (change.url[8], change.revision > highest) == (name, True)
            highest, cursor = change.revision, feed.cursor
            row = web.store.table("webtable_settings").get(b"revision", (b"a:highest_links",))
            assert row is not None
            assert int(row.value(b"a:highest_links") or 0) >= highest
        now[0] -= 86_400_000


def test_a_rebuild_begins_another_feed(web: WebTable) -> None:
    put(web, "a", "b")
    put(web, "b", "a")
    feed = web.changes(links=True)
    feed.read()
    consumer = web.changes(consumer="one", links=True)
    consumer.read()
    consumer.commit()
    web.rebuild_links()
    for again in (lambda: web.changes(feed.cursor, links=True), feed.read, consumer.read):
        with pytest.raises(ConflictError, match="restored, rebuilt or copied"):
            again()
    with pytest.raises(ConflictError, match="`webtable changes forget one`"):
        web.changes(consumer="one", links=True)
    assert [each.is_valid for each in web.changes.consumers()] == [False]
    begun = web.changes(links=True)
    assert kinds(begun.read()) == [("a", "changed"), ("b", "changed")]
    put(web, "b", "a", "c", day=2)
    assert kinds(begun.read()) == [("b", "changed")]
    assert web.verify().is_clean


def test_during_a_rebuild_the_feed_cannot_be_read(web: WebTable) -> None:
    put(web, "a", "b")
    feed = web.changes(links=True)
    links_of(web).set_ready(False)
    with pytest.raises(ConflictError, match="is being rebuilt"):
        feed.read()


def test_verify_finds_and_repairs_what_is_missing(web: WebTable) -> None:
    for name in "abc":
        put(web, name, "b")
    index = links_of(web)
    (entry, *_) = index.rows.hits(schema.CHANGES)
    index.store.table(schema.CHANGES).delete(entry.key)
    index.table.delete(b"p:example.b/", (schema.CHANGED,))
    before = web.verify()
    assert not before.is_clean
    assert [each.what for each in before.links.examples] == [
        "the revision of its links is missing or damaged"
    ]
    assert before.links.ranks_lacking == 1
    assert web.verify(repair=True).is_clean
    assert sorted(name for name, _ in kinds(web.changes(links=True).read())) == ["a", "b", "c"]
    assert web.verify().is_clean


def test_entries_of_a_cluster_are_in_buckets() -> None:
    facts = {schema.CHANGED: b"0001788264000000\tnew"}
    (one,) = change_index(has_buckets=False).entries(b"p:com.example/", facts)
    (other,) = change_index(has_buckets=True).entries(b"p:com.example/", facts)
    assert one == (b"0001788264000000_p:com.example/", b"rowkey")
    assert other == (b"b:0001788264000000_p:com.example/", b"rowkey")
    assert change_index(has_buckets=True).splits == tuple(b"%x" % n for n in range(1, 16))


def test_a_killed_step_of_an_upgrade_is_finished(tmp_path: Path) -> None:
    """The step that adds the feed stops after each of its calls, and runs again."""
    location = str(tmp_path / "store")
    with WebTable.create(location) as web:
        for name in "abcd":
            put(web, name, "b")
        settings = web.store.table("webtable_settings")
        steps = settings.get(b"pages", (b"a:steps",))
        assert steps is not None
        settings.put(b"pages", {b"a:steps": (steps.value(b"a:steps") or b"")[: -len(" link-feed")]})
        settings.delete(b"links", (b"a:incarnation",))
        for row in list(web.store.table("webindex").scan(prefix=b"p:", columns=(schema.CHANGED,))):
            web.store.table("webindex").delete(row.key, (schema.CHANGED,))
        web.store.drop_table(schema.CHANGES)
    copy = str(tmp_path / "copy")
    shutil.copytree(location, copy)

    class Stopped(Exception):
        pass

    def stop(name: str, pages: int) -> None:
        if name == "link-feed":
            raise Stopped

    with pytest.raises(Stopped):
        WebTable.upgrade(copy, on_progress=stop)
    for where in (copy, location):
        assert WebTable.upgrade(where).steps == ["link-feed"]
        with WebTable.open(where) as web:
            assert kinds(web.changes(links=True).read()) == [(n, "changed") for n in "abcd"]
            assert web.verify().is_clean
