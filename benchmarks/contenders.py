"""The same work done three ways: by WebTable, by rocksdict alone, and by SQLite.

Each contender stores the same rows in batches of the same size, with a write-ahead log that is not
synced, and its `put` ends with the data in its files. The peers get the shape that suits them
best: RocksDB keys are row and qualifier joined, without a timestamp; SQLite has a tuned WITHOUT
ROWID table, statements prepared once, and one transaction for each batch.
"""

from __future__ import annotations

import random
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import rocksdict

import webtable

__all__ = ["Contender", "RawRocks", "Rows", "Sqlite", "WebTable"]

FAMILY = "f"
TIMESTAMP = 1_700_000_000_000


class Rows:
    """Rows in the order of a crawl, which is not the order of their keys; the same in every run."""

    def __init__(self, name: str, *, count: int, cells: int, size: int, batch: int) -> None:
        self.name = name
        self.batch = batch
        self.qualifiers = [b"q%d" % number for number in range(cells)]
        self.keys = [b"com.example%04d/page/%06d" % (n % 1000, n) for n in range(count)]
        chance = random.Random(count)
        chance.shuffle(self.keys)
        self._size = size
        # Text-like bytes; each value is another piece of them, so that memory stays small.
        parts = [b"%x" % chance.getrandbits(chance.randrange(8, 60)) for _ in range(400_000)]
        self._text = b" ".join(parts)

    @property
    def cells(self) -> int:
        """The number of cells of all rows together."""
        return len(self.keys) * len(self.qualifiers)

    def __iter__(self) -> Iterator[tuple[bytes, list[bytes]]]:
        """Yields each row's key and its values, one for each qualifier."""
        text, size, per_row = self._text, self._size, range(len(self.qualifiers))
        span = len(text) - size
        at = 0
        for key in self.keys:
            values = []
            for _ in per_row:
                at = (at + 7919) % span
                values.append(text[at : at + size])
            yield key, values


class Contender(ABC):
    """A store with the rows in it. Each method returns how many cells it handled."""

    def __init__(self, path: Path, rows: Rows) -> None:
        self.rows = rows

    @abstractmethod
    def put(self) -> int:
        """Stores all rows in batches and leaves them in files."""

    @abstractmethod
    def scan(self) -> int:
        """Reads every cell: its row, column, timestamp and value where it has them."""

    @abstractmethod
    def get(self, keys: Sequence[bytes]) -> int:
        """Reads one column of each row, with one call for each row."""

    @abstractmethod
    def close(self) -> None:
        """Closes the store."""


class WebTable(Contender):
    """The embedded engine through its public API."""

    def __init__(self, path: Path, rows: Rows) -> None:
        super().__init__(path, rows)
        self._store = webtable.open(str(path / "webtable"))
        self._table = self._store.create_table("pages", FAMILY)
        self._columns = [FAMILY.encode() + b":" + each for each in rows.qualifiers]

    def put(self) -> int:
        columns = self._columns
        with self._table.batch(size=self.rows.batch) as batch:
            for key, values in self.rows:
                batch.put(key, dict(zip(columns, values, strict=True)), timestamp=TIMESTAMP)
        self._table.flush()
        return self.rows.cells

    def scan(self) -> int:
        done = 0
        for row in self._table.scan():
            for _column, _timestamp, _value, _type in row.raw_cells:
                done += 1
        return done

    def scan_cells(self) -> int:
        """Does the same as `scan`, and creates a `Cell` for every cell."""
        done = 0
        for row in self._table.scan():
            for _cell in row.cells:
                done += 1
        return done

    def get(self, keys: Sequence[bytes]) -> int:
        column = self._columns[-1]
        get = self._table.get
        found = 0
        for key in keys:
            row = get(key, (column,))
            found += row is not None and row.value(column) is not None
        return found

    def get_many(self, keys: Sequence[bytes]) -> int:
        """Reads one column of the rows, with one call for a hundred rows."""
        column = self._columns[-1]
        found = 0
        for at in range(0, len(keys), 100):
            rows_read = self._table.get_many(keys[at : at + 100], (column,))
            found += sum(row is not None for row in rows_read)
        return found

    def close(self) -> None:
        self._store.close()


class RawRocks(Contender):
    """rocksdict as a Python programmer uses it directly: raw mode and write batches."""

    def __init__(self, path: Path, rows: Rows) -> None:
        super().__init__(path, rows)
        self._db = rocksdict.Rdict(str(path / "raw"), rocksdict.Options(raw_mode=True))
        self._family = self._db.create_column_family(FAMILY, rocksdict.Options(raw_mode=True))
        self._handle = self._db.get_column_family_handle(FAMILY)

    def put(self) -> int:
        qualifiers, handle, db = self.rows.qualifiers, self._handle, self._db
        source = iter(self.rows)
        while chunk := list(islice(source, self.rows.batch)):
            batch = rocksdict.WriteBatch(raw_mode=True)
            for key, values in chunk:
                for qualifier, value in zip(qualifiers, values, strict=True):
                    batch.put(key + qualifier, value, handle)
            db.write(batch)
        self._family.flush()
        return self.rows.cells

    def scan(self) -> int:
        done = 0
        for _key, _value in self._family.items():
            done += 1
        return done

    def get(self, keys: Sequence[bytes]) -> int:
        qualifier, get = self.rows.qualifiers[-1], self._family.get
        found = 0
        for key in keys:
            found += get(key + qualifier) is not None
        return found

    def get_many(self, keys: Sequence[bytes]) -> int:
        """Reads one column of the rows, with one call for a hundred rows."""
        qualifier = self.rows.qualifiers[-1]
        found = 0
        for at in range(0, len(keys), 100):
            rows_read = self._family.get([key + qualifier for key in keys[at : at + 100]])
            assert isinstance(rows_read, list)
            found += sum(value is not None for value in rows_read)
        return found

    def close(self) -> None:
        del self._family, self._handle
        self._db.close()


class Sqlite(Contender):
    """SQLite with the table that suits this data: clustered by (row, column, inverted time)."""

    # Found by trying: pages of 4 to 64 KB, caches, and logs of several sizes, for both row sets.
    SETTINGS = (
        "PRAGMA page_size = 8192",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA cache_size = -262144",
        "PRAGMA mmap_size = 2147483648",
        "PRAGMA temp_store = MEMORY",
        "PRAGMA wal_autocheckpoint = 16000",
    )

    def __init__(self, path: Path, rows: Rows) -> None:
        super().__init__(path, rows)
        self._db = sqlite3.connect(path / "cells.sqlite", isolation_level=None)
        for setting in self.SETTINGS:
            self._db.execute(setting).fetchall()
        self._db.execute(
            "CREATE TABLE cells (row BLOB, column BLOB, inverted INTEGER, value BLOB,"
            " PRIMARY KEY (row, column, inverted)) WITHOUT ROWID"
        )
        self._columns = [FAMILY.encode() + b":" + each for each in rows.qualifiers]

    def put(self) -> int:
        columns, db, inverted = self._columns, self._db, 2**63 - 1 - TIMESTAMP
        source = iter(self.rows)
        while chunk := list(islice(source, self.rows.batch)):
            db.execute("BEGIN")
            db.executemany(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)",
                (
                    (key, column, inverted, value)
                    for key, values in chunk
                    for column, value in zip(columns, values, strict=True)
                ),
            )
            db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return self.rows.cells

    def scan(self) -> int:
        done = 0
        cells = self._db.execute(
            "SELECT row, column, 9223372036854775807 - inverted, value FROM cells"
            " ORDER BY row, column, inverted"
        )
        for _row, _column, _timestamp, _value in cells:
            done += 1
        return done

    def get(self, keys: Sequence[bytes]) -> int:
        column, execute = self._columns[-1], self._db.execute
        found = 0
        for key in keys:
            cell = execute(
                "SELECT 9223372036854775807 - inverted, value FROM cells"
                " WHERE row = ? AND column = ? ORDER BY inverted LIMIT 1",
                (key, column),
            ).fetchone()
            found += cell is not None
        return found

    def close(self) -> None:
        self._db.close()
