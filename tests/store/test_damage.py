"""Damaged files: what is read is right, or a clear error names the store. Never anything else.

A small store with known content, one half of it in files and the other half in the log of a
writer that was killed, is damaged in one place at a time, and read by a writer and by a reader.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import webtable
from tests.crash.child import Child
from webtable.errors import StorageError, WebTableError, door

Content = dict[str, list[tuple[bytes, dict[bytes, bytes]]]]

FLIPS = 2000 if os.environ.get("WEBTABLE_SOAK") else 60
KINDS = {
    "table files": r"\d+\.sst",
    "log": r"\d+\.log",
    "list of files": r"MANIFEST-\d+",
    "CURRENT": r"CURRENT",
    "OPTIONS": r"OPTIONS-\d+",
    "IDENTITY": r"IDENTITY",
    "rocksdict": r"rocksdict-config\.json",
    "format": r"WEBTABLE",
    "holder": r"WRITER",
    "marks": r"ACKNOWLEDGED",
}


def read_all(store: webtable.Store) -> Content:
    return {
        table: [(row.key, dict(row.values())) for row in store.table(table).scan()]
        for table in store.tables()
    }


def _make(path: Path, *, killed: bool) -> None:
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        for table in ("pages", "index"):
            child.ask("create", table)
            child.ask("put", table, 0, 300, 1)
            child.ask("flush", table)
            child.ask("put", table, 200, 300, 2)
        child.ask("compact", "pages")
        child.ask("put", "pages", 400, 200, 3)
        child.ask("put", "index", 450, 100, 4)
        if killed:
            child.kill()
        else:
            child.finish()


@pytest.fixture(scope="module", params=["closed", "killed"])
def intact(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "intact"
    _make(path, killed=request.param == "killed")
    return path


@pytest.fixture(scope="module")
def content(intact: Path, tmp_path_factory: pytest.TempPathFactory) -> Content:
    copy = tmp_path_factory.mktemp("content") / "copy"
    shutil.copytree(intact, copy)
    with webtable.open(str(copy)) as store:
        found = read_all(store)
    assert [len(rows) for rows in found.values()] == [550, 600]
    return found


def files(path: Path, kind: str) -> list[Path]:
    return sorted(each for each in path.iterdir() if re.fullmatch(KINDS[kind], each.name))


def check(path: Path, content: Content, *, read_only: bool) -> str:
    """Reads everything; returns `right` or the error's class, and fails at anything else."""
    refusal: WebTableError | None = None
    found: Content = {}
    try:
        with webtable.open(str(path), read_only=read_only, create=False) as store:
            found = read_all(store)
    except WebTableError as error:
        refusal = error
    if refusal is None:
        assert found == content, "a damaged store was read as good, with other content"
        return "right"
    assert isinstance(refusal, StorageError), repr(refusal)
    assert str(path) in refusal.message, refusal.message
    assert refusal.hint
    assert door(refusal).exit_code == 6
    return type(refusal).__name__


def flip(file: Path, chance: random.Random) -> None:
    held = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 8))):
        held[chance.randrange(len(held))] ^= chance.randrange(1, 256)
    file.write_bytes(held)


def cut(file: Path, chance: random.Random) -> None:
    os.truncate(file, chance.randrange(file.stat().st_size))


def empty(file: Path, _: random.Random) -> None:
    os.truncate(file, 0)


def zero(file: Path, chance: random.Random) -> None:
    held = bytearray(file.read_bytes())
    start = chance.randrange(len(held))
    stop = min(len(held), start + chance.choice((16, 512, 4096)))
    held[start:stop] = bytes(stop - start)
    file.write_bytes(held)


def remove(file: Path, _: random.Random) -> None:
    file.unlink()


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    "flip": flip,
    "cut": cut,
    "empty": empty,
    "zero": zero,
    "remove": remove,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_file(
    intact: Path, content: Content, tmp_path: Path, kind: str, damage: str
) -> None:
    for number, file in enumerate(files(intact, kind)):
        if not file.stat().st_size:
            continue
        for read_only in (True, False):
            path = tmp_path / f"{number}-{read_only}"
            shutil.copytree(intact, path)
            DAMAGES[damage](path / file.name, random.Random(number))
            check(path, content, read_only=read_only)
            shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize("seed", range(4))
def test_random_damage(intact: Path, content: Content, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    outcomes: dict[str, int] = {}
    for number in range(FLIPS // 4):
        path = tmp_path / f"copy-{number}"
        shutil.copytree(intact, path)
        kind = chance.choice(["table files", "log", "list of files"])
        full = [file for file in files(path, kind) if file.stat().st_size]
        if full:
            damage = chance.choice((flip, flip, cut, zero))
            damage(chance.choice(full), chance)
            outcome = check(path, content, read_only=chance.random() < 0.5)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        # RocksDB may still be removing files of its own behind an opening that failed.
        shutil.rmtree(path, ignore_errors=True)
    assert set(outcomes) - {"right"}, "no damage was noticed at all; did any happen?"


def test_a_list_of_files_cut_anywhere_is_reported(
    intact: Path, content: Content, tmp_path: Path
) -> None:
    (listed,) = files(intact, "list of files")
    for length in range(0, listed.stat().st_size, 1 if FLIPS > 1000 else 97):
        path = tmp_path / str(length)
        shutil.copytree(intact, path)
        os.truncate(path / listed.name, length)
        assert check(path, content, read_only=bool(length % 2)) == "CorruptData"
        shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize("header", [bytes(7), b"\1\2\3\4\xff\x7f\1"], ids=["zeros", "too long"])
def test_a_list_of_files_that_seems_to_end_early_is_reported(
    intact: Path, content: Content, tmp_path: Path, header: bytes
) -> None:
    (listed,) = files(intact, "list of files")
    stored, starts, at = listed.read_bytes(), [], 0
    while at < len(stored):
        starts.append(at)
        at += 7 + int.from_bytes(stored[at + 4 : at + 6], "little")
    for start in starts[:: 1 if FLIPS > 1000 else 4]:
        path = tmp_path / str(start)
        shutil.copytree(intact, path)
        held = bytearray(stored)
        held[start : start + 7] = header
        (path / listed.name).write_bytes(held)
        assert check(path, content, read_only=bool(start % 2)) == "CorruptData"
        shutil.rmtree(path, ignore_errors=True)


def test_a_cut_log_is_reported_and_the_loss_can_be_accepted(
    tmp_path: Path, content: Content
) -> None:
    path = tmp_path / "store"
    _make(path, killed=True)
    log = max(files(path, "log"), key=lambda file: file.stat().st_size)
    os.truncate(log, log.stat().st_size // 2)
    for read_only in (True, False, False):
        with pytest.raises(StorageError, match="acknowledged") as caught:
            webtable.open(str(path), read_only=read_only)
        assert "ACKNOWLEDGED" in caught.value.hint
    (path / "ACKNOWLEDGED").unlink()
    with webtable.open(str(path)) as store:
        rows = {row.key for row in store.table("pages").scan()}
    assert rows < {key for key, _ in content["pages"]}


def test_a_damaged_block_in_the_middle_ends_a_scan_by_an_error(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with webtable.open(str(path)) as store:
        table = store.create_table("pages", "f")
        with table.batch() as batch:
            for number in range(5000):
                batch.put(b"row%06d" % number, {b"f:q": os.urandom(100)})
    largest = max(files(path, "table files"), key=lambda file: file.stat().st_size)
    with largest.open("r+b") as file:
        file.seek(largest.stat().st_size // 2)
        file.write(b"damage")
    with webtable.open(str(path)) as store:
        table = store.table("pages")
        for scan in (table.scan(), table.scan(reverse=True), table.scan(raw=True)):
            with pytest.raises(StorageError, match=re.escape(str(path))):
                list(scan)
        found = lost = 0
        for number in range(5000):
            try:
                found += table.get(b"row%06d" % number, [b"f:q"]) is not None
            except StorageError:
                lost += 1
        assert found + lost == 5000
        assert lost
        with pytest.raises(StorageError):
            table.major_compact()
