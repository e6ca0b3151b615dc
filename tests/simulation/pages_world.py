"""Captures of pages in the simulator: several loaders, killed and started again, in any order.

When all tasks have ended, and everything was loaded once by a loader that was not killed, every
page is what one undisturbed load in order makes of it, and its indexes are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tests.simulation.world import World
from webtable.errors import RetryableError, WebTableError
from webtable.index.build_and_verify import verify
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.pages.page import CaptureSummary, NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.storing.page_versions import CaptureNote, counting

__all__ = ["PagesBroken", "PagesWorld", "is_expected", "play_pages", "wanted"]

BEGIN = 1_788_264_000
SECONDS = 4
BODIES = {"a": b"alpha", "b": b"beta gamma", "c": b""}


class PagesBroken(AssertionError):
    """A promise was broken."""


def parse(url: str, body: bytes, media_type: str) -> PageInfo:
    words = body.decode().split()
    return PageInfo(title=body.decode(), links=_links(words), link_count=len(words))


def _links(words: list[str]) -> str:
    return "\n".join(f"https://{word}.example/\t\t{word}" for word in words)


class PagesWorld:
    """One schedule of loaders of the same few captures."""

    def __init__(self, seed: int) -> None:
        self.world = World(seed)
        self.chance = self.world.chance
        PageTable.create(self.world.store, parse, profile="archive")
        self.quiet = self.loader()
        self.urls = [f"https://example.com/{n}" for n in range(self.chance.choice((1, 1, 2)))]
        self.captures = [self._capture(url) for url in self.urls for _ in range(3)]

    def loader(self) -> PageTable:
        """Returns the pages as a loader of its own, with its own clock, has them."""
        pages = PageTable.open(
            self.world.store, parse, workers=1, clock=self.world.clock(), tokens=self.world.token
        )
        # What is stored is right with clocks that differ by more than the feed permits.
        pages.rows.clock_check = None
        return pages

    def _capture(self, url: str) -> NewCapture:
        chance = self.chance
        digest = chance.choice("abc")
        body = BODIES[digest]
        note = CaptureNote(
            BEGIN + chance.randrange(SECONDS),
            digest,
            chance.choice((200, 200, 404)),
            len(body),
            "text/html",
            "",
            None,
            False,
        )
        return NewCapture(url, note, body, parse(url, body, "")._replace(context=""))

    def load(self, pages: PageTable) -> None:
        """A loader: all captures in an order and in batches of its own."""
        order = list(self.captures)
        self.chance.shuffle(order)
        while order:
            size = self.chance.randrange(1, len(order) + 1)
            some = order[:size]
            if self.chance.choice((False, True)):
                some = wanted(pages, some)
            pages.store_captures(some)
            order = order[size:]

    def populate(self) -> None:
        """Adds the tasks of a schedule."""
        for number in range(self.chance.choice((1, 2, 3))):
            self.world.scheduler.add(f"loader {number}", self._task(self.loader()))

    def _task(self, pages: PageTable) -> Callable[[], None]:
        def run() -> None:
            try:
                self.load(pages)
            except WebTableError as error:
                if not is_expected(error):
                    raise

        return run

    def check(self) -> None:
        """Loads everything once more, and compares."""
        self.load(self.quiet)
        in_order = self._in_order()
        for url in self.urls:
            if self.told(self.quiet, url) != self.told(in_order, url):
                raise PagesBroken(
                    f"{url} is {self.told(self.quiet, url)}, not {self.told(in_order, url)}"
                )
        report = verify(self.quiet.rows)
        if not report.is_clean:
            raise PagesBroken(f"at the end: {report}")
        self.world.pass_time(2 * REPAIR_AGE_MS)
        verify(self.quiet.rows, repair=True)
        report = verify(self.quiet.rows)
        if not report.is_tidy:
            raise PagesBroken(f"after repair: {report}")

    def _in_order(self) -> PageTable:
        world = World(0)
        PageTable.create(world.store, parse, profile="archive")
        pages = PageTable.open(world.store, parse, clock=world.clock())
        for each in sorted(self.captures, key=lambda each: (each.note.time, each.note.digest)):
            pages.store_captures([each])
        return pages

    def told(self, pages: PageTable, url: str) -> object:
        """Everything that is read of a page."""
        links = [pages.links(url, BEGIN + second) for second in range(SECONDS)]
        contents = [pages.content(url, BEGIN + second) for second in range(SECONDS)]
        counted = counting(pages.captures(url))
        assert [c.note for c in contents if c is not None][-1] == counted[-1]
        return pages.page(url), pages.captures(url), contents, links


def wanted(pages: PageTable, captures: list[NewCapture]) -> list[NewCapture]:
    """Offers the captures of pages that have one, and returns those whose bodies are needed."""
    times = Counter([each.url for each in captures])
    summaries = [
        CaptureSummary(each.url, each.note, "")
        for each in captures
        if each.body is not None and times[each.url] == 1
    ]
    taken = {
        (each.url, each.note.time, each.note.digest)
        for each, links in zip(summaries, pages.store_summaries(summaries), strict=True)
        if links is not None
    }
    return [c for c in captures if (c.url, c.note.time, c.note.digest) not in taken]


def play_pages(seed: int, *, tells: bool = False) -> PagesWorld:
    """Plays one schedule; a broken promise is reported with its seed and its story."""
    world = PagesWorld(seed)
    world.world.scheduler.tells = tells
    try:
        world.populate()
        world.world.run()
        world.check()
    except (AssertionError, WebTableError) as error:
        if not tells:
            play_pages(seed, tells=True)
            raise AssertionError(f"seed {seed} failed once, and not again") from error
        story = "\n".join(world.world.scheduler.story)
        raise PagesBroken(f"seed {seed}: {error!r}\n{story}") from error
    return world


def is_expected(error: BaseException) -> bool:
    """Whether a loader may fail so, and is started again."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_expected(each) for each in error.exceptions)
    return isinstance(error, RetryableError)
