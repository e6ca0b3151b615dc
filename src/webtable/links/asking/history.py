"""Queries about links at earlier times: who linked where at a date, and what changed since.

Each answer says how far back the store remembers, and of how many pages it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from webtable.errors import InvalidRequest, NotFound
from webtable.links import schema
from webtable.links.asking.cursors import check_uri, cursor_of, link_place, parts_of
from webtable.links.asking.page_history import (
    NOT_KEPT,
    Kept,
    PageHistory,
    Past,
    identity_at,
    words_for,
)
from webtable.links.asking.queries import LinkFrom, LinkPick, LinkQueries, LinkTo
from webtable.links.asking.suggest import check_domain, check_known
from webtable.links.asking.wide_rows import Kind, LinkReader, batches, growing_batches
from webtable.links.cells import Words
from webtable.links.index import LinkIndex
from webtable.links.schema import url_of
from webtable.pages.asking.results import QueryCost, ResultPage, bounded, wrong_cursor
from webtable.pages.keys import is_under
from webtable.pages.storing.cells import NO_LINKS, encode_time
from webtable.pages.storing.history import CaptureNote
from webtable.pages.storing.row_write import links_identity
from webtable.values import Value

__all__ = ["Change", "LinkHistory", "PastPage"]

T = TypeVar("T")
Changed: TypeAlias = Literal["gained", "lost", "anchor", "rel"]


class PastPage(msgspec.Struct, Generic[T]):
    """An answer about earlier times.

    Attributes:
        kept: how long the store keeps links.
        not_kept: of how many pages that were looked at the links are not kept so far back; what
            they linked to is not in the answer.
    """

    answer: ResultPage[T]
    kept: Kept
    not_kept: int = 0


class Change(Value, msgspec.Struct, frozen=True):
    """A link that was gained or lost, or whose anchor or rel changed.

    Attributes:
        change: `gained`, `lost`, or which of the two is another one now: `anchor` or `rel`.
        source: the page that has the link.
        target: the page that it leads to.
        internal: whether both pages are of one registered domain.
        anchor, rel: at the end of the time; before that where it was lost. Several links of one
            page to another have bars between them.
        was: the anchor before that, where it changed.
        at: the capture of the source that showed it first.
    """

    change: Changed
    source: str
    target: str
    anchor: str
    rel: str
    was: str | None
    internal: bool
    at: str


class _Pair(NamedTuple):
    target: bytes
    source: bytes


class _Link(NamedTuple):
    """A pair of pages, and the words of the links between them now."""

    pair: _Pair
    now: tuple[Words, ...]


class _Span(NamedTuple):
    since: int
    until: int


class LinkHistory:
    """The questions that a link index answers about links at earlier times. Times are seconds."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index

    # At a date

    def inlinks(
        self,
        url: str,
        as_of: int,
        *,
        kind: Kind = "all",
        domain: str = "",
        limit: int = 20,
        after: str | None = None,
    ) -> PastPage[LinkTo]:
        """Returns the links that there were to a page at a second, by source.

        Raises:
            NotFound: the page is not known, or all that is known of it is younger.
        """
        cost = QueryCost(index=schema.INDEX_TABLE)
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        uri = check_known(self._index, url, reader)
        start, shown = link_place(after)
        not_kept = 0

        def found() -> Iterator[tuple[str, LinkTo]]:
            nonlocal not_kept
            sources = reader.sources(uri, start=start, kind=kind, domain=domain, with_gone=True)
            for batch in batches(sources, limit + 1):
                urls = [url_of(source.uri) for source in batch]
                words = past.words_at(urls, [source.words for source in batch], url, as_of)
                not_kept += words.count(None)
                linking = [at for at, each in enumerate(words) if each]
                live = [batch[at].is_live for at in linking]
                seen = past.seen([urls[at] for at in linking], live, url)
                for at, times in zip(linking, seen, strict=True):
                    source = batch[at].uri
                    is_internal = self._index.domains.are_one(uri, source)
                    for number, (rel, anchor) in enumerate(words[at] or ()):
                        if source != start or number > shown:
                            link = LinkTo(urls[at], anchor, rel, is_internal, *map(_text, times))
                            yield cursor_of(source, b"%d" % number), link

        answer = bounded(found(), limit, cost)
        kept = past.kept()
        if not answer.items and not_kept and kept.since is not None and as_of < kept.since:
            raise _too_early(f"links to {url}", as_of, kept.since)
        return PastPage(answer, kept, not_kept)

    def outlinks(
        self,
        url: str,
        as_of: int,
        *,
        kind: Kind = "all",
        domain: str = "",
        limit: int = 20,
        after: str | None = None,
    ) -> PastPage[LinkFrom]:
        """Returns the links that were on a page at a second, with what their targets answered then.

        Raises:
            NotFound: the page is not known, or its links of that time are not.
        """
        cost = QueryCost()
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        uri = check_known(self._index, url, reader)
        (history,) = past.histories([url])
        held = history.at(as_of)
        if held is None and history.notes:
            raise _too_early(f"capture of {url}", as_of, history.notes[0].time)
        if held is None:
            raise NotFound("capture", url, hint="it is linked to, but was never crawled")
        if held is NOT_KEPT:
            raise _too_early(f"links of {url}", as_of, history.kept_since)
        (text,) = past.texts([(history, held)])
        lines = iter(text.decode().split("\n")) if text else iter(())
        answer = LinkQueries(self._index).links_on(
            uri, lines, reader, LinkPick(kind, domain), limit=limit, after=after, as_of=as_of
        )
        return PastPage(answer, past.kept()._replace(since=history.kept_since))

    # Between two dates

    def changes(
        self,
        name: str,
        span: tuple[int, int],
        *,
        is_domain: bool = False,
        kind: Kind = "all",
        limit: int = 20,
        after: str | None = None,
    ) -> PastPage[Change]:
        """Returns how the links to a page, or to all pages of a domain, changed in a time.

        A page that was not captured at its beginning linked nowhere then. By target, then source.

        Args:
            span: the two seconds that are compared.

        Raises:
            NotFound: the page or domain is not known, or all that is known of it is younger.
        """
        if span[0] >= span[1]:
            raise InvalidRequest(
                f"{encode_time(span[0])} is not before {encode_time(span[1])}",
                hint="since (--since) is the earlier one",
            )
        cost = QueryCost(index=schema.INDEX_TABLE)
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        place = _Pair(b"", b"")
        if after is not None:
            place = _Pair(*map(check_uri, parts_of(after, 2)))
        targets: Iterator[bytes]
        if is_domain:
            host, domain = check_domain(self._index, name)
            members = reader.members(domain, start=place.target, with_gone=True)
            targets = (uri for uri in members if is_under(url_of(uri), host))
        else:
            known = check_known(self._index, name, reader)
            if after is not None and place.target != known:
                raise wrong_cursor(after)
            targets = iter([known])
        comparison = _Comparison(self._index, past, _Span(*span))

        def links() -> Iterator[_Link]:
            for target in targets:
                start = place.source + b"\0" if target == place.target else b""
                sources = reader.sources(
                    target, start=start, kind=kind, with_gone=True, most=limit + 1
                )
                for source in sources:
                    yield _Link(_Pair(target, source.uri), source.words)

        answer = bounded(comparison.changes(links(), limit + 1), limit, cost)
        kept = past.kept()
        is_early = kept.since is not None and span[0] < kept.since
        if not answer.items and comparison.not_kept and is_early:
            raise _too_early(f"links to {name}", span[0], kept.since)
        return PastPage(answer, kept, comparison.not_kept)


class _Comparison:
    """Compares the links between pairs of pages at two times."""

    def __init__(self, index: LinkIndex, past: Past, span: _Span) -> None:
        self._index = index
        self._past = past
        self._span = span
        self.not_kept = 0

    def changes(self, links: Iterator[_Link], size: int) -> Iterator[tuple[str, Change]]:
        """Yields the changes among pairs of pages, with cursors."""
        for batch in growing_batches(links, size):
            urls = [url_of(pair.source) for pair, _ in batch]
            notes = dict(zip(urls, self._past.notes(urls), strict=True))
            moved = [
                (link, url)
                for link, url in zip(batch, urls, strict=True)
                if len({identity_at(notes[url], second) for second in self._span}) > 1
            ]
            # What a page links to now is in the index; of others the versions are looked at.
            came = [
                _first_links(notes[url], self._span) if link.now else None for link, url in moved
            ]
            asked = [url for (_, url), at in zip(moved, came, strict=True) if at is None]
            histories = iter(self._past.histories(asked))
            for ((pair, now), url), at in zip(moved, came, strict=True):
                change: Change | None
                if at is None:
                    change = self._change(pair, next(histories))
                else:
                    change = self._told(pair, url, ((), now), at)
                if change is not None:
                    yield cursor_of(*pair), change

    def _words(self, history: PageHistory, target: str) -> Iterator[tuple[Words, ...]]:
        """Yields the words of the links to a target at both times."""
        for second in self._span:
            held = history.at(second)
            if held is None:
                yield ()
            else:
                yield words_for(self._past.texts([(history, held)])[0], target)

    def _change(self, pair: _Pair, history: PageHistory) -> Change | None:
        if any(history.at(second) is NOT_KEPT for second in self._span):
            self.not_kept += 1
            return None
        target = url_of(pair.target)
        before, behind = self._words(history, target)
        if set(before) == set(behind):
            return None
        at = self._since(history, target, behind)
        return self._told(pair, history.url, (before, behind), at)

    def _told(
        self,
        pair: _Pair,
        source: str,
        words: tuple[tuple[Words, ...], tuple[Words, ...]],
        at: int,
    ) -> Change:
        """Says what the words before and behind are a change of."""
        before, behind = words
        what: Changed = "gained" if not before else "lost" if not behind else "anchor"
        if {words.anchor for words in before} == {words.anchor for words in behind}:
            what = "rel"
        shown = behind or before
        return Change(
            what,
            source,
            url_of(pair.target),
            _anchors(shown),
            " | ".join(words.rel for words in shown),
            _anchors(before) if what == "anchor" else None,
            self._index.domains.are_one(*pair),
            encode_time(at),
        )

    def _since(self, history: PageHistory, target: str, words: Sequence[Words]) -> int:
        """Returns from which capture on it has been as it was at the end."""
        inside = [
            held
            for held in history.held
            if held.last > self._span.since and held.first <= self._span.until
        ]
        texts = self._past.texts((history, held) for held in inside)
        at = inside[-1].first
        for held, text in zip(reversed(inside), reversed(texts), strict=True):
            if set(words_for(text, target)) != set(words):
                break
            at = held.first
        return at


def _first_links(notes: Sequence[CaptureNote], span: _Span) -> int | None:
    """Returns when a page came to have its first links, which it still has.

    None where it had others before, in the time or behind it; then its versions must be looked at.
    """
    if not notes or notes[-1].time > span.until or identity_at(notes, span.since) != NO_LINKS:
        return None
    inside = [note for note in notes if note.time > span.since]
    identities = {links_identity(note) for note in inside}
    return inside[0].time if len(identities) == 1 else None


def _text(seconds: int | None) -> str | None:
    return None if seconds is None else encode_time(seconds)


def _anchors(words: Sequence[Words]) -> str:
    return " | ".join(each.anchor for each in words)


def _too_early(what: str, second: int, since: int | None) -> NotFound:
    hint = "nothing is kept of it" if since is None else f"it is known since {encode_time(since)}"
    return NotFound("history", f"{what} at {encode_time(second)}", hint=hint)
