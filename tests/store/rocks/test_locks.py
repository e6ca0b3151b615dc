"""One process writes: an error of a second names the first; a dead one has no lock."""

from __future__ import annotations

from pathlib import Path

import pytest

import webtable
from tests.crash.child import Child
from tests.store.refusal import refused
from webtable.errors import StoreLocked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    with webtable.open(str(path)) as store:
        store.create_table("pages", "f", "g").put(b"row", {b"f:q": b"v"})
    return path


def test_a_second_writer_gets_an_error_that_names_the_first(path: Path) -> None:
    with Child("puppet", path) as holder:
        holder.wait_for(opened=holder.pid)
        with refused(StoreLocked, str(path), str(holder.pid), exit_code=4):
            webtable.open(str(path))
        holder.ask("put", "pages", 0, 10, 1)
        holder.finish()
    with webtable.open(str(path)) as store:
        assert len(list(store.table("pages").scan())) == 11


def test_a_second_writer_is_rejected_while_the_first_is_busy(path: Path) -> None:
    with Child("puppet", path) as holder:
        holder.wait_for(opened=holder.pid)
        holder.tell("put_for_ever", "pages")
        for _ in range(20):
            with refused(StoreLocked, str(path), str(holder.pid), exit_code=4):
                webtable.open(str(path))


def test_a_second_writer_in_the_same_process(path: Path) -> None:
    with webtable.open(str(path)) as store:
        with refused(StoreLocked, str(path), exit_code=4):
            webtable.open(str(path))
        store.table("pages").put(b"other", {b"f:q": b"v"})
        with Child("puppet", path) as second:
            assert second.wait_for(refused="StoreLocked")
    with webtable.open(str(path)) as store:
        assert [row.key for row in store.table("pages").scan()] == [b"other", b"row"]


def test_the_lock_of_a_killed_writer_is_free(path: Path) -> None:
    with Child("puppet", path) as holder:
        holder.wait_for(opened=holder.pid)
        holder.ask("put", "pages", 0, 10, 1)
        holder.kill()
    with webtable.open(str(path)) as store:
        assert len(list(store.table("pages").scan())) == 11


def test_a_rejected_opening_leaves_the_lock_free(path: Path) -> None:
    marker = path / "WEBTABLE"
    written = marker.read_text()
    marker.write_text("damaged")
    with pytest.raises(webtable.WebTableError):
        webtable.open(str(path))
    marker.write_text(written)
    with Child("puppet", path) as holder:
        holder.wait_for(opened=holder.pid)
        holder.finish()


def test_readers_open_beside_a_writer_and_alone(path: Path) -> None:
    with webtable.open(str(path), read_only=True) as alone:
        assert alone.table("pages").get(b"row") is not None
        with webtable.open(str(path)) as writer, webtable.open(str(path), read_only=True) as beside:
            writer.table("pages").put(b"new", {b"f:q": b"v"})
            for reader in (alone, beside):
                reader.refresh()
                assert reader.table("pages").get(b"new") is not None
