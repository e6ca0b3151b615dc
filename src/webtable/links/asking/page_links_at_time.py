"""The links of pages at earlier times, as far back as the store keeps versions.

The index stores, for each target, every page that ever linked to it. Whether a page did so at a
date, and with which anchor and rel, is read from that page's own links at that date. The list of
captures and versions of a page is small and is read first; the links are read only if needed.
"""

from __future__ import annotations

import bisect
import itertools
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from webtable.links.cell_encoding import LinkText
from webtable.pages import schema
from webtable.pages.asking.paged_results import QueryCost
from webtable.pages.columns import LINKS, LINKS_OF, STATUS
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import NO_LINKS
from webtable.pages.storing.page_versions import CaptureNote, counting
from webtable.pages.storing.row_history import history_of
from webtable.pages.storing.stored_links import links_identity
from webtable.store.scan import ALL_VERSIONS, Get

__all__ = [
    "NOT_KEPT",
    "LinksPeriod",
    "PageHistory",
    "Past",
    "Retention",
    "identity_at",
    "links_to",
]

_CAPTURES = schema.CAPTURES.encode()
_REMEMBERED = 4_096
_REMEMBERED_BYTES = 8 * 1024 * 1024
_FEW_VERSIONS = 3


class Retention(NamedTuple):
    """How long a store keeps the links of pages.

    Attributes:
        since: the earliest time; None if links are kept since the first capture.
        versions: how many different versions of each page; None if all.
    """

    since: int | None
    versions: int | None


class LinksPeriod(NamedTuple):
    """A period in which a page had the same links: consecutive captures with equal links.

    Attributes:
        version: the time of the stored version of these links; None if the page had no links.
        first, last: the times of the first and the last of the captures.
    """

    version: int | None
    first: int
    last: int


NOT_KEPT = LinksPeriod(-1, 0, 0)
"""The page was captured by then, but its links are no longer stored."""


class PageHistory(msgspec.Struct, frozen=True, gc=False):
    """The periods of a page's links in the order of time; periods not stored are left out."""

    url: str
    row: bytes
    notes: list[CaptureNote]
    periods: list[LinksPeriod]

    def at(self, second: int) -> LinksPeriod | None:
        """Returns the period at a time; None if the page was not captured by then."""
        if not self.notes or self.notes[0].time > second:
            return None
        at = bisect.bisect_right(self.notes, second, key=lambda note: note.time) - 1
        newest = self.notes[at].time
        found = bisect.bisect_right(self.periods, newest, key=lambda period: period.first) - 1
        if found < 0 or self.periods[found].last < newest:
            return NOT_KEPT
        return self.periods[found]

    @property
    def kept_since(self) -> int | None:
        """The time since which all links are stored; None if not even the newest are."""
        since: int | None = None
        for note in reversed(self.notes):
            if self.at(note.time) is NOT_KEPT:
                break
            since = note.time
        return since


class Past:
    """Reads the histories of pages for one query, and caches the latest."""

    def __init__(self, pages: PageTable, cost: QueryCost) -> None:
        self._pages = pages
        self._cost = cost
        self._notes: OrderedDict[str, list[CaptureNote]] = OrderedDict()
        self._texts: dict[tuple[bytes, int], bytes] = {}
        self._texts_bytes = 0

    def retention(self) -> Retention:
        """Returns how long the store keeps links."""
        family = self._pages.store.describe_table(schema.TABLE).family(schema.OUTLINKS)
        assert family is not None
        ttl = family.ttl_seconds
        since = None if ttl is None else int(time.time()) - ttl
        return Retention(since, None if family.versions >= ALL_VERSIONS else family.versions)

    # Captures

    def notes(self, urls: Sequence[str]) -> list[list[CaptureNote]]:
        """Reads the captures of pages that count, the oldest first."""
        cached = self._notes
        missing = [url for url in dict.fromkeys(urls) if url not in cached]
        if missing:
            rows = [self._pages.keys.row_key(url) for url in missing]
            found = self._pages.rows.table.get_many(rows, (_CAPTURES,))
            self._cost.rows += len(rows)
            for url, row in zip(missing, found, strict=True):
                cached[url] = counting(history_of(row).notes.values())
        result = [cached[url] for url in urls]
        while len(cached) > _REMEMBERED:
            cached.popitem(last=False)
        return result

    def statuses(self, urls: Sequence[str], as_of: int | None = None) -> list[int | None]:
        """Reads the statuses of pages at a time, or the newest; None if not captured by then."""
        if as_of is not None:
            newest = [_newest_by(notes, as_of) for notes in self.notes(urls)]
            return [None if note is None else note.status for note in newest]
        rows = [self._pages.keys.row_key(url) for url in urls]
        found = self._pages.rows.table.get_many(rows, (STATUS,))
        self._cost.rows += len(rows)
        return [None if row is None else int(row.value(STATUS) or 0) for row in found]

    # Versions of links

    def histories(self, urls: Sequence[str]) -> list[PageHistory]:
        """Reads the periods of the links of pages.

        The captures are read first: a version that is written meanwhile has no effect, because its
        capture is not in the list.
        """
        notes = self.notes(urls)
        rows = [self._pages.keys.row_key(url) for url in urls]
        versions = self._versions(rows)
        return [
            PageHistory(url, row, mine, _periods(mine, stored))
            for url, row, mine, stored in zip(urls, rows, notes, versions, strict=True)
        ]

    def _versions(self, rows: Sequence[bytes]) -> list[dict[int, str]]:
        """Reads the times of all versions of links, and caches the newest versions."""
        if not rows:
            return []
        if self._texts_bytes > _REMEMBERED_BYTES:
            self._texts.clear()
            self._texts_bytes = 0
        table = self._pages.rows.table
        found = table.get_many(rows, (LINKS, LINKS_OF), versions=_FEW_VERSIONS)
        self._cost.rows += len(rows)
        versions = [history_of(row).links.by_time for row in found]
        for name, row in zip(rows, found, strict=True):
            for column, timestamp, text, _ in () if row is None else row.raw_cells:
                if column == LINKS:
                    self._cache_text(name, timestamp // 1000, text)
        many = [at for at, mine in enumerate(versions) if len(mine) == _FEW_VERSIONS]
        if many:
            more = table.get_many([rows[at] for at in many], (LINKS_OF,), versions=ALL_VERSIONS)
            self._cost.rows += len(many)
            for at, row in zip(many, more, strict=True):
                versions[at] = history_of(row).links.by_time
        return versions

    def _cache_text(self, row: bytes, version: int, text: bytes) -> None:
        self._texts[row, version] = text
        self._texts_bytes += len(text)

    def texts(self, wanted: Iterable[tuple[PageHistory, LinksPeriod]]) -> list[bytes]:
        """Reads the links of pages in given periods: a line for each link."""
        versions = [(history.row, period.version) for history, period in wanted]
        cached = self._texts
        gets = {
            (row, version): Get(row, (LINKS,), 1, (version * 1000, version * 1000 + 1))
            for row, version in versions
            if version is not None and (row, version) not in cached
        }
        if gets:
            found = self._pages.rows.table.get_many(gets.values())
            self._cost.rows += len(gets)
            for (row, version), each in zip(gets, found, strict=True):
                self._cache_text(row, version, b"" if each is None else each.value(LINKS) or b"")
        return [b"" if version is None else cached[row, version] for row, version in versions]

    # Links to a target

    def links_at(
        self,
        urls: Sequence[str],
        now: Sequence[tuple[LinkText, ...]],
        target: str,
        second: int,
    ) -> list[tuple[LinkText, ...] | None]:
        """Returns the links from pages to a target at a time.

        Empty if a page did not link there, or was not captured by then; None if its links of that
        time are not stored.

        Args:
            now: the links from these pages to the target now.
        """
        result: list[tuple[LinkText, ...] | None] = []
        moved = []
        for at, notes in enumerate(self.notes(urls)):
            identity = identity_at(notes, second)
            if identity == NO_LINKS:
                result.append(())
            else:
                result.append(now[at])
                if identity != links_identity(notes[-1]):
                    moved.append(at)
        histories = self.histories([urls[at] for at in moved])
        periods = [history.at(second) for history in histories]
        stored = [
            (at, history, each)
            for at, history, each in zip(moved, histories, periods, strict=True)
            if each is not None and each is not NOT_KEPT
        ]
        for at in moved:
            result[at] = None
        texts = self.texts((history, each) for _, history, each in stored)
        for (at, _, _), text in zip(stored, texts, strict=True):
            result[at] = links_to(text, target)
        return result

    def seen(
        self, urls: Sequence[str], live: Sequence[bool], target: str
    ) -> list[tuple[int | None, int | None]]:
        """Returns the first and last times when pages linked to a target.

        Args:
            live: whether each page links there now.
        """
        times: list[tuple[int | None, int | None]] = []
        moved = []
        for at, notes in enumerate(self.notes(urls)):
            is_same = len({links_identity(note) for note in notes}) == 1
            times.append((notes[0].time, notes[-1].time) if is_same and live[at] else (None, None))
            if not is_same:
                moved.append(at)
        histories = self.histories([urls[at] for at in moved])
        first, last = (self._seen(histories, target, is_last=each) for each in (False, True))
        for at, since, until in zip(moved, first, last, strict=True):
            times[at] = since, until
        return times

    def _seen(
        self, histories: Sequence[PageHistory], target: str, *, is_last: bool
    ) -> list[int | None]:
        seen: list[int | None] = [None] * len(histories)
        waiting = list(range(len(histories)))
        for turn in itertools.count():
            waiting = [at for at in waiting if turn < len(histories[at].periods)]
            if not waiting:
                return seen
            periods = [histories[at].periods[-1 - turn if is_last else turn] for at in waiting]
            wanted = [(histories[at], each) for at, each in zip(waiting, periods, strict=True)]
            left = []
            for at, each, text in zip(waiting, periods, self.texts(wanted), strict=True):
                if has_link(text, target):
                    seen[at] = each.last if is_last else each.first
                else:
                    left.append(at)
            waiting = left
        raise AssertionError


def _newest_by(notes: Sequence[CaptureNote], second: int) -> CaptureNote | None:
    at = bisect.bisect_right(notes, second, key=lambda note: note.time)
    return notes[at - 1] if at else None


def identity_at(notes: Sequence[CaptureNote], second: int) -> str:
    """Returns the identity of a page's links at a time; equal identities mean equal links."""
    newest = _newest_by(notes, second)
    return NO_LINKS if newest is None else links_identity(newest)


def _periods(notes: Sequence[CaptureNote], versions: dict[int, str]) -> list[LinksPeriod]:
    """Joins consecutive captures with the same version of links to periods."""
    times = sorted(versions)
    found: list[LinksPeriod] = []
    joins = False  # whether the previous capture belongs to the last period
    for note in notes:
        identity = links_identity(note)
        at = bisect.bisect_right(times, note.time) - 1
        if at < 0 or versions[times[at]] != identity:
            joins = False
            continue
        version = None if identity == NO_LINKS else times[at]
        if joins and found[-1].version == version:
            found[-1] = found[-1]._replace(last=note.time)
        else:
            found.append(LinksPeriod(version, note.time, note.time))
        joins = True
    return found


def has_link(text: bytes, target: str) -> bool:
    """Whether stored links contain a link to a target."""
    line = f"{target}\t".encode()
    return text.startswith(line) or b"\n" + line in text


def links_to(text: bytes, target: str) -> tuple[LinkText, ...]:
    r"""Returns the links to a target from stored links.

    >>> links_to(b"https://a.com/\t\tA\nhttps://b.com/\tnofollow\tB", "https://b.com/")
    (LinkText(rel='nofollow', anchor='B'),)
    """
    line = f"\n{target}\t".encode()
    text = b"\n" + text
    links = []
    at = text.find(line)
    while at >= 0:
        end = text.find(b"\n", at + 1)
        found = text[at + len(line) : end if end >= 0 else len(text)].decode()
        rel, _, anchor = found.partition("\t")
        links.append(LinkText(rel, anchor))
        at = -1 if end < 0 else text.find(line, end)
    return tuple(links)
