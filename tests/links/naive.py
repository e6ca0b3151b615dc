"""What the link index must say, computed from the stored pages in the plainest way there is.

Nothing of `links/checking/verify.py` or of the update path is used here: pages are read one by one,
the index is read cell by cell.
"""

from __future__ import annotations

from collections import defaultdict

from webtable.links import schema
from webtable.links.cell_encoding import decode_cur, decode_inlink, decode_uris
from webtable.links.link_index import LinkIndex
from webtable.pages.captures import link_text, links_of_text
from webtable.pages.columns import LINKS
from webtable.store.cells_and_rows import Row
from webtable.store.scan import ALL_VERSIONS, Get

__all__ = ["differences"]

LinkTexts = tuple[tuple[str, str], ...]


class _Expected:
    """What follows from the pages."""

    def __init__(self, index: LinkIndex) -> None:
        pages = index.pages
        pages.blocked.refresh()
        self.links: dict[bytes, str] = {}
        self.inlinks: dict[bytes, dict[bytes, LinkTexts]] = defaultdict(dict)
        self.remembered: set[tuple[bytes, bytes]] = set()
        table = pages.rows.table
        for row in list(table.scan(columns=(b"metadata:url",))):
            url = (row.value(b"metadata:url") or b"").decode()
            page = pages.page(url)
            assert page is not None
            source = schema.uri_of(url)
            links = (pages.links(url) or []) if 200 <= page.status <= 299 else []
            self.links[source] = link_text(links)
            for link in links:
                if pages.blocked.blocks(link.url):
                    continue
                target = schema.uri_of(link.url)
                before = self.inlinks[target].get(source, ())
                self.inlinks[target][source] = (*before, (link.rel, link.anchor))
            (found,) = table.get_many([Get(row.key, (LINKS,), versions=ALL_VERSIONS)])
            for cell in found.cells if found is not None else ():
                for link in links_of_text(cell.value.decode()):
                    if pages.blocked.blocks(link.url):
                        continue
                    self.remembered.add((source, schema.uri_of(link.url)))
        self.counts = {uri: len(self.inlinks[uri]) for uri in {*self.links, *self.inlinks}}


class _Found:
    """What the index says."""

    def __init__(self, index: LinkIndex) -> None:
        self.problems: list[str] = []
        self.links: dict[bytes, str] = {}
        self.inlinks: dict[bytes, dict[bytes, LinkTexts]] = defaultdict(dict)
        self.remembered: set[tuple[bytes, bytes]] = set()
        self.counts: dict[bytes, int] = {}
        self.members: set[bytes] = set()
        self._index = index
        for row in index.table.scan(prefix=b"p:"):
            if b"\0" in row.key:
                self._inlinks(row)
            else:
                self._page(row)
        for row in index.table.scan(prefix=b"d:", columns=(b"members", b"domain")):
            self._domain(row)

    def _page(self, row: Row) -> None:
        uri, values = row.key[2:], row.values()
        if schema.AT in values:
            self.links[uri] = decode_cur(values.get(schema.CUR))
        if schema.INCOUNT in values:
            self.counts[uri] = int(values[schema.INCOUNT])
        if left := decode_uris(values.get(schema.JOURNAL)):
            self.problems.append(f"{uri!r} has a journal: {left}")

    def _inlinks(self, row: Row) -> None:
        target, _, shard = row.key[2:].partition(b"\0")
        live = 0
        for cell in row.cells:
            if not cell.column.startswith(schema.INLINK):
                continue
            source = cell.column[len(schema.INLINK) :]
            if b"%x" % schema.shard_of(source, self._index.shards) != shard:
                self.problems.append(f"{source!r} is in shard {shard!r} of {target!r}")
            inlink = decode_inlink(cell.value)
            self.remembered.add((source, target))
            if inlink.is_live:
                live += 1
                self.inlinks[target][source] = tuple((w.rel, w.anchor) for w in inlink.links)
        count = int(row.value(schema.COUNT) or 0)
        if count != live:
            self.problems.append(f"{row.key!r} counts {count} links and has {live}")

    def _domain(self, row: Row) -> None:
        domain, _, shard = row.key[2:].partition(b"\0")
        live = 0
        for cell in row.cells:
            if cell.column.startswith(schema.MEMBER) and cell.value == b"+":
                uri = cell.column[len(schema.MEMBER) :]
                live += 1
                self.members.add(uri)
                place = (
                    self._index.domains.of(uri),
                    b"%x" % schema.shard_of(uri, self._index.shards),
                )
                if place != (domain, shard):
                    self.problems.append(f"{uri!r} is a member of {row.key!r}")
        count = int(row.value(schema.PAGE_COUNT) or 0)
        if count != live:
            self.problems.append(f"{row.key!r} counts {count} URIs and has {live}")


def differences(index: LinkIndex) -> list[str]:
    """Returns everything in which the index is not what the stored pages give."""
    wanted, found = _Expected(index), _Found(index)
    problems = found.problems
    counts = {uri: n for uri, n in wanted.counts.items() if n or uri in wanted.links}
    for name, is_there, should in (
        ("page:cur", found.links, wanted.links),
        ("inlinks", _plain(found.inlinks), _plain(wanted.inlinks)),
        ("page:incount", found.counts, counts),
        ("members", dict.fromkeys(found.members, 1), dict.fromkeys(counts, 1)),
        ("ranks", _ranks(index), counts),
        ("ranks of domains", _domain_ranks(index), counts),
        (
            "inlinks of pages",
            _stored_counts(index, b"metadata:inlinks"),
            _known(counts, wanted.links),
        ),
        ("inlinks:count", _stored_counts(index, b"inlinks:count"), _known(counts, wanted.links)),
        ("feed of the links", _feed(index), dict.fromkeys(wanted.links, 1)),
    ):
        problems += _compared(name, dict(is_there), dict(should))
    problems += [
        f"{target!r} does not remember {source!r}"
        for source, target in sorted(wanted.remembered - found.remembered)
    ]
    problems += [f"work left: {row.key!r}" for row in index.work.scan()]
    return problems


def _feed(index: LinkIndex) -> dict[bytes, int]:
    """Returns the pages in the feed of the links, and how often each is there."""
    listed: dict[bytes, int] = {}
    rows = index.rows
    entries = [(hit, rows.read_state(hit.row).facts) for hit in list(rows.hits(schema.CHANGES))]
    for hit, facts in entries:
        revision, _, kind = facts.get(schema.CHANGED, b"").partition(b"\t")
        if kind == b"removed":
            continue  # the page is not stored
        if revision and b"%b_%b" % (revision, hit.row) == hit.key[2 * index.has_buckets :]:
            listed[hit.row[2:]] = listed.get(hit.row[2:], 0) + 1
    return listed


def _compared(name: str, is_there: dict[bytes, object], should: dict[bytes, object]) -> list[str]:
    return [
        f"{name} of {uri!r}: {is_there.get(uri)!r}, not {should.get(uri)!r}"
        for uri in sorted({*is_there, *should})
        if is_there.get(uri) != should.get(uri)
    ]


def _plain(inlinks: dict[bytes, dict[bytes, LinkTexts]]) -> dict[bytes, dict[bytes, LinkTexts]]:
    return {uri: sources for uri, sources in inlinks.items() if sources}


def _known(counts: dict[bytes, int], crawled: dict[bytes, str]) -> dict[bytes, int]:
    return {uri: counts[uri] for uri in crawled}


def _ranks(index: LinkIndex) -> dict[bytes, int]:
    ranks = {}
    for hit in index.rows.find(schema.TOP_RANKS):
        rank, _, uri = hit.key[2:].partition(b":")
        assert hit.row == schema.page_row(uri)
        ranks[uri] = schema.count_of_rank(rank)
    return ranks


def _domain_ranks(index: LinkIndex) -> dict[bytes, int]:
    ranks = {}
    for hit in index.rows.find(schema.DOMAIN_RANKS):
        uri = hit.row[2:]
        domain = index.domains.of(uri)
        rank = hit.key[len(domain) + 3 :].partition(b":")[0]
        assert hit.key == b"d:%b:%b:%b" % (domain, rank, uri)
        ranks[uri] = schema.count_of_rank(rank)
    return ranks


def _stored_counts(index: LinkIndex, column: bytes) -> dict[bytes, int]:
    stored = {}
    for row in index.pages.rows.table.scan(columns=(b"metadata:url", column)):
        url, value = row.value(b"metadata:url"), row.value(column)
        if url and value:
            stored[schema.uri_of(url.decode())] = int(value)
    return stored
