"""How the files of a RocksDB column family are written, and how RocksDB keeps that.

The catalog has the schema of a family, but it can be read only once the database is open, and then
RocksDB may be merging files already. So a family is opened as it was when it was open last: RocksDB
writes all options to a file `OPTIONS-*` before it uses them. Where that file is missing or differs
from the schema, nothing is merged before the schema was read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from rocksdict import BlockBasedOptions, Cache, DBCompressionType, Options

from webtable.store.schema import Compression, Family

__all__ = ["WAL_LIMIT", "Tuning", "read_tunings", "tuning_of"]

_MIB = 1024 * 1024
WAL_LIMIT = 128 * _MIB  # what opening after a crash has to replay at most

# RocksDB lacks some, and with zlib this build writes plain blocks; the nearest one replaces
# those. The schema stores what the user chose.
_COMPRESSION: dict[Compression, str] = {
    "NONE": "kNoCompression",
    "GZ": "kZSTD",
    "SNAPPY": "kSnappyCompression",
    "LZO": "kLZ4Compression",
    "LZ4": "kLZ4Compression",
    "BZIP2": "kBZip2Compression",
    "ZSTD": "kZSTD",
    "LZMA": "kZSTD",
    "BROTLI": "kZSTD",
}
_TYPES = {
    "kNoCompression": DBCompressionType.none,
    "kSnappyCompression": DBCompressionType.snappy,
    "kLZ4Compression": DBCompressionType.lz4,
    "kBZip2Compression": DBCompressionType.bz2,
    "kZSTD": DBCompressionType.zstd,
}


class Tuning(NamedTuple):
    """How a family's files are written, as settings of RocksDB.

    `is_paused` means that nothing is merged, because the schema is not read yet.
    """

    compression: str = "kNoCompression"
    block_size: int = 16 * 1024
    write_buffer_size: int = 64 * _MIB
    merged_files: int = 4  # level0_file_num_compaction_trigger
    is_paused: bool = False

    def options(self, cache: Cache) -> Options:
        """Returns options to open or create a family with."""
        options = Options(raw_mode=True)
        self.shape(options, cache)
        return options

    def shape(self, options: Options, cache: Cache) -> None:
        """Puts this into options."""
        blocks = BlockBasedOptions()
        blocks.set_block_cache(cache)
        blocks.set_block_size(self.block_size)
        blocks.set_format_version(5)
        options.set_block_based_table_factory(blocks)
        options.set_write_buffer_size(self.write_buffer_size)
        options.set_level_zero_file_num_compaction_trigger(self.merged_files)
        options.set_compression_type(_TYPES[self.compression]())
        options.set_disable_auto_compactions(self.is_paused)

    def changes(self, before: Tuning) -> dict[str, str]:
        """Returns the settings of an open family that differ from those of `before`."""
        earlier = before._settings()
        return {name: value for name, value in self._settings().items() if value != earlier[name]}

    def _settings(self) -> dict[str, str]:
        return {
            "compression": self.compression,
            "block_based_table_factory": f"{{block_size={self.block_size}}}",
            "write_buffer_size": str(self.write_buffer_size),
            "level0_file_num_compaction_trigger": str(self.merged_files),
            "disable_auto_compactions": "true" if self.is_paused else "false",
        }


def tuning_of(family: Family) -> Tuning:
    """Returns how the files of a family are to be written.

    Where the values are large, blocks are as large as the schema has it, because they are
    compressed as one; to merge their files seldom, and fewer of them, costs reads a little and
    saves most of the work of loading.
    """
    compression = _COMPRESSION[family.compression]
    # An encoding of keys means that the values are small.
    if family.compression == "NONE" or family.data_block_encoding != "NONE":
        return Tuning(compression)
    return Tuning(compression, family.blocksize, WAL_LIMIT, 12)


def read_tunings(path: str) -> dict[str, Tuning]:
    """Returns how each family of a database was written when it was open last.

    Families without such a section are left out.
    """
    newest = max(Path(path).glob("OPTIONS-*[0-9]"), key=_number, default=None)
    if newest is None:
        return {}
    try:
        text = newest.read_text(errors="surrogateescape")
    except OSError:
        return {}
    found = {}
    for section in text.split('\n[CFOptions "')[1:]:
        name, _, rest = section.partition('"]\n')
        tuning = _parse(rest)
        if tuning is not None:
            found[name] = tuning
    return found


_SETTINGS = re.compile(
    r"^\s*(compression|block_size|write_buffer_size|level0_file_num_compaction_trigger"
    r"|disable_auto_compactions)=(\w+)$",
    re.MULTILINE,
)


def _parse(section: str) -> Tuning | None:
    settings = dict(_SETTINGS.findall(section))
    try:
        tuning = Tuning(
            settings["compression"],
            int(settings["block_size"]),
            int(settings["write_buffer_size"]),
            int(settings["level0_file_num_compaction_trigger"]),
            {"true": True, "false": False}[settings["disable_auto_compactions"]],
        )
    except (KeyError, ValueError):
        return None
    return tuning if tuning.compression in _TYPES else None


def _number(file: Path) -> int:
    digits = file.name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else -1
