"""The regions of tables as the meta table has them, also those that no server has just now.

`meta` and `region_cache` find the server of a row key, quickly and for open regions only;
administration reads all of them, with their states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from webtable.errors import NotFound, RegionBusy, TableDisabled, TableNotFound
from webtable.store.admin import region_name
from webtable.store.admin_results import CompactionState, Region
from webtable.store.cells_and_rows import Row
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.tables import TableAdmin
from webtable.store.hbase.cluster.meta import (
    Place,
    region_of,
    region_scan,
    table_of,
    unreadable_row,
)
from webtable.store.hbase.proto import base_pb2, client_pb2, status_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.errors_and_responses import Server

__all__ = ["RegionList", "RegionRow", "ServerId"]

MEGABYTE = 1 << 20
OPEN = "OPEN"
_COLUMNS = (b"regioninfo", b"server", b"serverstartcode", b"state")
_COMPACTIONS: dict[int, CompactionState] = {0: "NONE", 1: "MINOR", 2: "MAJOR", 3: "MAJOR_AND_MINOR"}


class ServerId(NamedTuple):
    """The name of a server in administration: started again at its address, it is another one."""

    host: str
    port: int
    start_code: int

    def __str__(self) -> str:
        return f"{self.host},{self.port},{self.start_code}"

    @property
    def address(self) -> Server:
        """Where it is."""
        return Server(self.host, self.port)

    def message(self) -> base_pb2.ServerName:
        """Returns it as messages carry it."""
        return base_pb2.ServerName(host_name=self.host, port=self.port, start_code=self.start_code)

    @classmethod
    def of(cls, message: base_pb2.ServerName) -> ServerId:
        """Returns the server that a message names."""
        return cls(message.host_name, message.port, message.start_code)


class RegionRow(NamedTuple):
    """A region's row in the meta table; `server` is None while no server has it."""

    name: bytes
    table: bytes
    start: bytes
    stop: bytes
    region_id: int
    server: ServerId | None
    state: str

    @property
    def encoded_name(self) -> str:
        """The hash that names the region in administration."""
        return self.name.rstrip(b".").rpartition(b".")[2].decode()

    @property
    def specifier(self) -> base_pb2.RegionSpecifier:
        """The region as requests to the master name it."""
        kind = base_pb2.RegionSpecifier.ENCODED_REGION_NAME
        return base_pb2.RegionSpecifier(type=kind, value=self.encoded_name.encode())

    @property
    def whole_specifier(self) -> base_pb2.RegionSpecifier:
        """The region by its whole name, which some requests take only."""
        kind = base_pb2.RegionSpecifier.REGION_NAME
        return base_pb2.RegionSpecifier(type=kind, value=self.name)

    def place(self) -> Place | None:
        """Returns the region as calls to it need it; None while no server has it."""
        if self.server is None:
            return None
        address, code = self.server.address, self.server.start_code
        return Place(self.name, self.table, self.start, self.stop, self.region_id, address, code)

    def region(self, table: str, load: status_pb2.RegionLoad | None) -> Region:
        """Returns the region as a public value, with its load where a server reported it."""
        figures = load or status_pb2.RegionLoad()
        return Region(
            table=table,
            name=self.encoded_name,
            start=self.start,
            stop=self.stop,
            server=str(self.server) if self.server else None,
            size_bytes=figures.storefile_size_MB * MEGABYTE if load else None,
            full_name=self.name,
            state=self.state,
            memory_bytes=figures.mem_store_size_MB * MEGABYTE if load else None,
            store_files=figures.storefiles if load else None,
            reads=figures.read_requests_count if load else None,
            writes=figures.write_requests_count if load else None,
            locality=figures.data_locality if load else None,
            compaction=compaction_of(figures),
            last_major_compaction_ms=figures.last_major_compaction_ts or None,
        )


def compaction_of(load: status_pb2.RegionLoad) -> CompactionState | None:
    """Returns what a region is compacting; None where its server does not report it."""
    return _COMPACTIONS[load.compaction_state] if load.HasField("compaction_state") else None


class RegionList:
    """Finds regions in the meta table, as they are now."""

    def __init__(self, master: MasterClient, tables: TableAdmin) -> None:
        self._master = master
        self._tables = tables

    def of_table(self, full: bytes) -> list[RegionRow]:
        """Returns the regions of a table in key order, in any state.

        Raises:
            TableNotFound: there is no such table.
        """
        scan = region_scan(_COLUMNS, b"%b,," % full, b"%b ,," % full)
        rows = self._scan(scan)
        if not rows:
            shown = self._master.shown_name(full)
            existing = self._master.table_names()
            if shown not in existing:
                raise TableNotFound(shown, existing)
        return rows

    def of_all_tables(self) -> list[RegionRow]:
        """Returns the regions of all tables that the store sees."""
        rows = self._scan(region_scan(_COLUMNS, b"", b""))
        return [row for row in rows if self._master.names.shown(row.table) is not None]

    def find(self, region: str | Region) -> RegionRow:
        """Returns a region as it is now.

        Raises:
            NotFound: there is no region of that name, or no longer.
        """
        name = region_name(region)
        if isinstance(region, Region) and region.full_name:
            found = self._scan(region_scan(_COLUMNS, region.full_name, region.full_name + b"\0"))
        else:
            # The whole name, as HBase shows it, ends in the short one.
            short = name.rstrip(".").rpartition(".")[2]
            found = [row for row in self.of_all_tables() if row.encoded_name == short]
        if not found:
            raise gone(name)
        return found[0]

    def _scan(self, scan: client_pb2.Scan) -> list[RegionRow]:
        def read(attempts: Attempts) -> list[RegionRow]:
            fresh = client_pb2.Scan()
            fresh.CopyFrom(scan)  # reading the next page changes it
            return list(_parsed(self._master.cluster.meta.rows(fresh, attempts.deadline)))

        return self._master.retry(read)

    # Regions in service

    def of_enabled_table(self, table: str) -> list[RegionRow]:
        """Returns the regions of a table in key order.

        Raises:
            TableDisabled: the table is not in service.
        """
        if not self._tables.is_enabled(table):
            raise TableDisabled(table)
        return self.of_table(self._master.full_name(table))

    def find_enabled(self, region: str | Region) -> RegionRow:
        """Returns a region of a table that is in service; the region itself may be moving.

        Raises:
            TableDisabled: its table is not in service.
        """
        row = self.find(region)
        if row.server is None:
            table = self._master.shown_name(row.table)
            if not self._tables.is_enabled(table):
                raise TableDisabled(table)
        return row

    def find_open(self, region: str | Region) -> RegionRow:
        """Returns a region that a server has.

        Raises:
            TableDisabled: its table is not in service.
            RegionBusy: no server has the region just now.
        """
        row = self.find_enabled(region)
        if row.server is None:
            raise RegionBusy(
                f"region '{row.encoded_name}' is {row.state}, not {OPEN}", hint="try again later"
            )
        return row


def gone(name: str) -> NotFound:
    """Returns the error for a region that is not there, or no longer."""
    hint = "list the regions again: it may have been split or merged"
    return NotFound("region", name, hint=hint)


def _parsed(rows: Iterator[Row]) -> Iterator[RegionRow]:
    for row in rows:
        region = region_of(row)
        if region is None:
            continue
        try:
            server = _server(row)
        except ValueError as exc:
            raise unreadable_row(row) from exc
        state = (row.value(b"info:state") or b"OPEN").decode("ascii", "replace")
        yield RegionRow(
            name=row.key,
            table=table_of(region),
            start=region.start_key,
            stop=region.end_key,
            region_id=region.region_id,
            server=server if state == OPEN else None,
            state=state,
        )


def _server(row: Row) -> ServerId | None:
    address, code = row.value(b"info:server"), row.value(b"info:serverstartcode")
    if not address:
        return None
    host, _, port = address.decode().rpartition(":")
    return ServerId(host, int(port), int.from_bytes(code or b"", "big"))
