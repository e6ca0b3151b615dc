"""A full disk: one clear error, nothing acknowledged is lost, and work goes on after room is made.

The disk is a small one in memory, which only root can mount; others skip these tests.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.store.refusal import refused
from webtable import Store
from webtable.errors import DiskFull, WebTableError, door

SIZE = 24 * 1024 * 1024


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "webtable-test", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Fills the disk with a file so that only so many bytes are free; returns the file."""
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free - leave))
    return ballast


def put_until_refused(store: Store, first: int) -> tuple[int, WebTableError]:
    """Puts rows until the store rejects one; returns the number of the next row, and the error."""
    table = store.table("pages")
    for number in range(first, first + 100_000):
        try:
            table.put(b"row%06d" % number, {b"f:q": os.urandom(2000), b"g:q": b"%d" % number})
        except WebTableError as error:
            return number, error
    raise AssertionError("the disk did not become full")


def check_rows(store: Store, count: int) -> None:
    """All acknowledged rows are there and whole; the one that was rejected may not be in part."""
    rows = list(store.table("pages").scan())
    assert [row.key for row in rows[:count]] == [b"row%06d" % number for number in range(count)]
    assert len(rows) == count
    assert all(set(row.values()) == {b"f:q", b"g:q"} for row in rows)


def check_full(error: WebTableError, path: Path) -> None:
    assert type(error) is DiskFull, repr(error)
    assert str(path) in error.message
    assert "room" in error.hint
    assert error.code == "disk-full"
    assert door(error).exit_code == 1


def test_writing_to_a_full_disk(disk: Path) -> None:
    path = disk / "store"
    store = webtable.open(str(path))
    store.create_table("pages", "f", "g")
    ballast = fill(disk, 3_000_000)
    count, error = put_until_refused(store, 0)
    check_full(error, path)
    # The store can still be read: all that was acknowledged, and nothing of what was not.
    check_rows(store, count)
    with refused(DiskFull, str(path), exit_code=1):
        store.table("pages").flush()
    ballast.unlink()
    # RocksDB takes no write any more after a log that failed; so it is opened again.
    with contextlib.suppress(DiskFull):
        store.close()
    with webtable.open(str(path)) as again:
        check_rows(again, count)
        again.table("pages").put(b"row%06d" % count, {b"f:q": b"v", b"g:q": b"w"})
        again.table("pages").flush()
        again.table("pages").major_compact()
        check_rows(again, count + 1)


def test_closing_on_a_full_disk(disk: Path) -> None:
    path = disk / "store"
    store = webtable.open(str(path))
    store.create_table("pages", "f", "g")
    ballast = fill(disk, 2_000_000)
    count, error = put_until_refused(store, 0)
    check_full(error, path)
    with pytest.raises(DiskFull) as caught:
        store.close()
    check_full(caught.value, path)
    ballast.unlink()
    with webtable.open(str(path)) as again:
        check_rows(again, count)


def test_opening_on_a_full_disk(disk: Path) -> None:
    path = disk / "store"
    with webtable.open(str(path)) as store:
        store.create_table("pages", "f", "g").put(b"row000000", {b"f:q": b"v", b"g:q": b"w"})
    ballast = fill(disk, 0)
    with refused(DiskFull, str(path), exit_code=1):
        webtable.open(str(path))
    with refused(DiskFull, str(disk / "other"), exit_code=1):
        webtable.open(str(disk / "other"))
    # Reading needs no room.
    with webtable.open(str(path), read_only=True) as reader:
        check_rows(reader, 1)
    ballast.unlink()
    with webtable.open(str(path)) as again:
        check_rows(again, 1)


def test_a_store_that_fills_its_disk_itself(disk: Path) -> None:
    path = disk / "store"
    store = webtable.open(str(path))
    table = store.create_table("pages", "f", "g")
    count, failure = 0, None
    while failure is None:
        batch = table.batch()
        for number in range(count, count + 10):
            batch.put(b"row%06d" % number, {b"f:q": os.urandom(20_000), b"g:q": b"x"})
        try:
            batch.send()
            count += 10
        except WebTableError as error:
            failure = error
    check_full(failure, path)
    with pytest.raises(DiskFull):
        store.close()
    larger = ["mount", "-o", f"remount,size={4 * SIZE}", str(disk)]
    subprocess.run(larger, check=True)
    with webtable.open(str(path)) as again:
        check_rows(again, count)
