"""Rebuilding the link index gives what keeping it page by page gives, however it is cut off."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import webtable
from tests.links.conftest import kept
from tests.links.naive import differences
from tests.links.web import captures
from webtable.cli.main import cli
from webtable.errors import ConflictError
from webtable.index.build_and_verify import verify
from webtable.links import schema
from webtable.links.cell_encoding import live_values
from webtable.links.checking import external_sort
from webtable.links.checking import rebuild as rebuilding
from webtable.links.checking.expected_index import (
    Source,
    source_lines,
    source_states,
    state_of_line,
)
from webtable.links.checking.external_sort import Sorter
from webtable.links.checking.rebuild import rebuild
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote

_OF_THE_WRITER = ("rev", "pending", "shardrev", "at", "journal", "changed")


@pytest.fixture(params=["readable", "salted"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinkIndex]:
    with webtable.open(str(tmp_path / "store")) as store:
        yield kept(store, request.param)


def content(index: LinkIndex) -> list[tuple[bytes, bytes, bytes]]:
    """Returns all cells that queries read: no revisions, and no removed links."""
    return [
        (row.key, column, value)
        for row in index.table.scan()
        for column, _, value, _ in row.raw_cells
        if column.partition(b":")[2].decode() not in _OF_THE_WRITER
        and value not in (b"-", b"")
        and not (column == schema.COUNT and value == b"0")
    ]


def counts(index: LinkIndex) -> list[tuple[bytes, bytes | None]]:
    found = index.pages.rows.table.scan(columns=(b"metadata:inlinks", b"inlinks:count"))
    return [(row.key, row.value(b"metadata:inlinks")) for row in found]


def test_it_gives_what_keeping_gives(index: LinkIndex) -> None:
    before, inlinks = content(index), counts(index)
    report = rebuild(index)
    assert content(index) == before
    assert counts(index) == inlinks
    assert differences(index) == []
    assert verify(index.rows).is_tidy
    assert report.pages == sum(1 for _ in index.pages.rows.table.scan())
    assert report.links == sum(1 for _, c, v in before if c.startswith(b"inlinks:"))
    assert report.uris == sum(1 for row, _, _ in before if row.startswith(b"t:"))


def test_an_index_that_was_never_kept(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        pages = PageTable.create(store, parse_stored, profile="archive")
        pages.store_captures(list(captures()))
        index = LinkIndex.create(pages)
        assert not index.is_ready
        rebuild(index)
        assert index.is_ready
        assert differences(index) == []
        assert all(value is not None for _, value in counts(index))
        assert verify(pages.rows).is_tidy


def test_little_memory_and_wide_rows(index: LinkIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(index)
    monkeypatch.setattr(rebuilding, "_MOST_COLUMNS", 2)
    monkeypatch.setattr(external_sort, "_MOST_RUNS", 3)
    rebuild(index, run_bytes=2_000)
    assert content(index) == before
    assert differences(index) == []


def test_what_is_loaded_afterwards_is_newer(index: LinkIndex) -> None:
    rebuild(index)
    keeper = LinkHook(index)
    index.pages.hook = keeper
    chance, now = random.Random(4), 1_800_000_000
    for turn in range(3):
        index.pages.store_captures([new_capture(url, now + turn, chance) for url in _urls(index)])
        keeper.drain()
        assert differences(index) == []


def _urls(index: LinkIndex) -> list[str]:
    found = index.pages.rows.table.scan(columns=(b"metadata:url",))
    return [(row.value(b"metadata:url") or b"").decode() for row in found]


def new_capture(url: str, time: int, chance: random.Random) -> NewCapture:
    targets = chance.sample(range(40), chance.randrange(6))
    urls = [f"https://site{n % 3}.example/{n}" for n in targets]
    links = "\n".join(f"{target}\t\tto {target}" for target in urls if target != url)
    info = PageInfo(title="x", links=links, link_count=len(targets))
    status = chance.choice([200, 200, 200, 404])
    digest = f"sha1:{chance.randrange(10**9)}"
    note = CaptureNote(time, digest, status, 10, "text/html", "", None, False)
    return NewCapture(url, note, b"x", info)


def test_guards_that_pages_remember_are_earlier(index: LinkIndex) -> None:
    later = index.rows.clock.now_ms() + 60_000
    row = next(iter(index.pages.rows.table.scan(columns=(b"metadata:inlinks_at",))))
    index.pages.rows.table.put(row.key, {b"metadata:inlinks_at": b"%d" % later})
    rebuild(index)
    found = next(iter(index.table.scan(prefix=b"p:", columns=(schema.INCOUNT,))))
    assert found.raw_cells[0][1] == later + 1


def test_an_interrupted_rebuild_starts_again(
    index: LinkIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(index)
    monkeypatch.setattr(rebuilding, "_PROGRESS_EVERY", 1)
    steps: list[str] = []

    def step(what: str, _: int) -> None:
        steps.append(what)

    rebuild(index, on_progress=step)
    for last in (0, len(steps) // 2, len(steps) - 1):
        left = iter(range(last))

        def stop(what: str, _: int, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt(what)

        with pytest.raises(KeyboardInterrupt):
            rebuild(index, directory=str(tmp_path), on_progress=stop)
        assert not index.is_ready
        assert not list(tmp_path.glob("webtable-links-*"))
    index.work.put(b"m:left", {schema.TARGETS: b""})
    rebuild(index)
    assert index.is_ready
    assert content(index) == before
    assert list(index.work.scan()) == []


def test_the_command(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as store:
        pages = PageTable.create(store, parse_stored, profile="archive")
        pages.store_captures(list(captures()))
    call = ["links", "rebuild", "--store", location, "--format", "json"]
    result = CliRunner().invoke(cli, [*call, "--temp-dir", str(tmp_path)])
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["links"] > 0
    drained = CliRunner().invoke(cli, ["links", "drain", "--store", location, "--format", "json"])
    assert json.loads(drained.stdout) == {"marks": 0, "intents": 0, "pages": 0}
    with webtable.open(location, read_only=True) as store:
        assert differences(LinkIndex.open(PageTable.open(store, parse_stored))) == []


@pytest.mark.hbase
def test_on_hbase(web_on_hbase: LinkIndex) -> None:
    before = content(web_on_hbase)
    intent = schema.intent_row(b"com.example/")
    web_on_hbase.work.put(intent, {b"w:0": b"1\tx"})
    with pytest.raises(ConflictError, match="being loaded"):
        rebuild(web_on_hbase)
    web_on_hbase.work.delete(intent)
    rebuild(web_on_hbase)
    assert content(web_on_hbase) == before
    assert differences(web_on_hbase) == []


# Sorting, and lines


@given(
    st.lists(st.binary(max_size=8).map(lambda each: each.replace(b"\n", b"") + b"\n")),
    st.integers(1, 500),
)
def test_lines_come_back_sorted(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], run_bytes: int
) -> None:
    sorter = Sorter(tmp_path_factory.mktemp("runs"), "x", run_bytes=run_bytes)
    for line in lines:
        sorter.add([line], len(line))
    assert list(sorter.lines()) == sorted(lines)


_WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\t\n"), max_size=6)
_TEXTS = st.lists(
    st.tuples(st.sampled_from(["https://a.com/", "http://a.com/", "https://b.com/x"]), _WORDS)
).map(lambda links: "\n".join(f"{url}\t\t{words}" for url, words in sorted(links)))


@given(_TEXTS, _TEXTS)
def test_states_are_those_of_the_loader(text: str, older: str) -> None:
    source = Source(b"com.c/", b"row", 1, text.encode(), (older.encode(),), b"", b"", b"")
    expected = {**dict.fromkeys(live_values(older), b"-"), **live_values(text)}
    assert source_states(source) == expected
    found = {}
    for line in source_lines(source, 16):
        target, place, rest = line.split(b"\0", 2)
        assert line.count(b"\n") == 1
        assert place == b"%x%b" % (schema.shard_of(b"com.c/", 16), b"com.c/")
        found[target] = state_of_line(rest)
    assert found == expected
