"""Writes that are missing in front of a log, or between two: the store is rejected, not read."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest

import webtable
from tests.crash.child import Child
from webtable.errors import CorruptData

LENGTH_AT = 64  # in `ACKNOWLEDGED`: how long the list of files was
HEADER = 7


def make(path: Path, *steps: tuple[object, ...]) -> None:
    """Makes a store by a process that is killed after its last step."""
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        child.ask("create", "pages")
        for step in steps:
            child.ask(*step)
        child.kill()


def starts(file: Path) -> list[int]:
    """Returns where the records of a file begin that is shorter than a block."""
    stored, found, at = file.read_bytes(), [], 0
    assert len(stored) < 32_768
    while at < len(stored):
        found.append(at)
        at += HEADER + int.from_bytes(stored[at + 4 : at + 6], "little")
    return found


def move_to_other_boot(path: Path) -> None:
    with (path / "ACKNOWLEDGED").open("r+b") as marks:
        marks.write(b"another machine".ljust(39))


def check_refused(path: Path) -> None:
    for read_only in (True, False, True, False):
        with pytest.raises(CorruptData, match="acknowledged") as caught:
            webtable.open(str(path), read_only=read_only)
        assert str(path) in caught.value.message
        assert "ACKNOWLEDGED" in caught.value.hint


@pytest.mark.parametrize("is_other_boot", [False, True])
def test_a_list_of_files_cut_before_its_length_was_noted(
    tmp_path: Path, is_other_boot: bool
) -> None:
    path = tmp_path / "store"
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        child.ask("create", "pages")
        child.ask("put", "pages", 0, 20, 1)
        child.ask("put", "pages", 50, 1, 1, "none")  # so that everything is flushed in one step
        (listed,) = path.glob("MANIFEST-*")
        flushed = listed.stat().st_size
        child.ask("flush", "pages")
        child.ask("put", "pages", 100, 5, 1)
        child.kill()
    # As a flush in the background leaves it, with no write behind it that would note the length.
    os.truncate(listed, flushed)
    with (path / "ACKNOWLEDGED").open("r+b") as marks:
        marks.seek(LENGTH_AT)
        marks.write(struct.pack("=Q", flushed))
    if is_other_boot:
        move_to_other_boot(path)
    check_refused(path)


@pytest.mark.parametrize("is_other_boot", [False, True])
@pytest.mark.parametrize("missing", [0, 1, 7])
def test_a_log_that_was_cut_in_front_of_another_one(
    tmp_path: Path, missing: int, is_other_boot: bool
) -> None:
    path = tmp_path / "store"
    make(path, *(("put", "pages", number, 1, 1) for number in range(20)))
    log = max(path.glob("*.log"), key=lambda each: each.stat().st_size)
    stored, at = log.read_bytes(), starts(log)
    log.write_bytes(stored[: at[10]])
    log.with_name(f"{int(log.stem) + 1:06}.log").write_bytes(stored[at[10 + missing] :])
    if is_other_boot:
        move_to_other_boot(path)
    if missing:
        check_refused(path)
    for read_only in () if missing else (True, False):
        with webtable.open(str(path), read_only=read_only) as store:
            assert len(list(store.table("pages").scan())) == 20


@pytest.mark.parametrize("is_flushed", [False, True])
def test_writes_without_a_log_are_missing_rightly(tmp_path: Path, is_flushed: bool) -> None:
    path = tmp_path / "store"
    steps: list[tuple[object, ...]] = [("put", "pages", 0, 9, 1, "none")]
    if is_flushed:
        steps.append(("flush", "pages"))
    make(path, *steps, ("put", "pages", 100, 5, 1))
    expected = 14 if is_flushed else 5
    for read_only in (True, False):
        copy = tmp_path / f"copy{read_only}"
        shutil.copytree(path, copy)
        with webtable.open(str(copy), read_only=read_only) as store:
            assert len(list(store.table("pages").scan())) == expected
    # Once everything is in files again, the numbers are checked again.
    assert ((path / "ACKNOWLEDGED").read_bytes()[39:40] == b"u") == (not is_flushed)


def test_a_list_of_files_cut_inside_the_records_of_a_flush(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        child.ask("create", "pages")
        child.ask("put", "pages", 0, 20, 1)
        child.ask("put", "pages", 50, 1, 1, "none")
        (listed,) = path.glob("MANIFEST-*")
        flushed = listed.stat().st_size
        child.ask("flush", "pages")
        child.ask("put", "pages", 100, 5, 1)
        child.kill()
    whole = listed.stat().st_size
    inside = [at for at in starts(listed) if at > flushed]
    assert inside, "the flush wrote one record only"
    for cut in sorted({*inside, *(at + 3 for at in inside), *(at - 1 for at in inside), whole}):
        copy = tmp_path / f"cut{cut}"
        shutil.copytree(path, copy)
        os.truncate(copy / listed.name, cut)
        with (copy / "ACKNOWLEDGED").open("r+b") as marks:
            marks.seek(LENGTH_AT)
            marks.write(struct.pack("=Q", flushed))
        try:
            with webtable.open(str(copy)) as store:
                assert len(list(store.table("pages").scan())) == 26, cut
        except CorruptData:
            assert cut < whole
