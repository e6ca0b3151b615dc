"""`web.remove` on both engines and with both kinds of keys: the page is nowhere, and stays away."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from webtable import WebTable
from webtable.errors import CorruptData, InvalidRequest, NotFound, UrlBlocked
from webtable.local.hbase import LocalHBase
from webtable.pages.captures import Skipped
from webtable.pages.columns import CHANGED, PENDING, REMOVED, REVISION
from webtable.pages.removing.targets import row_hash

FIRST, SECOND, THIRD = "2026-09-01T12:00:00Z", "2026-09-02T12:00:00Z", "2026-09-03T12:00:00Z"


@pytest.fixture(
    scope="module",
    params=["readable", "salted", pytest.param("hbase", marks=pytest.mark.hbase)],
)
def web(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebTable]:
    location = str(tmp_path_factory.mktemp("remove") / "store")
    keys = request.param
    if keys == "hbase":
        location = f"{request.getfixturevalue('hbase_location')}?namespace=r{uuid.uuid4().hex[:8]}"
        keys = "salted"
    with WebTable.create(location, keys=keys) as found:
        yield found
        local: LocalHBase | None = (
            request.getfixturevalue("local_hbase") if request.param == "hbase" else None
        )
        if request.param == "hbase" and local is None:
            for name in found.store.tables():
                found.store.drop_table(name)


@pytest.fixture
def site(web: WebTable) -> str:
    """A host of its own for each test, with three pages and a subdomain."""
    host = f"x{uuid.uuid4().hex[:8]}.example"
    old = f"<title>Old</title><a href='https://one.{host}/'>one</a><a href='/b'>b</a>"
    web.put(f"https://{host}/a", old, fetched=FIRST)
    web.put(f"https://{host}/a", "<title>New</title><a href='/b'>b</a>", fetched=SECOND)
    web.put(f"https://{host}/b", "<title>B</title><a href='/a'>to a</a>", fetched=SECOND)
    web.put(f"https://{host}/blog/1", "<title>Blog</title>", fetched=SECOND)
    web.put(f"https://www.{host}/", "<title>Www</title>", fetched=SECOND)
    return host


def sources(web: WebTable, url: str) -> list[str]:
    try:
        return [link.source for link in web.links.to(url)]
    except NotFound:
        return []


def check(web: WebTable) -> None:
    report = web.verify(quick=True)
    assert report.is_clean, (report.pages.examples, report.links.examples)


def test_a_removed_page_is_nowhere(web: WebTable, site: str) -> None:
    url = f"https://{site}/a"
    row = web._table.keys.row_key(url)
    before = list(web.changes())[-1].revision
    report = web.remove(url)
    assert (report.kind, report.pages, report.captures) == ("url", 1, 2)
    assert report.bytes > 0
    assert report.hash == row_hash(row)
    assert web.page(url) is None
    assert web.body(url) is None
    assert web.facts(url) is None
    assert web.headers(url) is None
    assert web.history(url) == []
    assert web.page(url, as_of=FIRST) is None
    assert [page.url for page in web.pages(site, with_subdomains=False)] == [
        f"https://{site}/b",
        f"https://{site}/blog/1",
    ]
    assert sources(web, f"https://{site}/b") == []
    assert sources(web, f"https://one.{site}/") == []
    assert sources(web, url) == [f"https://{site}/b"]  # that link belongs to another page
    page = web.page(f"https://{site}/b")
    assert page is not None
    assert page.inlinks == 0
    (change,) = [each for each in web.changes() if each.removed == report.hash]
    assert (change.kind, change.url) == ("removed", "")
    assert change.revision > before
    stored = web.store.table("webtable").get(row)
    assert stored is not None
    assert set(stored.values()) <= {REVISION, PENDING, CHANGED, REMOVED}
    assert b"New" not in b"".join(stored.values().values())
    check(web)


def test_links_of_an_earlier_date_do_not_show_it(web: WebTable, site: str) -> None:
    target = f"https://one.{site}/"
    assert [each.source for each in web.links.to(target, as_of=FIRST)] == [f"https://{site}/a"]
    web.remove(f"https://{site}/a")
    try:
        found = list(web.links.to(target, as_of=FIRST))
    except NotFound:
        found = []
    assert found == []


def test_a_dry_run_changes_nothing(web: WebTable, site: str) -> None:
    report = web.remove(site, dry_run=True)
    assert (report.kind, report.pages, report.captures) == ("domain", 4, 5)
    assert f"https://{site}/a" in report.examples
    assert len(list(web.pages(site))) == 4


def test_a_domain_and_a_prefix(web: WebTable, site: str) -> None:
    assert web.remove(f"{site}/blog/*").pages == 1
    assert web.page(f"https://{site}/blog/1") is None
    assert web.remove(site).pages == 3
    assert list(web.pages(site)) == []
    assert web.remove(site).pages == 0
    check(web)


def test_a_url_that_is_not_stored(web: WebTable, site: str) -> None:
    with pytest.raises(NotFound):
        web.remove(f"https://{site}/none")
    with pytest.raises(InvalidRequest):
        web.remove(f"{site}*")
    assert web.remove(f"https://{site}/none", block=True).pages == 0


def test_a_later_capture_is_a_new_page(web: WebTable, site: str) -> None:
    url = f"https://{site}/a"
    web.remove(url)
    assert web.put(url, "<title>Again</title><a href='/b'>b</a>", fetched=THIRD) == "new"
    page = web.page(url)
    assert page is not None
    assert (page.title, page.inlinks) == ("Again", 1)
    assert len(web.history(url)) == 1
    assert sources(web, f"https://{site}/b") == [url]
    newest = list(web.changes())[-1]
    assert (newest.kind, newest.url, newest.removed) == ("new", url, "")
    check(web)
    web.remove(url)
    assert web.page(url) is None
    check(web)


def test_the_same_captures_again(web: WebTable, site: str) -> None:
    """They are stored, or reported as hidden until a major compaction; never lost in silence."""
    url = f"https://{site}/a"
    web.remove(url)
    again = "<title>New</title><a href='/b'>b</a>"
    outcome = web.put(url, again, fetched=SECOND)
    if web.store.capabilities.cluster:
        assert outcome == "hidden"
        assert web.page(url) is None
        assert web.put(url, "<title>Third</title>", fetched=THIRD) == "new"
        assert web.put(url, again, fetched=SECOND) == "hidden"
    else:
        assert outcome == "new"
        page = web.page(url)
        assert page is not None
        assert page.title == "New"
    check(web)


def test_a_blocked_url_is_rejected(web: WebTable, site: str) -> None:
    url = f"https://{site}/a"
    report = web.remove(url, block=True)
    assert (report.pages, report.unlinked) == (1, 1)
    with pytest.raises(UrlBlocked):
        web.put(url, "again", fetched=THIRD)
    assert web.page(url) is None
    assert sources(web, url) == []
    web.put(f"https://{site}/b", "<title>B2</title><a href='/a'>still</a>", fetched=THIRD)
    assert sources(web, url) == []
    with pytest.raises(NotFound):
        list(web.links.to(url, as_of=SECOND))
    assert report.hash in {each.hash for each in web.removals.blocked()}
    check(web)
    assert web.removals.unblock(url).is_clean
    assert sources(web, url) == [f"https://{site}/b"]
    assert web.put(url, "again", fetched=THIRD) == "new"
    check(web)


def test_blocked_domains_and_prefixes_cover_later_urls(web: WebTable, site: str) -> None:
    web.remove(f"{site}/blog/*", block=True)
    web.remove(f"www.{site}", block=True)
    for url in (f"https://{site}/blog/2", f"https://www.{site}/x", f"http://a.www.{site}/"):
        with pytest.raises(UrlBlocked):
            web.put(url, "x")
    assert web.put(f"https://{site}/blo", "x") == "new"


def test_a_load_counts_blocked_captures(web: WebTable, site: str, tmp_path: Path) -> None:
    web.remove(f"https://{site}/a", block=True)
    path = tmp_path / "crawl.jsonl"
    lines = [
        f'{{"url": "https://{site}/{name}", "html": "<p>{name}", "fetched": "{THIRD}"}}'
        for name in ("a", "c")
    ]
    path.write_text("\n".join(lines))
    skipped: list[Skipped] = []
    report = web.load(path, workers=0, on_skipped=skipped.append)
    assert report.skipped == {"blocked": 1}
    assert report.new == 1
    assert [(each.reason, each.url) for each in skipped] == [("blocked", "")]
    assert web.page(f"https://{site}/a") is None


def test_the_log_has_what_was_removed(web: WebTable, site: str) -> None:
    report = web.remove(f"https://{site}/a", block=True)
    begun, done = list(web.removals.log())[-2:]
    assert (begun.state, done.state) == ("begun", "done")
    assert (done.pages, done.captures, done.blocked) == (1, 2, True)
    assert done.target == report.hash
    assert done.previous == begun.hash
    assert web.removals.check_log().broken is None
    assert site not in done.to_json()


def test_a_body_that_another_page_has_by_its_digest_stays(web: WebTable, site: str) -> None:
    same = "<title>Same body</title>"
    web.put(f"https://{site}/one", same, fetched=FIRST)
    web.put(f"https://{site}/two", same, fetched=SECOND)
    web.remove(f"https://{site}/one")
    assert web.body(f"https://{site}/two") == same.encode()
    groups = [each.digest for each in web.reports.duplicates(domain=site)]
    page = web.page(f"https://{site}/two")
    assert page is not None
    assert page.digest not in groups
    check(web)


def test_the_facts_of_a_robots_txt_go_with_its_page(web: WebTable, site: str) -> None:
    url = f"https://{site}/robots.txt"
    text = "User-agent: *\nDisallow: /private\n"
    web.put(url, text, headers=[("Content-Type", "text/plain")], fetched=FIRST)
    assert web.facts(url) is not None
    web.remove(url)
    assert web.facts(url) is None


def test_a_purge_leaves_nothing_of_the_row(web: WebTable, site: str) -> None:
    url = f"https://{site}/a"
    row = web._table.keys.row_key(url)
    web.remove(url)
    report = web.removals.purge()
    if web.store.capabilities.cluster:
        assert report.young >= 1  # a writer may come late for eleven minutes
        return
    assert report.purged >= 1
    assert web.store.table("webtable").get(row) is None
    assert web.put(url, "<title>Again</title>", fetched=FIRST) == "new"
    check(web)


def test_a_damaged_tombstone_is_found(web: WebTable, site: str) -> None:
    url = f"https://{site}/a"
    row = web._table.keys.row_key(url)
    web.remove(url)
    web.store.table("webtable").put(row, {b"metadata:title": b"by hand"})
    assert not web.verify(quick=True).pages.is_clean
    assert web.verify(repair=True).is_clean


def test_a_log_that_was_changed(tmp_path: Path) -> None:
    with WebTable.create(tmp_path / "store") as web:
        web.put("https://a.example/", "x")
        web.remove("https://a.example/")
        state = web.removals._state()
        name, value = state.items("removal")[0]
        assert state.put_if("removal", name, value, value.replace(b'"pages":0', b'"pages":7'))
        found = web.removals.check_log()
        assert (found.broken, found.why) == (1, "its content was changed")
        assert state.put_if("removal", name, state.get("removal", name), b"{}")
        assert web.removals.check_log().why == "it does not decode"
        with pytest.raises(CorruptData):
            list(web.removals.log())


def test_a_purge_waits_for_named_consumers(tmp_path: Path) -> None:
    with WebTable.create(tmp_path / "store") as web:
        web.put("https://a.example/", "<a href='https://b.example/'>b</a>")
        with web.changes(consumer="pages") as one, web.changes(consumer="links", links=True) as two:
            assert len([*one, *two]) == 2
            one.commit()
            two.commit()
            web.remove("https://a.example/")
            assert web.removals.purge().unread == 1
            assert [change.kind for change in one] == ["removed"]
            one.commit()
            assert web.removals.purge().unread == 1
            assert [change.kind for change in two] == ["removed"]
            two.commit()
            assert web.removals.purge().purged == 1
        assert list(web.changes(links=True)) == []
        assert list(web.changes()) == []


def test_a_page_that_links_to_a_blocked_page_is_removed_by_another_process(tmp_path: Path) -> None:
    """It must read the block list, or it counts a link out that was counted out before."""
    with WebTable.create(tmp_path / "store") as web:
        web.put("https://a.example/", "<a href='https://b.example/'>b</a>")
        web.put("https://b.example/", "b")
        web.remove("https://b.example/", block=True)
    with WebTable.open(tmp_path / "store") as web:
        web.remove("https://a.example/")
        check(web)
