"""WebTable stores crawled web pages as Bigtable's Webtable did, and runs queries on them.

    from webtable import WebTable

    with WebTable.open("crawl.db") as web:                 # created if it does not exist
        web.load("crawl.warc.gz")                          # files; indexes and links follow
        web.put("https://example.com/", "<h1>Hello</h1>")  # one capture of your own crawler
        web.page("https://example.com/")                   # also history, body, diff, as_of=
        for page in web.pages("example.com"):              # lists read on by themselves
            print(page.url, page.title)
        web.reports.largest(domain="example.com", limit=20)
        web.links.to("https://example.com/")

`WebTable` is the front door: see `help(webtable.WebTable)`. `webtable.pages` and `webtable.links`
have the types of what it returns.

`webtable.open(location)` opens the wide-column `Store` below it: tables of rows, families,
qualifiers and versions, in a directory or on an HBase cluster.

A public name is imported when it is first used: a program that needs one part of the package does
not wait for the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webtable import errors, filters
    from webtable.errors import WebTableError
    from webtable.operations.jobs.open_store_after_jobs import open_store as open  # noqa: A004 - public name
    from webtable.pages.asking.duplicates import Duplicates
    from webtable.pages.asking.page_diff import PageDiff
    from webtable.pages.asking.paged_results import ResultPage, Results
    from webtable.pages.loading.loader import LoadReport
    from webtable.pages.page import Page, PageCapture
    from webtable.store.admin import Admin
    from webtable.store.admin_results import (
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
    from webtable.store.cells_and_rows import Cell, CellType, Row
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
    from webtable.store.engine import Capabilities, Engine, Loss
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
    from webtable.store.table import Batch, Table
    from webtable.webtable import WebTable

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
    "Duplicates",
    "Durability",
    "Engine",
    "Family",
    "FamilyStats",
    "Get",
    "Increment",
    "LoadReport",
    "Loss",
    "Mutation",
    "Namespace",
    "Page",
    "PageCapture",
    "PageDiff",
    "Put",
    "Region",
    "RegionInTransition",
    "RegionLoad",
    "RegionServer",
    "ReplicationSink",
    "ReplicationSource",
    "ResultPage",
    "Results",
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
    "WebTable",
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
    "Balanced": "webtable.store.admin_results",
    "BalancerDecision": "webtable.store.cluster_activity",
    "BalancerRejection": "webtable.store.cluster_activity",
    "Batch": "webtable.store.table",
    "CacheCleared": "webtable.store.cluster_activity",
    "Capabilities": "webtable.store.engine",
    "Cell": "webtable.store.cells_and_rows",
    "CellType": "webtable.store.cells_and_rows",
    "Check": "webtable.store.mutation",
    "CheckResult": "webtable.store.mutation",
    "ClusterLoad": "webtable.store.cluster_activity",
    "ClusterReport": "webtable.store.admin_results",
    "CompactionQueue": "webtable.store.cluster_activity",
    "CompactionState": "webtable.store.admin_results",
    "CompareOp": "webtable.store.mutation",
    "Conditional": "webtable.store.mutation",
    "Delete": "webtable.store.mutation",
    "Duplicates": "webtable.pages.asking.duplicates",
    "Durability": "webtable.store.mutation",
    "Engine": "webtable.store.engine",
    "Family": "webtable.store.schema",
    "FamilyStats": "webtable.store.admin_results",
    "Get": "webtable.store.scan",
    "Increment": "webtable.store.mutation",
    "LoadReport": "webtable.pages.loading.loader",
    "Loss": "webtable.store.engine",
    "Mutation": "webtable.store.mutation",
    "Namespace": "webtable.store.admin_results",
    "Page": "webtable.pages.page",
    "PageCapture": "webtable.pages.page",
    "PageDiff": "webtable.pages.asking.page_diff",
    "Put": "webtable.store.mutation",
    "Region": "webtable.store.admin_results",
    "RegionInTransition": "webtable.store.admin_results",
    "RegionLoad": "webtable.store.cluster_activity",
    "RegionServer": "webtable.store.admin_results",
    "ReplicationSink": "webtable.store.cluster_activity",
    "ReplicationSource": "webtable.store.cluster_activity",
    "ResultPage": "webtable.pages.asking.paged_results",
    "Results": "webtable.pages.asking.paged_results",
    "Row": "webtable.store.cells_and_rows",
    "Scan": "webtable.store.scan",
    "ServerLoad": "webtable.store.cluster_activity",
    "ServerTask": "webtable.store.cluster_activity",
    "SlowCall": "webtable.store.cluster_activity",
    "Snapshot": "webtable.store.admin_results",
    "Store": "webtable.store.store",
    "Switch": "webtable.store.cluster_activity",
    "Table": "webtable.store.table",
    "TableSchema": "webtable.store.schema",
    "TableStats": "webtable.store.admin_results",
    "WebTable": "webtable.webtable",
    "WebTableError": "webtable.errors",
    "ZooKeeperReport": "webtable.store.cluster_activity",
    "errors": "webtable.errors",
    "filters": "webtable.filters",
    "open": "webtable.operations.jobs.open_store_after_jobs",
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
