"""Removals in the simulator, beside loaders, exporters and purges, killed anywhere, in any order.

In the end a page that was removed and blocked is nowhere: not in its row, not in an index, not at
a page that it linked to. The link index is what the stored pages give, without blocked targets.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from typing import NamedTuple

from tests.simulation.links_world import (
    PAGES,
    TARGETS,
    LinksBroken,
    LinksWorld,
    _task,
    parse,
)
from tests.simulation.world import Faults
from webtable.errors import ConflictError, UrlBlocked, WebTableError
from webtable.index.build_and_verify import verify
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.links import schema as links_schema
from webtable.links.cell_encoding import GONE
from webtable.links.checking.rebuild import rebuild
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.links.updating.blocked_targets import BlockedTargets
from webtable.links.updating.hook import LinkHook
from webtable.links.write_protocol_rules import INTENT_AGE_MS
from webtable.pages.columns import CHANGED, PENDING, REMOVED, REVISION
from webtable.pages.indexes import page_indexes
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.removing.purge import Purger
from webtable.pages.removing.remover import Remover
from webtable.pages.removing.targets import target_of_url
from webtable.pages.removing.tombstones import Tombstones

__all__ = ["BesideRebuild", "BlockedLinks", "LateLoaders", "RemovalWorld", "SlowRemovals"]

_KEPT = {REVISION, PENDING, CHANGED, REMOVED}
_USED = ("webtable_change_idx", "webtable_digest_idx", "webtable_url_idx")


class Removed(NamedTuple):
    """A page to remove, and whether to block its URL."""

    url: str
    block: bool


class RemovalWorld(LinksWorld):
    """One schedule of loaders, exporters and removers of the same few pages."""

    def __init__(self, seed: int, faults: Faults | None = None) -> None:
        super().__init__(seed, faults)
        chance = self.chance
        indexes = page_indexes(self._keys, self._suffixes)
        more = [each for each in indexes if each.name in _USED and each not in self._indexes]
        names = {each.name for each in self._indexes}
        for each in more:
            if each.name not in names:
                self._indexes.append(each)
                self.world.store.create_table(each.schema("ready"))
        self.world.store.table("webtable_settings").put(
            b"links", {b"a:format": b"1", b"a:shards": b"%d" % self.shards, b"a:state": b"ready"}
        )
        self.pages, self.index, self.keeper = self.worker()
        count = chance.choice((1, 1, 2))
        self.removed = [
            Removed(chance.choice(self.urls), chance.random() < 0.6) for _ in range(count)
        ]
        self.ended: set[Removed] = set()

    def populate(self) -> None:
        """Adds the removers, and maybe a purge."""
        if self.chance.random() < 0.7:
            self.store(self.pages, self.captures)
            if self.chance.random() < 0.5:
                self.keeper.drain()
        super().populate()
        for number, removed in enumerate(self.removed):
            task = _task(self.remove, self.worker(), removed)
            self.world.scheduler.add(f"remover {number}", task)
        if self.chance.random() < 0.2:
            self.world.scheduler.add("verify", _task(self._verify, self.worker()))
        if self.chance.random() < 0.3:
            pages, _, keeper = self.worker()
            self.world.scheduler.add("purge", _task(Purger(pages, keeper).purge))

    def remove(self, worker: tuple[PageTable, LinkIndex, LinkHook], removed: Removed) -> None:
        """A remover: it does what `webtable remove URL` does."""
        pages, index, keeper = worker
        if removed.block:
            pages.blocked.add([target_of_url(removed.url, pages.keys)], pages.rows.clock.now_ms())
            BlockedTargets(index).unlink([links_schema.uri_of(removed.url)])
        row = pages.keys.row_key(removed.url)
        list(Remover(pages, keeper).remove([(row, removed.url)]))
        keeper.settle(is_last=True)
        self.ended.add(removed)

    def check(self) -> None:
        """Repeats what was killed, lets everything come to its end, and compares."""
        worker = self.pages, self.index, self.keeper
        for removed in self.removed:
            if removed.block and removed not in self.ended:
                self.remove(worker, removed)
        self._check_gone("before purge")
        super().check()
        self._check_gone("after drain")
        self.world.pass_time(2 * INTENT_AGE_MS)
        self._named = {each.url: each.links for each in Tombstones(self.world.store).scan()}
        report = Purger(self.pages, self.keeper).purge()
        if report.young or report.unfinished or list(Tombstones(self.world.store).scan()):
            raise LinksBroken(f"not purged: {report}")
        self._check_purged()
        for rows in (self.pages.rows, self.index.rows):
            if not (found := verify(rows)).is_clean:
                raise LinksBroken(f"after the purge: {found}")
        self.world.pass_time(2 * REPAIR_AGE_MS)

    def _verify(self, worker: tuple[PageTable, LinkIndex, LinkHook]) -> None:
        """`webtable verify --repair` of the indexes and the links."""
        pages, index, _ = worker
        verify(pages.rows, repair=True)
        with contextlib.suppress(ConflictError):
            verify_links(index, repair=True)

    def store(self, pages: PageTable, captures: Sequence[NewCapture]) -> None:
        """Stores captures; those of blocked URLs are rejected."""
        for outcome in pages.try_captures(captures):
            if isinstance(outcome, WebTableError) and not isinstance(outcome, UrlBlocked):
                raise outcome

    def _check_gone(self, when: str) -> None:
        """Checks the pages whose URLs are blocked."""
        if when != "after drain":
            return
        for url in {each.url for each in self.removed if each.block}:
            row = self.pages.rows.table.get(self.pages.keys.row_key(url))
            columns = set() if row is None else set(row.values())
            if not columns <= _KEPT or (CHANGED in columns and REMOVED not in columns):
                raise LinksBroken(f"{when}: the row of {url} has {sorted(columns)}")
            uri = links_schema.uri_of(url)
            live = [
                (target.key, cell)
                for target in self.index.table.scan(prefix=b"p:", columns=(b"inlinks",))
                for cell in target.cells
                if cell.value != GONE
                and (
                    cell.column == links_schema.INLINK + uri
                    or target.key.startswith(links_schema.page_row(uri) + b"\0")
                )
            ]
            if live:
                raise LinksBroken(f"{when}: links of {url}: {live}")

    def _check_purged(self) -> None:
        """Checks that nothing remembers a page that is not stored."""
        for url in {each.url for each in self.removed}:
            uri = links_schema.uri_of(url)
            if self.pages.page(url) is not None:
                continue
            row = self.pages.rows.table.get(self.pages.keys.row_key(url))
            if row is not None and set(row.values()) - {PENDING, REVISION}:
                raise LinksBroken(f"after the purge, the row of {url} is {row}")
            # A version of its links that another capture of the same second replaced is forgotten:
            # its targets may remember the page, as one that linked there once.
            for target in self._named.get(url, ()):
                shard = links_schema.shard_of(uri, self.index.shards)
                found = self.index.table.get(
                    links_schema.shard_row(b"p:", links_schema.uri_of(target), shard),
                    (links_schema.INLINK + uri,),
                )
                if found is not None and url in self._purged_urls():
                    raise LinksBroken(f"after the purge, {target} remembers {url}: {found}")

    def _purged_urls(self) -> set[str]:
        return {each.url for each in self.ended}


class LateLoaders(RemovalWorld):
    """A schedule in which one page is blocked while several loaders store it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.urls = PAGES[:1]
        self.captures = [self._capture() for _ in range(3)]
        self.removed = [Removed(PAGES[0], block=True)]

    def populate(self) -> None:
        """Adds one loader more."""
        super().populate()
        pages, _, keeper = self.worker()
        self.world.scheduler.add("one more loader", _task(self.load, pages, keeper))


class BlockedLinks(RemovalWorld):
    """A schedule in which a page is blocked that another one begins to link to."""

    def __init__(self, seed: int) -> None:
        kill = random.Random(seed).choice((0.0, 0.0, 0.01))
        # Tasks make several calls in a row, so that one overtakes the other between two of these.
        super().__init__(seed, Faults(kill=kill, tick=0.02, stay=0.85, freeze=0.02))
        self.urls, self.targets, self.shards = PAGES[:1], range(3, 4), 1
        self.bodies = dict.fromkeys("abcd", b"3  x")
        self.captures = [self._with_links(self._capture())]
        self.removed = [Removed(TARGETS[3], block=True)]
        self._indexes = []
        self.pages, self.index, self.keeper = self.worker()

    def _with_links(self, capture: NewCapture) -> NewCapture:
        note = capture.note._replace(status=200, is_revisit=False, size=4, redirect="")
        info = parse(capture.url, b"3  x", "")
        return NewCapture(capture.url, note, b"3  x", info)

    def populate(self) -> None:
        """Adds one loader and one remover."""
        pages, _, keeper = self.worker()
        self.world.scheduler.add("loader 0", _task(self.load, pages, keeper))
        task = _task(self.remove, self.worker(), self.removed[0])
        self.world.scheduler.add("remover 0", task)


class SlowRemovals(RemovalWorld):
    """A schedule of workers that stand still for long."""

    def __init__(self, seed: int) -> None:
        faults = Faults(
            kill=0.005, lose=0.01, stall=0.3, tick=0.02, leap=0.05, skew=0.02, stay=0.7, freeze=0.05
        )
        super().__init__(seed, faults)


class BesideRebuild(RemovalWorld):
    """A schedule of removals beside a rebuild of the link index; nothing is loaded meanwhile."""

    def populate(self) -> None:
        """Stores all pages; adds the removers and the rebuild."""
        self.pages.store_captures(self.captures)
        self.keeper.drain()
        self.world.pass_time(2 * INTENT_AGE_MS)
        for number, removed in enumerate(self.removed):
            task = _task(self._remove_or_wait, self.worker(), removed)
            self.world.scheduler.add(f"remover {number}", task)
        self.world.scheduler.add("rebuild", _task(self._rebuild, self.worker()[1]))

    def _remove_or_wait(
        self, worker: tuple[PageTable, LinkIndex, LinkHook], removed: Removed
    ) -> None:
        with contextlib.suppress(ConflictError):
            self.remove(worker, removed)

    def _rebuild(self, index: LinkIndex) -> None:
        with contextlib.suppress(ConflictError):
            rebuild(index)

    def check(self) -> None:
        """Rebuilds the index where that was killed."""
        self.world.pass_time(2 * INTENT_AGE_MS)
        self.keeper.drain()
        if not self.index.is_ready:
            rebuild(self.index)
        super().check()
