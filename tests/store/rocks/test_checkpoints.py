"""Checkpoints: whole or absent, in any process, and errors that name the right path."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from tests.crash.child import Child
from tests.store.refusal import refused
from webtable import Store
from webtable.cli.main import cli
from webtable.errors import DiskFull, InvalidRequest, WebTableError

ROWS = 200
SOAK = bool(os.environ.get("WEBTABLE_SOAK"))


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "store")
    with webtable.open(path) as store:
        table = store.create_table("pages", "f", "g")
        for number in range(ROWS):
            table.put(b"row%04d" % number, {b"f:q": os.urandom(2000), b"g:q": b"w"})
    return path


@pytest.fixture(params=["writer", "reader"])
def store(request: pytest.FixtureRequest, path: str) -> Iterator[Store]:
    with webtable.open(path, read_only=request.param == "reader") as store:
        yield store


def content(store: Store) -> dict[bytes, dict[bytes, bytes]]:
    return {row.key: dict(row.values()) for row in store.table("pages").scan()}


def test_a_checkpoint_is_a_store(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "new" / "copy"
    store.checkpoint(str(target))
    assert [each.name for each in target.parent.iterdir()] == ["copy"]
    assert (target / "ACKNOWLEDGED").exists()
    with webtable.open(str(target)) as copy:
        assert content(copy) == content(store)
        copy.table("pages").put(b"more", {b"f:q": b"v"})
    assert b"more" not in content(store)


@pytest.mark.parametrize("inside", ["copy", "deep/er/copy", "../store/copy", "../link/copy"])
def test_not_into_the_store_itself(store: Store, path: str, tmp_path: Path, inside: str) -> None:
    (tmp_path / "link").symlink_to(path)
    before = sorted(os.listdir(path))
    with refused(InvalidRequest, "in the directory of the store itself", exit_code=2):
        store.checkpoint(os.path.join(path, inside))
    assert sorted(os.listdir(path)) == before


@pytest.mark.parametrize("bad", ["file/copy", "x" * 300, "loop/copy"])
def test_a_bad_target_is_named(store: Store, path: str, tmp_path: Path, bad: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(WebTableError) as caught:
        store.checkpoint(str(tmp_path / bad))
    assert type(caught.value) is InvalidRequest
    assert f"checkpoint '{tmp_path / bad}'" in caught.value.message
    assert f"store '{path}'" not in caught.value.message
    assert len(content(store)) == ROWS


def test_a_full_target_is_named(store: Store, path: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "webtable-test", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        with pytest.raises(DiskFull) as caught:
            store.checkpoint(str(disk / "copy"))
        assert f"checkpoint '{disk / 'copy'}'" in caught.value.message
        assert f"store '{path}'" not in caught.value.message
        assert not list(disk.iterdir())
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
    assert len(content(store)) == ROWS
    store.checkpoint(str(tmp_path / "copy"))


def test_beside_a_writer_it_has_what_was_acknowledged_before(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        child.ask("create", "pages")
        for generation in range(1, 6):
            child.ask("put", "pages", 0, 300, generation)
            if generation == 3:
                child.ask("flush", "pages")
            target = tmp_path / f"copy{generation}"
            command = ["checkpoint", str(target), "--store", str(path)]
            answer = CliRunner().invoke(cli, command)
            assert answer.exit_code == 0, answer.output
            with webtable.open(str(target)) as copy:
                expected = b"%d" % generation * 100
                assert content(copy) == {
                    b"row%06d" % n: {b"f:q": expected, b"g:q": expected} for n in range(300)
                }


def test_beside_a_writer_that_changes_files_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        child.ask("create", "pages")
        child.ask("put", "pages", 0, 50, 0)
        child.tell("churn_for_ever", "pages")
        for number in range(100 if SOAK else 4):
            target = tmp_path / f"copy{number}"
            with webtable.open(str(path), read_only=True) as store:
                store.checkpoint(str(target))
            with webtable.open(str(target)) as copy:
                for table in copy.tables():
                    rows = list(copy.table(table).scan())
                    assert len(rows) == (50 if table == "pages" else 0)
                    for row in rows:
                        assert len(row.values()) == 2
                        assert len(set(row.values().values())) == 1
        child.kill()


@pytest.mark.parametrize("seed", range(60 if SOAK else 3))
def test_killed_during_the_checkpoint(tmp_path: Path, seed: int) -> None:
    chance, path, copies = random.Random(seed), tmp_path / "store", tmp_path / "copies"
    with Child("puppet", path) as child:
        child.wait_for(opened=child.pid)
        child.ask("create", "pages")
        child.tell("checkpoint_for_ever", "pages", str(copies))
        child.wait_for(copied=chance.randrange(1, 4))
        reports = [*child.listen(chance.random() * 0.05), *child.kill()]
    taken = sorted(int(each.name) for each in copies.iterdir() if each.name.isdecimal())
    assert taken == list(range(1, len(taken) + 1))
    assert len(taken) >= max((each.get("copied", 0) for each in reports), default=0)
    for generation in taken:
        with webtable.open(str(copies / str(generation))) as copy:
            expected = b"%d" % generation * 100
            assert len(content(copy)) == 50
            assert {values[b"f:q"] for values in content(copy).values()} == {expected}
    with webtable.open(str(path)) as store:
        store.checkpoint(str(copies / str(len(taken) + 1)))
        assert len(content(store)) == 50
    # What the killed process had begun is gone.
    assert not [each for each in copies.iterdir() if each.name.startswith(f".{len(taken) + 1}.")]


def test_a_store_on_a_read_only_mount_with_a_relative_path(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    Path("mount").mkdir()
    command = ["mount", "--bind", path, "mount"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a directory can be mounted by root only")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", "mount"], check=True)
        with webtable.open("mount", read_only=True) as store:
            assert len(content(store)) == ROWS
            store.checkpoint("copy")
        answer = CliRunner().invoke(cli, ["tables", "--store", "mount"])
        assert answer.exit_code == 0, answer.output
    finally:
        subprocess.run(["umount", "--lazy", "mount"], check=True)
    with webtable.open("copy") as copy:
        assert len(content(copy)) == ROWS


def test_a_store_whose_making_was_killed_can_be_made_again(path: str, tmp_path: Path) -> None:
    half = tmp_path / "half"
    half.mkdir()
    (half / "WEBTABLE").write_bytes(Path(path, "WEBTABLE").read_bytes())
    (half / "MANIFEST-000001").write_bytes(b"")
    with webtable.open(str(half)) as store:
        store.create_table("t", "f").put(b"r", {b"f:q": b"v"})
    with webtable.open(str(half)) as store:
        assert store.table("t").get(b"r") is not None
