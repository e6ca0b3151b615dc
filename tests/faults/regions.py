"""Moves, splits and merges regions, and waits until a table is whole."""

from __future__ import annotations

import random
import time

from webtable import Region, Store, Table
from webtable.errors import RetryableError
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.meta import Place
from webtable.store.hbase.proto import base_pb2, master_pb2

__all__ = ["RegionHand"]

FEWEST, MOST = 3, 9
WHOLE_SECONDS = 120


class RegionHand:
    """Works on the regions of one table."""

    def __init__(self, store: Store, table: str) -> None:
        self.table: Table = store.table(table)
        engine = store._engine
        assert isinstance(engine, HBaseEngine)
        self._engine = engine

    def move(self, draw: random.Random) -> str:
        """Moves a region to another server, or lets the master choose one."""
        places = self._places()
        place = draw.choice(places)
        others = sorted(
            {(each.server, each.start_code) for each in places if each.server != place.server}
        )
        request = b"\x0a" + _delimited(self._specifier(place))
        where = "wherever"
        if others:
            server, start_code = draw.choice(others)
            name = base_pb2.ServerName(
                host_name=server.host, port=server.port, start_code=start_code
            )
            request += b"\x12" + _delimited(name.SerializeToString())
            where = str(server)
        self._call("MoveRegion", request)
        return f"{place.encoded_name.decode()} from {place.server} to {where}"

    def move_anywhere(self) -> None:
        """Moves every region to a server of the master's choice."""
        for place in self._places():
            self._call("MoveRegion", b"\x0a" + _delimited(self._specifier(place)))

    def split(self, at: bytes) -> str:
        """Splits the region that holds a row key there, unless there are many already."""
        if len(self._places()) >= MOST:
            return "not: enough regions"
        self._engine._admin.split(self.table.name, at)
        return str(at)

    def merge(self, draw: random.Random) -> str:
        """Merges two neighbours, unless there are few regions already."""
        places = self._places()
        if len(places) <= FEWEST:
            return "not: few regions"
        at = draw.randrange(len(places) - 1)
        request = b"".join(
            b"\x0a" + _delimited(self._specifier(place)) for place in places[at : at + 2]
        )
        self._call("MergeTableRegions", request)
        return " ".join(place.encoded_name.decode() for place in places[at : at + 2])

    def regions(self) -> list[Region]:
        """Returns the regions as they are now."""
        return self.table.regions()

    def wait_until_whole(self) -> None:
        """Waits until every region of the table answers."""
        end = time.monotonic() + WHOLE_SECONDS
        while True:
            try:
                for region in self.table.regions():
                    self.table.get(region.start or b"\0")
                return
            except RetryableError:
                if time.monotonic() > end:
                    raise

    def _places(self) -> list[Place]:
        return self._engine._admin._places(self.table.name)

    def _specifier(self, place: Place) -> bytes:
        return base_pb2.RegionSpecifier(
            type=base_pb2.RegionSpecifier.ENCODED_REGION_NAME, value=place.encoded_name
        ).SerializeToString()

    def _call(self, method: str, request: bytes) -> None:
        cluster = self._engine._cluster
        message = master_pb2.ListNamespacesRequest.FromString(request)
        attempts = cluster.attempts(self.table.name)
        cluster.call_master(method, message, master_pb2.ListNamespacesResponse, attempts)


def _delimited(data: bytes) -> bytes:
    assert len(data) < 128
    return bytes([len(data)]) + data
