"""BLOCKSIZE in an embedded store: what is compressed as one piece, where values are large."""

from __future__ import annotations

import random
from pathlib import Path

import webtable
from webtable import Family


def test_larger_blocks_pack_values_that_are_alike_more_tightly(tmp_path: Path) -> None:
    chance = random.Random(1)
    page = chance.randbytes(10_000)  # no page is like itself, but all are like one another
    with webtable.open(str(tmp_path / "store")) as store:
        for name, size in (("small", 4_096), ("large", 262_144)):
            family = Family(name="f", compression="ZSTD", blocksize=size)
            table = store.create_table(name, family)
            for number in range(100):
                table.put(b"%04d" % number, {b"f:page": page})
            table.flush()
        small, large = (store.table(name).stats().disk_bytes for name in ("small", "large"))
        assert small is not None
        assert large is not None
        assert large < small / 5
        row = store.table("large").get(b"0042")
        assert row is not None
        assert row.value(b"f:page") == page


def test_what_is_merged_right_after_opening_is_compressed_too(tmp_path: Path) -> None:
    page = b"the same words again " * 5_000
    with webtable.open(str(tmp_path / "store")) as store:
        table = store.create_table("pages", Family(name="f", compression="ZSTD"))
        for number in range(8):
            for each in range(20):
                table.put(b"%d %04d" % (each, number), {b"f:page": page})
            table.flush()
    with webtable.open(str(tmp_path / "store")) as store:
        store.table("pages").major_compact()
        size = store.table("pages").stats().disk_bytes
        assert size is not None
        assert size < 8 * 20 * len(page) / 10
