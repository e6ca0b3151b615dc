"""Where connections connect, and that those of one process share one store."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import threading
import traceback
from pathlib import Path

import pytest

import webtable
from webtable import WebTableError, happybase
from webtable.happybase.errors import raised, translated
from webtable.happybase.stores import location_of
from webtable.store.hbase.location import parse_location


@pytest.fixture(autouse=True)
def _no_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBTABLE_STORE", raising=False)


@pytest.mark.parametrize(
    ("host", "port", "location"),
    [
        ("localhost", 9090, "hbase://localhost"),
        (None, None, "hbase://localhost"),
        ("", 0, "hbase://localhost"),
        ("zk1", 9090, "hbase://zk1"),
        ("zk1", None, "hbase://zk1"),
        ("zk1", 2182, "hbase://zk1:2182"),
        ("zk1,zk2", 2182, "hbase://zk1:2182,zk2:2182"),
        ("zk1:2183,zk2", 2182, "hbase://zk1:2183,zk2:2182"),
        ("hbase://zk1/hbase-secure", 9090, "hbase://zk1/hbase-secure"),
        ("hbase+masters://m1", 2182, "hbase+masters://m1"),
        ("./crawl.wt", 9090, "./crawl.wt"),
        ("/data/crawl", 9090, "/data/crawl"),
        ("rocks:crawl.wt", 9090, "rocks:crawl.wt"),
        (Path("crawl.wt"), 9090, "crawl.wt"),
    ],
)
def test_location(host: str | Path | None, port: int | None, location: str) -> None:
    assert location_of(host, port, None) == location


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [
        (1500, "1.5"),
        (0.5, "0.0005"),
        (0.01, "0.00001"),
        (100_000_000, "100000"),
        (123_456_789, "123456.789"),
        (10**10, "999999"),  # the longest that a location takes
        (float("inf"), "999999"),
    ],
)
def test_time_out_in_milliseconds(timeout: float, seconds: str) -> None:
    location = location_of("zk1", 9090, timeout)
    assert location == f"hbase://zk1?timeout={seconds}"
    assert parse_location(location).timeout_seconds == float(seconds)


def test_time_out_of_a_location() -> None:
    for given, timeout, location in (
        ("hbase://zk1?namespace=n", 2000, "hbase://zk1?namespace=n&timeout=2"),
        ("hbase://zk1?timeout=5", 2000, "hbase://zk1?timeout=2"),
        ("hbase://zk1?timeout=5&spin=off", 2000, "hbase://zk1?spin=off&timeout=2"),
        ("hbase://zk1?timeout=5", None, "hbase://zk1?timeout=5"),
        ("hbase://zk1?timeout=5", 0, "hbase://zk1?timeout=5"),
        ("zk1", 0, "hbase://zk1"),
        ("./crawl.wt", 2000, "./crawl.wt"),
    ):
        assert location_of(given, 9090, timeout) == location


def test_the_environment_stands_for_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for store in ("crawl.wt", "hbase://zk7"):
        monkeypatch.setenv("WEBTABLE_STORE", store)
        assert location_of("localhost", 9090, None) == store
        assert location_of(None, None, None) == store
        assert location_of("localhost", 2181, None) == "hbase://localhost:2181"
        assert location_of("zk1", 9090, None) == "hbase://zk1"


def test_connections_share_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store"
    first = happybase.Connection(f"{path}")
    second = happybase.Connection(f"rocks:{tmp_path}/x/../store")
    pool = happybase.ConnectionPool(3, host=path)
    assert first.store is second.store
    with pool.connection() as pooled:
        assert pooled.store is first.store
    store = first.store
    first.close()
    second.create_table("t", {"f": {}})
    second.close()
    with pool.connection() as pooled:
        assert pooled.tables() == [b"t"]
    del pooled, pool
    gc.collect()
    with pytest.raises(WebTableError):
        store.tables()  # closed with the last of them
    with webtable.open(str(path)) as alone:
        assert alone.tables() == ["t"]


def test_an_open_store_may_be_given(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        store.create_table("t", "f").put(b"row", {b"f:a": b"1"})
        connection = happybase.Connection(store)
        assert connection.table("t").row(b"row") == {b"f:a": b"1"}
        connection.close()
        assert store.tables() == ["t"]  # whose it is, closes it


def test_a_connection_that_is_not_closed(tmp_path: Path) -> None:
    path = tmp_path / "store"
    happybase.Connection(path).create_table("t", {"f": {}})
    gc.collect()
    with webtable.open(str(path)) as store:
        assert store.tables() == ["t"]


def test_a_scan_keeps_its_connection(tmp_path: Path) -> None:
    connection = happybase.Connection(tmp_path / "store")
    connection.create_table("t", {"f": {}})
    table = connection.table("t")
    for number in range(5):
        table.put(b"%d" % number, {b"f:a": b"1"})
    scan = table.scan()
    del connection, table
    gc.collect()
    assert len(list(scan)) == 5


def test_opening_and_closing_from_many_threads(tmp_path: Path) -> None:
    path = tmp_path / "store"
    happybase.Connection(path).create_table("t", {"f": {}})
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                connection = happybase.Connection(path)
                connection.table("t").counter_inc(b"row", b"f:n")
                connection.close()
        except BaseException as exc:  # noqa: BLE001 - shown by the assertion
            failures.append(exc)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert happybase.Connection(path).table("t").counter_get(b"row", b"f:n") == 40


def _connect(path: str, said: multiprocessing.SimpleQueue[str]) -> None:
    try:
        happybase.Connection(path)
        said.put("connected")
    except happybase.TTransportException as exc:
        said.put(exc.code)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_use_its_parents_store(tmp_path: Path) -> None:
    connection = happybase.Connection(tmp_path / "store")
    connection.create_table("t", {"f": {}})
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()
    child = context.Process(target=_connect, args=(str(tmp_path / "store"), said))
    child.start()
    assert said.get() == "store-locked"  # one process writes; the error says which
    child.join()
    assert child.exitcode == 0
    assert connection.tables() == [b"t"]
    connection.close()


def test_unreachable_says_what_a_host_is(tmp_path: Path) -> None:
    with pytest.raises(
        happybase.TTransportException, match="a bare host is where ZooKeeper"
    ) as error:
        happybase.Connection("127.0.0.1", 1, timeout=300)
    assert error.value.type == happybase.TTransportException.NOT_OPEN
    assert isinstance(error.value, ConnectionError)
    (tmp_path / "file").write_text("not a store")
    with pytest.raises(happybase.TTransportException):
        happybase.Connection(tmp_path / "file")


def test_nonsense_for_a_location() -> None:
    with pytest.raises(happybase.IllegalArgument, match="unknown scheme 'http'"):
        happybase.Connection("http://localhost")
    with pytest.raises(happybase.IllegalArgument, match="is not a server"):
        happybase.Connection("zk1:nonsense")


def test_time_outs_are_pythons_too() -> None:
    with pytest.raises(TimeoutError) as error, translated():
        raise webtable.errors.Timeout("too slow", hint="wait")
    assert isinstance(error.value, happybase.TTransportException)
    assert error.value.type == happybase.TTransportException.TIMED_OUT
    assert (str(error.value), error.value.code) == ("too slow; wait", "timeout")
    assert isinstance(error.value.__cause__, webtable.errors.Timeout)


def test_thrifts_own_classes_catch_ours() -> None:
    from thriftpy2.thrift import TException
    from thriftpy2.transport import TTransportException

    with pytest.raises(TException) as error, translated():
        raise webtable.errors.TableNotFound("t", ["u"])
    assert isinstance(error.value, happybase.IOError)
    with pytest.raises(TTransportException), translated():
        raise webtable.errors.ServerUnavailable("nobody there")


def test_errors_can_be_pickled() -> None:
    kinds = (happybase.IOError, happybase.TTransportException, happybase.AlreadyExists)
    for kind in (*kinds, OwnError):
        error = raised(kind, "what", hint="how", code="why")
        again = pickle.loads(pickle.dumps(error))
        assert isinstance(again, kind)
        assert (again.message, again.hint, again.code) == ("what", "how", "why")
    for cause, python_kind in (
        (webtable.errors.Timeout("slow"), TimeoutError),
        (webtable.errors.ServerUnavailable("nobody"), ConnectionError),
    ):
        with pytest.raises(happybase.TTransportException) as caught, translated():
            raise cause
        found = pickle.loads(pickle.dumps(caught.value))
        assert isinstance(found, happybase.TTransportException)
        assert isinstance(found, python_kind)
        assert found.type == caught.value.type


class OwnError(happybase.IOError):
    """One that a program derives from ours."""


def test_errors_have_the_names_that_programs_know() -> None:
    for cause, name in (
        (webtable.errors.Timeout("slow"), "TTransportException"),
        (webtable.errors.StoreClosed("here"), "TTransportException"),
        (webtable.errors.TableExists("t"), "AlreadyExists"),
        (webtable.errors.TableNotFound("t"), "IOError"),
    ):
        with pytest.raises(happybase.TException) as caught, translated():
            raise cause
        assert type(caught.value).__name__ == type(caught.value).__qualname__ == name
        assert f".{name}: {caught.value}" in traceback.format_exception_only(caught.value)[-1]


def _passes(program: str) -> bool:
    """Whether a program passes in a process of its own, which has imported nothing else."""
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=exec, args=(program,))
    child.start()
    child.join()
    return child.exitcode == 0


def test_exceptions_are_where_programs_import_them_from() -> None:
    assert _passes(
        "import sys\n"
        "import webtable.happybase as happybase\n"
        "from Hbase_thrift import AlreadyExists, IllegalArgument, IOError\n"
        "assert issubclass(AlreadyExists, happybase.TException)\n"
        "assert IOError is happybase.IOError and IllegalArgument is happybase.IllegalArgument\n"
        "for name in ('AlreadyExists', 'IOError', 'IllegalArgument'):\n"
        "    assert str(getattr(happybase, name)) == f\"<class 'Hbase_thrift.{name}'>\"\n"
        "assert 'click' not in sys.modules\n"
        "import happybase as theirs\n"
        "from Hbase_thrift import IOError\n"
        "assert IOError is not happybase.IOError and issubclass(IOError, Exception)\n"
        "import pickle\n"
        "again = pickle.loads(pickle.dumps(happybase.IOError('what')))\n"
        "assert type(again) is happybase.IOError\n"
    )


def test_happybases_own_exceptions_stay_when_it_came_first() -> None:
    assert _passes(
        "import happybase as theirs, webtable.happybase as happybase\n"
        "from Hbase_thrift import IOError\n"
        "assert IOError is not happybase.IOError\n"
        "assert happybase.IOError.__module__ == 'webtable.happybase.errors'\n"
        "error = happybase.errors.raised(happybase.IOError, 'what')\n"
        "assert not isinstance(error, IOError) and isinstance(error, IOError.__base__)\n"
    )


def test_an_error_may_go_to_a_process_that_has_not_imported_this(tmp_path: Path) -> None:
    stored = tmp_path / "error"
    stored.write_bytes(pickle.dumps(happybase.AlreadyExists("what")))
    assert _passes(
        "import pathlib, pickle\n"
        f"error = pickle.loads(pathlib.Path({str(stored)!r}).read_bytes())\n"
        "assert type(error).__name__ == 'AlreadyExists' and error.message == 'what'\n"
    )
