"""The administration of a cluster, all parts of it together.

Each part stands on the one before: `procedures` (long work), `tables`, `region_rows` (which regions
there are), `servers`, `upkeep` (sizes, flushes, compactions), `region_work` (moves, splits,
merges), `snapshots`, `switches` (what the master does by itself), `server_upkeep`, `call_log`,
`zookeeper`.
"""

from __future__ import annotations

from webtable.store.admin import Admin
from webtable.store.hbase.zookeeper import ZooKeeperWork

__all__ = ["HBaseAdmin"]


class HBaseAdmin(ZooKeeperWork, Admin):
    """What an engine on a cluster does beyond rows. Safe to use from many threads."""
