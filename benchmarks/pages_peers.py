"""Other programs on the same WARC files: warcdb, cdxj-indexer, and SQLite with our tables.

The first two are installed from PyPI into an environment of their own, `build/pages-peers`. They do
less than a load: warcdb stores records in SQLite without links or versions, cdxj-indexer writes a
line for each record and stores nothing. `sqlite_load` stores the same data as a load, parsed by the
same processes, in ordinary tables and indexes.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from webtable.pages.loading.capture_batches import Task
from webtable.pages.loading.workers import Workers
from webtable.pages.page import NewCapture, metadata_of

__all__ = ["Peer", "peers"]

PEERS = Path("build/pages-peers")
PACKAGES = ("warcdb", "cdxj-indexer")
LIMIT_SECONDS = 3_600

_TABLES = """
CREATE TABLE pages (url TEXT PRIMARY KEY, title, status, last_modified, fetched, size, type, digest,
  charset, canonical, redirect, robots, outlinks, domain);
CREATE TABLE captures (url, fetched, digest, status, size, type, redirect,
  PRIMARY KEY (url, fetched, digest)) WITHOUT ROWID;
CREATE TABLE content (url, fetched, digest, html BLOB, PRIMARY KEY (url, fetched));
CREATE TABLE outlinks (url, fetched, digest, urls BLOB, PRIMARY KEY (url, fetched));
CREATE INDEX by_time ON pages (last_modified);
CREATE INDEX by_size ON pages (size);
CREATE INDEX by_links ON pages (outlinks);
CREATE INDEX by_domain ON pages (domain, last_modified);
CREATE INDEX by_status ON pages (status);
CREATE INDEX by_digest ON pages (digest);
"""


class Peer(NamedTuple):
    """The result of one peer: captures per second, and bytes on disk."""

    rate: float
    disk_bytes: int


def peers(files: Sequence[Path], scratch: Path, captures: int) -> dict[str, Peer]:
    """Loads the files with each peer; `captures` is the number of captures in the files."""
    folder = scratch / "peers"
    folder.mkdir(exist_ok=True)
    programs = _installed()
    found = {"SQLite": _timed(lambda: sqlite_load(files, folder / "pages.sqlite"), captures)}
    names = [str(path) for path in files]
    if programs is None:
        return found
    commands = {
        "warcdb": [str(programs / "warcdb"), "import", str(folder / "warcdb"), *names],
        "cdxj-indexer": [
            *(str(programs / "cdxj-indexer"), "--sort", "--output"),
            *(str(folder / "cdxj-indexer"), *names),
        ],
    }
    for name, command in commands.items():
        # warcdb does not support revisits, and fails at the first one.
        with suppress(subprocess.CalledProcessError):
            found[name] = _timed(partial(_run, command, folder / name), captures)
    return found


def _timed(work: Callable[[], int], captures: int) -> Peer:
    began = time.perf_counter()
    size = work()
    return Peer(captures / (time.perf_counter() - began), size)


def _run(command: list[str], made: Path) -> int:
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_SECONDS)
    return made.stat().st_size


def _installed() -> Path | None:
    """Returns the folder of the peers' programs; None if they cannot be installed."""
    programs = PEERS / "bin"
    if all((programs / name).exists() for name in PACKAGES):
        return programs.resolve()
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
    try:
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        subprocess.run([*pip, "--disable-pip-version-check", *PACKAGES], check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return programs.resolve()


def sqlite_load(files: Sequence[Path], path: Path) -> int:
    """Stores the data of a load in SQLite, and returns its size in bytes."""
    database = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -262144"):
        database.execute(f"PRAGMA {setting}").fetchall()
    database.executescript(_TABLES)
    with Workers([Task(str(file)) for file in files], 2) as workers:
        for batch in workers.batches():
            database.execute("BEGIN")
            for capture in batch.captures:
                _store(database, capture)
            database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    database.close()
    return path.stat().st_size


def _store(database: sqlite3.Connection, capture: NewCapture) -> None:
    note, info = capture.note, capture.info
    url, at, digest = capture.url, note.time, note.digest
    execute = database.execute
    row = (url, at, digest, note.status, note.size, note.type, note.redirect)
    execute("INSERT OR IGNORE INTO captures VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    newest = "SELECT digest FROM content WHERE url = ? ORDER BY fetched DESC LIMIT 1"
    before = execute(newest, (url,)).fetchone()
    if (before is None or before[0] != digest) and capture.body is not None and info is not None:
        packed = zlib.compress(capture.body, 6)
        execute("INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)", (url, at, digest, packed))
        links = zlib.compress(info.links.encode(), 6)
        execute("INSERT OR REPLACE INTO outlinks VALUES (?, ?, ?, ?)", (url, at, digest, links))
    if info is not None:
        stored = execute("SELECT fetched FROM pages WHERE url = ?", (url,)).fetchone()
        values = [each.decode() for each in metadata_of(capture, info, at).values()]
        if stored is None or stored[0] <= values[4]:
            marks = ", ".join("?" * 14)
            domain = url.split("/")[2]
            execute(f"INSERT OR REPLACE INTO pages VALUES ({marks})", (*values, domain))
