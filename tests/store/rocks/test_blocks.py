"""BLOCKSIZE in an embedded store: what is compressed as one piece, where values are large."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import webtable
from webtable import Family
from webtable.store.rocks.files.file_options import read_tunings, tuning_of


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


def test_opening_a_store_tells_rocksdb_nothing_that_it_kept(tmp_path: Path) -> None:
    path = tmp_path / "store"
    families = [Family(name=f"f{number}", compression="ZSTD") for number in range(3)]
    odd = [Family(name='plain "]'), Family(name="keys", data_block_encoding="FAST_DIFF")]
    with webtable.open(str(path)) as store:
        store.create_table("pages", *families, *odd)
    for _ in range(2):
        # To tell it again takes milliseconds a family, each of which writes all of them.
        with webtable.open(str(path)):
            assert "SetOptions" not in (path / "LOG").read_text()


@pytest.mark.parametrize("damage", ["gone", "empty", "cut"])
def test_without_its_options_a_store_learns_them_from_the_schema(
    tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "store"
    with webtable.open(str(path)) as store:
        store.create_table("pages", Family(name="f", compression="ZSTD", blocksize=262_144))
    for file in path.glob("OPTIONS-*"):
        text = file.read_text()
        file.unlink()
        if damage != "gone":
            file.write_text(text[: text.find('"pages/f/1"') + 400] if damage == "cut" else "")
    with webtable.open(str(path)):
        assert "SetOptions" in (path / "LOG").read_text()
    kept = read_tunings(str(path))["pages/f/1"]
    assert kept == tuning_of(Family(name="f", compression="ZSTD", blocksize=262_144))
    assert not kept.is_paused


def test_an_altered_family_is_opened_as_it_was_altered(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    with webtable.open(path) as store:
        store.create_table("pages", Family(name="f"))
        plain = read_tunings(path)["pages/f/1"]
        store.alter_table(
            store.describe_table("pages").with_family(Family(name="f", compression="GZ"))
        )
        packed = read_tunings(path)["pages/f/1"]
        assert (plain.compression, packed.compression) == ("kNoCompression", "kZSTD")
    with webtable.open(path) as store:
        assert read_tunings(path)["pages/f/1"] == packed
        store.alter_table(store.describe_table("pages").with_family(Family(name="f")))
        assert read_tunings(path)["pages/f/1"] == plain
