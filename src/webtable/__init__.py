"""WebTable keeps crawled web pages as Bigtable's Webtable did, and answers questions about them.

`webtable.open(location)` gives a `Store`, `store.table(name)` a `Table`; see `docs/` for the rest.

A public name is imported when it is first used: a program that needs one part of the package does
not wait for the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webtable import errors, filters
    from webtable.errors import WebTableError
    from webtable.store.admin import Admin
    from webtable.store.cluster_activity import (
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
    from webtable.store.cluster_values import (
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
    from webtable.store.engine import Capabilities, Engine, Loss
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
    from webtable.store.store import open_store as open  # noqa: A004 - the public name
    from webtable.store.table import Batch, Table

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
    "Loss",
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
    "errors",
    "filters",
    "open",
]

# The module of each public name. The imports above say the same to type checkers.
_MODULES = {
    "ALL_VERSIONS": "webtable.store.scan",
    "Admin": "webtable.store.admin",
    "Append": "webtable.store.mutation",
    "Balanced": "webtable.store.cluster_values",
    "BalancerDecision": "webtable.store.cluster_activity",
    "BalancerRejection": "webtable.store.cluster_activity",
    "Batch": "webtable.store.table",
    "CacheCleared": "webtable.store.cluster_activity",
    "Capabilities": "webtable.store.engine",
    "Cell": "webtable.store.model",
    "CellType": "webtable.store.model",
    "Check": "webtable.store.mutation",
    "CheckResult": "webtable.store.mutation",
    "ClusterLoad": "webtable.store.cluster_activity",
    "ClusterReport": "webtable.store.cluster_values",
    "CompactionQueue": "webtable.store.cluster_activity",
    "CompactionState": "webtable.store.cluster_values",
    "CompareOp": "webtable.store.mutation",
    "Conditional": "webtable.store.mutation",
    "Delete": "webtable.store.mutation",
    "Durability": "webtable.store.mutation",
    "Engine": "webtable.store.engine",
    "Family": "webtable.store.schema",
    "FamilyStats": "webtable.store.cluster_values",
    "Get": "webtable.store.scan",
    "Increment": "webtable.store.mutation",
    "Loss": "webtable.store.engine",
    "Mutation": "webtable.store.mutation",
    "Namespace": "webtable.store.cluster_values",
    "Put": "webtable.store.mutation",
    "Region": "webtable.store.cluster_values",
    "RegionInTransition": "webtable.store.cluster_values",
    "RegionLoad": "webtable.store.cluster_activity",
    "RegionServer": "webtable.store.cluster_values",
    "ReplicationSink": "webtable.store.cluster_activity",
    "ReplicationSource": "webtable.store.cluster_activity",
    "Row": "webtable.store.model",
    "Scan": "webtable.store.scan",
    "ServerLoad": "webtable.store.cluster_activity",
    "ServerTask": "webtable.store.cluster_activity",
    "SlowCall": "webtable.store.cluster_activity",
    "Snapshot": "webtable.store.cluster_values",
    "Store": "webtable.store.store",
    "Switch": "webtable.store.cluster_activity",
    "Table": "webtable.store.table",
    "TableSchema": "webtable.store.schema",
    "TableStats": "webtable.store.cluster_values",
    "WebTableError": "webtable.errors",
    "ZooKeeperReport": "webtable.store.cluster_activity",
    "errors": "webtable.errors",
    "filters": "webtable.filters",
    "open": "webtable.store.store",
}

# Hidden from type checkers: they would accept any name, also a misspelt one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Imports the module of a public name, and remembers the name."""
        if name not in _MODULES:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        module = import_module(_MODULES[name])
        if module.__name__ == f"{__name__}.{name}":
            value: object = module
        else:
            value = getattr(module, "open_store" if name == "open" else name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Returns the public names, also those that are not imported yet."""
    return sorted({*globals(), *__all__})
