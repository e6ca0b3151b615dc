"""Moves, splits and merges the regions of a table, and waits until it is whole."""

from __future__ import annotations

import random
import time

from webtable import Region, Store
from webtable.errors import RetryableError

__all__ = ["RegionHand"]

FEWEST, MOST = 3, 9
WHOLE_SECONDS = 420
"""A region whose master died while it was closed waits until its old server reports again, which
pauses for up to 100 seconds in between."""


class RegionHand:
    """Works on the regions of one table."""

    def __init__(self, store: Store, table: str) -> None:
        self.table = store.table(table)
        self._admin = store.admin

    def move(self, draw: random.Random) -> str:
        """Moves a region to another server."""
        region = draw.choice(self.regions())
        return f"{region.name} from {region.server} to {self._admin.move(region)}"

    def split(self, at: bytes) -> str:
        """Splits the region that holds a row key there, unless there are many already."""
        if len(self.regions()) >= MOST:
            return "not: enough regions"
        self._admin.split(self.table.name, at)
        return str(at)

    def merge(self, draw: random.Random) -> str:
        """Merges two neighbours, unless there are few regions already."""
        regions = self.regions()
        if len(regions) <= FEWEST:
            return "not: few regions"
        at = draw.randrange(len(regions) - 1)
        self._admin.merge(regions[at : at + 2])
        return " ".join(region.name for region in regions[at : at + 2])

    def regions(self) -> list[Region]:
        """Returns the regions as they are now."""
        return self.table.regions()

    def wait_until_whole(self) -> None:
        """Waits until every region of the table responds."""
        end = time.monotonic() + WHOLE_SECONDS
        while True:
            try:
                for region in self.regions():
                    self.table.get(region.start or b"\0")
                return
            except RetryableError:
                if time.monotonic() > end:
                    raise
