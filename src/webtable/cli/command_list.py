"""The commands of `webtable`, by section of its help text."""

from __future__ import annotations

from webtable.cli.lazy_group import Entry

__all__ = ["COMMANDS"]

_SECTIONS: dict[str, dict[str, tuple[str, str, str]]] = {
    "Pages": {
        "load": ("pages.load", "load", "Load crawls: WARC, ARC, WAT or JSON lines."),
        "page": ("pages.page", "page", "Show a page: now, at a date, its history, its body."),
        "pages": ("pages.pages", "pages", "List the pages of a domain or a directory."),
        "diff": ("pages.diff", "diff", "Show what changed between two versions of a page."),
        "report": ("pages.reports", "report", "List pages: errors, largest, modified …"),
        "changes": ("pages.change_feeds", "changes", "List the pages that changed since a cursor."),
        "remove": ("pages.remove", "remove", "Remove pages, and block their URLs."),
        "export": ("pages.export", "export", "Write pages to a file: WARC, JSON lines, CDXJ."),
        "index": ("pages.indexes", "index", "List and build the indexes of pages."),
        "doctor": ("pages.doctor", "doctor", "Measure a store of pages and give advice."),
    },
    "Links": {
        "links": ("links.command_group", "links", "Show links: top, in, out, changes, broken …"),
    },
    "Store": {
        "init": ("pages.init", "init", "Create a store for pages."),
        "upgrade": ("pages.upgrade", "upgrade", "Bring a store of pages to the present format."),
        "verify": ("pages.verify", "verify", "Verify everything stored, and repair it."),
        "tables": ("store.table_list", "tables", "List the tables with their families and sizes."),
        "table": (
            "store.table_admin",
            "table",
            "Create, describe, alter, enable, disable and drop tables.",
        ),
        "schema": (
            "store.schema",
            "schema",
            "Compare the tables with what is declared, and alter them.",
        ),
        "namespace": ("store.namespaces", "namespace", "List, create and drop namespaces."),
        "records": (
            "store.record_maintenance",
            "records",
            "Maintain tables of records: fields, indexes.",
        ),
        "stats": ("store.stats", "stats", "Show sizes and counts: by family, part or domain."),
        "flush": ("store.flush_compact_checkpoint", "flush", "Write what is in memory to files."),
        "compact": (
            "store.flush_compact_checkpoint",
            "compact",
            "Rewrite tables without deleted, expired and surplus cells.",
        ),
        "checkpoint": (
            "store.flush_compact_checkpoint",
            "checkpoint",
            "Write a consistent copy of the store.",
        ),
        "jobs": ("store.jobs", "jobs", "Run jobs of maintenance; list, stop and review them."),
        "shell": ("shell.start_shell", "shell", "Run commands of HBase's shell."),
    },
    "Cluster": {
        "cluster": (
            "cluster.cluster_status",
            "cluster",
            "Show the master, dead servers, regions in transition, the balancer.",
        ),
        "servers": ("cluster.servers", "servers", "List the live servers with their load."),
        "regions": (
            "cluster.regions",
            "regions",
            "List regions with their servers, sizes and requests.",
        ),
        "region": ("cluster.regions", "region", "Move, split, merge, flush and compact regions."),
        "balancer": ("cluster.balancer", "balancer", "Switch the balancer of a cluster on or off."),
        "snapshot": (
            "cluster.snapshots",
            "snapshot",
            "Take, list, restore, clone and delete snapshots of tables.",
        ),
    },
    "Development": {
        "completion": (
            "completion",
            "completion",
            "Print the completion script of bash, zsh or fish.",
        ),
        "tour": ("development.tour", "tour", "Show what the store can do, step by step."),
        "sample": ("development.sample", "sample", "Write a small, made-up crawl."),
        "hbase": ("development.local_hbase", "hbase", "Run a real HBase on this machine."),
    },
}

COMMANDS: dict[str, Entry] = {
    name: Entry(*entry, section)
    for section, commands in _SECTIONS.items()
    for name, entry in commands.items()
}
