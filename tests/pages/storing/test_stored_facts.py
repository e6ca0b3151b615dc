"""Facts in a store: when they are written, how they are read, verified and added afterwards."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.conftest import ENGINES
from webtable import WebTable
from webtable.cli.main import cli
from webtable.errors import CorruptData, InvalidRequest
from webtable.links.feed_backfill import LINK_STEPS
from webtable.pages.body_facts import PageFacts, RobotsFacts, SitemapFacts
from webtable.pages.captures import Capture, payload_digest
from webtable.pages.checking.verify import verify_pages
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.settings import STEPS
from webtable.pages.storing.capture_parser import parse_stored, ready
from webtable.pages.upgrading.upgrade import upgrade

URL = "https://facts.example/"
ONE = b"<html lang=en><h1>One</h1><p>some words</p>"
TWO = b"<html lang=de><h1>Zwei</h1><p>andere Sachen hier</p>"
LATIN = "<h1>Grüße</h1> naïve".encode("cp1252")


def capture(
    time: int, body: bytes | None, *, url: str = URL, media_type: str = "text/html", **more: object
) -> NewCapture:
    values: dict[str, object] = {"digest": payload_digest(body or b""), "body_digest": None, **more}
    made = Capture(
        url=url,
        fetched=time,
        status=200,
        body=body,
        size=len(body or b""),
        content_type=media_type,
        **values,  # type: ignore[arg-type]
    )
    return ready(made)


def revisit(time: int, body: bytes) -> NewCapture:
    return capture(time, None, kind="revisit", digest=payload_digest(body))


@pytest.fixture(params=ENGINES)
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PageTable]:
    location = str(tmp_path / "store")
    if request.param == "hbase":
        location = request.getfixturevalue("hbase_location") + "?namespace=pagefacts"
    with webtable.open(location) as store:
        yield PageTable.create(store, parse_stored, keys="readable", profile="archive")
        for name in store.tables() if request.param == "hbase" else ():
            store.drop_table(name)


def cells(pages: PageTable) -> dict[bytes, int]:
    found = pages.rows.table.get(pages.keys.row_key(URL), (b"facts",))
    return {} if found is None else {each[0]: each[1] for each in found.raw_cells}


def column(body: bytes) -> bytes:
    return b"facts:" + payload_digest(body).encode()


def heading(pages: PageTable, as_of: int | None = None) -> str | None:
    facts = pages.facts(URL, as_of)
    assert facts is None or isinstance(facts, PageFacts)
    return None if facts is None else facts.h1


def test_each_body_has_facts_once(pages: PageTable) -> None:
    for time, body in ((10, ONE), (20, ONE), (30, TWO), (40, ONE)):
        pages.store_captures([capture(time, body)])
    assert cells(pages) == {column(ONE): 10_000, column(TWO): 30_000}
    assert [heading(pages, at) for at in (5, 10, 25, 30, 45, None)] == [
        *(None, "One", "One", "Zwei", "One", "One")
    ]
    assert pages.facts("https://facts.example/other") is None
    assert verify_pages(pages).is_clean


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_arrival_does_not_matter_for_readers(tmp_path: Path, order: list[int]) -> None:
    captures = [capture(10, ONE), capture(20, TWO), revisit(30, ONE)]
    for together in (True, False):
        with webtable.open(str(tmp_path / f"store{together}")) as store:
            pages = PageTable.create(store, parse_stored)
            arriving = [captures[place] for place in order]
            for part in [arriving] if together else [[each] for each in arriving]:
                pages.store_captures(part)
            assert [heading(pages, at) for at in (10, 20, 30, None)] == [
                *("One", "Zwei", "One", "One")
            ]
            assert set(cells(pages)) == {column(ONE), column(TWO)}
            assert verify_pages(pages).is_clean


def test_a_body_that_completes_a_revisit_brings_facts(pages: PageTable) -> None:
    pages.store_captures([revisit(30, ONE)])
    assert heading(pages) is None
    pages.store_captures([capture(10, ONE)])
    assert (heading(pages), set(cells(pages))) == ("One", {column(ONE)})


def test_robots_txt_and_sitemaps_have_facts(pages: PageTable) -> None:
    robots, sitemap = "https://facts.example/robots.txt", "https://facts.example/sitemap.xml"
    pages.store_captures(
        [
            capture(10, b"user-agent: *\ndisallow: /x", url=robots, media_type="text/plain"),
            capture(
                *(10, b"<urlset><url><loc>https://facts.example/</loc></url></urlset>"),
                url=sitemap,
                media_type="application/xml",
            ),
            capture(10, b"\x89PNG", url="https://facts.example/i.png", media_type="image/png"),
        ]
    )
    assert isinstance(pages.facts(robots), RobotsFacts)
    assert isinstance(pages.facts(sitemap), SitemapFacts)
    assert pages.facts("https://facts.example/i.png") is None
    assert verify_pages(pages).is_clean


def test_a_charset_of_a_header_is_verified_too(pages: PageTable) -> None:
    pages.store_captures([capture(10, LATIN, charset="windows-1251")])
    assert heading(pages) == "GrьЯe"
    assert verify_pages(pages).is_clean


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (b"\x01p", "do not decode"),
        (ready(Capture(URL, 1, 200, "d", body=TWO)).info.facts, "are not those of its body"),  # type: ignore[union-attr]
    ],
)
def test_wrong_facts_are_found_and_repaired(pages: PageTable, value: bytes, what: str) -> None:
    pages.store_captures([capture(10, ONE)])
    row = pages.keys.row_key(URL)
    pages.rows.table.put(row, {column(ONE): value}, timestamp=10_000)
    if what == "do not decode":
        with pytest.raises(CorruptData):
            pages.facts(URL)
    report = verify_pages(pages)
    assert [each.what for each in report.examples] == [f"its facts of {payload_digest(ONE)} {what}"]
    repaired = verify_pages(pages, repair=True)
    assert (repaired.repaired, repaired.is_clean) == (1, True)
    assert (heading(pages), cells(pages)) == ("One", {column(ONE): 10_000})


def test_facts_of_no_capture_are_removed(pages: PageTable) -> None:
    pages.store_captures([capture(10, ONE)])
    pages.rows.table.put(pages.keys.row_key(URL), {column(TWO): b"x"}, timestamp=9_000)
    assert "was not written by a capture" in verify_pages(pages).examples[0].what
    assert verify_pages(pages, repair=True).is_clean
    assert cells(pages) == {column(ONE): 10_000}


def make_older(pages: PageTable) -> None:
    """Removes the facts of a store, as if the step `facts` of an upgrade had not run."""
    described = pages.store.describe_table("webtable")
    pages.store.alter_table(described.without_family("facts"))
    steps = " ".join(STEPS[: STEPS.index("facts")]).encode()
    pages.store.table("webtable_settings").put(b"pages", {b"a:steps": steps})


def test_facts_are_added_to_a_store_without_them(pages: PageTable) -> None:
    for time, body in ((10, ONE), (20, TWO), (30, ONE)):
        pages.store_captures([capture(time, body)])
    before = cells(pages)
    for _ in range(2):
        make_older(pages)
        assert upgrade(pages.store, parse_stored, LINK_STEPS).steps == list(
            STEPS[STEPS.index("facts") :]
        )
        assert cells(pages) == before
        assert verify_pages(pages).is_clean


def test_adding_facts_goes_on_where_it_stopped(tmp_path: Path) -> None:
    urls = [f"https://facts.example/{number:03}" for number in range(250)]
    with webtable.open(str(tmp_path / "store")) as store:
        pages = PageTable.create(store, parse_stored)
        pages.store_captures([capture(10, ONE, url=url) for url in urls])
        make_older(pages)

        class Stopped(Exception):
            pass

        def stop(_: str, count: int) -> None:
            if count:
                raise Stopped

        for _ in range(2):
            with pytest.raises(Stopped):
                upgrade(store, parse_stored, LINK_STEPS, on_progress=stop)
        assert [pages.facts(url) is not None for url in urls] == [True] * 200 + [False] * 50
        assert upgrade(store, parse_stored, LINK_STEPS).pages == 50
        assert verify_pages(pages).is_clean


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_a_page_has_its_facts(tmp_path: Path) -> None:
    with WebTable.open(str(tmp_path / "store")) as web:
        web.put(URL, ONE.decode(), fetched="2026-09-01T12:00:00Z")
        web.put(URL, TWO.decode(), fetched="2026-09-02T12:00:00Z")
        page, earlier = web.page(URL), web.page(URL, as_of="2026-09-01")
        assert page is not None
        assert earlier is not None
        assert page.facts == web.facts(URL)
        assert earlier.facts == web.facts(URL, as_of="2026-09-01")
        assert page.facts != earlier.facts
        (listed,) = web.pages()
        # A page is the same value with them or without.
        assert listed == page
        assert listed.to_dict() == page.to_dict()
        with pytest.raises(InvalidRequest, match="were not read with the list"):
            _ = listed.facts
    assert page.facts is not None


def test_the_command_shows_facts(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with WebTable.open(location) as web:
        web.put(URL, ONE.decode(), fetched="2026-09-01T12:00:00Z")
        web.put(URL, TWO.decode(), fetched="2026-09-02T12:00:00Z")
        web.put("https://facts.example/x", "x", status=404)
        facts = web.facts(URL, as_of="2026-09-01")
        assert isinstance(facts, PageFacts)
        assert (facts.h1, facts.words) == ("One", 3)
        index = web.indexability("https://facts.example/x")
        assert index is not None
        assert index.reason == "status"
        assert web.indexability("https://facts.example/unknown") is None
    result = run("page", URL, "--facts", "--store", location, "--format", "json")
    found = json.loads(result.stdout)
    assert (found["lang"], found["headings"]) == ("de", [{"level": 1, "text": "Zwei"}])
    assert found["indexability"] == {"is_indexable": True, "reason": "indexable", "detail": ""}
    earlier = run("page", URL, "--facts", "--as-of", "2026-09-01", "--store", location)
    assert earlier.exit_code == 0
    assert "One" in earlier.stdout
    assert run("page", "https://facts.example/n", "--facts", "--store", location).exit_code == 3
