"""A store that format 1 wrote: every later version of the program must read it as it was.

On-disk: `tests/golden/store-v1` is never written again. A new format gets a store of its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import webtable
from webtable import ALL_VERSIONS, Family, TableSchema

GOLDEN = Path(__file__).parents[2] / "golden" / "store-v1"

PAGES = {
    b"com.example/": {
        b"content": {b"": {1000: b"nameless"}, b"title": {1000: b"one"}},
        b"meta": {b"\x00\x01\xff": {1000: b"odd"}},
    },
    b"last": {b"content": {b"title": {3000: b"in the log"}}},
    b"row\x00\x01": {b"content": {b"big": {1500: b"x" * 5000}}},
}
RAW_CELLS = {
    b"com.example/": 5,
    b"gone": 3,
    b"last": 1,
    b"row\x00\x01": 1,
}


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_format_1_reads_as_it_was_written(tmp_path: Path, *, read_only: bool) -> None:
    shutil.copytree(GOLDEN, tmp_path / "store")
    with webtable.open(str(tmp_path / "store"), read_only=read_only) as store:
        assert store.tables() == ["counters", "pages"]
        pages = store.table("pages")
        assert pages.schema() == TableSchema(
            name="pages",
            families=(
                Family(name="content", versions=3, compression="ZSTD"),
                Family(name="meta", ttl_seconds=2**31 - 2, min_versions=1),
            ),
            max_filesize=4 << 30,
            attributes={"OWNER": "golden"},
        )
        assert [region.start for region in pages.regions()] == [b"", b"m", b"\x80"]
        found = {row.key: row.nested() for row in pages.scan(versions=ALL_VERSIONS)}
        assert found == PAGES
        raw = {row.key: len(row) for row in pages.scan(versions=ALL_VERSIONS, raw=True)}
        assert raw == RAW_CELLS
        counters = store.table("counters").get(b"a")
        assert counters is not None
        assert counters.values() == {b"n:forever": b"kept", b"n:x": (41).to_bytes(8, "big")}


def test_a_store_of_format_1_goes_on(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "store")
    with webtable.open(str(tmp_path / "store")) as store:
        assert store.table("counters").increment(b"a", b"n:x") == 42
        store.table("pages").major_compact()
        found = {row.key: row.nested() for row in store.table("pages").scan(versions=ALL_VERSIONS)}
        assert found == PAGES
        assert store.table("pages").get(b"gone") is None
