"""A revisit of another URL takes its body from there, by the digest."""

from __future__ import annotations

import itertools

import pytest

from tests.pages.storing.test_heads import BEGIN
from webtable.pages.asking.page_at_time import completed_captures
from webtable.pages.checking.verify import verify_pages
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import Origin, encode_origin
from webtable.pages.storing.page_versions import CaptureNote

COUNTER = itertools.count()
HEAD = b'HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\nLink: </other>; rel="canonical"'


class Site:
    """URLs and digests that no other test has."""

    def __init__(self) -> None:
        self.number = next(COUNTER)

    def url(self, name: str) -> str:
        return f"https://{name}.revisits{self.number}.com/"

    def digest(self, body: str) -> str:
        return f"sha1:{body.replace(' ', '').upper()}{self.number}"

    def capture(self, name: str, second: int, body: str, status: int = 200) -> NewCapture:
        note = CaptureNote(
            BEGIN + second, self.digest(body), status, len(body), "text/html", "", None, False
        )
        return NewCapture(self.url(name), note, body.encode(), None, body_digest="sha1:OWN")

    def revisit(self, name: str, second: int, body: str, of: str = "") -> NewCapture:
        note = CaptureNote(BEGIN + second, self.digest(body), 200, 0, "", "", None, True)
        url = self.url(of) if of else ""
        origin = encode_origin(Origin("a.warc.gz", 0, revisited_url=url))
        return NewCapture(self.url(name), note, None, None, head=HEAD, origin=origin)


@pytest.fixture
def site() -> Site:
    return Site()


def check(pages: PageTable, site: Site, name: str, second: int, body: str | None) -> None:
    content = pages.content(site.url(name), BEGIN + second)
    assert content is not None
    assert content.body == (None if body is None else body.encode())
    page = pages.page(site.url(name))
    assert page is not None
    shown = {note.time: note for note in completed_captures(pages.captures(site.url(name)))}
    assert shown[BEGIN + second].size == (0 if body is None else len(body))


def test_the_digest_index_finds_the_body(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.capture("a", 1, "one two")])
    assert pages.store_captures([site.revisit("b", 2, "one two")]) == ["new"]
    check(pages, site, "b", 2, "one two")
    page = pages.page(site.url("b"))
    assert page is not None
    assert (page.title, page.size, page.type, page.outlinks) == ("one two", 7, "text/html", 2)
    assert (page.robots, page.canonical) == ("noindex", f"{site.url('b')}other")
    links = pages.links(site.url("b"))
    assert links is not None
    assert [link.anchor for link in links] == ["one", "two"]
    # The digest of the body itself goes with it.
    row = pages.rows.table.get(pages.keys.row_key(site.url("b")), (b"content:digest",))
    assert row is not None
    assert row.value(b"content:digest") == f"{site.digest('one two')}\tsha1:OWN".encode()


def test_the_same_write_may_bring_the_body(pages: PageTable, site: Site) -> None:
    both = [site.revisit("b", 2, "one"), site.capture("a", 1, "one")]
    assert pages.store_captures(both) == ["new", "new"]
    check(pages, site, "b", 2, "one")


def test_an_earlier_body_is_found_by_the_url_of_the_record(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.capture("a", 1, "one"), site.capture("a", 3, "two")])
    pages.store_captures([site.revisit("b", 2, "one")])
    check(pages, site, "b", 2, None)  # the index has the newest digest of each page only
    pages.store_captures([site.revisit("c", 2, "one", of="a")])
    check(pages, site, "c", 2, "one")
    check(pages, site, "b", 2, "one")  # the index has that of the page of the other revisit


def test_without_a_stored_body_a_revisit_is_recorded_without_one(
    pages: PageTable, site: Site
) -> None:
    assert pages.store_captures([site.revisit("b", 2, "one", of="a")]) == ["new"]
    check(pages, site, "b", 2, None)
    # Other revisits have none either, however many there are.
    names = [f"p{number}" for number in range(20)]
    pages.store_captures([site.revisit(name, 1, "one") for name in names])
    check(pages, site, names[-1], 1, None)


def test_the_body_of_its_own_page_comes_first(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.capture("a", 1, "one"), site.capture("b", 1, "one")])
    before = pages.rows.table.get(pages.keys.row_key(site.url("b")), (b"content",), versions=9)
    pages.store_captures([site.revisit("b", 2, "one")])
    after = pages.rows.table.get(pages.keys.row_key(site.url("b")), (b"content",), versions=9)
    assert after == before
    check(pages, site, "b", 2, "one")


def test_loaded_again_it_writes_nothing(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.capture("a", 1, "one")])
    revisits = [site.revisit("b", 2, "one"), site.revisit("b", 3, "one")]
    pages.store_captures(revisits)
    row = pages.keys.row_key(site.url("b"))
    before = pages.rows.table.get(row, versions=9)
    assert pages.store_captures(revisits) == ["unchanged", "unchanged"]
    assert pages.rows.table.get(row, versions=9) == before
    for second in (2, 3):
        check(pages, site, "b", second, "one")


def test_every_later_revisit_has_the_size(pages: PageTable, site: Site) -> None:
    pages.store_captures([site.capture("a", 1, "one")])
    for second in (2, 3):
        pages.store_captures([site.revisit("b", second, "one")])
        check(pages, site, "b", second, "one")
        page = pages.page(site.url("b"))
        assert page is not None
        assert (page.size, page.title) == (3, "one")
    # The page's own response says the same.
    assert pages.store_captures([site.capture("b", 1, "one")]) == ["older"]
    for second in (1, 2, 3):
        check(pages, site, "b", second, "one")


def test_verify_finds_nothing_wrong_with_it(pages: PageTable, site: Site) -> None:
    one = site.capture("a", 1, "one")._replace(body_digest=None)
    pages.store_captures([one])
    pages.store_captures([site.revisit("b", 3, "one")])
    pages.store_captures([site.revisit("b", 2, "one")])
    report = verify_pages(pages)
    mine = {pages.keys.row_key(site.url(name)) for name in "ab"}
    assert [each for each in report.examples if each.row in mine] == []
