"""Connections and pools: opening, closing, arguments, errors."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.happybase.conftest import Flavour


def test_open_and_close(flavour: Flavour) -> None:
    connection = flavour.connect(autoconnect=False)
    assert not connection.transport.is_open()
    connection.close()  # nothing to close
    connection.open()
    connection.open()
    assert connection.transport.is_open()
    assert b"fixed" in connection.tables()
    connection.close()
    connection.close()
    assert not connection.transport.is_open()
    connection.open()
    assert b"fixed" in connection.tables()
    connection.close()


def test_programs_that_start_afresh(flavour: Flavour) -> None:
    connection = flavour.connect()
    transport = connection.transport
    connection._refresh_thrift_client()
    transport.close()  # happybase forgets it, and leaves it open
    assert not connection.transport.is_open()
    connection._refresh_thrift_client()
    connection.open()
    assert b"fixed" in connection.tables()
    connection.close()


def test_a_connection_may_go_elsewhere(flavour: Flavour) -> None:
    connection = flavour.connect(host="nowhere://", autoconnect=False)
    connection.host = flavour.arguments["host"]
    connection._refresh_thrift_client()
    connection.open()
    assert b"fixed" in connection.tables()
    connection.close()


def test_attributes(flavour: Flavour) -> None:
    connection = flavour.connect(autoconnect=False, timeout=60_000, compat="0.96")
    assert connection.host == flavour.arguments["host"]
    assert connection.port == flavour.arguments.get("port", 9090)
    assert connection.timeout == 60_000
    assert connection.compat == "0.96"
    assert flavour.module.Connection(None, None, autoconnect=False).host == "localhost"
    assert flavour.module.Connection(None, None, autoconnect=False).port == 9090


def test_bad_arguments(flavour: Flavour) -> None:
    make = flavour.module.Connection
    with pytest.raises(ValueError, match="'transport' must be one of buffered, framed"):
        make(transport="pigeon")
    with pytest.raises(ValueError, match="'protocol' must be one of binary, compact"):
        make(protocol="pigeon")
    with pytest.raises(ValueError, match=r"'compat' must be one of 0\.90, 0\.92"):
        make(compat="2.6")
    with pytest.raises(TypeError, match="'table_prefix' must be a string"):
        make(table_prefix=5)
    with pytest.raises(TypeError, match="'table_prefix_separator' must be a string"):
        make(table_prefix_separator=None)


def test_pool_gives_connections(flavour: Flavour) -> None:
    pool = flavour.module.ConnectionPool(2, **flavour.arguments)
    with pool.connection() as connection:
        assert isinstance(connection, flavour.module.Connection)
        assert connection.table("fixed").row(b"a", [b"f:q"]) == {b"f:q": b"of a"}
        with pool.connection(timeout=0.1) as nested:
            assert nested is connection  # a thread has one at a time
    with pool.connection() as again:
        assert again is connection  # the last one first


def test_pool_runs_out(flavour: Flavour) -> None:
    pool = flavour.module.ConnectionPool(size=1, **flavour.arguments)
    raised: list[BaseException] = []

    def want_one() -> None:
        try:
            with pool.connection(timeout=0.05):
                pass
        except flavour.module.NoConnectionsAvailable as exc:
            raised.append(exc)

    with pool.connection():
        thread = threading.Thread(target=want_one)
        thread.start()
        thread.join()
    assert [type(error) for error in raised] == [flavour.module.NoConnectionsAvailable]
    assert isinstance(raised[0], RuntimeError)
    want_one()  # and when the other is back, there is one
    assert len(raised) == 1


def test_threads_share_a_pool(flavour: Flavour, key: bytes) -> None:
    pool = flavour.module.ConnectionPool(2, **flavour.arguments)
    values: list[int] = []

    def count() -> None:
        for _ in range(5):
            with pool.connection() as connection:
                values.append(connection.table("shared").counter_inc(key, b"f:n"))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values) == list(range(1, 21))


def test_an_error_leaves_the_pool_usable(flavour: Flavour) -> None:
    pool = flavour.module.ConnectionPool(1, **flavour.arguments)
    with pool.connection() as connection:
        transport = connection.transport
    with pytest.raises(flavour.errors.IOError), pool.connection() as connection:
        connection.table("nowhere").row(b"row")
    transport.close()  # happybase replaces it, and leaves it open
    with pytest.raises(ZeroDivisionError), pool.connection():
        raise ZeroDivisionError
    with pool.connection(timeout=1) as connection:
        assert connection.table("fixed").row(b"a", [b"f:q"]) == {b"f:q": b"of a"}


def test_a_closed_connection_is_opened_again_after_a_failure(flavour: Flavour) -> None:
    pool = flavour.module.ConnectionPool(1, **flavour.arguments)

    def fail() -> None:
        with pool.connection() as nested:
            nested.transport.close()
            raise flavour.errors.TException

    with pool.connection() as connection:
        with pytest.raises(flavour.errors.TException):
            fail()
        assert b"fixed" in connection.tables()


def test_bad_pools(flavour: Flavour) -> None:
    make = flavour.module.ConnectionPool
    with pytest.raises(ValueError, match="Pool 'size' arg must be greater than zero"):
        make(0)
    with pytest.raises(TypeError, match="Pool 'size' arg must be an integer"):
        make("3")
    with pytest.raises(TypeError):
        make(1, nonsense=True)


def test_no_server_responds(flavour: Flavour) -> None:
    nobody: dict[str, Any] = {"host": "127.0.0.1", "port": 1, "timeout": 500}
    with pytest.raises(flavour.errors.TTransportException):
        flavour.module.Connection(**nobody)
    with pytest.raises(flavour.errors.TTransportException):
        flavour.module.ConnectionPool(3, **nobody)  # at once, not with the first use
    assert not flavour.module.Connection(**nobody, autoconnect=False).transport.is_open()
