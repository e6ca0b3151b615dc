"""Reading every block of a family's files, so that RocksDB compares each with its checksum."""

from __future__ import annotations

from rocksdict import ReadOptions

from webtable.errors import CorruptData
from webtable.store.rocks.cell_keys import unescape
from webtable.store.rocks.open_tables import OpenFamily

__all__ = ["check_blocks"]

_READAHEAD_BYTES = 1024 * 1024
_EVERY = 256  # cells between two checks of the position


def check_blocks(table: str, family: OpenFamily) -> int:
    """Reads all that the files of a family hold, hidden cells too; returns how many cells.

    Raises:
        CorruptData: a block does not have its checksum.
    """
    options = ReadOptions()
    options.set_verify_checksums(True)
    options.fill_cache(False)  # type: ignore[call-arg] # the stub forgets it
    options.set_readahead_size(_READAHEAD_BYTES)
    seeker = family.rocks.iter(options)
    seeker.seek_to_first()
    count, key = 0, b""
    while seeker.valid():
        if not count % _EVERY:
            key = seeker.key()
        count += 1
        seeker.next()
    try:
        seeker.status()
    except Exception as exc:
        if type(exc) is not Exception:  # rocksdict raises a bare `Exception` for errors of RocksDB
            raise
        where = f"after row {unescape(key.partition(bytes(1))[0])!r:.80}" if key else "at its start"
        raise CorruptData(
            f"table '{table}', family '{family.schema.name}', {where}: {exc}",
            hint="check the disk, then restore the store from a checkpoint",
        ) from exc
    return count
