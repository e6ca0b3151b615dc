"""Which server has which row: a cache of the meta table, table by table.

A cached place may be out of date at any time: a server reports it, or no longer responds, and
the place is dropped here and looked up again.
"""

from __future__ import annotations

import contextlib
import re
import threading
from bisect import bisect_left, bisect_right

from webtable.errors import TableDisabled, TableNotFound
from webtable.loggers import get_logger
from webtable.store.hbase.cluster.meta import MetaTable, Place
from webtable.store.hbase.cluster.table_names import Names
from webtable.store.hbase.proto import base_pb2
from webtable.store.hbase.retry import Deadline
from webtable.store.hbase.wire.errors_and_responses import RemoteError, RpcError, Server

__all__ = ["RegionCache"]

_FIRST_LOOKUP_REGIONS = 200
_MOVED = re.compile(r"hostname=(\S{1,255}) port=(\d{1,5})(?: startCode=(\d{1,19}))?")
_log = get_logger("webtable.store.hbase")
_DISABLED = (base_pb2.TableState.DISABLED, base_pb2.TableState.DISABLING)


class _Places:
    """The cached places of one table, by start key. Never changed, only replaced."""

    __slots__ = ("places", "starts")

    def __init__(self, places: list[Place]) -> None:
        self.places = places
        self.starts = [place.start for place in places]

    def find(self, row: bytes) -> Place | None:
        at = bisect_right(self.starts, row) - 1
        if at < 0:
            return None
        place = self.places[at]
        return place if not place.stop or row < place.stop else None

    def find_before(self, row: bytes) -> Place | None:
        at = (bisect_left(self.starts, row) if row else len(self.starts)) - 1
        return self.places[at] if at >= 0 and self.places[at].holds_before(row) else None

    def with_place(self, new: Place) -> _Places:
        # What the new one overlaps is older: regions overlap only after a split or a merge.
        kept = [
            place
            for place in self.places
            if (place.stop and place.stop <= new.start) or (new.stop and new.stop <= place.start)
        ]
        kept.append(new)
        kept.sort(key=lambda place: place.start)
        return _Places(kept)


class RegionCache:
    """Finds the region of a row key. Safe to use from many threads."""

    def __init__(self, meta: MetaTable, names: Names) -> None:
        self._meta = meta
        self._names = names
        self._tables: dict[bytes, _Places] = {}
        self._changing = threading.Lock()

    def cached(self, table: bytes, row: bytes) -> Place | None:
        """Returns the region that had a row key at the last lookup; None where that is unknown."""
        places = self._tables.get(table)
        return places.find(row) if places is not None else None

    def locate(self, table: bytes, row: bytes, deadline: Deadline) -> Place:
        """Returns the region that has a row key; b"" means the first one.

        Raises:
            TableNotFound: there is no such table.
            TableDisabled: the table is disabled.
            RpcError: it cannot be found out now.
        """
        place = self.cached(table, row)
        if place is not None:
            return place
        if table not in self._tables:
            # Most tables are used in more than one region, so the first lookup reads many.
            places = _Places(list(self._meta.regions(table, deadline, _FIRST_LOOKUP_REGIONS)))
            with self._changing:
                self._tables[table] = places
            place = places.find(row)
            if place is not None:
                return place
        return self._found(table, self._meta.region_of(table, row, deadline), deadline)

    def locate_before(self, table: bytes, row: bytes, deadline: Deadline) -> Place:
        """Returns the region that has the keys just before a row key; the last one for b"".

        Raises:
            As `locate`.
        """
        places = self._tables.get(table)
        place = places.find_before(row) if places is not None else None
        if place is not None:
            return place
        return self._found(table, self._meta.region_before(table, row, deadline), deadline)

    def all(self, table: bytes, deadline: Deadline) -> list[Place]:
        """Returns all regions of a table in key order, as they are now.

        Raises:
            As `locate`.
        """
        places = list(self._meta.regions(table, deadline))
        if not places:
            self.check_table(table, deadline)
        edges = [(place.start, place.stop) for place in places]
        if [b"", *(stop for _, stop in edges)] != [*(start for start, _ in edges), b""]:
            raise _under_way()
        with self._changing:
            self._tables[table] = _Places(places)
        return places

    def check_table(self, table: bytes, deadline: Deadline) -> None:
        """Makes sure that a table is there and enabled.

        Raises:
            TableNotFound: there is no such table.
            TableDisabled: the table is disabled.
        """
        state = self._meta.table_state(table, deadline)
        shown = self._names.shown(table) or table.decode()
        if state is None:
            self.forget(table)
            raise TableNotFound(shown, self.table_names(deadline))
        if state in _DISABLED:
            raise TableDisabled(shown)

    def table_names(self, deadline: Deadline) -> list[str]:
        """Returns the names of the tables that the store sees."""
        names = map(self._names.shown, self._meta.tables(deadline))
        return sorted(name for name in names if name is not None)

    def failed(self, place: Place, error: RpcError, deadline: Deadline) -> None:
        """Takes note that a region was not where it was thought to be.

        Raises:
            TableNotFound, TableDisabled: the table was dropped, or is disabled.
        """
        moved = _moved(error, place)
        # One hint is followed, not a second: of a region that was merged or split away, two servers
        # may report for minutes that the other one has it. The meta table is right.
        if moved is not None and moved.process != place.process and not place.is_hint:
            if self._keep(moved._replace(is_hint=True), instead_of=place):
                _log.info(
                    "region %s moved from server %s to %s",
                    *(_shown(place), place.server, moved.server),
                )
            return
        is_news = False
        with self._changing:
            places = self._tables.get(place.table)
            if places is not None:
                rest = [each for each in places.places if each.name != place.name]
                is_news = len(rest) < len(places.places)
                self._tables[place.table] = _Places(rest)
        if is_news:  # the first thread that met it
            _log.info(
                "region %s is looked up again: it was on server %s", _shown(place), place.server
            )
        if isinstance(error, RemoteError) and error.java_class == "NotServingRegionException":
            # The one error that also means "disabled" and "dropped".
            with contextlib.suppress(RpcError):
                self.check_table(place.table, deadline)

    def forget(self, table: bytes) -> None:
        """Drops the cached regions of a table."""
        with self._changing:
            self._tables.pop(table, None)

    def _found(self, table: bytes, place: Place | None, deadline: Deadline) -> Place:
        if place is not None:
            self._keep(place)
            return place
        self.check_table(table, deadline)
        raise _under_way()

    def _keep(self, place: Place, *, instead_of: Place | None = None) -> bool:
        """Stores a place; returns whether `instead_of` was stored until now."""
        with self._changing:
            places = self._tables.get(place.table) or _Places([])
            self._tables[place.table] = places.with_place(place)
        return instead_of in places.places


def _shown(place: Place) -> str:
    """Returns the name of a region as a text; it contains a row key, which may be any bytes."""
    return place.name.decode("utf-8", "backslashreplace")


def _under_way() -> RemoteError:
    """Returns the error for a region that no server has for the moment, as from a server."""
    return RemoteError("NotServingRegionException", "a region is being moved or split", None)


def _moved(error: RpcError, place: Place) -> Place | None:
    if not isinstance(error, RemoteError) or error.java_class != "RegionMovedException":
        return None
    moved = _MOVED.search(error.detail)
    if moved is not None:
        return place._replace(server=Server(moved[1], int(moved[2])), start_code=int(moved[3] or 0))
    if error.moved_to is not None:
        return place._replace(server=error.moved_to, start_code=0)
    return None
