"""`verify` reads everything: bytes flipped in files and bodies, tables that are not there."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.formats.crawls import http, members, record
from webtable.cli.main import cli
from webtable.index import build_and_verify
from webtable.links.checking import expected_index, external_sort
from webtable.links.checking.expected_index import Source, sized_batches
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.pages.captures import payload_digest
from webtable.pages.checking import stored_bodies, verify
from webtable.pages.checking.verify import verify_pages
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.row_history import RowHistory

NOISE = random.Random(1).randbytes(20_000).hex()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments])


def write_crawl(path: Path, pages: int, links: int = 0, noise: str = NOISE) -> str:
    found = "".join(f'<a href="/{n}/{"x" * 80}">to {n}</a>' for n in range(links))
    with path.open("w", encoding="utf-8") as out:
        for number in range(pages):
            html = f"<title>Page {number}</title>{found}{noise[number:]}"
            url = f"https://example.com/page{number}"
            out.write(json.dumps({"url": url, "fetched": "2026-09-01", "html": html}) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("damaged")
    crawl = write_crawl(folder / "crawl.jsonl", 20)
    store = folder / "store"
    assert run("init", "--store", str(store), "--profile", "archive").exit_code == 0
    assert run("load", crawl, "--store", str(store), "--workers", "0").exit_code == 0
    return store


@pytest.fixture
def store(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "store")
    return tmp_path / "store"


def test_a_flipped_byte_in_a_file_is_found(store: Path) -> None:
    largest = max(store.glob("*.sst"), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    found = run("verify", "--store", str(store))
    assert found.exit_code == 6
    assert "table 'webtable', family 'content'" in found.stderr
    assert largest.name in found.stderr
    assert "restore the store from a checkpoint" in found.stderr
    assert run("verify", "--quick", "--store", str(store)).exit_code == 0


def test_a_body_that_is_not_the_captured_one_is_found(store: Path) -> None:
    at = 1_788_220_800_000
    row = b"com.example_page1"
    with webtable.open(str(store)) as opened:
        table = opened.table("webtable")
        stored = table.get(row, (b"content:html",))
        assert stored is not None
        assert stored.raw_cells[0][1] == at
        table.put(row, {b"content:html": b"another"}, timestamp=at)
        table.delete(b"com.example_page2", (b"content:html",))
    found = run("verify", "--store", str(store), "--format", "json")
    assert found.exit_code == 6
    wrong = {each["row_key"]: each["what"] for each in json.loads(found.stdout)["examples"]}
    assert "does not have its digest sha1:" in wrong["com.example_page1"]
    assert "is missing" in wrong["com.example_page2"]
    # Nothing in the store has these bodies: a repair says so and changes nothing.
    again = run("verify", "--repair", "--store", str(store), "--format", "json")
    assert again.exit_code == 6
    assert json.loads(again.stdout)["differences"] == 2
    assert run("verify", "--quick", "--store", str(store)).exit_code == 0


def test_a_body_without_a_digest_of_its_own_is_compared_by_size(tmp_path: Path) -> None:
    # As stores were made before: the digest is that of a payload, which may have been compressed.
    digest = payload_digest(b"the payload")
    note = CaptureNote(1, digest, 200, 4, "text/html", "", None, is_revisit=False)
    history = RowHistory({(1, digest): note}, {1: digest})
    with webtable.open(str(tmp_path / "store")) as opened:
        table = opened.create_table("t", "content")
        checker = stored_bodies.BodyChecker(table)
        for row, body in ((b"same size", b"body"), (b"other size", b"bodies")):
            cells = {b"content:html": body, b"content:digest": digest.encode()}
            table.put(row, cells, timestamp=1_000)
            assert not list(checker.add(row, "", history))
        found = list(checker.flush())
    assert checker.unproven == 2
    assert [each.row for each in found] == [b"other size"]
    assert "has 6 bytes, not 4" in found[0].what


def test_one_flipped_byte_of_a_body_is_found_whatever_its_coding(tmp_path: Path) -> None:
    html = b"<title>Page</title>" + NOISE.encode()
    packed = gzip.compress(html)
    coded = http(packed, ("Content-Encoding", "gzip"))
    sha256 = f"sha256:{hashlib.sha256(packed).hexdigest()}"
    records = [
        record(http(html), "https://example.com/plain"),
        record(http(html), "https://example.com/wrong", WARC_Payload_Digest=payload_digest(b"x")),
        record(coded, "https://example.com/packed"),
        record(coded, "https://example.com/named", WARC_Payload_Digest=payload_digest(packed)),
        record(coded, "https://example.com/decoded", WARC_Payload_Digest=payload_digest(html)),
        record(coded, "https://example.com/other", WARC_Payload_Digest=sha256),
    ]
    (tmp_path / "crawl.warc.gz").write_bytes(members(records))
    store = str(tmp_path / "store")
    assert run("init", "--store", store, "--profile", "archive").exit_code == 0
    assert run("load", str(tmp_path / "crawl.warc.gz"), "--store", store).exit_code == 0
    before = run("verify", "--store", store, "--format", "json")
    assert before.exit_code == 0
    assert json.loads(before.stdout)["bodies_unproven"] == 0
    with webtable.open(store) as opened:
        table = opened.table("webtable")
        for row in table.scan(columns=(b"content:html",)):
            _, at, body, _ = row.raw_cells[0]
            flipped = bytearray(body)
            flipped[-100] ^= 1
            table.put(row.key, {b"content:html": bytes(flipped)}, timestamp=at)
    found = run("verify", "--store", store, "--format", "json")
    assert found.exit_code == 6
    assert json.loads(found.stdout)["differences"] == len(records)


@pytest.mark.parametrize("table", ["webindex", "webindex_work", "webtable_status_idx"])
def test_a_table_that_is_not_there_is_a_difference(store: Path, table: str) -> None:
    with webtable.open(str(store)) as opened:
        opened.drop_table(table)
    missing = run("verify", "--store", str(store))
    assert missing.exit_code == 6
    assert table.replace("_work", "") in missing.stderr
    repaired = run("verify", "--repair", "--store", str(store))
    assert repaired.exit_code == 0, repaired.stderr
    assert "repaired: " in repaired.stderr
    assert run("verify", "--store", str(store)).exit_code == 0


def test_an_index_that_was_not_built_to_its_end_is_a_difference(store: Path) -> None:
    with webtable.open(str(store)) as opened:
        rows = PageTable.open(opened, parse_stored).rows
        rows.set_state("webtable_size_idx", "building")
    assert run("verify", "--store", str(store)).exit_code == 6
    assert run("verify", "--repair", "--store", str(store)).exit_code == 0
    assert run("verify", "--store", str(store)).exit_code == 0


def test_pages_with_many_links_are_read_a_few_megabytes_at_a_time() -> None:
    def source(size: int) -> Source:
        return Source(b"u", b"r", 0, b"x" * size, (), b"", b"", b"")

    sizes = [
        [len(each.text) for each in some] for some in sized_batches(map(source, [5_000_000] * 3))
    ]
    assert sizes == [[5_000_000]] * 3
    assert [len(some) for some in sized_batches(map(source, [10] * 1200))] == [500, 500, 200]


def test_more_pages_take_no_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_index, "_BATCH_BYTES", 50_000)
    monkeypatch.setattr(verify, "_BATCH_ROWS", 10)
    monkeypatch.setattr(stored_bodies, "_MOST_BODIES", 5)
    monkeypatch.setattr(build_and_verify, "_BATCH", 10)
    monkeypatch.setattr(external_sort, "_BUFFER_BYTES", 1_000)
    peaks = []
    for pages in (20, 60):
        location = str(tmp_path / f"store{pages}")
        crawl = write_crawl(tmp_path / f"{pages}.jsonl", pages, links=100, noise="")
        assert run("init", "--store", location, "--profile", "archive").exit_code == 0
        assert run("load", crawl, "--store", location, "--workers", "0").exit_code == 0
        with webtable.open(location, read_only=True) as store:
            found = PageTable.open(store, parse_stored)
            tracemalloc.start()
            assert verify_pages(found).is_clean
            assert verify_links(LinkIndex.open(found), run_bytes=200_000).is_clean
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
