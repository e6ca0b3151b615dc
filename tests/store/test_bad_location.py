"""Places that are not a store, stores of another format, closed and read-only stores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import webtable
from tests.store.refusal import refused
from webtable import Check, Delete, Family, Store, TableSchema
from webtable.errors import (
    CorruptData,
    FormatVersionError,
    InvalidRequest,
    NotAllowed,
    ReadOnly,
    StoreClosed,
    StoreNotFound,
    UsageError,
)

VALUES = {b"f:q": b"v"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with webtable.open(str(path)) as store:
        table = store.create_table("pages", "f", "g")
        table.put(b"row", {b"f:q": b"v", b"g:q": b"w"}, timestamp=5)
        yield store


# Locations


def test_an_unknown_scheme(tmp_path: Path) -> None:
    with refused(InvalidRequest, "mysql", exit_code=2):
        webtable.open("mysql://host/db")
    with refused(InvalidRequest, "location is empty", exit_code=2):
        webtable.open("")


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        ("hbase:/127.0.0.1:2181", "hbase://127.0.0.1:2181"),
        ("hbase:127.0.0.1:1", "hbase://127.0.0.1:1"),
        ("hbase:", "hbase://HOST"),
        ("hbase//host", "hbase://host"),
        ("hbase+masters:/host", "hbase+masters://host"),
        ("hbase+masters", "hbase+masters://HOST"),
        ("hbase+master://host", "hbase+masters://host"),
        ("hbase:2181", "hbase://hbase:2181"),
        (f"hbase:{'x' * 300}", f"hbase://{'x' * 300}"),
        ("127.0.0.1:2181", "hbase://127.0.0.1:2181"),
        ("zoo-1.example.org:2181", "hbase://zoo-1.example.org:2181"),
    ],
)
def test_a_misspelt_cluster_makes_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for read_only, create in ((False, True), (False, False), (True, False)):
        with pytest.raises(InvalidRequest) as caught:
            webtable.open(location, read_only=read_only, create=create)
        assert f"'{location}'" in caught.value.message
        assert f"'{meant}'" in caught.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["hbase", "hbase/store", "hbase.db", "rocks:2181", "rocks:a:1"])
def test_a_directory_that_is_called_nearly_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    webtable.open(name).close()
    assert (tmp_path / name.removeprefix("rocks:")).is_dir()


@pytest.mark.parametrize("name", ["hbase:a", "zoo:2181"])
def test_a_store_that_is_there_opens_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    webtable.open(f"rocks:{name}").close()
    webtable.open(name, create=False).close()


def test_no_store_there(path: Path) -> None:
    for read_only, create in ((True, True), (True, False), (False, False)):
        with refused(StoreNotFound, str(path), exit_code=3):
            webtable.open(str(path), read_only=read_only, create=create)
        assert not path.exists(), "looking for a store must not make one"


def test_a_directory_of_other_files(path: Path) -> None:
    path.mkdir()
    (path / "letter.txt").write_text("dear")
    for read_only in (True, False):
        with refused(StoreNotFound, str(path), exit_code=3):
            webtable.open(str(path), read_only=read_only)
    assert [each.name for each in path.iterdir()] == ["letter.txt"]


def test_a_file_instead_of_a_directory(path: Path) -> None:
    path.write_text("dear")
    for place in (path, path / "below"):
        for read_only in (True, False):
            with refused(StoreNotFound, str(place), exit_code=3):
                webtable.open(str(place), read_only=read_only)
    assert path.read_text() == "dear"


@pytest.mark.parametrize("name", ["nul\x00byte", "x" * 300])
def test_a_path_that_no_system_takes(tmp_path: Path, name: str) -> None:
    for read_only in (True, False):
        with pytest.raises(UsageError) as caught:
            webtable.open(str(tmp_path / name), read_only=read_only)
        assert caught.value.hint


@contextmanager
def nobody(directory: Path) -> Iterator[None]:
    """Takes away the right to the directory; root must become another user for that."""
    directory.chmod(0o000)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        directory.chmod(0o700)


def test_a_store_that_may_not_be_read(store: Store, path: Path) -> None:
    store.close()
    for read_only in (True, False):
        with nobody(path), refused(NotAllowed, str(path), exit_code=1):
            webtable.open(str(path), read_only=read_only)
    with webtable.open(str(path)) as again:
        assert again.table("pages").get(b"row") is not None


def test_a_place_where_no_store_can_be_made(tmp_path: Path) -> None:
    with nobody(tmp_path), refused(NotAllowed, str(tmp_path), exit_code=1):
        webtable.open(str(tmp_path / "store"))


# Formats


def test_a_store_of_a_newer_format(store: Store, path: Path) -> None:
    store.close()
    file = path / "WEBTABLE"
    written = file.read_text()
    newer = json.loads(written) | {"format": 99}
    file.write_text(json.dumps(newer))
    for read_only in (True, False):
        with refused(FormatVersionError, str(path), "99", exit_code=6):
            webtable.open(str(path), read_only=read_only)
    file.write_text(written)
    with webtable.open(str(path)) as again:
        assert again.table("pages").get(b"row") is not None


@pytest.mark.parametrize("text", ["", "{}", "[]", "{", '{"format": "x"}', "\x00\x00\x00"])
def test_a_damaged_format_file(store: Store, path: Path, text: str) -> None:
    store.close()
    (path / "WEBTABLE").write_text(text)
    for read_only in (True, False):
        with refused(CorruptData, str(path), "WEBTABLE", exit_code=6):
            webtable.open(str(path), read_only=read_only)


# Closed, and read-only

SCHEMA = TableSchema(name="pages", families=(Family(name="f"),))

USES: dict[str, Callable[[Store], object]] = {
    "get": lambda store: store.table("pages").get(b"row"),
    "get_many": lambda store: store.table("pages").get_many([b"row"]),
    "scan": lambda store: list(store.table("pages").scan()),
    "tables": lambda store: store.tables(),
    "describe": lambda store: store.describe_table("pages"),
    "regions": lambda store: store.table("pages").regions(),
    "stats": lambda store: store.table("pages").stats(),
}


def send_batch(store: Store) -> None:
    with store.table("pages").batch() as batch:
        batch.put(b"new", VALUES)


CHANGES: dict[str, Callable[[Store], object]] = {
    "put": lambda store: store.table("pages").put(b"new", VALUES),
    "batch": send_batch,
    "delete": lambda store: store.table("pages").delete(b"row"),
    "increment": lambda store: store.table("pages").increment(b"new", b"f:n"),
    "append": lambda store: store.table("pages").append(b"row", b"f:q", b"x"),
    "mutate": lambda store: store.table("pages").mutate(b"row", [Delete(b"row")]),
    "check_and_mutate": lambda store: store.table("pages").check_and_mutate(
        b"row", Check.equal(b"f:q", b"v"), Delete(b"row")
    ),
    "commit": lambda store: store.commit([("pages", Delete(b"row"))]),
    "create": lambda store: store.create_table("new", "f"),
    "alter": lambda store: store.alter_table(SCHEMA),
    "truncate": lambda store: store.truncate_table("pages"),
    "drop": lambda store: store.drop_table("pages"),
    "flush": lambda store: store.table("pages").flush(),
    "major_compact": lambda store: store.table("pages").major_compact(),
}


@pytest.mark.parametrize("name", [*USES, *CHANGES, "checkpoint", "refresh"])
def test_use_after_close(store: Store, path: Path, name: str) -> None:
    calls: dict[str, Callable[[Store], object]] = {
        **USES,
        **CHANGES,
        "checkpoint": lambda store: store.checkpoint(str(path.with_name("copy"))),
        "refresh": lambda store: store.refresh(),
    }
    store.close()
    store.close()
    with refused(StoreClosed, str(path), exit_code=1):
        calls[name](store)


def test_a_scan_under_way_ends_with_the_store(store: Store, path: Path) -> None:
    table = store.table("pages")
    with table.batch() as batch:
        for number in range(5000):
            batch.put(b"r%05d" % number, {b"f:q": b"x" * 100, b"g:q": b"y"})
    scan = table.scan()
    next(scan)
    store.close()
    with refused(StoreClosed, str(path), exit_code=1):
        list(scan)


def test_a_scan_made_and_not_begun_ends_with_the_store(store: Store, path: Path) -> None:
    scan = store.table("pages").scan()
    store.close()
    with refused(StoreClosed, str(path), exit_code=1):
        next(scan)


@pytest.mark.parametrize("name", list(CHANGES))
def test_a_read_only_store_is_not_written_to(store: Store, path: Path, name: str) -> None:
    before = list(store.table("pages").scan())
    with webtable.open(str(path), read_only=True) as reader:
        with refused(ReadOnly, str(path), exit_code=1):
            CHANGES[name](reader)
        assert list(reader.table("pages").scan()) == before
    assert store.tables() == ["pages"]
    assert list(store.table("pages").scan()) == before
