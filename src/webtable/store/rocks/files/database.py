"""One RocksDB database on disk: opening it to write or to follow, column families, durability.

A store's directory holds RocksDB's files and three of our own: `WEBTABLE` and `WRITER` (see
`store_format_and_lock.py`), and `ACKNOWLEDGED` (see `acknowledged_writes.py`).
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from rocksdict import (
    AccessType,
    Cache,
    Checkpoint,
    ColumnFamily,
    DBRecoveryMode,
    Options,
    Rdict,
    WriteBatch,
    WriteOptions,
)

from webtable.errors import CorruptData
from webtable.loggers import SLOW_SECONDS, get_logger
from webtable.store.mutation import Durability
from webtable.store.rocks.files.acknowledged_writes import Marks, write_mark
from webtable.store.rocks.files.checkpoint_draft import checkpoint_draft, copy_file
from webtable.store.rocks.files.error_translation import translated
from webtable.store.rocks.files.file_options import WAL_LIMIT, Tuning, read_tunings
from webtable.store.rocks.files.follower import FellBehind, Follower, remove_dead_readers
from webtable.store.rocks.files.recorded_losses import note_loss
from webtable.store.rocks.files.store_format_and_lock import (
    FORMAT_FILE,
    WriterLock,
    check_format,
    is_made,
    remove_unmade,
)
from webtable.temporary_folders import remove_dead, scratch_folder

__all__ = ["Database"]

T = TypeVar("T")

_MIB = 1024 * 1024
_WRITE_BUFFERS = 256 * _MIB  # for the whole database, however many families it has
_BLOCK_CACHE = 64 * _MIB
_PAUSED = Tuning(is_paused=True)
_FLUSHING = ".flush-"

_log = get_logger("webtable.store.rocks")


class Database:
    """RocksDB behind our rules: one writer, any number of readers, our errors only.

    A thread holds `commits` while it reads and writes in one step, so that no other write
    comes between.
    """

    def __init__(self, path: str, *, read_only: bool, create: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.commits = threading.RLock()
        self.is_closed = False
        self._is_released = False
        self._cache = Cache(_BLOCK_CACHE)
        self._handles: dict[str, tuple[Rdict, ColumnFamily]] = {}
        self._tunings: dict[str, Tuning] = {}
        self._marks = Marks(path)
        self._follower = Follower(path, self._rocks)
        self._lock: WriterLock | None = None
        self._has_unlogged = False
        self._writes = {name: _write_options(name) for name in ("sync", "wal", "none")}
        check_format(path, create=create and not read_only)
        with translated(path), _timed("opening", path):
            self._root: Any = self._follower.open() if read_only else self._open_writer()

    # Opening

    def _open_writer(self) -> Rdict:
        self._lock = WriterLock(self.path)
        try:
            promise = self._marks.promised()
            remove_unmade(self.path)
            if self._lock.was_killed and is_made(self.path):
                # Check what its log recovers before anything is changed.
                reader = self._rocks(self.path, AccessType.read_only(False))
                recovered = reader.latest_sequence_number()
                reader.close()
                self._marks.check(promise, recovered)
            remove_dead_readers(self.path)
            remove_dead(Path(self.path), _FLUSHING)
            root = self._rocks(self.path, AccessType.read_write())
            try:
                recovered = root.latest_sequence_number()
                lost = self._marks.check(promise, recovered)
                if lost:
                    note_loss(self.path, lost)
                if self._lock.was_killed:
                    _log.info(
                        "store '%s' was not closed by its last writer; recovered from its"
                        " write-ahead log, up to sequence number %d",
                        *(self.path, recovered),
                    )
                self._marks.open(recovered)
            except BaseException:
                root.close()
                raise
        except BaseException:
            # The next process that opens it finds the same state.
            self._lock.release(is_clean=not self._lock.was_killed)
            raise
        return root

    def _rocks(self, path: str, access: AccessType) -> Rdict:
        exists = Path(path, "CURRENT").exists()
        names = Rdict.list_cf(path, Options(raw_mode=True)) if exists else ["default"]
        if not exists and any(Path(path).glob("MANIFEST-*")):
            raise CorruptData(
                f"store '{path}' has lost its file CURRENT",
                hint="restore the store from a checkpoint",
            )
        tunings = {} if self.read_only else read_tunings(path)
        # Nothing is merged before the compression is read from the schema, see `tune`.
        self._tunings = {name: tunings.get(name, _PAUSED) for name in names} | {"default": Tuning()}
        families = {name: each.options(self._cache) for name, each in self._tunings.items()}
        return Rdict(path, self._options(), families, access)

    def _options(self) -> Options:
        options = Options(raw_mode=True)
        options.create_if_missing(not self.read_only)
        options.set_db_write_buffer_size(_WRITE_BUFFERS)
        options.set_max_total_wal_size(WAL_LIMIT)
        # A write may skip the log; then all families must reach the disk together.
        options.set_atomic_flush(True)
        # Recovers up to the first damage; `Marks` detects if that was not everything.
        options.set_wal_recovery_mode(DBRecoveryMode.point_in_time())
        options.set_max_background_jobs(2)
        options.set_max_open_files(-1)
        # RocksDB would start sixteen threads for each column family to open its few files with.
        options.set_max_file_opening_threads(1)
        options.set_keep_log_file_num(2)
        options.set_max_log_file_size(_MIB)
        options.set_stats_dump_period_sec(0)
        options.set_stats_persist_period_sec(0)
        Tuning().shape(options, self._cache)
        return options

    # Column families

    def family(self, name: str) -> tuple[Rdict, ColumnFamily]:
        """Returns a RocksDB column family by its name.

        Raises:
            FellBehind: it is newer than the list of files that a follower has.
        """
        if name not in self._handles:
            try:
                rocks = self._root.get_column_family(name)
            except Exception as exc:
                if not self.read_only:
                    raise
                raise FellBehind(self.path) from exc
            self._handles[name] = (rocks, self._root.get_column_family_handle(name))
        return self._handles[name]

    def family_names(self) -> list[str]:
        """Returns the names of all RocksDB column families but the default one."""
        return [name for name in Rdict.list_cf(self.path, self._options()) if name != "default"]

    def create_family(self, name: str, tuning: Tuning) -> None:
        """Creates a RocksDB column family, whose files are written with `tuning`."""
        self._root.create_column_family(name, tuning.options(self._cache)).close()
        self._tunings[name] = tuning

    def tune(self, name: str, tuning: Tuning) -> None:
        """Chooses how the files of a family are written from now on, and lets them merge."""
        if self.read_only:
            return
        changes = tuning.changes(self._tunings.get(name, _PAUSED))
        # It takes RocksDB ten milliseconds where there are thirty families.
        if changes:
            self.family(name)[0].set_options(changes)
            self._tunings[name] = tuning

    def drop_family(self, name: str) -> None:
        """Drops a RocksDB column family; reads under way keep what they have open."""
        self._handles.pop(name, None)
        self._root.drop_column_family(name)

    @property
    def root(self) -> Any:
        """The default column family, where the catalog is."""
        return self._root

    # Reading and writing

    def pin(self, open_all: Callable[[], T]) -> T:
        """Calls `open_all`, which opens iterators, so that all of them show one moment."""
        if self.read_only:
            with self.commits:
                return open_all()
        sequence = self._root.latest_sequence_number
        for _ in range(100):
            before = sequence()
            opened = open_all()
            if sequence() == before:
                return opened
        with self.commits:
            return open_all()

    def write(self, batch: WriteBatch, durability: Durability) -> None:
        """Commits a batch over any number of families as one atomic step."""
        with self.commits:
            if durability == "none" and not self._has_unlogged:
                self._marks.move_unlogged(is_unlogged=True)
                self._has_unlogged = True
            self._root.write(batch, self._writes[durability])
            if durability != "none":
                self._marks.move(self._root.latest_sequence_number(), synced=durability == "sync")

    def flush(self, names: list[str]) -> None:
        """Writes these column families' memory to files."""
        with self.commits, _timed("flushing", self.path):
            self.flush_unlogged()
            for name in names:
                self.family(name)[0].flush()
            self._marks.move_list()

    def compact(self, rocks: Rdict, start: bytes | None = None, stop: bytes | None = None) -> None:
        """Lets RocksDB merge the files of a column family, or of a range of its keys."""
        with _timed("compacting a column family", self.path):
            rocks.compact_range(start, stop)
        with self.commits:
            if not self.is_closed:
                self._marks.move_list()

    def flush_unlogged(self) -> None:
        """Writes all memory to files if some of it is not in the log."""
        if not self._has_unlogged:
            return
        # rocksdict flushes one column family at a time. A checkpoint flushes all of them in one
        # atomic step, which is what keeps rows whole that were written without the log.
        with scratch_folder(_FLUSHING, self.path) as folder:
            Checkpoint(self._root).create_checkpoint(str(folder / "copy"))
        self._note_all_flushed()

    def _note_all_flushed(self) -> None:
        self._marks.move_list()
        if self._has_unlogged:
            self._marks.move_unlogged(is_unlogged=False)
            self._has_unlogged = False

    def checkpoint(self, target: str) -> None:
        """Writes a consistent copy of the store to a new directory."""
        with _timed("copying", self.path), checkpoint_draft(self.path, target) as draft:
            if self.read_only:
                self._copy_files(draft)
                return
            with self.commits:
                Checkpoint(self._root).create_checkpoint(str(draft))
                self._note_all_flushed()
                sequence = self._root.latest_sequence_number()
                self._marks.move_list()
            write_mark(str(draft), sequence)
            shutil.copy(Path(self.path, FORMAT_FILE), draft / FORMAT_FILE)

    def _copy_files(self, draft: Path) -> None:
        """Copies the files beside a writer, and replays the log into the copy."""
        follower = Follower(self.path, self._rocks)
        try:
            promise = follower.copy_to(draft)
        except FileNotFoundError as exc:
            shutil.rmtree(draft, ignore_errors=True)
            raise FellBehind(self.path) from exc
        finally:
            follower.close()
        for options in Path(self.path).glob("OPTIONS-*[0-9]"):
            with contextlib.suppress(FileNotFoundError):
                copy_file(options, draft / options.name)
        shutil.copy(Path(self.path, FORMAT_FILE), draft / FORMAT_FILE)
        copy = Database(str(draft), read_only=False, create=False)
        try:
            self._marks.check(promise, copy.root.latest_sequence_number())
        finally:
            copy.close()

    def catch_up(self) -> bool:
        """Lets a follower see what the writer has written by now.

        Returns whether it could; otherwise it must be opened again.
        """
        with self.commits:
            return self._follower.catch_up()

    def reopen(self) -> None:
        """Opens a follower again, also so that it sees new column families."""
        with self.commits:
            self._handles.clear()
            self._root = self._follower.open()
        _log.debug("store '%s' was opened again to follow its writer", self.path)

    # Closing

    def close(self) -> None:
        """Closes the database; a writer flushes first, so that the next opening is quick."""
        with self.commits:
            self.is_closed = True
            if self._is_released:
                return
            self._is_released = True
            is_clean = False
            try:
                if not self.read_only:
                    self.flush(list(self._handles))
                    self._root.flush()
                    self._marks.move(self._root.latest_sequence_number(), synced=True)
                is_clean = True
            finally:
                self._release()
                self._marks.close()
                if self._lock is not None:
                    self._lock.release(is_clean=is_clean)

    def _release(self) -> None:
        # rocksdict flushes once more and may fail at that again; it releases the files
        # nevertheless.
        for rocks, _ in self._handles.values():
            with contextlib.suppress(Exception):
                rocks.close()
        self._handles.clear()
        with contextlib.suppress(Exception):
            self._root.close()
        self._follower.close()


@contextlib.contextmanager
def _timed(what: str, path: str) -> Iterator[None]:
    """Logs work that takes long."""
    began = time.monotonic()
    yield
    seconds = time.monotonic() - began
    if seconds > SLOW_SECONDS:
        _log.info("slow operation: %s store '%s' took %.1f s", what, path, seconds)


def _write_options(durability: str) -> Any:
    options: Any = WriteOptions()  # its stub takes the attribute disable_wal for a method
    options.sync = durability == "sync"
    options.disable_wal = durability == "none"
    return options
