"""WebTable keeps crawled web pages as Bigtable's Webtable did, and answers questions about them.

`webtable.open(location)` gives a `Store`, `store.table(name)` a `Table`; see `docs/` for the rest.
"""

from typing import TYPE_CHECKING

from webtable import filters
from webtable.errors import WebTableError
from webtable.store.admin import Admin
from webtable.store.engine import Capabilities, Engine
from webtable.store.load import (
    Balanced,
    ClusterReport,
    CompactionState,
    FamilyStats,
    Namespace,
    Region,
    RegionInTransition,
    RegionServer,
    Snapshot,
    TableStats,
)
from webtable.store.model import Cell, CellType, Row
from webtable.store.mutation import (
    Append,
    Check,
    CheckResult,
    CompareOp,
    Conditional,
    Delete,
    Durability,
    Increment,
    Mutation,
    Put,
)
from webtable.store.scan import ALL_VERSIONS, Get, Scan
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store
from webtable.store.store import open_store as open  # noqa: A004 - webtable.open is the public name
from webtable.store.table import Batch, Table

if TYPE_CHECKING:
    from webtable.store.cluster_load import (
        BalancerDecision,
        BalancerRejection,
        CacheCleared,
        ClusterLoad,
        CompactionQueue,
        RegionLoad,
        ReplicationSink,
        ReplicationSource,
        ServerLoad,
        ServerTask,
        SlowCall,
        Switch,
        ZooKeeperReport,
    )

__version__ = "0.1.0"

__all__ = [
    "ALL_VERSIONS",
    "Admin",
    "Append",
    "Balanced",
    "BalancerDecision",
    "BalancerRejection",
    "Batch",
    "CacheCleared",
    "Capabilities",
    "Cell",
    "CellType",
    "Check",
    "CheckResult",
    "ClusterLoad",
    "ClusterReport",
    "CompactionQueue",
    "CompactionState",
    "CompareOp",
    "Conditional",
    "Delete",
    "Durability",
    "Engine",
    "Family",
    "FamilyStats",
    "Get",
    "Increment",
    "Mutation",
    "Namespace",
    "Put",
    "Region",
    "RegionInTransition",
    "RegionLoad",
    "RegionServer",
    "ReplicationSink",
    "ReplicationSource",
    "Row",
    "Scan",
    "ServerLoad",
    "ServerTask",
    "SlowCall",
    "Snapshot",
    "Store",
    "Switch",
    "Table",
    "TableSchema",
    "TableStats",
    "WebTableError",
    "ZooKeeperReport",
    "filters",
    "open",
]


def __getattr__(name: str) -> object:
    """Returns a value of clusters. They are loaded when asked for: few need them at the start."""
    if name in __all__:
        from webtable.store import cluster_load

        return getattr(cluster_load, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
