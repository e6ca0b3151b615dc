"""`WebTable`: one object over a store of pages, on both engines and with both kinds of keys."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tests.pages.formats.crawls import http, record
from webtable import WebTable
from webtable.errors import (
    AlreadyExists,
    IncompleteLoad,
    InvalidRequest,
    InvalidUrl,
    NotFound,
    StoreLocked,
)
from webtable.pages.captures import Skipped

DAYS = ("2026-01-01", "2026-01-05", "2026-01-09")


def crawl(folder: Path) -> Path:
    """A crawl of two sites: a page that changes, links between them, an error, equal bodies."""
    records = []
    for number, day in enumerate(DAYS):
        html = (
            f"<title>Home {number}</title><a href='/a'>a{number}</a><a href='http://b.org/'>b</a>"
        )
        records.append(record(http(html.encode()), "https://a.com/", date=f"{day}T12:00:00Z"))
    for url, body, status in (
        ("https://a.com/a", b"<title>A</title><a href='/gone'>x</a>" + b"x" * 500, "200 OK"),
        ("https://www.a.com/same", b"<title>Same</title>", "200 OK"),
        ("https://www.a.com/gone", b"", "404 Not Found"),
        ("https://a.com/gone", b"no", "410 Gone"),
        ("http://b.org/", b"<title>Same</title>", "200 OK"),
    ):
        records.append(record(http(body, status=status), url, date=f"{DAYS[1]}T00:00:00Z"))
    path = folder / "crawl.warc"
    path.write_bytes(b"".join(records))
    return path


@pytest.fixture(
    scope="module",
    params=["readable", "salted", pytest.param("hbase", marks=pytest.mark.hbase)],
)
def web(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebTable]:
    folder = tmp_path_factory.mktemp("front")
    location = str(folder / "store")
    keys = request.param
    if keys == "hbase":
        location = f"{request.getfixturevalue('hbase_location')}?namespace=w{uuid.uuid4().hex[:8]}"
        keys = "salted"
    with WebTable.open(location, keys=keys) as opened:
        report = opened.load(crawl(folder), workers=1)
        assert (report.captures, report.pages, report.files) == (8, 6, 1)
        yield opened


def test_a_page_now_and_then(web: WebTable) -> None:
    page = web.page("https://a.com/")
    assert page is not None
    assert (page.title, page.status, page.outlinks) == ("Home 2", 200, 2)
    assert page.to_dict()["url"] == "https://a.com/"
    assert '"title":"Home 2"' in page.to_json()
    for moment in ("2026-01-06", date(2026, 1, 6), datetime(2026, 1, 5, 12, tzinfo=UTC)):
        earlier = web.page("a.com", as_of=moment)
        assert earlier is not None
        assert earlier.title == "Home 1"
    assert web.page("a.com", as_of="2025-12-31") is None
    assert web.page("https://nowhere.com/") is None
    assert web.body("nowhere.com") is None
    assert b"Home 0" in (web.body("a.com", as_of="2026-01-02") or b"")


def test_http_is_tried_where_https_is_unknown(web: WebTable) -> None:
    page = web.page("b.org")
    assert page is not None
    assert page.url == "http://b.org/"
    assert [link.source for link in web.links.to("b.org")] == ["https://a.com/"]
    assert web.page("https://b.org/") is None


def test_the_history_of_a_page(web: WebTable) -> None:
    history = web.history("a.com")
    assert [each.fetched[:10] for each in history] == list(reversed(DAYS))
    assert web.history("nowhere.com") == []
    diff = web.diff("a.com")
    assert any(line.startswith("+") and "Home 2" in line for line in diff.lines)
    assert [link.anchor for link in diff.gained] == ["a2"]
    with pytest.raises(InvalidRequest, match="is after"):
        web.diff("a.com", "2026-01-09", "2026-01-05")
    with pytest.raises(NotFound):
        web.diff("nowhere.com")


def test_lists_read_on_by_themselves(web: WebTable) -> None:
    urls = {page.url for page in web.pages("a.com")}
    assert urls == {
        "https://a.com/",
        "https://a.com/a",
        "https://a.com/gone",
        "https://www.a.com/gone",
        "https://www.a.com/same",
    }
    assert [page.url for page in web.pages("www.a.com/same/")] == []
    assert len(list(web.pages("a.com", with_subdomains=False))) == 3
    some = web.pages("a.com", limit=2)
    assert len(some.page().items) == 2
    assert some.explain.rows == 3
    gathered = [page.url for page in some]
    while some.cursor is not None:
        some = web.pages("a.com", limit=2, cursor=some.cursor)
        gathered += [page.url for page in some]
    assert sorted(gathered) == sorted(urls)
    assert len(gathered) == len(urls)
    assert {row["url"] for row in web.pages("a.com").to_dicts()} == urls
    with pytest.raises(InvalidRequest, match="not a cursor of this query"):
        web.pages("b.org", cursor=web.pages("a.com", limit=1).cursor)
    with pytest.raises(InvalidRequest, match="less than 1"):
        web.pages("a.com", limit=0)


def test_every_report_takes_a_domain(web: WebTable) -> None:
    reports = web.reports
    assert next(iter(reports.largest())).url == "https://a.com/a"
    assert [page.url for page in reports.largest(domain="b.org")] == ["http://b.org/"]
    assert {page.status for page in reports.errors()} == {404, 410}
    assert [page.status for page in reports.errors(domain="www.a.com")] == [404]
    assert list(reports.errors(domain="b.org")) == []
    assert list(reports.redirects(domain="a.com")) == []
    assert {page.url for page in reports.inlinked(domain="b.org")} == {"http://b.org/"}
    assert {page.url for page in reports.dead_ends(domain="www.a.com")} == {
        "https://www.a.com/same"
    }
    assert [page.url for page in reports.outdated("2026-01-05T00:00:01Z", domain="b.org")] == [
        "http://b.org/"
    ]
    assert [page.url for page in reports.modified("2026-01-09", domain="a.com")] == [
        "https://a.com/"
    ]
    assert {page.url for page in reports.untitled(domain="a.com")} == set()
    assert [page.url for page in reports.search("home", domain="a.com")] == ["https://a.com/"]
    assert list(reports.search("home", domain="b.org")) == []
    (group,) = reports.duplicates(domain="b.org")
    assert [page.url for page in group.pages] == ["http://b.org/", "https://www.a.com/same"] or [
        page.url for page in group.pages
    ] == ["https://www.a.com/same", "http://b.org/"]
    assert list(reports.duplicates(domain="nowhere.com")) == []


def test_links(web: WebTable) -> None:
    links = web.links
    assert {(link.source, link.anchor) for link in links.to("a.com/a")} == {
        ("https://a.com/", "a2")
    }
    assert [link.anchor for link in links.to("a.com/a", as_of="2026-01-02")] == ["a0"]
    assert list(links.to("a.com/a", domain="b.org")) == []
    assert [link.target for link in links.on("a.com")] == ["https://a.com/a", "http://b.org/"]
    assert [link.target for link in links.on("a.com", domain="b.org")] == ["http://b.org/"]
    assert [link.target for link in links.on("a.com", kind="external")] == ["http://b.org/"]
    assert {rank.url for rank in links.top()} >= {"https://a.com/a", "http://b.org/"}
    domains = {each.domain: each.pages for each in links.domains()}
    assert (domains["a.com"], domains["b.org"]) == (5, 1)
    (broken,) = links.broken(domain="a.com")
    assert (broken.target, broken.source, broken.status) == (
        "https://a.com/gone",
        "https://a.com/a",
        410,
    )
    assert list(links.broken(domain="b.org")) == []
    assert {page.url for page in links.orphans(domain="a.com")} == {
        "https://a.com/",
        "https://www.a.com/same",
    }
    assert list(links.orphans(domain="b.org")) == []
    assert {page.url for page in links.orphans(domain="b.org", kind="internal")} == {
        "http://b.org/"
    }
    assert {page.url for page in links.dead_ends(domain="b.org", kind="external")} == {
        "http://b.org/"
    }
    changes = links.changes("a.com/a", "2026-01-01", "2026-01-06")
    assert [(each.change, each.was, each.anchor) for each in changes] == [("anchor", "a0", "a1")]
    assert changes.about["not_kept"] == 0
    assert [each.anchor for each in links.anchors("a.com/a")] == ["a2"]
    assert [page.url for page in links.linking_pages("a.com/a")] == ["https://a.com/"]
    assert len(list(links.dump())) > 10
    assert links.is_ready


def test_a_capture_of_a_programs_own(web: WebTable) -> None:
    url = "https://own.net/page"
    html = "<title>Own</title><a href='/target'>from own</a>"
    assert web.put(url, html, fetched="2026-02-01T00:00:00Z") == "new"
    assert web.put(url, html, fetched="2026-02-02T00:00:00Z") == "unchanged"
    headers = {"Content-Type": "text/html; charset=latin-1", "Last-Modified": "x"}
    assert (
        web.put(url, b"<title>\xe9</title>", headers=headers, fetched="2026-02-03T00:00:00Z")
        == "changed"
    )
    page = web.page(url)
    assert page is not None
    assert page.title == "é"
    assert web.put(url, "older", fetched="2026-01-01T00:00:00Z") == "older"
    moved = {"Location": "https://own.net/new"}
    assert web.put("https://own.net/old", b"", status=301, headers=moved) == "new"
    found = web.page("https://own.net/old")
    assert found is not None
    assert found.redirect == "https://own.net/new"
    assert web.put(url, html) == "changed"  # now
    assert ("https://own.net/page", "from own") in {
        (link.source, link.anchor) for link in web.links.to("own.net/target")
    }
    assert web.verify().is_clean
    with pytest.raises(InvalidUrl):
        web.put("mailto:x", html)
    with pytest.raises(InvalidRequest, match="status"):
        web.put(url, html, status=7)
    with pytest.raises(InvalidRequest, match="more than one line"):
        web.put(url, html, headers={"A": "b\r\nC: d"})
    with pytest.raises(InvalidRequest, match="future"):
        web.put(url, html, fetched="2999-01-01")
    with pytest.raises(InvalidRequest, match="time zone"):
        web.put(url, html, fetched=datetime(2026, 1, 1))  # noqa: DTZ001


def test_threads_share_one_object(web: WebTable) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for count in range(5):
                url = f"https://threads.net/{number}/{count}"
                web.put(url, f"<a href='https://threads.net/{count}'>x</a>")
                assert web.page(url) is not None
                assert list(web.pages("threads.net"))
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(list(web.pages("threads.net"))) == 20
    assert len(list(web.links.to("threads.net/0"))) == 4
    report = web.verify(quick=True)
    assert report.is_clean, report


def test_an_export_loads_back(web: WebTable, tmp_path: Path) -> None:
    out = tmp_path / "a.warc.gz"
    report = web.export(out, domain="a.com")
    assert report.pages == 5
    with pytest.raises(AlreadyExists):
        web.export(out, domain="a.com")
    web.export(out, urls=["https://a.com/"], overwrite=True)
    with WebTable.open(tmp_path / "copy") as copy:
        assert copy.load(out, workers=1).captures == 3
        assert [each.fetched for each in copy.history("a.com")] == [
            each.fetched for each in web.history("a.com")
        ]
    with pytest.raises(InvalidRequest, match="both"):
        web.export(tmp_path / "x", domain="a.com", urls=[])
    with pytest.raises(InvalidRequest, match="form"):
        web.export(tmp_path / "x", form="xml")  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()


def test_upkeep(web: WebTable) -> None:
    assert set(web.indexes().values()) == {"ready"}
    assert web.build_index("webtable_size_idx") >= 6
    assert next(iter(web.reports.largest())).url == "https://a.com/a"
    with pytest.raises(InvalidRequest, match="nosuch"):
        web.build_index("nosuch")
    assert web.rebuild_links().pages >= 6
    web.drain_links()
    assert web.verify().is_clean


# In a directory only


def test_open_creates_and_does_not(tmp_path: Path) -> None:
    location = tmp_path / "store"
    with pytest.raises(NotFound):
        WebTable.open(location, create=False)
    with pytest.raises(NotFound):
        WebTable.open(location, read_only=True)
    assert not location.exists()
    with WebTable.open(location) as web:
        assert (web.keys, web.profile) == ("readable", "archive")
        with pytest.raises(StoreLocked):
            WebTable.open(location)
        with WebTable.open(location, read_only=True) as reader:
            web.put("https://a.com/", "x")
            reader.refresh()
            assert reader.page("a.com") is not None
    with pytest.raises(AlreadyExists):
        WebTable.create(location)
    with WebTable.create(tmp_path / "live", profile="live", keys="salted") as web:
        assert (web.keys, web.profile) == ("salted", "live")


def test_a_load_that_is_not_complete_raises(tmp_path: Path) -> None:
    path = crawl(tmp_path)
    cut = tmp_path / "cut.warc"
    cut.write_bytes(path.read_bytes()[:-100])
    skipped: list[Skipped] = []
    with WebTable.open(tmp_path / "store") as web:
        with pytest.raises(IncompleteLoad, match=r"1 of 2 files .*cut\.warc"):
            web.load(path, cut, workers=1, on_skipped=skipped.append)
        assert [each.reason for each in skipped] == ["truncated"]
        assert len(list(web.pages("a.com"))) == 5
        seen: list[int] = []
        report = web.load(
            cut, workers=1, check=False, on_progress=lambda _, __, so_far: seen.append(so_far.files)
        )
        assert not report.is_complete
        assert seen
        with pytest.raises(IncompleteLoad):
            web.load(tmp_path / "missing.warc", workers=1)


def test_the_headers_of_a_page(web: WebTable) -> None:
    url, day = "https://headers.example/", "2026-03-01"
    sent = [("Content-Type", "text/html"), ("X-A", "1"), ("x-a", "two  words"), ("X-B", "ü")]
    web.put(url, "<p>", headers=sent, fetched=f"{day}T10:00:00Z")
    web.put(url, "", status=404, headers={"Server": "other"}, fetched=f"{day}T12:00:00Z")
    now = web.headers("headers.example")
    assert now is not None
    assert now.to_dict() == {
        "url": url,
        "fetched": f"{day}T12:00:00Z",
        "status_line": "HTTP/1.1 404",
        "headers": [{"name": "Server", "value": "other"}],
    }
    then = web.headers(url, as_of=f"{day}T11:00:00Z")
    assert then is not None
    assert [(each.name, each.value) for each in then.headers] == sent
    assert then.get("x-A") == "two  words"
    assert then.get_all("X-A") == ["1", "two  words"]
    assert then.get("nothing") is None
    assert web.headers(url, as_of="2026-02-01") is None
    assert web.headers("https://nosuch.example/") is None


def test_the_headers_of_earlier_captures_count(web: WebTable) -> None:
    url = "https://robots.example/"
    tags = [("X-Robots-Tag", "noindex"), ("Link", "</c>; rel=canonical")]
    web.put(url, "<p>", headers=tags, fetched="2026-03-01T10:00:00Z")
    web.put(url, "<p>again", fetched="2026-03-02T10:00:00Z")
    then, now = web.page(url, as_of="2026-03-01"), web.page(url)
    assert then is not None
    assert now is not None
    assert (then.robots, then.canonical) == ("noindex", "https://robots.example/c")
    assert (now.robots, now.canonical) == ("", "")
