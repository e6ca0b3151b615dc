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
from webtable.pages.bounded import Explained
from webtable.pages.history import CaptureNote, counting
from webtable.pages.table import PageTable
from webtable.pages.writing import LINKS, LINKS_OF, history_of, links_identity
from webtable.store.scan import ALL_VERSIONS, Get

__all__ = ["NOT_KEPT", "Held", "Kept", "PageHistory", "Past", "words_for"]

_COLUMNS = (schema.CAPTURES.encode(), LINKS_OF)
_STATUS = b"metadata:status_code"
_NO_LINKS = "-"
_REMEMBERED = 4_096


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

    def status_at(self, second: int) -> int | None:
        """Returns with which status the page answered; None: it was not captured by then."""
        at = bisect.bisect_right(self.notes, second, key=lambda note: note.time)
        return self.notes[at - 1].status if at else None

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

    def __init__(self, pages: PageTable, explained: Explained) -> None:
        self._pages = pages
        self._explained = explained
        self._known: OrderedDict[str, PageHistory] = OrderedDict()

    def kept(self) -> Kept:
        """Returns how long the store keeps links."""
        family = self._pages.store.describe_table(schema.TABLE).family(schema.OUTLINKS)
        assert family is not None
        ttl = family.ttl_seconds
        since = None if ttl is None else int(time.time()) - ttl
        return Kept(since, None if family.versions >= ALL_VERSIONS else family.versions)

    def histories(self, urls: Sequence[str]) -> list[PageHistory]:
        """Reads when each of some pages had which links."""
        known = self._known
        missing = [url for url in dict.fromkeys(urls) if url not in known]
        rows = [self._pages.keys.row_key(url) for url in missing]
        found = self._pages.rows.table.get_many(rows, _COLUMNS, versions=ALL_VERSIONS)
        self._explained.rows += len(rows)
        for url, row, each in zip(missing, rows, found, strict=True):
            history = history_of(each)
            notes = counting(history.notes.values())
            known[url] = PageHistory(url, row, notes, _held(notes, history.links))
        answer = [known[url] for url in urls]
        while len(known) > _REMEMBERED:
            known.popitem(last=False)
        return answer

    def statuses(self, urls: Sequence[str], as_of: int | None = None) -> list[int | None]:
        """Reads with which status pages answered at a second, or last; None: not captured yet."""
        if as_of is not None:
            return [history.status_at(as_of) for history in self.histories(urls)]
        rows = [self._pages.keys.row_key(url) for url in urls]
        found = self._pages.rows.table.get_many(rows, (_STATUS,))
        self._explained.rows += len(rows)
        return [None if row is None else int(row.value(_STATUS) or 0) for row in found]

    def texts(self, wanted: Iterable[tuple[PageHistory, Held]]) -> list[bytes]:
        """Reads the links of some pages as they were: a line a link."""
        asked = list(wanted)
        gets = [
            Get(history.row, (LINKS,), 1, (held.version * 1000, held.version * 1000 + 1))
            for history, held in asked
            if held.version is not None
        ]
        found = iter(self._pages.rows.table.get_many(gets))
        self._explained.rows += len(gets)
        texts = []
        for _, held in asked:
            row = None if held.version is None else next(found)
            texts.append(b"" if row is None else row.value(LINKS) or b"")
        return texts

    def words_at(
        self, histories: Sequence[PageHistory], target: str, second: int
    ) -> list[tuple[Words, ...] | None]:
        """Returns with which words pages linked to a target at a second.

        Nothing where one did not, or was not captured by then; None where it is not known.
        """
        held = [history.at(second) for history in histories]
        known = [
            (history, each)
            for history, each in zip(histories, held, strict=True)
            if each is not None and each is not NOT_KEPT
        ]
        texts = iter(self.texts(known))
        answer: list[tuple[Words, ...] | None] = []
        for each in held:
            if each is None:
                answer.append(())
            else:
                answer.append(None if each is NOT_KEPT else words_for(next(texts), target))
        return answer

    def first_seen(self, histories: Sequence[PageHistory], target: str) -> list[int | None]:
        """Returns when pages were first seen to link to a target; None where never."""
        return self._seen(histories, target, is_last=False)

    def last_seen(self, histories: Sequence[PageHistory], target: str) -> list[int | None]:
        """Returns when pages were last seen to link to a target; None where never."""
        return self._seen(histories, target, is_last=True)

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
        version = None if identity == _NO_LINKS else times[at]
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
