"""Which partition a record belongs to: a number in front of its row key, from its entity key.

On-disk: changing `HashPartitioner` needs a new name for it. Frozen by golden tests.

    row key    partition, 1 byte (2 if there are more than 256) | key

A hash spreads entities over partitions, and so over the regions of a table, while all records of
one entity stay together.
"""

from __future__ import annotations

import zlib
from typing import Protocol, runtime_checkable

from webtable.errors import InvalidRequest

__all__ = ["DEFAULT_PARTITIONS", "MOST_PARTITIONS", "HashPartitioner", "Partitioner", "Partitions"]

DEFAULT_PARTITIONS = 16
MOST_PARTITIONS = 65_536


@runtime_checkable
class Partitioner(Protocol):
    """Chooses a partition for an entity key.

    Attributes:
        name: identifies the rule; stored with the table, which no other partitioner may open.
    """

    name: str

    def partition(self, entity_key: bytes, partitions: int) -> int:
        """Returns a number from 0 to `partitions` - 1, the same one for the same key for ever."""


class HashPartitioner:
    """The default: CRC-32 of the entity key, modulo the number of partitions."""

    name = "crc32"

    def partition(self, entity_key: bytes, partitions: int) -> int:
        """Returns the partition of an entity."""
        return zlib.crc32(entity_key) % partitions

    def __repr__(self) -> str:
        return "HashPartitioner()"


class Partitions:
    """A number of partitions, and the bytes that stand for each in front of a row key."""

    __slots__ = ("count", "partitioner", "prefixes", "width")

    def __init__(self, count: int, partitioner: Partitioner) -> None:
        if type(count) is not int or not 1 <= count <= MOST_PARTITIONS:
            raise InvalidRequest(
                f"{count!r:.40} partitions", hint=f"a whole number from 1 to {MOST_PARTITIONS:,}"
            )
        if not isinstance(partitioner, Partitioner):
            raise InvalidRequest(
                f"{partitioner!r:.80} is not a partitioner",
                hint="it needs a name and a method partition(entity_key, partitions)",
            )
        self.count = count
        self.partitioner = partitioner
        self.width = 1 if count <= 256 else 2
        self.prefixes = [number.to_bytes(self.width, "big") for number in range(count)]

    def prefix(self, entity_key: bytes) -> bytes:
        """Returns the prefix of the row keys of an entity.

        Raises:
            InvalidRequest: the partitioner returned no valid number.
        """
        number = self.partitioner.partition(entity_key, self.count)
        try:
            if number >= 0:
                return self.prefixes[number]
        except (IndexError, TypeError):
            pass
        raise InvalidRequest(
            f"partitioner '{self.partitioner.name}' chose partition {number!r:.40}",
            hint=f"it must return a whole number from 0 to {self.count - 1}",
        )

    def splits(self) -> list[bytes]:
        """Returns the keys at which a new table is split, one region a partition."""
        return self.prefixes[1:]
