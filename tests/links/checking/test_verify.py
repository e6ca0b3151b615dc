"""`verify` finds every kind of damage of the link index, and `--repair` repairs it."""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from tests.links.checking.test_rebuild import new_capture
from tests.links.conftest import kept
from tests.links.naive import differences
from webtable.cli.main import cli
from webtable.links import schema
from webtable.links.cell_encoding import encode_cur, encode_uris
from webtable.links.checking import compare_with_expected
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Delete

ROUNDS = 50 if os.environ.get("WEBTABLE_SOAK") else 5
Damage = Callable[[LinkIndex], None]


def first(index: LinkIndex, prefix: bytes, column: bytes, value: bytes | None = None) -> Row:
    """The first row with such a column, or such a value in it."""
    for row in index.table.scan(prefix=prefix, columns=(column,)):
        if value is None or any(cell[2].startswith(value) for cell in row.raw_cells):
            return row
    raise AssertionError(f"no row has {column!r}")


def change(index: LinkIndex, row: bytes, column: bytes, value: bytes) -> None:
    index.table.put(row, {column: value})


def lose(index: LinkIndex, row: bytes, column: bytes) -> None:
    index.table.delete(row, (column,))


def live(index: LinkIndex) -> tuple[bytes, bytes]:
    """A shard row, and the column of a live link in it."""
    row = first(index, b"p:", b"inlinks", b"+")
    return row.key, next(c for c, _, value, _ in row.raw_cells if value[:1] == b"+")


def a_link_is_lost(index: LinkIndex) -> None:
    lose(index, *live(index))


def a_link_is_called_gone(index: LinkIndex) -> None:
    change(index, *live(index), b"-")


def a_link_has_another_anchor(index: LinkIndex) -> None:
    change(index, *live(index), b"+\tanother anchor")


def a_link_is_made_up(index: LinkIndex) -> None:
    change(index, live(index)[0], b"inlinks:org.made.up/", b"+\tnothing")


def a_link_that_was_is_forgotten(index: LinkIndex) -> None:
    row = first(index, b"p:", b"inlinks", b"-")
    lose(index, row.key, next(c for c, _, value, _ in row.raw_cells if value == b"-"))


def a_link_that_was_is_live(index: LinkIndex) -> None:
    row = first(index, b"p:", b"inlinks", b"-")
    column = next(c for c, _, value, _ in row.raw_cells if value == b"-")
    change(index, row.key, column, b"+\tback")


def a_shard_counts_wrong(index: LinkIndex) -> None:
    change(index, live(index)[0], schema.COUNT, b"77")


def a_shard_has_no_number(index: LinkIndex) -> None:
    lose(index, live(index)[0], schema.COUNT)


def a_page_counts_wrong(index: LinkIndex) -> None:
    change(index, first(index, b"p:", schema.INCOUNT).key, schema.INCOUNT, b"77")


def a_page_has_no_number(index: LinkIndex) -> None:
    lose(index, first(index, b"p:", schema.INCOUNT).key, schema.INCOUNT)


def a_page_is_made_up(index: LinkIndex) -> None:
    change(index, b"p:org.made.up/", schema.INCOUNT, b"3")


def the_links_of_a_page_are_others(index: LinkIndex) -> None:
    row = first(index, b"p:", schema.CUR)
    change(index, row.key, schema.CUR, encode_cur("https://made.up/\t\tx"))


def the_links_of_a_page_do_not_decode(index: LinkIndex) -> None:
    change(index, first(index, b"p:", schema.CUR).key, schema.CUR, b"nonsense")


def a_page_is_missing(index: LinkIndex) -> None:
    row = first(index, b"p:", schema.AT).key
    index.table.mutate(row, [Delete(row).column(schema.AT).column(schema.CUR)])


def a_page_is_known_and_not_stored(index: LinkIndex) -> None:
    index.table.put(b"p:org.made.up/", {schema.AT: b"1", schema.CUR: encode_cur("")})


def a_page_is_from_a_time_to_come(index: LinkIndex) -> None:
    change(index, first(index, b"p:", schema.AT).key, schema.AT, b"9" * 18)


def a_rank_is_lost(index: LinkIndex) -> None:
    lose(index, first(index, b"t:", b"rank").key, b"rank:")


def a_rank_in_a_domain_is_lost(index: LinkIndex) -> None:
    lose(index, first(index, b"d:", b"rank").key, b"rank:")


def a_member_is_lost(index: LinkIndex) -> None:
    row = first(index, b"d:", b"members", b"+")
    lose(index, row.key, next(c for c, _, value, _ in row.raw_cells if value == b"+"))


def a_member_is_made_up(index: LinkIndex) -> None:
    change(index, first(index, b"d:", b"members").key, b"members:com.example/made-up", b"+")


def a_member_is_of_another_domain(index: LinkIndex) -> None:
    rows = list(index.table.scan(prefix=b"d:", columns=(b"members",)))
    column = next(c for c, _, value, _ in rows[0].raw_cells if value == b"+")
    change(index, rows[-1].key, column, b"+")


def a_domain_counts_wrong(index: LinkIndex) -> None:
    change(index, first(index, b"d:", schema.PAGE_COUNT).key, schema.PAGE_COUNT, b"77")


def a_page_row_has_another_number(index: LinkIndex) -> None:
    table = index.pages.rows.table
    row = next(iter(table.scan(columns=(b"metadata:inlinks",))))
    table.put(row.key, {b"metadata:inlinks": b"77"})


def a_page_row_has_another_history(index: LinkIndex) -> None:
    table = index.pages.rows.table
    row = next(iter(table.scan(columns=(b"inlinks:count",))))
    table.put(row.key, {b"inlinks:count": b"77"})


DAMAGES: list[Damage] = [
    a_link_is_lost,
    a_link_is_called_gone,
    a_link_has_another_anchor,
    a_link_is_made_up,
    a_link_that_was_is_forgotten,
    a_link_that_was_is_live,
    a_shard_counts_wrong,
    a_shard_has_no_number,
    a_page_counts_wrong,
    a_page_has_no_number,
    a_page_is_made_up,
    the_links_of_a_page_are_others,
    the_links_of_a_page_do_not_decode,
    a_page_is_missing,
    a_page_is_known_and_not_stored,
    a_page_is_from_a_time_to_come,
    a_rank_is_lost,
    a_rank_in_a_domain_is_lost,
    a_member_is_lost,
    a_member_is_made_up,
    a_member_is_of_another_domain,
    a_domain_counts_wrong,
    a_page_row_has_another_number,
    a_page_row_has_another_history,
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("whole") / "store"
    with webtable.open(str(location)) as store:
        kept(store, "readable")
    return location


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> str:
    shutil.copytree(whole, tmp_path / "store")
    return str(tmp_path / "store")


@pytest.fixture
def index(copied: str) -> Iterator[LinkIndex]:
    with webtable.open(copied) as store:
        yield LinkIndex.open(PageTable.open(store, parse_stored))


def test_a_whole_index_differs_in_nothing(
    index: LinkIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_with_expected, "_PIECE", 2)
    report = verify_links(index, run_bytes=2_000)
    assert report.is_clean, report
    assert (report.differences, report.work, report.under_way, report.examples) == (0, 0, 0, [])
    assert report.ranks is not None
    assert report.ranks.is_tidy
    assert report.pages == sum(1 for _ in index.pages.rows.table.scan())
    assert report.uris == sum(1 for _ in index.table.scan(prefix=b"t:"))
    assert report.links > 10


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_repaired(index: LinkIndex, damage: Damage) -> None:
    damage(index)
    _found_and_repaired(index)


def _found_and_repaired(index: LinkIndex) -> None:
    report = verify_links(index)
    assert not report.is_clean, report
    repaired = verify_links(index, repair=True)
    assert repaired.is_clean, repaired
    assert repaired.differences == 0
    again = verify_links(index)
    assert again.is_clean, again
    assert (again.differences, again.under_way) == (0, 0)
    assert differences(index) == []


@pytest.mark.parametrize("damage", [each for each in DAMAGES if each is not a_domain_counts_wrong])
def test_a_sample_of_all_pages_finds_and_repairs_it_too(index: LinkIndex, damage: Damage) -> None:
    damage(index)
    pages = sum(1 for _ in index.pages.rows.table.scan())
    is_out_of_reach = damage in (
        # Of a URI that no page has, or where no query reads it; a sample begins with pages.
        a_page_is_made_up,
        a_page_is_known_and_not_stored,
        a_member_is_made_up,
        a_member_is_of_another_domain,
    )
    report = verify_links(index, sample=pages)
    assert report.pages == pages
    assert report.is_clean == is_out_of_reach, report
    verify_links(index, sample=pages, repair=True)
    assert is_out_of_reach or verify_links(index).is_clean


def test_all_of_it_at_once_is_repaired(index: LinkIndex) -> None:
    for damage in DAMAGES:
        damage(index)
    report = verify_links(index)
    assert report.differences >= len(DAMAGES) // 2
    verify_links(index, repair=True)
    assert verify_links(index).is_clean
    assert differences(index) == []


def test_an_empty_index_is_filled(index: LinkIndex) -> None:
    index.store.truncate_table(schema.INDEX_TABLE)
    _found_and_repaired(index)


def test_work_that_is_left_is_no_difference(index: LinkIndex) -> None:
    row, _ = live(index)
    uri = row[2:-2]
    change(index, schema.page_row(uri), schema.INCOUNT, b"77")
    assert not verify_links(index).is_clean
    index.work.put(b"m:left", {schema.TARGETS: encode_uris([uri])})
    report = verify_links(index)
    assert (report.differences, report.work, report.under_way) == (0, 1, 1)
    assert LinkHook(index).drain().pages == 1
    after = verify_links(index)
    assert (after.differences, after.work, after.under_way) == (0, 0, 0)


def test_loads_beside_it_are_no_differences(index: LinkIndex) -> None:
    index.pages.hook = keeper = LinkHook(index)
    chance, is_over = random.Random(5), threading.Event()
    urls = [f"https://site{number % 3}.example/{number}" for number in range(30)]

    def load() -> None:
        now = 1_800_000_000
        while not is_over.is_set():
            now += 1
            some = chance.sample(urls, 10)
            index.pages.store_captures([new_capture(url, now, chance) for url in some])
            keeper.settle(is_last=now % 3 == 0)

    loader = threading.Thread(target=load)
    loader.start()
    try:
        reports = [verify_links(index) for _ in range(ROUNDS)]
    finally:
        is_over.set()
        loader.join()
    assert [report.examples for report in reports] == [[]] * ROUNDS
    assert any(report.under_way for report in reports)
    keeper.drain()
    assert verify_links(index).is_clean
    assert differences(index) == []


def test_an_index_that_is_not_whole_is_rebuilt(index: LinkIndex) -> None:
    index.set_ready(False)
    index.store.truncate_table(schema.INDEX_TABLE)
    report = verify_links(index)
    assert not report.is_clean
    assert report.examples[0].kind == "index"
    assert verify_links(index, repair=True).is_clean
    assert index.is_ready
    assert differences(index) == []


def test_the_command(copied: str) -> None:
    def run(*options: str) -> tuple[int, dict[str, object], str]:
        call = ["verify", "--store", copied, "--format", "json", *options]
        result = CliRunner().invoke(cli, call)
        return result.exit_code, json.loads(result.stdout), result.stderr

    code, item, _ = run()
    assert (code, item["link_differences"], item["link_examples"]) == (0, 0, [])
    assert item["links"] != 0
    with webtable.open(copied) as store:
        a_link_is_lost(LinkIndex.open(PageTable.open(store, parse_stored)))
    code, item, _ = run()
    assert code == 6
    assert item["link_differences"] == 1
    assert run("--sample", "1000")[0] == 6
    shown = CliRunner().invoke(cli, ["verify", "--store", copied])
    assert "is missing" in shown.stderr
    code, item, _ = run("--repair")
    assert (code, item["links_repaired"]) == (0, 1)
    assert run()[0] == 0
    code, item, _ = run("--sample", "3")
    assert (code, item["pages"]) == (0, 3)


@pytest.mark.hbase
def test_on_hbase(web_on_hbase: LinkIndex) -> None:
    assert verify_links(web_on_hbase).is_clean
    for damage in DAMAGES:
        damage(web_on_hbase)
    report = verify_links(web_on_hbase)
    assert report.differences >= len(DAMAGES) // 2
    verify_links(web_on_hbase, repair=True)
    after = verify_links(web_on_hbase)
    assert after.is_clean, after
    assert differences(web_on_hbase) == []
