"""A revisit that arrives before its body is completed when the body arrives under any URL."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webtable
from tests.pages.conftest import parse
from tests.pages.storing.test_heads import BEGIN
from tests.pages.storing.test_revisited_bodies import Site, check
from webtable.index.build_and_verify import verify
from webtable.pages.asking.page_at_time import completed_captures
from webtable.pages.captures import payload_digest
from webtable.pages.checking.verify import verify_pages
from webtable.pages.columns import REVISION, WAITS
from webtable.pages.indexes import DIGESTS, WAITING
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.waiting_revisits import MOST_WAITS, encode_waits, waits_of
from webtable.store.scan import ALL_VERSIONS, Scan


class ProvenSite(Site):
    """A site whose bodies have no digest of their own, so that `verify` accepts them."""

    def capture(self, name: str, second: int, body: str, status: int = 200) -> NewCapture:
        return super().capture(name, second, body, status)._replace(body_digest=None)


@pytest.fixture
def site() -> Site:
    return ProvenSite()


def waits(pages: PageTable, url: str) -> set[str]:
    row = pages.rows.table.get(pages.keys.row_key(url), (WAITS,))
    return set() if row is None else waits_of(row.values())


def entries(pages: PageTable, site: Site) -> list[bytes]:
    found = pages.rows.hits(DIGESTS, Scan(prefix=WAITING))
    mine = {pages.keys.row_key(site.url(name)) for name in "abcdefgh"}
    return [hit.key for hit in found if hit.row in mine]


def test_the_bytes_of_the_cell() -> None:
    assert encode_waits(["sha1:B", "md5:A", "sha1:A"]) == b"md5:A sha1:A sha1:B"
    assert waits_of({WAITS: b"md5:A sha1:B"}) == {"md5:A", "sha1:B"}
    assert waits_of({}) == waits_of({WAITS: b""}) == set()
    assert len(encode_waits(map(str, range(MOST_WAITS + 1))).split()) == MOST_WAITS


def test_a_later_write_brings_the_body(pages: PageTable, site: Site) -> None:
    early = [site.revisit(name, 2, "one two", of="a") for name in ("b", "c")]
    assert pages.store_captures(early) == ["new", "new"]
    check(pages, site, "b", 2, None)
    assert waits(pages, site.url("b")) == {site.digest("one two")}
    assert len(entries(pages, site)) == 2
    assert pages.store_captures([site.capture("a", 1, "one two")]) == ["new"]
    for name in "bc":
        check(pages, site, name, 2, "one two")
        assert waits(pages, site.url(name)) == set()
        page, links = pages.page(site.url(name)), pages.links(site.url(name))
        assert page is not None
        assert links is not None
        assert (page.title, page.size, page.type, page.outlinks) == ("one two", 7, "text/html", 2)
        # The head of the revisit itself.
        assert (page.robots, page.canonical) == ("noindex", f"{site.url(name)}other")
        assert [link.anchor for link in links] == ["one", "two"]
        (origin,) = [origin for _, origin in pages.origins(site.url(name))]
        assert (origin.file, origin.revisited_url) == ("a.warc.gz", site.url("a"))
    assert entries(pages, site) == []


def test_its_own_response_or_another_revisit_with_a_body_ends_the_wait(
    pages: PageTable,
    site: Site,
) -> None:
    pages.store_captures([site.revisit("b", 2, "one"), site.revisit("b", 4, "two")])
    assert waits(pages, site.url("b")) == {site.digest("one"), site.digest("two")}
    pages.store_captures([site.capture("b", 1, "one")])
    assert waits(pages, site.url("b")) == {site.digest("two")}
    pages.store_captures([site.revisit("b", 5, "two"), site.capture("c", 9, "two")])
    assert waits(pages, site.url("b")) == set()
    for second, body in ((1, "one"), (2, "one"), (4, "two"), (5, "two")):
        check(pages, site, "b", second, body)


def test_a_body_that_was_stored_already_completes_too(pages: PageTable, site: Site) -> None:
    """As after a kill on a cluster: the body is stored, its writer did not look for revisits."""
    one = site.capture("a", 1, "one")
    pages.store_captures([one, site.capture("a", 3, "two")])
    # Its record does not name a URL, and the newest capture of the other page has another digest.
    revisit = site.revisit("b", 2, "one")
    pages.store_captures([revisit])
    check(pages, site, "b", 2, None)
    assert pages.store_captures([one]) == ["unchanged"]
    check(pages, site, "b", 2, "one")


def test_a_revisit_that_is_loaded_again_finds_its_body(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.capture("a", 1, "one"), site.capture("a", 3, "two")])
    pages.store_captures([site.revisit("b", 2, "one")])
    check(pages, site, "b", 2, None)
    pages.store_captures([site.capture("c", 4, "four")])
    assert pages.store_captures([site.revisit("b", 2, "one", of="a")]) == ["unchanged"]
    check(pages, site, "b", 2, "one")
    assert entries(pages, site) == []


def test_a_body_without_bytes_is_never_waited_for(pages: PageTable, site: Site) -> None:
    note = CaptureNote(BEGIN + 1, payload_digest(b""), 301, 0, "", site.url("z"), None, True)
    capture = NewCapture(site.url("b"), note, None, None)
    assert pages.store_captures([capture]) == ["new"]
    assert waits(pages, site.url("b")) == set()
    content = pages.content(site.url("b"))
    assert content is not None
    assert content.body == b""
    assert pages.store_captures([capture]) == ["unchanged"]


def test_more_revisits_wait_than_one_write_takes(pages: PageTable, site: Site) -> None:
    names = [f"n{number}" for number in range(230)]
    pages.store_captures([site.revisit(name, 2, "one") for name in names])
    pages.store_captures([site.revisit("b", 2, "two")])
    pages.store_captures([site.capture("a", 1, "two")])
    check(pages, site, "b", 2, "two")
    pages.store_captures([site.capture("a", 3, "one")])
    for name in names:
        check(pages, site, name, 2, "one")
        assert waits(pages, site.url(name)) == set()


def test_a_page_that_waits_for_many_bodies(pages: PageTable, site: Site) -> None:
    count = MOST_WAITS + 3
    revisits = [site.revisit("b", number, f"body {number}") for number in range(count)]
    pages.store_captures(revisits)
    assert len(waits(pages, site.url("b"))) == MOST_WAITS
    bodies = [site.capture("a", number, f"body {number}") for number in range(count)]
    pages.store_captures(bodies)
    left = [n for n in range(count) if pages.content(site.url("b"), BEGIN + n).body is None]  # type: ignore[union-attr]
    assert len(left) == len(waits(pages, site.url("b"))) == 3
    row = pages.keys.row_key(site.url("b"))
    report = verify_pages(pages, repair=True)
    assert report.left is not None
    assert [each.what for each in report.left.examples if each.row == row] == []
    for number in range(count):
        check(pages, site, "b", number, f"body {number}")
    assert waits(pages, site.url("b")) == set()


def test_repair_finds_the_bodies_of_older_captures(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.capture("a", 1, "one"), site.capture("a", 3, "two")])
    pages.store_captures([site.revisit("b", 2, "one"), site.revisit("c", 2, "none")])
    mine = {pages.keys.row_key(site.url(name)) for name in "abc"}
    before = verify_pages(pages)
    assert [each for each in before.examples if each.row in mine] == []
    report = verify_pages(pages, repair=True)
    found = [(each.url, each.is_repaired) for each in report.examples if each.row in mine]
    assert found == [(site.url("b"), True)]
    check(pages, site, "b", 2, "one")
    check(pages, site, "c", 2, None)
    assert waits(pages, site.url("c")) == {site.digest("none")}


def test_verify_compares_what_a_row_waits_for(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.revisit("b", 2, "one"), site.capture("c", 1, "two")])
    for name, digests in (("b", b""), ("c", b"sha1:X")):
        row = pages.keys.row_key(site.url(name))
        found = pages.rows.table.get(row, (REVISION,))
        assert found is not None
        pages.rows.table.put(row, {WAITS: digests}, timestamp=found.raw_cells[0][1])
    mine = {pages.keys.row_key(site.url(name)) for name in "bc"}
    before = [each for each in verify_pages(pages).examples if each.row in mine]
    assert len(before) == 2
    assert all("metadata:waits" in each.what for each in before)
    report = verify_pages(pages, repair=True)
    assert report.left is not None
    assert [each for each in report.left.examples if each.row in mine] == []
    assert waits(pages, site.url("b")) == {site.digest("one")}
    assert waits(pages, site.url("c")) == set()


def test_threads_that_bring_bodies_and_revisits_at_once(pages: PageTable, site: Site) -> None:
    rounds = range(20)
    starts = [threading.Barrier(2) for _ in rounds]

    def bring() -> None:
        for number in rounds:
            starts[number].wait()
            pages.store_captures([site.capture("a", number, f"body {number}")])

    bringing = threading.Thread(target=bring)
    bringing.start()
    for number in rounds:
        starts[number].wait()
        pages.store_captures([site.revisit(f"p{number}", 50, f"body {number}", of="a")])
    bringing.join()
    for number in rounds:
        check(pages, site, f"p{number}", 50, f"body {number}")


# Any order of arrival


class LongSite(ProvenSite):
    """A site whose number is found in every text."""

    def __init__(self) -> None:
        super().__init__()
        self.number += 7_000_000


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageTable]:
    with webtable.open(str(tmp_path_factory.mktemp("orders") / "store")) as store:
        yield PageTable.create(store, parse_by_url, profile="archive")


def parse_by_url(url: str, body: bytes, media_type: str) -> PageInfo:
    found = parse(url, body, media_type)
    return found._replace(title=f"{found.title} {media_type}", facts=b"facts of " + body)


def capture(site: Site, name: str, second: int, body: str, status: int) -> NewCapture:
    made = site.capture(name, second, body, status)
    assert made.body is not None
    return made._replace(info=parse_by_url(made.url, made.body, "text/html"))


@st.composite
def crawls(draw: st.DrawFn) -> tuple[list[tuple[str, int, str, str, int]], list[int], list[int]]:
    """Captures of two pages, revisits of both by others, an order, and the sizes of writes."""
    responses = draw(
        st.lists(
            st.tuples(
                st.sampled_from("ab"),
                st.sampled_from(("one", "two three", "four")),
                st.sampled_from((200, 200, 404)),
            ),
            min_size=1,
            max_size=4,
        )
    )
    crawl = [(name, at, body, "", status) for at, (name, body, status) in enumerate(responses)]
    revisits = draw(
        st.lists(
            st.tuples(st.sampled_from("abcd"), st.sampled_from(range(len(responses)))),
            min_size=1,
            max_size=5,
        )
    )
    for at, (name, of) in enumerate(revisits, len(responses)):
        other, _, body, _, _ = crawl[of]
        crawl.append((name, at, body, other, 200))
    order = draw(st.permutations(range(len(crawl))))
    sizes = draw(st.lists(st.integers(1, 4), min_size=len(crawl), max_size=len(crawl)))
    return crawl, order, sizes


def load(
    pages: PageTable, site: Site, crawl: Sequence[tuple[str, int, str, str, int]], sizes: list[int]
) -> None:
    captures = iter(
        site.revisit(name, at, body, of=other)._replace(head=b"")
        if other
        else capture(site, name, at, body, status)
        for name, at, body, other, status in crawl
    )
    for size in sizes:
        if some := list(itertools.islice(captures, size)):
            pages.store_captures(some)


def stored(pages: PageTable, site: Site, seconds: int) -> object:
    """Returns what reads return of all pages at every second, and the cells behind them."""
    found = []
    for name in "abcd":
        url = site.url(name)
        row = pages.rows.table.get(pages.keys.row_key(url), versions=ALL_VERSIONS)
        if row is None:
            continue
        values = {c: v for c, v in sorted(row.values().items()) if v and c.startswith(b"metadata:")}
        for derived in (b"metadata:changed", b"metadata:rev", b"metadata:held"):
            values.pop(derived, None)
        # A revisit may have a size of its own, or that of the capture which it repeats.
        notes = list(completed_captures(pages.captures(url)))
        facts = sorted((c, v) for c, _, v, _ in row.raw_cells if c.startswith(b"facts:"))
        reads = [
            (pages.content(url, BEGIN + at), pages.links(url, BEGIN + at)) for at in range(seconds)
        ]
        bodies = [
            (None if content is None else (content.note.time, content.body), links)
            for content, links in reads
        ]
        found.append((name, values, notes, facts, bodies))
    return repr(found).replace(str(site.number), "")


@settings(max_examples=150, deadline=None)
@given(crawls())
def test_the_order_of_arrival_does_not_matter(
    own: PageTable, drawn: tuple[list[tuple[str, int, str, str, int]], list[int], list[int]]
) -> None:
    crawl, order, sizes = drawn
    in_order, shuffled = LongSite(), LongSite()
    load(own, in_order, crawl, [1] * len(crawl))
    load(own, shuffled, [crawl[at] for at in order], sizes)
    # Some captures come twice, as in a load that was killed.
    load(own, shuffled, [crawl[at] for at in order[:3]], [2, 2])
    seconds = len(crawl)
    assert stored(own, shuffled, seconds) == stored(own, in_order, seconds)
    for each in (in_order, shuffled):
        assert entries(own, each) == []
    assert verify(own.rows, names=[DIGESTS]).is_tidy
