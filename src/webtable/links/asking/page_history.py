"""What pages linked to at earlier times, as far back as their store keeps versions.

A target remembers every page that ever linked to it; whether one did at a date, and with which
words, is read from that page's own links at that date. The captures and the versions of a page are
small and read first; the links themselves only where they make a difference.
"""

from __future__ import annotations

import bisect
import itertools
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from webtable.links.cells import Words
from webtable.pages import schema
from webtable.pages.asking.results import QueryCost
from webtable.pages.columns import LINKS, LINKS_OF, STATUS
from webtable.pages.storing.cells import NO_LINKS
from webtable.pages.storing.history import CaptureNote, counting
from webtable.pages.storing.row_history import history_of
from webtable.pages.storing.row_write import links_identity
from webtable.pages.table import PageTable
from webtable.store.scan import ALL_VERSIONS, Get

__all__ = [
    "NOT_KEPT",
    "Held",
    "Kept",
    "PageHistory",
    "Past",
    "identity_at",
    "words_for",
]

_CAPTURES = schema.CAPTURES.encode()
_REMEMBERED = 4_096
_REMEMBERED_BYTES = 8 * 1024 * 1024
_FEW_VERSIONS = 3


class Kept(NamedTuple):
    """How long a store keeps the links of pages.

    Attributes:
        since: from which second on; None: from the first capture on.
        versions: how many different ones of each page; None: all.
    """

    since: int | None
    versions: int | None


class Held(NamedTuple):
    """The links that a page had for a while: captures with the same ones, side by side.

    Attributes:
        version: when the version was written that has them; None: there are none.
        first, last: the seconds of the first and the last of the captures.
    """

    version: int | None
    first: int
    last: int


NOT_KEPT = Held(-1, 0, 0)
"""The page was captured by then, but its links are not kept."""


class PageHistory(msgspec.Struct, frozen=True, gc=False):
    """When a page had which links. `held` is in the order of time; what is not kept is left out."""

    url: str
    row: bytes
    notes: list[CaptureNote]
    held: list[Held]

    def at(self, second: int) -> Held | None:
        """Returns what held at a second; None where the page was not captured by then."""
        if not self.notes or self.notes[0].time > second:
            return None
        at = bisect.bisect_right(self.notes, second, key=lambda note: note.time) - 1
        taken = self.notes[at].time
        found = bisect.bisect_right(self.held, taken, key=lambda held: held.first) - 1
        if found < 0 or self.held[found].last < taken:
            return NOT_KEPT
        return self.held[found]

    @property
    def kept_since(self) -> int | None:
        """From when on all links are known; None where they are not even now."""
        since: int | None = None
        for note in reversed(self.notes):
            if self.at(note.time) is NOT_KEPT:
                break
            since = note.time
        return since


class Past:
    """Reads the histories of pages for one question, and remembers the last of them."""

    def __init__(self, pages: PageTable, cost: QueryCost) -> None:
        self._pages = pages
        self._explained = cost
        self._notes: OrderedDict[str, list[CaptureNote]] = OrderedDict()
        self._texts: dict[tuple[bytes, int], bytes] = {}
        self._texts_bytes = 0

    def kept(self) -> Kept:
        """Returns how long the store keeps links."""
        family = self._pages.store.describe_table(schema.TABLE).family(schema.OUTLINKS)
        assert family is not None
        ttl = family.ttl_seconds
        since = None if ttl is None else int(time.time()) - ttl
        return Kept(since, None if family.versions >= ALL_VERSIONS else family.versions)

    # Captures

    def notes(self, urls: Sequence[str]) -> list[list[CaptureNote]]:
        """Reads the captures of some pages that count, the oldest first."""
        known = self._notes
        missing = [url for url in dict.fromkeys(urls) if url not in known]
        if missing:
            rows = [self._pages.keys.row_key(url) for url in missing]
            found = self._pages.rows.table.get_many(rows, (_CAPTURES,))
            self._explained.rows += len(rows)
            for url, row in zip(missing, found, strict=True):
                known[url] = counting(history_of(row).notes.values())
        answer = [known[url] for url in urls]
        while len(known) > _REMEMBERED:
            known.popitem(last=False)
        return answer

    def statuses(self, urls: Sequence[str], as_of: int | None = None) -> list[int | None]:
        """Reads with which status pages answered at a second, or last; None: not captured yet."""
        if as_of is not None:
            taken = [_taken_at(notes, as_of) for notes in self.notes(urls)]
            return [None if note is None else note.status for note in taken]
        rows = [self._pages.keys.row_key(url) for url in urls]
        found = self._pages.rows.table.get_many(rows, (STATUS,))
        self._explained.rows += len(rows)
        return [None if row is None else int(row.value(STATUS) or 0) for row in found]

    # Versions of links

    def histories(self, urls: Sequence[str]) -> list[PageHistory]:
        """Reads when each of some pages had which links.

        The captures are read first: a version that is written meanwhile changes nothing as long as
        its capture is not known.
        """
        notes = self.notes(urls)
        rows = [self._pages.keys.row_key(url) for url in urls]
        versions = self._versions(rows)
        return [
            PageHistory(url, row, mine, _held(mine, held))
            for url, row, mine, held in zip(urls, rows, notes, versions, strict=True)
        ]

    def _versions(self, rows: Sequence[bytes]) -> list[dict[int, str]]:
        """Reads which versions of links there are, and keeps the texts of the newest."""
        if not rows:
            return []
        if self._texts_bytes > _REMEMBERED_BYTES:
            self._texts.clear()
            self._texts_bytes = 0
        table = self._pages.rows.table
        found = table.get_many(rows, (LINKS, LINKS_OF), versions=_FEW_VERSIONS)
        self._explained.rows += len(rows)
        versions = [history_of(row).links.by_time for row in found]
        for name, row in zip(rows, found, strict=True):
            for column, timestamp, text, _ in () if row is None else row.raw_cells:
                if column == LINKS:
                    self._keep(name, timestamp // 1000, text)
        many = [at for at, mine in enumerate(versions) if len(mine) == _FEW_VERSIONS]
        if many:
            asked = [rows[at] for at in many]
            more = table.get_many(asked, (LINKS_OF,), versions=ALL_VERSIONS)
            self._explained.rows += len(many)
            for at, row in zip(many, more, strict=True):
                versions[at] = history_of(row).links.by_time
        return versions

    def _keep(self, row: bytes, version: int, text: bytes) -> None:
        self._texts[row, version] = text
        self._texts_bytes += len(text)

    def texts(self, wanted: Iterable[tuple[PageHistory, Held]]) -> list[bytes]:
        """Reads the links of some pages as they were: a line a link."""
        asked = [(history.row, held.version) for history, held in wanted]
        known = self._texts
        gets = {
            (row, version): Get(row, (LINKS,), 1, (version * 1000, version * 1000 + 1))
            for row, version in asked
            if version is not None and (row, version) not in known
        }
        if gets:
            found = self._pages.rows.table.get_many(gets.values())
            self._explained.rows += len(gets)
            for (row, version), each in zip(gets, found, strict=True):
                self._keep(row, version, b"" if each is None else each.value(LINKS) or b"")
        return [b"" if version is None else known[row, version] for row, version in asked]

    # Links to a target

    def words_at(
        self,
        urls: Sequence[str],
        now: Sequence[tuple[Words, ...]],
        target: str,
        second: int,
    ) -> list[tuple[Words, ...] | None]:
        """Returns with which words pages linked to a target at a second.

        Nothing where one did not, or was not captured by then; None where it is not known.

        Args:
            now: with which words they link there now.
        """
        answer: list[tuple[Words, ...] | None] = []
        moved = []
        for at, notes in enumerate(self.notes(urls)):
            identity = identity_at(notes, second)
            if identity == NO_LINKS:
                answer.append(())
            else:
                answer.append(now[at])
                if identity != links_identity(notes[-1]):
                    moved.append(at)
        histories = self.histories([urls[at] for at in moved])
        held = [history.at(second) for history in histories]
        known = [
            (at, history, each)
            for at, history, each in zip(moved, histories, held, strict=True)
            if each is not None and each is not NOT_KEPT
        ]
        for at in moved:
            answer[at] = None
        texts = self.texts((history, each) for _, history, each in known)
        for (at, _, _), text in zip(known, texts, strict=True):
            answer[at] = words_for(text, target)
        return answer

    def seen(
        self, urls: Sequence[str], live: Sequence[bool], target: str
    ) -> list[tuple[int | None, int | None]]:
        """Returns when pages were first and last seen to link to a target.

        Args:
            live: whether they do now.
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
            waiting = [at for at in waiting if turn < len(histories[at].held)]
            if not waiting:
                return seen
            held = [histories[at].held[-1 - turn if is_last else turn] for at in waiting]
            asked = [(histories[at], each) for at, each in zip(waiting, held, strict=True)]
            left = []
            for at, each, text in zip(waiting, held, self.texts(asked), strict=True):
                if has_link(text, target):
                    seen[at] = each.last if is_last else each.first
                else:
                    left.append(at)
            waiting = left
        raise AssertionError


def _taken_at(notes: Sequence[CaptureNote], second: int) -> CaptureNote | None:
    at = bisect.bisect_right(notes, second, key=lambda note: note.time)
    return notes[at - 1] if at else None


def identity_at(notes: Sequence[CaptureNote], second: int) -> str:
    """Returns whose links a page had at a second; two that are equal are the same links."""
    taken = _taken_at(notes, second)
    return NO_LINKS if taken is None else links_identity(taken)


def _held(notes: Sequence[CaptureNote], versions: dict[int, str]) -> list[Held]:
    """Returns the links of captures, those of the same version side by side as one."""
    times = sorted(versions)
    found: list[Held] = []
    joins = False  # whether the capture before this one is in the last of them
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
            found.append(Held(version, note.time, note.time))
        joins = True
    return found


def has_link(text: bytes, target: str) -> bool:
    """Whether there is a link to a target among some."""
    line = f"{target}\t".encode()
    return text.startswith(line) or b"\n" + line in text


def words_for(text: bytes, target: str) -> tuple[Words, ...]:
    r"""Returns the words of the links to a target among some.

    >>> words_for(b"https://a.com/\t\tA\nhttps://b.com/\tnofollow\tB", "https://b.com/")
    (Words(rel='nofollow', anchor='B'),)
    """
    line = f"\n{target}\t".encode()
    text = b"\n" + text
    words = []
    at = text.find(line)
    while at >= 0:
        end = text.find(b"\n", at + 1)
        found = text[at + len(line) : end if end >= 0 else len(text)].decode()
        rel, _, anchor = found.partition("\t")
        words.append(Words(rel, anchor))
        at = -1 if end < 0 else text.find(line, end)
    return tuple(words)
