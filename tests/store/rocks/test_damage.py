"""Damaged files: what is read is right, or a clear error names the store. Never anything else.

A small store with known content, closed or with one half of it in the log of a writer that was
killed, is damaged in one place at a time, and read by a writer and by a reader: on the machine that
wrote it, and on one that was started since (another boot id), where the end of a log may be gone
with a power cut. That is no error but a report of how much is missing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import webtable
from tests.crash.child import Child
from webtable.errors import StorageError, WebTableError, door

Content = dict[str, list[tuple[bytes, dict[bytes, bytes]]]]

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
FLIPS = 2000 if SOAK else 32
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


def _make(path: Path, *, killed: bool, other_boot: bool = False) -> None:
    """Makes a store, and beside it `older`, a copy of its files as they were before its end."""
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        for table in ("pages", "index"):
            child.ask("create", table)
            child.ask("put", table, 0, 300, 1)
            child.ask("flush", table)
            child.ask("put", table, 200, 300, 2)
        child.ask("put", "pages", 0, 1, 1)
        shutil.copytree(path, path.with_name("older"), ignore=shutil.ignore_patterns(".readers"))
        child.ask("put", "pages", 0, 1, 1)
        child.ask("compact", "pages")
        child.ask("put", "pages", 400, 200, 3)
        child.ask("put", "index", 450, 100, 4)
        if killed:
            child.kill()
        else:
            child.finish()
    if other_boot:
        with (path / "ACKNOWLEDGED").open("r+b") as marks:
            marks.write(b"another machine".ljust(40))


@pytest.fixture(
    scope="module",
    params=["closed", "killed", "closed, other boot", "killed, other boot"],
)
def intact(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "intact"
    _make(path, killed="killed" in request.param, other_boot="other" in request.param)
    return path


@pytest.fixture(scope="module")
def content(intact: Path, tmp_path_factory: pytest.TempPathFactory) -> Content:
    copy = tmp_path_factory.mktemp("content") / "copy"
    shutil.copytree(intact, copy)
    with losses() as reported, webtable.open(str(copy)) as store:
        found = read_all(store)
        assert store.losses() == []
    assert [len(rows) for rows in found.values()] == [550, 600]
    assert not reported
    return found


class Reports(logging.Handler):
    """Collects what the embedded engine logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextlib.contextmanager
def losses() -> Iterator[list[str]]:
    """Gives the losses that are reported while the block runs."""
    handler, log = Reports(), logging.getLogger("webtable.store.rocks")
    log.addHandler(handler)
    try:
        yield handler.messages
    finally:
        log.removeHandler(handler)


def files(path: Path, kind: str) -> list[Path]:
    return sorted(each for each in path.iterdir() if re.fullmatch(KINDS[kind], each.name))


def check(path: Path, content: Content, *, read_only: bool, may_lose: bool = False) -> str:
    """Reads everything; returns `right` or the error's class, and fails at anything else.

    With `may_lose`, the end of what was written may be gone if that is reported: `reported`.
    """
    refusal: WebTableError | None = None
    found: Content = {}
    try:
        with (
            losses() as reported,
            webtable.open(str(path), read_only=read_only, create=False) as store,
        ):
            found = read_all(store)
            remembered = store.losses()
    except WebTableError as error:
        refusal = error
    if refusal is None:
        if not reported:
            assert found == content, "a damaged store was read as good, with other content"
            return "right"
        assert may_lose, reported
        assert len(reported) == 1
        lost = re.search(r"lost its last ([\d,]+) acknowledged cells", reported[0])
        assert lost, reported
        assert str(path) in reported[0]
        if not read_only:
            assert [loss.cells for loss in remembered] == [int(lost[1].replace(",", ""))]
        _check_beginning(found, content)
        return "reported"
    assert isinstance(refusal, StorageError), repr(refusal)
    assert str(path) in refusal.message, refusal.message
    assert refusal.hint
    assert door(refusal).exit_code == 6
    return type(refusal).__name__


def _check_beginning(found: Content, content: Content) -> None:
    """Only what was in the log may be missing, and of that only the last rows."""
    assert found.keys() == content.keys()
    for table, rows in found.items():
        assert all(set(values) == {b"f:q", b"g:q"} for _, values in rows)
        assert {key for key, _ in rows} <= {key for key, _ in content[table]}
        assert {b"row%06d" % number for number in range(300)} <= {key for key, _ in rows}


def is_log_of_other_boot(intact: Path, file: Path) -> bool:
    """Whether a power cut may have taken the end of this file."""
    marks = (intact / "ACKNOWLEDGED").read_bytes()
    return marks.startswith(b"another machine") and file.suffix == ".log"


def flip(chance: random.Random, file: Path) -> None:
    held = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 8))):
        held[chance.randrange(len(held))] ^= chance.randrange(1, 256)
    file.write_bytes(held)


def cut(chance: random.Random, file: Path) -> None:
    os.truncate(file, chance.randrange(file.stat().st_size))


def empty(_: random.Random, file: Path) -> None:
    os.truncate(file, 0)


def zero(chance: random.Random, file: Path) -> None:
    held = bytearray(file.read_bytes())
    start = chance.randrange(len(held))
    stop = min(len(held), start + chance.choice((16, 512, 4096)))
    held[start:stop] = bytes(stop - start)
    file.write_bytes(held)


def remove(_: random.Random, file: Path) -> None:
    file.unlink()


DAMAGES: dict[str, Callable[[random.Random, Path], None]] = {
    "flip": flip,
    "cut": cut,
    "empty": empty,
    "zero": zero,
    "remove": remove,
}


def check_damaged(
    intact: Path, content: Content, path: Path, name: str, damage: Callable[[Path], object]
) -> str:
    """Damages one file of a copy at `path` and reads it, by a writer or a reader."""
    shutil.copytree(intact, path)
    damage(path / name)
    # Each case is read once in the suite and in both ways in a soak.
    outcomes = []
    for read_only in (True, False) if SOAK else (zlib.crc32(str(path).encode()) % 2 == 0,):
        may_lose = is_log_of_other_boot(intact, path / name)
        outcomes.append(check(path, content, read_only=read_only, may_lose=may_lose))
    # RocksDB may still be removing files of its own behind an opening that failed.
    shutil.rmtree(path, ignore_errors=True)
    return outcomes[-1]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_file(
    intact: Path, content: Content, tmp_path: Path, kind: str, damage: str
) -> None:
    chance = random.Random(f"{kind} {damage}")
    full = [file for file in files(intact, kind) if file.stat().st_size]
    for number, file in enumerate(full):
        # A store has ten or twenty table files, which are all alike.
        if SOAK or chance.random() < 3 / len(full):
            copy = tmp_path / f"{damage}-{number}"
            check_damaged(intact, content, copy, file.name, partial(DAMAGES[damage], chance))


def test_an_older_copy_of_any_file(intact: Path, content: Content, tmp_path: Path) -> None:
    for older in sorted(intact.with_name("older").iterdir()):
        now = intact / older.name
        if now.exists() and now.read_bytes() != older.read_bytes():
            copy = tmp_path / older.name
            check_damaged(intact, content, copy, older.name, partial(shutil.copy, older))


@pytest.mark.parametrize("seed", range(4))
def test_random_damage(intact: Path, content: Content, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    outcomes = set()
    for number in range(FLIPS // 4):
        kind = chance.choice(["table files", "log", "list of files"])
        full = [file for file in files(intact, kind) if file.stat().st_size]
        if full:
            damage, name = chance.choice((flip, flip, cut, zero)), chance.choice(full).name
            copy = tmp_path / f"copy-{number}"
            outcomes.add(check_damaged(intact, content, copy, name, partial(damage, chance)))
    assert outcomes - {"right"}, "no damage was noticed at all; did any happen?"


def test_a_list_of_files_cut_anywhere_is_reported(
    intact: Path, content: Content, tmp_path: Path
) -> None:
    (listed,) = files(intact, "list of files")
    for length in range(0, listed.stat().st_size, 1 if SOAK else 251):
        outcome = check_damaged(
            intact,
            content,
            tmp_path / str(length),
            listed.name,
            partial(os.truncate, length=length),
        )
        assert outcome == "CorruptData"


def test_a_log_cut_anywhere_is_reported(intact: Path, content: Content, tmp_path: Path) -> None:
    full = [file for file in files(intact, "log") if file.stat().st_size]
    if not full:
        pytest.skip("a store that was closed has nothing in its log")
    (log,) = full
    is_other = is_log_of_other_boot(intact, log)
    for length in range(0, log.stat().st_size, 97 if SOAK else 19_973):
        outcome = check_damaged(
            intact, content, tmp_path / str(length), log.name, partial(os.truncate, length=length)
        )
        assert outcome == ("reported" if is_other else "CorruptData")


@pytest.mark.parametrize("header", [bytes(7), b"\1\2\3\4\xff\x7f\1"], ids=["zeros", "too long"])
def test_a_list_of_files_that_seems_to_end_early_is_reported(
    intact: Path, content: Content, tmp_path: Path, header: bytes
) -> None:
    (listed,) = files(intact, "list of files")
    stored, starts, at = listed.read_bytes(), [], 0
    while at < len(stored):
        starts.append(at)
        at += 7 + int.from_bytes(stored[at + 4 : at + 6], "little")
    for start in starts[:: 1 if SOAK else 4]:
        held = bytearray(stored)
        held[start : start + 7] = header
        copy = tmp_path / str(start)
        damage = partial(Path.write_bytes, data=bytes(held))
        assert check_damaged(intact, content, copy, listed.name, damage) == "CorruptData"


def test_the_loss_of_a_cut_log_can_be_accepted(tmp_path: Path) -> None:
    path = tmp_path / "store"
    _make(path, killed=True)
    with webtable.open(str(path), read_only=True) as store:
        content = read_all(store)
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
