"""The change feeds in the simulator: writers, removals and count exporters beside consumers.

Consumers of the feed of the pages and of that of the links die anywhere, and start again from their
stored cursor. What they have handled is a table: a row for each page, at its revision. When it is
quiet, and each has read once more, that table has the newest revision of every page.

Clocks of writers are right, nearly right, or wrong by minutes and hours: then the check of the
clock must keep them from writing. They step while a writer runs.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from typing import Any

from tests.simulation.links_world import LinksBroken, LinksWorld, parse
from tests.simulation.world import Faults, WorkerClock
from webtable.errors import CheckFailed, ConflictError, RetryableError, WebTableError
from webtable.index.clock_check import ClockCheck
from webtable.index.index_and_change import Change, RowState
from webtable.index.indexed_table import IndexedTable
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.links import schema as links_schema
from webtable.links.asking.link_feed import LinkFeed
from webtable.links.link_index import LINK_SETTINGS, LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.links.write_protocol_rules import INTENT_AGE_MS
from webtable.operations.feed_consumers import FeedConsumer
from webtable.operations.operational_state_table import TableState
from webtable.pages import schema as pages_schema
from webtable.pages.asking.change_feed import WINDOW_MS, FeedSource
from webtable.pages.asking.page_feed import PageFeed
from webtable.pages.columns import CHANGED, URL
from webtable.pages.indexes import CHANGES, page_indexes
from webtable.pages.keys import key_scheme
from webtable.pages.page_table import PageTable
from webtable.pages.removing.row_removal import RowRemoval
from webtable.pages.settings import CLOCKS, INCARNATION, PageSettings
from webtable.pages.storing.content_revision import (
    content_change,
    decode_changed,
)

__all__ = ["FeedWorld", "LatePage", "LateWriters", "SetClock", "WrongClocks", "play_feed"]

COPY = "copy"
KIND = b"a:kind"
SHARDS = 2


class FeedWorld(LinksWorld):
    """One schedule of writers and consumers of the same few pages."""

    skews: tuple[int, ...] = (0, 0, 25_000, -25_000, 3_600_000, -3_600_000)
    """By how much the clocks of writers may be wrong, in milliseconds."""

    def __init__(self, seed: int, faults: Faults | None = None) -> None:
        super().__init__(seed, faults)
        self.names: tuple[str, ...] = ("pages", "links")

    def _make_tables(self) -> None:
        self._keys = key_scheme("salted", self._suffixes)
        every = page_indexes(self._keys, self._suffixes)
        self._indexes = [each for each in every if each.name == CHANGES]
        self.shards = SHARDS
        super()._make_tables()
        store = self.world.store
        store.create_table(COPY, "a")
        values = {b"a:state": b"ready", INCARNATION: b"links"}
        store.table(pages_schema.SETTINGS_TABLE).put(LINK_SETTINGS, values)

    def worker(self, clock: WorkerClock | None = None) -> tuple[PageTable, LinkIndex, LinkHook]:
        """Returns the pages and their links as a worker with a clock of its own has them."""
        store, tokens = self.world.store, self.world.token
        clock = WorkerClock(self.world) if clock is None else clock
        rows = IndexedTable(
            store,
            pages_schema.TABLE,
            self._indexes,
            columns=(b"metadata",),
            cells=b"metadata:",
            workers=1,
            clock=clock,
            tokens=tokens,
            clock_check=ClockCheck(store, clock, CLOCKS, tokens()),
        )
        settings = PageSettings(self._keys, "archive", self._suffixes, "pages")
        pages = PageTable(settings, rows, parse)
        index = LinkIndex(pages, self.shards, workers=1, clock=clock, tokens=tokens)
        keeper = LinkHook(index)
        pages.hook = keeper
        return pages, index, keeper

    # Writers

    def _write(self) -> None:
        """A writer: captures and removals of pages, with a clock that is set now and then."""
        chance, clock = self.chance, WorkerClock(self.world)
        clock.skew_ms = chance.choice(self.skews)
        pages, _, keeper = self.worker(clock)
        for _ in range(chance.choice((1, 2, 3))):
            if chance.random() < 0.3:
                clock.skew_ms = chance.choice(self.skews)
            try:
                if chance.random() < 0.2:
                    self._remove(pages, chance.choice(self.urls))
                else:
                    pages.store_captures([self._capture()])
                if chance.random() < 0.3:
                    keeper.settle(is_last=True)
            except (RetryableError, BaseExceptionGroup) as error:
                if not _is_expected(error):
                    raise

    def _remove(self, pages: PageTable, url: str) -> None:
        """Leaves the tombstone of a page in its row."""
        row = pages.keys.row_key(url)
        pages.rows.write(row, RowRemoval(pages.rows.table, row))

    # Consumers

    def _source(self, feed: str) -> FeedSource[Any]:
        clock = WorkerClock(self.world)
        clock.skew_ms = self.chance.choice((0, 25_000, -25_000))
        pages, index, _ = self.worker(clock)
        return PageFeed(pages) if feed == "pages" else LinkFeed(index)

    def consumer(self, feed: str) -> FeedConsumer[Any]:
        """Returns a consumer as a process that starts now has it."""
        source, world = self._source(feed), self.world
        state = TableState(world.store, now_ms=source.clock.now_ms, new_token=world.token)
        return FeedConsumer(feed, source, state)

    def handle(self, feed: str, change: Any) -> None:
        """Stores in the consumer's own table what it has handled."""
        page = change.removed or hashlib.sha256(self._keys.row_key(change.url)).hexdigest()
        row = f"{feed} {page}".encode()
        # Whether the page is removed by now is not a matter of the revision of its links.
        kind = b"links" if feed == "links" else str(change.kind).encode()
        self.world.store.table(COPY).put(row, {KIND: kind}, timestamp=change.revision)

    def follow(self, feed: str, consumer: FeedConsumer[Any]) -> None:
        """Handles all changes up to now, and stores the cursor now and then."""
        for change in consumer:
            self.handle(feed, change)
            if self.chance.random() < 0.3:
                consumer.commit()
        consumer.commit()

    def _consume(self, feed: str) -> None:
        """A process of a consumer; several may run one after the other, or at the same time."""
        consumer = self.consumer(feed)
        for _ in range(self.chance.choice((1, 2, 4))):
            self.follow(feed, consumer)

    def populate(self) -> None:
        """Adds the tasks of a schedule."""
        chance, add = self.chance, self.world.scheduler.add
        for number in range(chance.choice((1, 2, 3))):
            add(f"writer {number}", _task(self._write))
        for number in range(chance.choice((0, 1))):
            add(f"exporter {number}", _task(self.worker()[2].drain))
        for feed in self.names:
            for number in range(chance.choice((1, 2, 3))):
                add(f"consumer {number} of {feed}", _task(self._consume, feed))

    # The end

    def check(self) -> None:
        """Lets everything come to its end, lets the consumers read once more, and compares."""
        self.world.pass_time(2 * INTENT_AGE_MS)
        self.keeper.drain()
        for feed in self.names:
            self._check_feed(feed)

    def _check_feed(self, feed: str) -> None:
        consumer = self.consumer(feed)
        self.follow(feed, consumer)
        self._compare(feed, "after a restart")
        # Then the cursor is behind the newest change, and the next process has nothing to do.
        self.world.pass_time(WINDOW_MS + 2 * REPAIR_AGE_MS)
        self.follow(feed, consumer)
        if left := self.consumer(feed).read():
            raise LinksBroken(f"the cursor of {feed} stays behind {left}")

    def _compare(self, feed: str, when: str) -> None:
        prefix = f"{feed} ".encode()
        handled = {
            row.key[len(prefix) :].decode(): (row.cells[0].timestamp, row.cells[0].value)
            for row in self.world.store.table(COPY).scan(prefix=prefix)
        }
        newest = self._newest_pages() if feed == "pages" else self._newest_links()
        if handled != newest:
            raise LinksBroken(f"{when}, the consumer of {feed} has {handled}, not {newest}")

    def _newest_pages(self) -> dict[str, tuple[int, bytes]]:
        found = self.world.store.table(pages_schema.TABLE).scan(columns=(CHANGED,))
        return {_hash(row.key): _revised(row.value(CHANGED)) for row in found}

    def _newest_links(self) -> dict[str, tuple[int, bytes]]:
        table = self.world.store.table(links_schema.INDEX_TABLE)
        newest = {}
        for row in table.scan(prefix=b"p:", columns=(links_schema.CHANGED,)):
            key = self._keys.row_key(links_schema.url_of(row.key[2:]))
            newest[_hash(key)] = (_revised(row.value(links_schema.CHANGED))[0], b"links")
        return newest


class LateWriters(FeedWorld):
    """A schedule of writers that are paused between their calls, for minutes, beside readers."""

    skews = (0, 25_000, -25_000)

    def __init__(self, seed: int) -> None:
        kill = random.Random(seed).choice((0.0, 0.0, 0.01))
        super().__init__(seed, Faults(kill=kill, tick=0.2, leap=0.03, stay=0.7, freeze=0.08))


class WrongClocks(FeedWorld):
    """A schedule of writers whose clocks are wrong by more than the window."""

    skews = (0, -3_600_000, -700_000)

    def __init__(self, seed: int) -> None:
        super().__init__(seed, Faults(tick=0.2, leap=0.05, stay=0.7))


class LatePage(FeedWorld):
    """One written schedule: a page is stored late, behind others that a consumer reads meanwhile.

    Its revision is chosen at the beginning, and it is stored eight minutes later.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed, Faults())
        self.names = ("pages",)

    def _put(self, name: str, *, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Stores a page; `meanwhile` is called when its revision is chosen."""
        pages, _, _ = self.worker()
        url = f"https://{name}.com/"

        def decide(state: RowState) -> Change:
            meanwhile()
            values = {URL: url.encode()}
            return Change(put=values, of_revision=content_change(state.facts, values))

        pages.rows.write(pages.keys.row_key(url), decide)

    def populate(self) -> None:
        """Plays the schedule, without tasks."""
        consumer = self.consumer("pages")

        def meanwhile() -> None:
            self.world.pass_time(1_000)
            self._put("others")
            self.follow("pages", consumer)
            self.world.pass_time(400_000)
            self._put("more-others")
            self.follow("pages", consumer)
            self.world.pass_time(70_000)

        self._put("late", meanwhile=meanwhile)
        self.world.pass_time(200_000)
        self._put("newest")
        self.follow("pages", consumer)


class SetClock(LatePage):
    """One written schedule: the clock of a writer is set back by an hour between two writes."""

    def populate(self) -> None:
        """Plays the schedule, without tasks."""
        consumer, clock = self.consumer("pages"), WorkerClock(self.world)
        pages, _, _ = self.worker(clock)
        for name, skew_ms in (("first", 0), ("second", -3_600_000)):
            clock.skew_ms = skew_ms
            values = {URL: f"https://{name}.com/".encode()}
            change = Change(put=values, of_revision=content_change({}, values))
            row = pages.keys.row_key(f"https://{name}.com/")
            _task(pages.rows.write, row, change)()
            self.follow("pages", consumer)
            self.world.pass_time(31_000)
            self.follow("pages", consumer)


def _hash(row: bytes) -> str:
    return hashlib.sha256(row).hexdigest()


def _revised(value: bytes | None) -> tuple[int, bytes]:
    assert value is not None
    number, kind = decode_changed(value)
    return number, kind.encode()


def _task(work: Callable[..., object], *arguments: object) -> Callable[[], None]:
    def run() -> None:
        try:
            work(*arguments)
        except (WebTableError, BaseExceptionGroup) as error:
            if not _is_expected(error):
                raise

    return run


def _is_expected(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_expected(each) for each in error.exceptions)
    is_moved = type(error) is ConflictError and "another process has moved" in str(error)
    return is_moved or isinstance(error, (RetryableError, CheckFailed))


def play_feed(seed: int, *, kind: type[FeedWorld] = FeedWorld, tells: bool = False) -> FeedWorld:
    """Plays one schedule; a broken promise is reported with its seed and its story."""
    world = kind(seed)
    world.world.scheduler.tells = tells
    try:
        world.populate()
        world.world.run()
        world.check()
    except (AssertionError, WebTableError) as error:
        if not tells:
            play_feed(seed, kind=kind, tells=True)
            raise AssertionError(f"{kind.__name__}, seed {seed} failed only once") from error
        story = "\n".join(world.world.scheduler.story)
        raise LinksBroken(f"{kind.__name__}, seed {seed}: {error!r}\n{story}") from error
    return world
