"""The link index in the simulator: loaders and exporters, killed anywhere, in any order.

Few pages link to few targets, so that everything collides. When it is quiet, and no work is left,
the index is exactly what the stored pages give.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.links.naive import differences
from tests.simulation.pages_world import wanted
from tests.simulation.world import Faults, World
from webtable.errors import CheckFailed, RetryableError, UrlBlocked, WebTableError
from webtable.index.build_and_verify import verify
from webtable.index.indexed_table import IndexedTable
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.links import schema as links_schema
from webtable.links.link_index import LinkIndex, change_index
from webtable.links.updating.hook import LinkHook
from webtable.links.write_protocol_rules import INTENT_AGE_MS
from webtable.pages import schema as pages_schema
from webtable.pages.hooks import Begun, LinksChange
from webtable.pages.indexes import page_indexes
from webtable.pages.keys import key_scheme
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.public_suffixes import newest_list, suffixes_of
from webtable.pages.settings import PageSettings
from webtable.pages.storing.page_versions import CaptureNote

__all__ = [
    "ChangingWords",
    "CrowdedLinks",
    "LeftBehind",
    "LinksBroken",
    "LinksWorld",
    "MovingCounts",
    "SlowLinks",
    "play_links",
]

BEGIN = 1_788_264_000
SECONDS = 4
STATUSES = (200, 200, 200, 204, 301, 404, 500)
PAGES = ("https://a.com/", "https://b.a.com/x", "https://c.org/")
TARGETS = (*PAGES, "https://d.net/", "https://a.com/e")


class LinksBroken(AssertionError):
    """A promise was broken."""


def parse(url: str, body: bytes, media_type: str) -> PageInfo:
    """A body has a line a link: the number of a target, rel, anchor."""
    lines = []
    for line in body.decode().split("\n") if body else ():
        number, rel, anchor = line.split(" ")
        if TARGETS[int(number)] != url:
            lines.append(f"{TARGETS[int(number)]}\t{rel}\t{anchor}")
    return PageInfo(links="\n".join(lines), link_count=len({x.partition("\t")[0] for x in lines}))


class LinksWorld:
    """One schedule of loaders and exporters of the same few pages."""

    def __init__(self, seed: int, faults: Faults | None = None) -> None:
        self.world = World(seed, faults)
        chance = self.chance = self.world.chance
        self.shards = chance.choice((1, 1, 2, 2, 16))
        self.urls = PAGES[: chance.choice((1, 1, 2, 2, 3))]
        self.targets = range(len(TARGETS))[-chance.choice((1, 2, 3, 5)) :]
        self._suffixes = suffixes_of(newest_list())
        self._keys = key_scheme("readable", self._suffixes)
        indexes = page_indexes(self._keys, self._suffixes)
        self._indexes = indexes[: chance.choice((0, 0, 1, 3))]
        self._make_tables()
        self.bodies = {digest: self._body() for digest in "abcd"}
        self.captures = [self._capture() for _ in range(chance.choice((1, 2, 3, 5)))]
        self.pages, self.index, self.keeper = self.worker()

    def _make_tables(self) -> None:
        store = self.world.store
        store.create_table(pages_schema.pages_schema("archive", is_embedded=False))
        store.create_table(pages_schema.settings_schema())
        for index in self._indexes:
            store.create_table(index.schema("ready"))
        store.create_table(links_schema.index_schema(is_embedded=False))
        store.create_table(links_schema.work_schema())
        store.create_table(change_index(has_buckets=True).schema("ready"))

    def worker(self) -> tuple[PageTable, LinkIndex, LinkHook]:
        """Returns the pages and their links as a worker with a clock of its own has them."""
        clock, tokens = self.world.clock(), self.world.token
        rows = IndexedTable(
            self.world.store,
            pages_schema.TABLE,
            self._indexes,
            columns=(b"metadata",),
            cells=b"metadata:",
            workers=1,
            clock=clock,
            tokens=tokens,
        )
        pages = PageTable(PageSettings(self._keys, "archive", self._suffixes), rows, parse)
        index = LinkIndex(pages, self.shards, workers=1, clock=clock, tokens=tokens)
        keeper = LinkHook(index)
        pages.hook = keeper
        return pages, index, keeper

    # What is loaded

    def _body(self) -> bytes:
        chance = self.chance
        targets = chance.sample(self.targets, chance.randrange(len(self.targets) + 1))
        lines = [f"{t} {chance.choice(('', 'nofollow'))} {chance.choice('xy')}" for t in targets]
        if lines and chance.random() < 0.2:
            lines.append(f"{targets[-1]}  z")
        return "\n".join(lines).encode()

    def _capture(self) -> NewCapture:
        chance = self.chance
        url, digest = chance.choice(self.urls), chance.choice("abcd")
        is_revisit = chance.random() < 0.2
        body = self.bodies[digest]
        status = chance.choice(STATUSES)
        note = CaptureNote(
            BEGIN + chance.randrange(SECONDS),
            digest,
            status,
            0 if is_revisit else len(body),
            "text/html",
            TARGETS[0] if status == 301 else "",
            None,
            is_revisit,
        )
        if is_revisit:
            return NewCapture(url, note, None, None)
        return NewCapture(url, note, body, parse(url, body, ""))

    # Tasks

    def store(self, pages: PageTable, captures: Sequence[NewCapture]) -> None:
        """Stores captures."""
        pages.store_captures(captures)

    def load(self, pages: PageTable, keeper: LinkHook) -> None:
        """A loader: some captures, or all, in an order and in batches of its own."""
        chance = self.chance
        order = chance.sample(self.captures, chance.randrange(1, len(self.captures) + 1))
        while order:
            size = chance.randrange(1, len(order) + 1)
            self.store(pages, order[:size])
            order = order[size:]
            if chance.random() < 0.3:
                keeper.settle(is_last=True)

    def populate(self) -> None:
        """Adds the tasks of a schedule."""
        chance, add = self.chance, self.world.scheduler.add
        for number in range(chance.choice((1, 2, 2, 3))):
            pages, _, keeper = self.worker()
            add(f"loader {number}", _task(self.load, pages, keeper))
        for number in range(chance.choice((0, 1, 1, 2))):
            add(f"exporter {number}", _task(self._export, self.worker()[2]))

    def _export(self, keeper: LinkHook) -> None:
        for _ in range(self.chance.choice((1, 2))):
            keeper.drain()

    def check(self) -> None:
        """Lets everything under way come to its end, and compares."""
        if self.chance.random() < 0.3:
            self.store(self.pages, self.captures)
        self.world.pass_time(2 * INTENT_AGE_MS)
        self.keeper.drain()
        if problems := differences(self.index):
            raise LinksBroken("; ".join(problems))
        for rows in (self.pages.rows, self.index.rows):
            report = verify(rows)
            if not report.is_clean:
                raise LinksBroken(f"at the end: {report}")
            self.world.pass_time(2 * REPAIR_AGE_MS)
            verify(rows, repair=True)
            report = verify(rows)
            if not report.is_tidy:
                raise LinksBroken(f"after repair: {report}")


class SummaryLinks(LinksWorld):
    """A schedule in which loaders ask which bodies are needed, of pages that seldom change."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.bodies["b"] = self.bodies["c"] = self.bodies["a"]
        self.captures = [_with_context(self._capture()) for _ in range(6)]

    def load(self, pages: PageTable, keeper: LinkHook) -> None:
        """A loader: some captures, or all, mostly in their order."""
        chance = self.chance
        order = chance.sample(self.captures, chance.randrange(1, len(self.captures) + 1))
        if chance.random() < 0.7:
            order.sort(key=lambda each: each.note.time)
        while order:
            size = chance.randrange(1, len(order) + 1)
            if some := wanted(pages, order[:size]):
                pages.store_captures(some)
            order = order[size:]
            if chance.random() < 0.3:
                keeper.settle(is_last=True)


def _with_context(capture: NewCapture) -> NewCapture:
    """Returns a capture with a parse context; most have the same."""
    digest = "d" if capture.note.digest == "d" else "a"
    status = 404 if capture.note.status == 404 else 200
    note = capture.note._replace(digest=digest, status=status, redirect="")
    if capture.info is None:
        return capture._replace(note=note)
    return capture._replace(note=note, info=capture.info._replace(context=""))


class CrowdedLinks(LinksWorld):
    """A schedule in which one page changes all the time what it says of one target."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.urls, self.targets, self.shards = PAGES[:1], range(3, 4), 1
        self.bodies = {"a": b"3  x", "b": b"3  y", "c": b"", "d": b"3 nofollow x"}
        self.captures = [self._capture() for _ in range(4)]
        self.pages, self.index, self.keeper = self.worker()

    def populate(self) -> None:
        """Adds one loader and one exporter more."""
        super().populate()
        pages, _, keeper = self.worker()
        self.world.scheduler.add("one more loader", _task(self.load, pages, keeper))
        self.world.scheduler.add("one more exporter", _task(self._export, self.worker()[2]))


class MovingCounts(LinksWorld):
    """A schedule in which links to one target come and go, under the hands of many exporters."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        kill = chance.choice((0.0, 0.0, 0.01, 0.04))
        stay, freeze = chance.choice((0.0, 0.7, 0.93)), chance.choice((0.02, 0.08))
        super().__init__(seed, Faults(kill=kill, tick=0.1, stay=stay, freeze=freeze))
        # The target is crawled itself in half of them: then its own row gets the number.
        is_crawled = self.chance.random() < 0.5
        self.urls, self.targets = PAGES[:1], range(2, 3) if is_crawled else range(3, 4)
        number = self.targets[0]
        self.bodies = {"a": b"%d  x" % number, "b": b""}
        self.shards, self._indexes = 1, []
        self.pages, self.index, self.keeper = self.worker()
        self.captures = [self._answer(self.urls[0], n, "ab"[n % 2]) for n in range(4)]
        if is_crawled:
            self.pages.store_captures([self._answer(TARGETS[number], 0, "b")])

    def _answer(self, url: str, second: int, digest: str) -> NewCapture:
        body = self.bodies[digest]
        note = CaptureNote(
            BEGIN + second, digest, 200, len(body), "text/html", "", None, is_revisit=False
        )
        return NewCapture(url, note, body, parse(url, body, ""))

    def load(self, pages: PageTable, keeper: LinkHook) -> None:
        """A loader: all captures one by one, in their order."""
        for capture in self.captures:
            pages.store_captures([capture])

    def populate(self) -> None:
        """Adds one loader and several exporters."""
        add = self.world.scheduler.add
        pages, _, keeper = self.worker()
        add("loader 0", _task(self.load, pages, keeper))
        for number in range(self.chance.choice((2, 3))):
            add(f"exporter {number}", _task(self._export, self.worker()[2]))

    def _export(self, keeper: LinkHook) -> None:
        for _ in range(4):
            keeper.drain()


class ChangingWords(MovingCounts):
    """A schedule in which several loaders have captures of one page, whose words change."""

    def populate(self) -> None:
        """Adds loaders of one capture each."""
        number = self.targets[0]
        self.bodies["b"] = b"%d  y" % number
        for second in range(3):
            capture = self._answer(self.urls[0], second, "ab"[second % 2])
            pages = self.worker()[0]
            task = _task(pages.store_captures, [capture])
            self.world.scheduler.add(f"loader {second}", task)


class LeftBehind(MovingCounts):
    """A schedule in which a loader has died, and exporters take over, some of which die too."""

    def populate(self) -> None:
        """Stores pages without updating the link index; adds exporters, much later."""
        pages, index, _ = self.worker()
        pages.hook = _Dying(index)
        for capture in self.captures:
            pages.store_captures([capture])
        self.world.pass_time(2 * INTENT_AGE_MS)
        for number in range(self.chance.choice((2, 3))):
            self.world.scheduler.add(f"exporter {number}", _task(self._export, self.worker()[2]))


class _Dying(LinkHook):
    """Dies when the rows of pages are written."""

    def finish(self, begun: Begun, changes: Sequence[LinksChange]) -> None:
        return


class SlowLinks(LinksWorld):
    """A schedule of workers that stand still for long, beside exporters that take over."""

    def __init__(self, seed: int) -> None:
        faults = Faults(
            kill=0.005, lose=0.01, stall=0.3, tick=0.02, leap=0.05, skew=0.02, stay=0.7, freeze=0.05
        )
        super().__init__(seed, faults)

    def populate(self) -> None:
        """Adds one exporter more."""
        super().populate()
        self.world.scheduler.add("one more exporter", _task(self._export, self.worker()[2]))


def _task(work: Callable[..., object], *arguments: object) -> Callable[[], None]:
    def run() -> None:
        try:
            work(*arguments)
        except WebTableError as error:
            if not _is_expected(error):
                raise

    return run


def play_links(
    seed: int, *, kind: type[LinksWorld] = LinksWorld, tells: bool = False
) -> LinksWorld:
    """Plays one schedule; a broken promise is reported with its seed and its story."""
    world = kind(seed)
    world.world.scheduler.tells = tells
    try:
        world.populate()
        world.world.run()
        world.check()
    except (AssertionError, WebTableError) as error:
        if not tells:
            play_links(seed, kind=kind, tells=True)
            raise AssertionError(f"{kind.__name__}, seed {seed} failed only once") from error
        story = "\n".join(world.world.scheduler.story)
        raise LinksBroken(f"{kind.__name__}, seed {seed}: {error!r}\n{story}") from error
    return world


def _is_expected(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_expected(each) for each in error.exceptions)
    # A worker that stands still for minutes at every attempt gives up after a thousand.
    return isinstance(error, (RetryableError, CheckFailed, UrlBlocked))
