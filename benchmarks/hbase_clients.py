"""The same work on one HBase done three ways: by WebTable, by happybase, and by the Java client.

happybase needs a Thrift gateway; the Java client runs in a process of its own and reads commands
line by line. Each method uses the fastest way of its library, reads every cell unless its
docstring says otherwise, and returns the amount of work.
"""

from __future__ import annotations

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

import happybase

import webtable
from webtable.local.hbase_daemons import JAVA_OPTIONS
from webtable.local.hbase_jars import find_java, hbase_jars
from webtable.store.hbase.location import parse_location
from webtable.store.mutation import Check, Put

__all__ = [
    "COLUMNS",
    "PAGES",
    "ROWS",
    "STATE",
    "VALUE",
    "WRITES",
    "Client",
    "HappyBase",
    "Java",
    "WebTable",
]

ROWS, PAGES, WRITES = "bench_rows", "bench_pages", "bench_writes"
COLUMNS = [b"f:q%d" % number for number in range(5)]
COUNTER, STATE = b"f:n", b"f:state"
VALUE = b"0123456789abcdef0123456789abcdef"
KEYS_ONLY = "FirstKeyOnlyFilter() AND KeyOnlyFilter()"
THREADS = 16
MULTI = 100
BATCH = 1000

Keys = Sequence[bytes]


class Client(ABC):
    """A client of the cluster. Each method returns how many cells, rows or steps it handled."""

    @abstractmethod
    def scan(self) -> int:
        """Reads every cell of the rows in order."""

    @abstractmethod
    def scan_pages(self) -> int:
        """Reads every cell of the large rows in order."""

    @abstractmethod
    def scan_unread(self) -> int:
        """Reads the rows in order, but not their cells."""

    @abstractmethod
    def scan_keys(self) -> int:
        """Reads the keys of the rows in order; a filter on the server leaves out the rest."""

    @abstractmethod
    def prefix_scan(self, keys: Keys) -> int:
        """Reads the rows under each of the prefixes."""

    @abstractmethod
    def put(self, keys: Keys) -> int:
        """Stores rows in batches."""

    @abstractmethod
    def get(self, keys: Keys) -> int:
        """Reads rows, with one call for each row."""

    @abstractmethod
    def get_threads(self, keys: Keys) -> int:
        """Reads rows, with one call for each row, in sixteen threads."""

    @abstractmethod
    def get_many(self, keys: Keys) -> int:
        """Reads rows, with one call for a hundred rows."""

    @abstractmethod
    def increment(self, keys: Keys) -> int:
        """Adds to counters, with one call for each row."""

    @abstractmethod
    def check_and_put(self, keys: Keys) -> int:
        """Writes a cell if it has the expected value, with one call for each row."""


class WebTable(Client):
    """Our client through its public API."""

    def __init__(self, location: str) -> None:
        self._store = webtable.open(location)
        self._rows = self._store.table(ROWS)
        self._pages = self._store.table(PAGES)
        self._writes = self._store.table(WRITES)
        self._threads = ThreadPoolExecutor(THREADS)

    def close(self) -> None:
        self._threads.shutdown()
        self._store.close()

    def scan(self) -> int:
        found = 0
        for row in self._rows.scan():
            for _column, _timestamp, _value, _type in row.raw_cells:
                found += 1
        return found

    def scan_pages(self) -> int:
        found = 0
        for row in self._pages.scan():
            for _column, _timestamp, _value, _type in row.raw_cells:
                found += 1
        return found

    def scan_unread(self) -> int:
        found = 0
        for row in self._rows.scan():
            found += row.key is not None
        return found

    def scan_keys(self) -> int:
        found = 0
        for row in self._rows.scan(filter=KEYS_ONLY):
            found += row.key is not None
        return found

    def prefix_scan(self, keys: Keys) -> int:
        found = 0
        for key in keys:
            for row in self._rows.scan(prefix=key):
                for _column, _timestamp, _value, _type in row.raw_cells:
                    pass
                found += 1
        return found

    def put(self, keys: Keys) -> int:
        with self._writes.batch(size=BATCH) as batch:
            for key in keys:
                batch.put(key, dict.fromkeys(COLUMNS, VALUE))
        return len(keys)

    def get(self, keys: Keys) -> int:
        found, get = 0, self._rows.get
        for key in keys:
            row = get(key)
            if row is not None:
                for _column, _timestamp, _value, _type in row.raw_cells:
                    pass
                found += 1
        return found

    def get_threads(self, keys: Keys) -> int:
        return sum(self._threads.map(self.get, _parts(keys)))

    def get_many(self, keys: Keys) -> int:
        found = 0
        for at in range(0, len(keys), MULTI):
            for row in self._rows.get_many(keys[at : at + MULTI]):
                if row is not None:
                    for _column, _timestamp, _value, _type in row.raw_cells:
                        pass
                    found += 1
        return found

    def increment(self, keys: Keys) -> int:
        return sum(self._writes.increment(key, COUNTER) > 0 for key in keys)

    def check_and_put(self, keys: Keys) -> int:
        check, values, done = Check.equal(STATE, VALUE), {STATE: VALUE}, 0
        for key in keys:
            done += bool(self._writes.check_and_mutate(key, check, Put(key, values)))
        return done


class HappyBase(Client):
    """happybase 1.3 through a Thrift gateway on the same machine."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = happybase.Connection(host, port)
        self._rows = self._connection.table(ROWS)
        self._pages = self._connection.table(PAGES)
        self._writes = self._connection.table(WRITES)
        self._pool = happybase.ConnectionPool(THREADS, host=host, port=port)
        self._threads = ThreadPoolExecutor(THREADS)

    def close(self) -> None:
        self._threads.shutdown()
        self._connection.close()

    def scan(self) -> int:
        found = 0
        for _key, cells in self._rows.scan(batch_size=BATCH):
            for _column, _value in cells.items():
                found += 1
        return found

    def scan_pages(self) -> int:
        found = 0
        for _key, cells in self._pages.scan(batch_size=MULTI):
            for _column, _value in cells.items():
                found += 1
        return found

    def scan_unread(self) -> int:
        found = 0
        for key, _cells in self._rows.scan(batch_size=BATCH):
            found += key is not None
        return found

    def scan_keys(self) -> int:
        found = 0
        for key, _cells in self._rows.scan(batch_size=BATCH, filter=KEYS_ONLY):
            found += key is not None
        return found

    def prefix_scan(self, keys: Keys) -> int:
        found = 0
        for key in keys:
            for _key, cells in self._rows.scan(row_prefix=key, batch_size=MULTI):
                for _column, _value in cells.items():
                    pass
                found += 1
        return found

    def put(self, keys: Keys) -> int:
        with self._writes.batch(batch_size=BATCH * len(COLUMNS)) as batch:
            for key in keys:
                batch.put(key, dict.fromkeys(COLUMNS, VALUE))
        return len(keys)

    def get(self, keys: Keys) -> int:
        return _get_rows(self._rows, keys)

    def get_threads(self, keys: Keys) -> int:
        def part_of(part: Keys) -> int:
            with self._pool.connection() as connection:
                return _get_rows(connection.table(ROWS), part)

        return sum(self._threads.map(part_of, _parts(keys)))

    def get_many(self, keys: Keys) -> int:
        found = 0
        for at in range(0, len(keys), MULTI):
            for _key, cells in self._rows.rows(keys[at : at + MULTI]):
                for _column, _value in cells.items():
                    pass
                found += 1
        return found

    def increment(self, keys: Keys) -> int:
        return sum(self._writes.counter_inc(key, COUNTER) > 0 for key in keys)

    def check_and_put(self, keys: Keys) -> int:
        # happybase has no method for it, but the client of the gateway that it carries has.
        client, name = self._connection.client, self._writes.name
        mutation = happybase.batch.Mutation(isDelete=False, column=STATE, value=VALUE)
        done = 0
        for key in keys:
            done += client.checkAndPut(name, key, STATE, VALUE, mutation, {})
        return done


class Java(Client):
    """HBase's own client, in `HBaseBench.java`. Use it in a `with` block.

    The file `troubles` gets its error output; `rows` is the table that it scans.
    """

    def __init__(self, location: str, troubles: Path, *, rows: str = ROWS) -> None:
        place = parse_location(location)
        self._sent: dict[int, Keys] = {}
        self._troubles = troubles
        command = [
            find_java(),
            "-Xmx1g",
            "-XX:+UseG1GC",
            *JAVA_OPTIONS,
            "-cp",
            f"{hbase_jars(print)}/*",
            str(Path(__file__).with_name("HBaseBench.java")),
            ",".join(server.host for server in place.servers),
            str(place.servers[0].port),
            place.parent,
            *(rows, PAGES, WRITES),
        ]
        with troubles.open("wb") as file:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file
            )
        self._read_number()

    def __enter__(self) -> Java:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def send_keys(self, keys: Keys) -> None:
        """Sends keys to the Java process before the time is measured."""
        self._sent[id(keys)] = keys
        self._ask(f"keys {id(keys)} ".encode() + b" ".join(keys))

    def scan(self) -> int:
        return self._ask(b"scan")

    def scan_pages(self) -> int:
        return self._ask(b"scan_pages")

    def scan_unread(self) -> int:
        return self._ask(b"scan_unread")

    def scan_keys(self) -> int:
        return self._ask(b"scan_keys")

    def prefix_scan(self, keys: Keys) -> int:
        return self._work("prefix_scan", keys)

    def put(self, keys: Keys) -> int:
        return self._work("put", keys)

    def get(self, keys: Keys) -> int:
        return self._work("get", keys)

    def get_threads(self, keys: Keys) -> int:
        return self._work("get_threads", keys)

    def get_many(self, keys: Keys) -> int:
        return self._work("get_many", keys)

    def increment(self, keys: Keys) -> int:
        return self._work("increment", keys)

    def check_and_put(self, keys: Keys) -> int:
        return self._work("check_and_put", keys)

    def _work(self, operation: str, keys: Keys) -> int:
        return self._ask(f"{operation} {id(keys)}".encode())

    def _ask(self, command: bytes) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(command + b"\n")
        self._process.stdin.flush()
        return self._read_number()

    def _read_number(self) -> int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the Java client died:\n{self._troubles.read_text()}")
        return int(line)


def _parts(keys: Keys) -> list[Keys]:
    return [keys[first::THREADS] for first in range(THREADS)]


def _get_rows(table: Any, keys: Keys) -> int:
    found = 0
    for key in keys:
        for _column, _value in table.row(key).items():
            pass
        found += 1
    return found
