"""The link index of an embedded store: pages and their links in one commit."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import webtable
from tests.links.naive import differences
from webtable.errors import StorageError
from webtable.index.build_and_verify import verify
from webtable.links import schema
from webtable.links.checking import verify as verify_of_links
from webtable.links.checking.compare_with_expected import Finding, Kind
from webtable.links.checking.confirm_differences import confirmed
from webtable.links.checking.rebuild import rebuild
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.storing.page_versions import CaptureNote
from webtable.store.store import Store

BEGIN = 1_788_264_000


class TestClock:
    """A clock that is set by hand."""

    __test__ = False

    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        self.time_ms = now_ms

    def now_ms(self) -> int:
        return self.time_ms

    def elapsed_ms(self) -> int:
        return self.time_ms


def parse(url: str, body: bytes, media_type: str) -> PageInfo:
    """A body has a line a link: URL and anchor."""
    lines = [line.split(" ") for line in body.decode().split("\n") if line]
    texts = [f"{target}\t\t{anchor}" for target, anchor in lines if target != url]
    return PageInfo(links="\n".join(texts), link_count=len({target for target, _ in lines}))


def capture(url: str, second: int, *links: str, status: int = 200, digest: str = "") -> NewCapture:
    """A capture of a page that links to others, `target anchor` each."""
    body = "\n".join(links).encode()
    note = CaptureNote(
        BEGIN + second, digest or f"{hash(body):x}", status, len(body), "text/html", "", None, False
    )
    return NewCapture(url, note, body, parse(url, body, ""))


class Kept:
    """A store of pages whose links are kept."""

    def __init__(self, store: Store, clock: TestClock | None = None) -> None:
        if "webtable_settings" not in store.tables():
            # On a cluster, too, one region a table: that is quicker to make.
            pages = PageTable.create(store, parse, keys="readable", profile="archive")
            LinkIndex.create(pages)
        self.pages = PageTable.open(store, parse, clock=clock)
        self.pages.rows.clock_check = None  # this clock is set by the tests
        self.index = LinkIndex.open(self.pages, clock=clock)
        self.keeper = LinkHook(self.index)
        self.pages.hook = self.keeper

    def store(self, *captures: NewCapture) -> None:
        self.pages.store_captures(captures)

    def check(self) -> None:
        """Drains, and compares with what the stored pages give."""
        self.keeper.drain()
        assert differences(self.index) == []
        assert verify(self.index.rows).is_tidy
        assert verify(self.pages.rows).is_tidy

    def count(self, url: str) -> int | None:
        """How many pages link to a URL; None: it is not in the index."""
        found = self.index.table.get(schema.page_row(schema.uri_of(url)), (schema.INCOUNT,))
        value = None if found is None else found.value(schema.INCOUNT)
        return None if value is None else int(value)


A, B, C, D = "https://a.com/", "https://b.com/", "https://c.com/", "https://d.org/x"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        yield store


def test_pages_come_change_go_and_come_back(store: Store) -> None:
    kept = Kept(store)
    kept.store(capture(A, 0, f"{B} b", f"{C} c"), capture(B, 0, f"{C} c"))
    kept.check()
    assert [kept.count(url) for url in (A, B, C, D)] == [0, 1, 2, None]
    kept.store(capture(A, 1, f"{B} other", f"{D} d"))
    kept.check()
    assert [kept.count(url) for url in (A, B, C, D)] == [0, 1, 1, 1]
    kept.store(capture(A, 2, f"{B} b", status=404))
    kept.check()
    assert [kept.count(url) for url in (A, B, C, D)] == [0, 0, 1, None]
    kept.store(capture(A, 3, f"{D} d"), capture(B, 3, status=500))
    kept.check()
    assert [kept.count(url) for url in (A, B, C, D)] == [0, 0, None, 1]


def test_older_captures_only_add_the_source(store: Store) -> None:
    kept = Kept(store)
    kept.store(capture(A, 5, f"{B} b"))
    kept.store(capture(A, 2, f"{C} c"))
    kept.check()
    assert [kept.count(url) for url in (B, C)] == [1, None]
    row = kept.index.table.get(schema.shard_row(b"p:", schema.uri_of(C), 0))
    assert row is not None
    assert row.value(b"inlinks:com.a/") == b"-"


def test_changes_within_one_millisecond(store: Store) -> None:
    kept = Kept(store, TestClock())
    for second in range(4):
        kept.store(capture(A, second, f"{(B, C)[second % 2]} x"))
        kept.check()


def test_a_clock_that_goes_back(store: Store) -> None:
    clock = TestClock()
    kept = Kept(store, clock)
    for second in range(6):
        kept.store(
            capture(A, second, f"{(B, C)[second % 2]} x"), capture(D, second, f"{B} {second}")
        )
        clock.time_ms -= 60_000
        if second == 3:  # another process, which has seen nothing yet
            kept = Kept(store, clock)
        kept.check()


def test_a_page_that_changes_without_its_links_leaves_no_work(store: Store) -> None:
    kept = Kept(store)
    kept.store(capture(A, 0, f"{B} b", digest="x"))
    kept.check()
    kept.store(capture(A, 1, f"{B} b", digest="y"))
    kept.keeper.settle(is_last=True)
    assert list(kept.index.work.scan()) == []
    kept.check()


def test_counts_go_out_at_the_end_or_with_the_next_load(store: Store) -> None:
    kept = Kept(store)
    kept.store(capture(A, 0, f"{B} b"))
    kept.keeper.settle(is_last=False)
    assert kept.count(B) is None
    assert list(kept.index.work.scan()) != []
    # As if the process had been killed here.
    again = Kept(store)
    again.keeper.settle(is_last=True)
    assert again.count(B) == 1
    assert differences(again.index) == []


def test_several_keepers_of_one_store_and_a_rebuild_between_them(store: Store) -> None:
    one, other = Kept(store), Kept(store)
    one.store(capture(A, 0, f"{C} c"))
    other.store(capture(B, 0, f"{C} c"))
    one.store(capture(D, 0, f"{C} c"))
    one.check()
    other.check()
    assert other.count(C) == 3
    rebuild(other.index)
    one.store(capture(B, 1))
    one.check()
    assert one.count(C) == 2


def test_a_commit_that_fails_is_forgotten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(store)
    kept.store(capture(A, 0, f"{B} b"))

    def full(*_: object, **__: object) -> None:
        raise StorageError("the disk is full", hint="make room")

    with monkeypatch.context() as patch:
        patch.setattr(store, "commit", full)
        with pytest.raises(StorageError):
            kept.store(capture(C, 0, f"{B} b"))
    kept.store(capture(D, 0, f"{B} b"))
    kept.check()
    assert kept.count(B) == 2


def test_threads_that_load_and_drain(store: Store) -> None:
    kept = Kept(store)
    failed: list[BaseException] = []

    def run(work: Callable[[], None]) -> threading.Thread:
        def guarded() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
                raise

        thread = threading.Thread(target=guarded)
        thread.start()
        return thread

    def load(name: str) -> Callable[[], None]:
        def work() -> None:
            for n in range(60):
                kept.store(capture(f"https://{name}.com/{n % 7}", n, f"{(A, B, C)[n % 3]} x"))

        return work

    def drain() -> None:
        for _ in range(60):
            kept.keeper.drain()

    for thread in [run(load("x")), run(load("y")), run(drain)]:
        thread.join()
    assert failed == []
    kept.check()


@pytest.mark.parametrize("seed", range(12))
def test_random_histories(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    clock = TestClock()
    kept = Kept(store, clock)
    urls, targets = [A, B, C], [A, B, C, D, "https://e.b.com/"]
    for _ in range(60):
        batch = []
        for _ in range(chance.randrange(1, 4)):
            links = [f"{url} {chance.choice('xy')}" for url in targets if chance.random() < 0.5]
            status = chance.choice((200, 200, 200, 404, 301))
            made = capture(chance.choice(urls), chance.randrange(20), *links, status=status)
            if chance.random() < 0.15:
                made = made._replace(note=made.note._replace(is_revisit=True), body=None, info=None)
            batch.append(made)
        kept.store(*batch)
        clock.time_ms += chance.choice((-60_000, 0, 0, 1, 1_000))
        if chance.random() < 0.2:
            kept.keeper.settle(is_last=True)
        if chance.random() < 0.1:
            kept = Kept(store, clock)
    kept.check()


@pytest.mark.parametrize("is_linked", [True, False])
@pytest.mark.parametrize("kind", ["incount", "member"])
def test_verify_sees_that_a_number_went_and_came_back(
    store: Store, monkeypatch: pytest.MonkeyPatch, kind: Kind, is_linked: bool
) -> None:
    kept = Kept(store)
    usual, other = ((f"{B} b",), ()) if is_linked else ((), (f"{B} b",))
    kept.store(capture(A, 0, *usual))
    kept.check()
    look, report = confirmed, verify_of_links.LinkReport()
    shown: list[Finding] = []

    def look_between(index: LinkIndex, waiting: Sequence[Finding]) -> list[Finding]:
        kept.store(capture(A, 1, *other))
        seen = look(index, waiting)
        shown.extend(seen)
        kept.store(capture(A, 2, *usual))
        kept.keeper.drain()
        return seen

    monkeypatch.setattr(verify_of_links, "confirmed", look_between)
    findings = verify_of_links._Findings(kept.index, report, repair=False)
    uri = schema.uri_of(B)
    findings.add(Finding(kind, uri, "as it was", domain=kept.index.domains.of(uri)))
    findings.flush()
    assert shown  # it was really so in between
    assert (report.differences, report.under_way) == (0, 1)
