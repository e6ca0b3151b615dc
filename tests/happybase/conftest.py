"""One suite over three: happybase through a real Thrift gateway, and ours on both engines.

A test that uses `flavour`, `connection`, `table` or `fixed` runs three times. Where ours is
meant to differ, `test_differences.py` says so; everywhere else the three do the same.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import uuid
from collections.abc import Iterator
from numbers import Integral
from types import SimpleNamespace
from typing import Any, NamedTuple, SupportsIndex

import pytest

import webtable.happybase
from tools.thrift_gateway import ThriftGateway

FLAVOURS = (
    pytest.param("real", marks=pytest.mark.hbase),
    pytest.param("hbase", marks=pytest.mark.hbase),
    "embedded",
)
FIXED_ROWS = (b"a", b"a1", b"a2", b"b", b"c", b"\xff", b"\xff\xff1")
FIXED_TIME = 100


@functools.total_ordering
class Whole:
    """A whole number that is no `int`, as numpy has them."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value

    __int__ = __index__

    def __neg__(self) -> Whole:
        return Whole(-self._value)

    def __sub__(self, other: int) -> Whole:
        return Whole(self._value - other)

    def __lt__(self, other: SupportsIndex) -> bool:
        return self._value < operator.index(other)

    def __eq__(self, other: object) -> bool:
        return self._value == other

    __hash__ = None  # type: ignore[assignment] # not needed


Integral.register(Whole)


class Flavour(NamedTuple):
    """One of the three: the module, what to connect to, and the exceptions to catch."""

    name: str
    module: Any
    errors: Any
    arguments: dict[str, Any]

    def connect(self, **arguments: Any) -> Any:
        """Makes a connection of its own, for a test that changes or closes it."""
        return self.module.Connection(**{**self.arguments, **arguments})


@contextlib.contextmanager
def prepared(flavour: Flavour) -> Iterator[None]:
    """Makes the tables that all tests of a flavour share, and keeps one connection open."""
    connection = flavour.connect()
    connection.create_table("shared", {"f": {"max_versions": 5}, "g": {}})
    connection.create_table("fixed", {"f": {}, "f2": {}})
    with connection.table("fixed").batch(timestamp=FIXED_TIME) as batch:
        for row in FIXED_ROWS:
            batch.put(row, {b"f:q": b"of " + row, b"f:\xe9": b"3", b"f2:p": b"1"})
    yield
    connection.close()
    connection = flavour.connect()  # a gateway hangs up on who is idle for long
    for name in connection.tables():
        connection.delete_table(name, disable=True)
    connection.close()


def new_prefix() -> str:
    """Keeps the tables of a run apart from all others."""
    return f"hb{uuid.uuid4().hex[:8]}"


def counting(flavour: Flavour, table: Any) -> Any:
    """Returns the same table, which counts in `count` how often its families are read."""

    class Counting(flavour.module.Table):  # type: ignore[name-defined, misc]
        count = 0

        def _column_family_names(self) -> Any:
            self.count += 1
            return super()._column_family_names()

    return Counting(table.name, table.connection)


@pytest.fixture(scope="session")
def gateway(hbase_location: str) -> Iterator[ThriftGateway]:
    with ThriftGateway(hbase_location) as running:
        yield running


@pytest.fixture(scope="session")
def real_flavour(gateway: ThriftGateway) -> Iterator[Flavour]:
    import happybase
    from thriftpy2.thrift import TException
    from thriftpy2.transport import TTransportException

    thrift = importlib.import_module("Hbase_thrift")  # which importing happybase has made
    errors = SimpleNamespace(
        AlreadyExists=thrift.AlreadyExists,
        IOError=thrift.IOError,
        IllegalArgument=thrift.IllegalArgument,
        TException=TException,
        TTransportException=TTransportException,
    )
    where = {"host": gateway.host, "port": gateway.port, "table_prefix": new_prefix()}
    flavour = Flavour("real", happybase, errors, where)
    with prepared(flavour):
        yield flavour


@pytest.fixture(scope="session")
def hbase_flavour(hbase_location: str) -> Iterator[Flavour]:
    where = {"host": hbase_location, "table_prefix": new_prefix()}
    flavour = Flavour("hbase", webtable.happybase, webtable.happybase, where)
    with prepared(flavour):
        yield flavour


@pytest.fixture(scope="session")
def embedded_flavour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flavour]:
    where = {"host": str(tmp_path_factory.mktemp("happybase") / "store"), "table_prefix": "hb"}
    flavour = Flavour("embedded", webtable.happybase, webtable.happybase, where)
    with prepared(flavour):
        yield flavour


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> Flavour:
    """Each of the three in turn."""
    # By name: a session fixture with parameters would be made again at each change of flavour.
    chosen: Flavour = request.getfixturevalue(f"{request.param}_flavour")
    return chosen


@pytest.fixture
def connection(flavour: Flavour) -> Iterator[Any]:
    opened = flavour.connect()
    yield opened
    opened.close()


@pytest.fixture
def table(connection: Any) -> Any:
    """The table that tests write to, under a row prefix of their own: see `key`."""
    return connection.table("shared")


@pytest.fixture
def fixed(connection: Any) -> Any:
    """A table with `FIXED_ROWS`, for reading only."""
    return connection.table("fixed")


@pytest.fixture
def key() -> bytes:
    """A row key that belongs to the test, and the prefix of more."""
    return uuid.uuid4().hex[:12].encode() + b"/"
