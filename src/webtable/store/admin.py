"""Administration at the seam: regions, servers, namespaces, snapshots. An engine hands it out.

Tables are created, changed and dropped through `Store`; everything else that looks after a cluster
is here, as `store.admin`. The contract, for every engine:

- A call returns when its work is done, also where the cluster works on it in the
  background; the few with an option not to wait name it. When its time is up it raises `Timeout`:
  the work goes on in the cluster, and calling again is safe.
- A call that is sent again, because a master or a server stopped, starts nothing twice.
- A figure that the engine does not have is None, never a guess. Sizes from HBase are in whole
  megabytes, rounded up; the figures of servers are as old as their last report (seconds).
- An unknown table is `TableNotFound`, an unknown region, server, snapshot or namespace `NotFound`,
  and what an engine cannot do is an `InvalidRequest` whose hint is what to do instead: see
  `Capabilities`.
- A region is given by its name, or as the `Region` that `regions` returned, which is quicker. A
  server is given by its name, or as `host:port`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence

from webtable.errors import InvalidRequest
from webtable.store.admin_results import (
    ClusterReport,
    CompactionState,
    Namespace,
    Region,
    RegionServer,
    TableStats,
)
from webtable.store.cluster_admin import ClusterAdmin

__all__ = [
    "Admin",
    "check_namespace_name",
    "check_regions",
    "check_snapshot_name",
    "region_name",
]

_NAMESPACE_NAME = re.compile(r"[A-Za-z0-9_]{1,100}")
_SNAPSHOT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class Admin(ClusterAdmin, ABC):
    """What can be done to a cluster beyond its tables. See the module's contract."""

    # Tables and namespaces

    @abstractmethod
    def enable_table(self, table: str) -> None:
        """Puts a table into service; nothing happens where it is already."""

    @abstractmethod
    def disable_table(self, table: str) -> None:
        """Takes a table out of service: reads and writes of it raise `TableDisabled`.

        Its data and schema stay. Nothing happens where it is disabled already.
        """

    @abstractmethod
    def is_enabled(self, table: str) -> bool:
        """Whether a table is in service."""

    @abstractmethod
    def namespaces(self) -> list[Namespace]:
        """Returns the namespaces in the order of their names; `default` is always there."""

    @abstractmethod
    def create_namespace(self, name: str, properties: Mapping[str, str] | None = None) -> None:
        """Creates a namespace. Creating a table in one creates it too.

        Raises:
            AlreadyExists: a namespace of that name exists.
        """

    @abstractmethod
    def drop_namespace(self, name: str) -> None:
        """Removes a namespace.

        Raises:
            NotFound: no namespace has that name.
            InvalidRequest: it has tables, or is one of HBase's own.
        """

    # Regions

    @abstractmethod
    def regions(self, table: str | None = None, *, server: str | None = None) -> list[Region]:
        """Returns the regions of a table in key order, or of all tables, with their load.

        Args:
            table: None means all tables that the store sees, one after another by name.
            server: only those on this server.
        """

    @abstractmethod
    def region(self, name: str) -> Region:
        """Returns one region as it is now."""

    @abstractmethod
    def stats(self, table: str) -> TableStats:
        """Returns the sizes of a table, without reading the data."""

    @abstractmethod
    def move(self, region: str | Region, server: str | None = None) -> str:
        """Moves a region to a server, or to the one with the fewest regions; returns its name."""

    @abstractmethod
    def split(self, table: str, at: bytes | None = None) -> None:
        """Splits a table's region at a row key, with which a new one then begins.

        Without a key every region that is large enough is split in the middle.
        """

    @abstractmethod
    def split_region(self, region: str | Region, at: bytes | None = None) -> None:
        """Splits a region at a row key, or in the middle of its data.

        Raises:
            InvalidRequest: the key is not inside the region, or it has no middle yet.
        """

    @abstractmethod
    def merge(self, regions: Sequence[str | Region]) -> None:
        """Makes one region of two or more that follow one another in a table.

        Raises:
            InvalidRequest: they do not, or one still shares files with its parent of a split.
        """

    # Upkeep

    @abstractmethod
    def flush(self, table: str, family: str | None = None) -> None:
        """Writes what is in memory to files, of a table or of one family of it.

        Afterwards `none` writes are durable too.
        """

    @abstractmethod
    def flush_region(self, region: str | Region, family: str | None = None) -> None:
        """Writes what one region, or one family of it, has in memory to files."""

    @abstractmethod
    def flush_server(self, server: str) -> None:
        """Writes what the regions of one server have in memory to files.

        Those of the tables that this store sees.
        """

    @abstractmethod
    def compact(
        self, table: str, family: str | None = None, *, major: bool = False, wait: bool = True
    ) -> None:
        """Merges files of a table, or of one family of it.

        Args:
            major: flush, then rewrite everything without deleted, expired and surplus cells.
            wait: return when it is done, not when the request was accepted.
        """

    def compact_in_steps(self, table: str, family: str) -> Generator[None, None, None]:
        """Major-compacts one family, and yields between steps of at most some seconds.

        What was done stays done if the caller does not continue. A cluster has one step.
        """
        self.compact(table, family, major=True)
        yield

    @abstractmethod
    def compact_region(
        self,
        region: str | Region,
        family: str | None = None,
        *,
        major: bool = False,
        wait: bool = True,
    ) -> None:
        """Merges files of one region; see `compact`."""

    def purge_row(self, table: str, row: bytes) -> bool:
        """Removes the delete markers of one row, of any age, with everything that they hide.

        Returns False, and does nothing, where only a major compaction can: on a cluster.
        """
        return False

    def check_files(self, table: str) -> None:
        """Reads every block of a table's files, and compares it with its checksum.

        Does nothing on a cluster, whose servers check each block that is read.

        Raises:
            CorruptData: one does not have its checksum; it names the family, a row nearby and
                the file.
        """

    @abstractmethod
    def compaction_state(self, table: str) -> CompactionState:
        """Returns what is being compacted in a table, over all its regions."""

    # Servers

    @abstractmethod
    def report(self) -> ClusterReport:
        """Returns the cluster as its master sees it: servers with their load, and more."""

    def servers(self) -> list[RegionServer]:
        """Returns the servers that are alive, by name, with their load."""
        return list(self.report().servers)


def check_namespace_name(name: str) -> str:
    """Returns the name if a namespace can have it.

    Raises:
        InvalidRequest: it cannot.
    """
    if not isinstance(name, str) or not _NAMESPACE_NAME.fullmatch(name):
        raise InvalidRequest(
            f"namespace name {name!r:.120} is not valid", hint="1 to 100 letters, digits and '_'"
        )
    return name


def check_snapshot_name(name: str) -> str:
    """Returns the name if a snapshot can have it.

    Raises:
        InvalidRequest: it cannot.
    """
    if not isinstance(name, str) or not _SNAPSHOT_NAME.fullmatch(name):
        raise InvalidRequest(
            f"snapshot name {name!r:.220} is not valid",
            hint="use letters, digits, '_', '-' and '.', not '-' or '.' first, at most 200",
        )
    return name


def region_name(region: str | Region) -> str:
    """Returns the name of a region that was given by its name, or as it was listed.

    Raises:
        InvalidRequest: it is neither.
    """
    if isinstance(region, Region):
        return region.name
    if not isinstance(region, str):
        raise InvalidRequest(
            f"region {region!r:.80} is not valid", hint="give its name, or a Region of the list"
        )
    return region


def check_regions(regions: Sequence[str | Region]) -> list[str | Region]:
    """Returns several regions as a list.

    Raises:
        InvalidRequest: fewer than two regions are given.
    """
    if isinstance(regions, (str, Region)) or not isinstance(regions, Iterable):
        raise InvalidRequest(
            f"regions {regions!r:.80} is not a list", hint="give a list of at least two regions"
        )
    return list(regions)
