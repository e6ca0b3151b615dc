"""Queries about links at earlier times: which links existed at a date, and what changed since.

Each result includes how far back the store has links, and for how many pages it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from webtable.errors import InvalidRequest, NotFound
from webtable.links import schema
from webtable.links.asking.cursors import cursor_of, link_place, parts_of
from webtable.links.asking.find_or_suggest import find_domain, find_page
from webtable.links.asking.link_queries import LinkFrom, LinkQueries, LinkTo
from webtable.links.asking.link_reader import ALL_LINKS, LinkPick, LinkReader
from webtable.links.asking.page_links_at_time import (
    NOT_KEPT,
    PageHistory,
    Past,
    Retention,
    identity_at,
    links_to,
)
from webtable.links.batching import batches, growing_batches
from webtable.links.cell_encoding import LinkText
from webtable.links.link_index import LinkIndex
from webtable.links.schema import url_of
from webtable.pages.asking.paged_results import QueryCost, ResultPage, bounded
from webtable.pages.removing.block_list import BlockList
from webtable.pages.storing.capture_cells import NO_LINKS, encode_time
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.stored_links import links_identity
from webtable.result_base import Value

__all__ = ["Change", "LinkHistory", "PastPage"]

T = TypeVar("T")
Changed: TypeAlias = Literal["gained", "lost", "anchor", "rel"]


class PastPage(msgspec.Struct, Generic[T]):
    """Results about earlier times.

    Attributes:
        results: one page of results.
        retention: how long the store keeps links.
        not_kept: the number of pages whose links of that time are no longer stored; their links
            are missing from the results.
    """

    results: ResultPage[T]
    retention: Retention
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
    """A pair of pages, and the links between them now."""

    pair: _Pair
    now: tuple[LinkText, ...]


class _Span(NamedTuple):
    since: int
    until: int


class LinkHistory:
    """Queries about links at earlier times. Times are seconds since 1970.

    The domain of `picked` is that of the page at the other end of a link.
    """

    def __init__(self, index: LinkIndex) -> None:
        self._index = index

    # At a date

    def inlinks(
        self,
        url: str,
        as_of: int,
        picked: LinkPick = ALL_LINKS,
        *,
        limit: int = 20,
        after: str | None = None,
    ) -> PastPage[LinkTo]:
        """Returns the links to a page at a time, by source.

        Raises:
            NotFound: the page is not in the index, or has no links that are stored so far back.
        """
        cost = QueryCost(index=schema.INDEX_TABLE)
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        uri = self._target(url, reader)
        start, shown = link_place(after)
        not_kept = 0

        def found() -> Iterator[tuple[str, LinkTo]]:
            nonlocal not_kept
            sources = reader.sources(uri, picked, start=start, with_gone=True)
            for batch in batches(sources, limit + 1):
                urls = [url_of(source.uri) for source in batch]
                linked = past.links_at(urls, [source.links for source in batch], url, as_of)
                not_kept += linked.count(None)
                linking = [at for at, each in enumerate(linked) if each]
                live = [batch[at].is_live for at in linking]
                seen = past.seen([urls[at] for at in linking], live, url)
                for at, times in zip(linking, seen, strict=True):
                    source = batch[at].uri
                    is_internal = self._index.domains.share_domain(uri, source)
                    for number, (rel, anchor) in enumerate(linked[at] or ()):
                        if source != start or number > shown:
                            link = LinkTo(urls[at], anchor, rel, is_internal, *map(_text, times))
                            yield cursor_of(source, b"%d" % number), link

        results = bounded(found(), limit, cost)
        retention = past.retention()
        if (
            not results.items
            and not_kept
            and retention.since is not None
            and as_of < retention.since
        ):
            raise _too_early(f"links to {url}", as_of, retention.since)
        return PastPage(results, retention, not_kept)

    def outlinks(
        self,
        url: str,
        as_of: int,
        picked: LinkPick = ALL_LINKS,
        *,
        limit: int = 20,
        after: str | None = None,
    ) -> PastPage[LinkFrom]:
        """Returns the links on a page at a time, with the statuses of their targets then.

        Raises:
            NotFound: the page is not in the index, or its links of that time are not stored.
        """
        cost = QueryCost()
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        uri = find_page(self._index, url, reader)
        (history,) = past.histories([url])
        period = history.at(as_of)
        if period is None and history.notes:
            raise _too_early(f"capture of {url}", as_of, history.notes[0].time)
        if period is None:
            raise NotFound("capture", url, hint="pages link to it, but it was never crawled")
        if period is NOT_KEPT:
            raise _too_early(f"links of {url}", as_of, history.kept_since)
        (text,) = past.texts([(history, period)])
        lines = iter(text.decode().split("\n")) if text else iter(())
        results = LinkQueries(self._index).links_on(
            uri, lines, reader, picked, limit=limit, after=after, as_of=as_of
        )
        return PastPage(results, past.retention()._replace(since=history.kept_since))

    # Between two dates

    def changes(
        self,
        name: str,
        span: tuple[int, int],
        picked: LinkPick = ALL_LINKS,
        *,
        is_domain: bool = False,
        limit: int = 20,
        after: str | None = None,
    ) -> PastPage[Change]:
        """Returns the changes of the links to a page, or to all pages of a domain, in a time span.

        They are ordered by target, then source. A page without a capture at the beginning of the
        span had no links then.

        Args:
            span: the two seconds that are compared.

        Raises:
            NotFound: the page or domain is not in the index, or no links are stored so far back.
        """
        if span[0] >= span[1]:
            raise InvalidRequest(
                f"{encode_time(span[0])} is not before {encode_time(span[1])}",
                hint="since (--since) is the earlier one",
            )
        cost = QueryCost(index=schema.INDEX_TABLE)
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        place = _Pair(b"", b"") if after is None else _Pair(*parts_of(after, 2))
        targets: Iterator[bytes]
        if is_domain:
            site, registered = find_domain(self._index, name)
            members = reader.members(registered, start=place.target, with_gone=True)
            is_blocked = self._blocked().blocks
            urls = ((uri, url_of(uri)) for uri in members)
            targets = (uri for uri, url in urls if site.has(url) and not is_blocked(url))
        else:
            targets = iter([self._target(name, reader)])
        comparison = _Comparison(self._index, past, _Span(*span))

        def links() -> Iterator[_Link]:
            for target in targets:
                start = place.source + b"\0" if target == place.target else b""
                sources = reader.sources(
                    target, picked, start=start, with_gone=True, most=limit + 1
                )
                for source in sources:
                    yield _Link(_Pair(target, source.uri), source.links)

        results = bounded(comparison.changes(links(), limit + 1), limit, cost)
        retention = past.retention()
        is_early = retention.since is not None and span[0] < retention.since
        if not results.items and comparison.not_kept and is_early:
            raise _too_early(f"links to {name}", span[0], retention.since)
        return PastPage(results, retention, comparison.not_kept)

    def _target(self, url: str, reader: LinkReader) -> bytes:
        """Returns the URI of a target; sources may remember links to a blocked one."""
        if self._blocked().blocks(url):
            raise NotFound("page", url, hint="its URL is blocked, see `webtable remove blocked`")
        return find_page(self._index, url, reader)

    def _blocked(self) -> BlockList:
        blocked = self._index.pages.blocked
        blocked.refresh()
        return blocked


class _Comparison:
    """Compares the links between pairs of pages at two times."""

    def __init__(self, index: LinkIndex, past: Past, span: _Span) -> None:
        self._index = index
        self._past = past
        self._span = span
        self.not_kept = 0

    def changes(self, links: Iterator[_Link], size: int) -> Iterator[tuple[str, Change]]:
        """Yields the changes of pairs of pages, with cursors."""
        for batch in growing_batches(links, size):
            urls = [url_of(pair.source) for pair, _ in batch]
            notes = dict(zip(urls, self._past.notes(urls), strict=True))
            moved = [
                (link, url)
                for link, url in zip(batch, urls, strict=True)
                if len({identity_at(notes[url], second) for second in self._span}) > 1
            ]
            # The index has the current links of a page; other pages need their versions.
            first_links = [
                _first_links(notes[url], self._span) if link.now else None for link, url in moved
            ]
            needed = [url for (_, url), at in zip(moved, first_links, strict=True) if at is None]
            histories = iter(self._past.histories(needed))
            for ((pair, now), url), at in zip(moved, first_links, strict=True):
                change: Change | None
                if at is None:
                    change = self._change(pair, next(histories))
                else:
                    change = self._described(pair, url, ((), now), at)
                if change is not None:
                    yield cursor_of(*pair), change

    def _links_at_both(self, history: PageHistory, target: str) -> Iterator[tuple[LinkText, ...]]:
        """Yields the links to a target at both times."""
        for second in self._span:
            period = history.at(second)
            if period is None:
                yield ()
            else:
                yield links_to(self._past.texts([(history, period)])[0], target)

    def _change(self, pair: _Pair, history: PageHistory) -> Change | None:
        if any(history.at(second) is NOT_KEPT for second in self._span):
            self.not_kept += 1
            return None
        target = url_of(pair.target)
        before, after = self._links_at_both(history, target)
        if set(before) == set(after):
            return None
        at = self._since(history, target, after)
        return self._described(pair, history.url, (before, after), at)

    def _described(
        self,
        pair: _Pair,
        source: str,
        links: tuple[tuple[LinkText, ...], tuple[LinkText, ...]],
        at: int,
    ) -> Change:
        """Describes the change between the links before and after."""
        before, after = links
        what: Changed = "gained" if not before else "lost" if not after else "anchor"
        if {link.anchor for link in before} == {link.anchor for link in after}:
            what = "rel"
        shown = after or before
        return Change(
            what,
            source,
            url_of(pair.target),
            _anchors(shown),
            " | ".join(link.rel for link in shown),
            _anchors(before) if what == "anchor" else None,
            self._index.domains.share_domain(*pair),
            encode_time(at),
        )

    def _since(self, history: PageHistory, target: str, links: Sequence[LinkText]) -> int:
        """Returns the first capture from which on the links are those of the end."""
        inside = [
            period
            for period in history.periods
            if period.last > self._span.since and period.first <= self._span.until
        ]
        texts = self._past.texts((history, period) for period in inside)
        at = inside[-1].first
        for period, text in zip(reversed(inside), reversed(texts), strict=True):
            if set(links_to(text, target)) != set(links):
                break
            at = period.first
        return at


def _first_links(notes: Sequence[CaptureNote], span: _Span) -> int | None:
    """Returns the time of a page's first links, if it still has these links.

    None if it had other links, in the time span or after it; then its versions must be read.
    """
    if not notes or notes[-1].time > span.until or identity_at(notes, span.since) != NO_LINKS:
        return None
    inside = [note for note in notes if note.time > span.since]
    identities = {links_identity(note) for note in inside}
    return inside[0].time if len(identities) == 1 else None


def _text(seconds: int | None) -> str | None:
    return None if seconds is None else encode_time(seconds)


def _anchors(links: Sequence[LinkText]) -> str:
    return " | ".join(link.anchor for link in links)


def _too_early(what: str, second: int, since: int | None) -> NotFound:
    hint = "no links are stored" if since is None else f"stored since {encode_time(since)}"
    return NotFound("history", f"{what} at {encode_time(second)}", hint=hint)
