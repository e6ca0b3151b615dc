"""Revisits of other URLs in the simulator: one loader has the body, another one the revisit.

When all loaders have ended, and those that failed or were killed have loaded their captures again,
no revisit lacks a body that is stored, and every page is what one load in order makes of it.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.simulation.pages_world import (
    BEGIN,
    BODIES,
    PagesBroken,
    PagesWorld,
    is_expected,
    parse,
)
from webtable.errors import WebTableError
from webtable.index.build_and_verify import verify
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.pages.asking.page_at_time import completed_captures
from webtable.pages.columns import WAITS
from webtable.pages.indexes import DIGESTS, WAITING
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import Origin, encode_origin
from webtable.pages.storing.page_versions import CaptureNote
from webtable.store.scan import Scan

__all__ = ["RevisitsWorld", "play_revisits"]


class RevisitsWorld(PagesWorld):
    """One schedule of loaders that have different captures of the same few pages."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.urls = [f"https://example.com/{number}" for number in range(3)]
        self.captures = [self._response(second) for second in range(self.chance.choice((1, 2)))]
        responses = list(self.captures)
        for _ in range(self.chance.choice((1, 2, 3))):
            self.captures.append(self._revisit(len(self.captures), self.chance.choice(responses)))
        self.left: list[tuple[PageTable, list[NewCapture]]] = []

    def _response(self, second: int) -> NewCapture:
        url, digest = self.chance.choice(self.urls[:2]), self.chance.choice("ab")
        body = BODIES[digest]
        note = CaptureNote(BEGIN + second, digest, 200, len(body), "text/html", "", None, False)
        return NewCapture(url, note, body, parse(url, body, "")._replace(context=""))

    def _revisit(self, second: int, of: NewCapture) -> NewCapture:
        digest = of.note.digest
        note = CaptureNote(BEGIN + second, digest, 200, 0, "text/html", "", None, True)
        origin = encode_origin(Origin("a.warc.gz", 0, revisited_url=of.url))
        return NewCapture(self.chance.choice(self.urls), note, None, None, origin=origin)

    def populate(self) -> None:
        """Adds the tasks of a schedule: each capture belongs to one loader, or to two."""
        count = self.chance.choice((1, 2, 3))
        parts: list[list[NewCapture]] = [[] for _ in range(count)]
        for each in self.captures:
            for part in self.chance.sample(parts, self.chance.choice((1, 1, min(2, count)))):
                part.append(each)
        for number, part in enumerate(parts):
            self.world.scheduler.add(f"loader {number}", self._loader(self.loader(), part))

    def _loader(self, pages: PageTable, part: list[NewCapture]) -> Callable[[], None]:
        order = list(part)
        self.chance.shuffle(order)
        work = pages, order
        self.left.append(work)

        def run() -> None:
            try:
                self.load_all(pages, order)
            except WebTableError as error:
                if not is_expected(error):
                    raise
                return
            self.left.remove(work)

        return run

    def load_all(self, pages: PageTable, order: list[NewCapture]) -> None:
        """Stores captures in batches of any size."""
        at = 0
        while at < len(order):
            size = self.chance.randrange(1, len(order) + 1)
            pages.store_captures(order[at : at + size])
            at += size

    def check(self) -> None:
        """Loads what was not loaded to its end, and compares."""
        for _, order in self.left:
            self.load_all(self.quiet, order)
        in_order = self._in_order()
        for url in self.urls:
            if self.shown(self.quiet, url) != self.shown(in_order, url):
                raise PagesBroken(
                    f"{url} is {self.shown(self.quiet, url)}, not {self.shown(in_order, url)}"
                )
        report = verify(self.quiet.rows)
        if not report.is_clean:
            raise PagesBroken(f"at the end: {report}")
        self.world.pass_time(2 * REPAIR_AGE_MS)
        verify(self.quiet.rows, repair=True)
        if found := list(self.quiet.rows.hits(DIGESTS, Scan(prefix=WAITING))):
            raise PagesBroken(f"after repair: {found}")

    def shown(self, pages: PageTable, url: str) -> object:
        """Everything that is read of a page."""
        if (page := pages.page(url)) is None:
            return None
        times = range(BEGIN, BEGIN + len(self.captures))
        contents = [pages.content(url, time) for time in times]
        bodies = [None if each is None else each.body for each in contents]
        row = pages.rows.table.get(page.row_key, (WAITS,))
        waits = b"" if row is None else row.value(WAITS) or b""
        captures = list(completed_captures(pages.captures(url)))
        return page, captures, bodies, [pages.links(url, time) for time in times], waits


def play_revisits(seed: int, *, tells: bool = False) -> RevisitsWorld:
    """Plays one schedule; a broken promise is reported with its seed and its story."""
    world = RevisitsWorld(seed)
    world.world.scheduler.tells = tells
    try:
        world.populate()
        world.world.run()
        world.check()
    except (AssertionError, WebTableError) as error:
        if not tells:
            play_revisits(seed, tells=True)
            raise AssertionError(f"seed {seed} failed once, and not again") from error
        story = "\n".join(world.world.scheduler.story)
        raise PagesBroken(f"seed {seed}: {error!r}\n{story}") from error
    return world
