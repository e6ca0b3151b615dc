"""`webtable servers`: the live servers of a cluster with their load."""

from __future__ import annotations

import click

from webtable.cli.open_store import open_for_reading
from webtable.cli.output_formats import Column, print_named, talk
from webtable.cli.shared_options import Format, page_options

__all__ = ["servers"]

FEW_COLUMNS = (
    Column("name", "SERVER", "name"),
    Column("regions", "REGIONS", "count"),
    Column("requests_per_second", "REQUESTS/S", "count"),
    Column("reads", "READS", "count", spare=1),
    Column("writes", "WRITES", "count", spare=2),
    Column("heap_used_bytes", "HEAP", "size", spare=3),
    Column("heap_max_bytes", "OF", "size", spare=4),
    Column("memory_bytes", "MEMORY", "size"),
    Column("size_bytes", "DISK", "size"),
    Column("started_ms", "STARTED", "time", spare=5),
)
ALL_COLUMNS = (
    *FEW_COLUMNS,
    Column("address", "ADDRESS"),
    Column("requests", "REQUESTS", "count"),
    Column("store_files", "FILES", "count"),
    Column("version", "VERSION"),
    Column("reported_ms", "REPORTED", "time"),
)


@click.command(short_help="List the live servers with their load.")
@page_options("SERVER", "Begin with this server.")
def servers(location: str, form: Format, limit: int | None, start: str) -> None:
    """List the servers that are alive, with their load as they last reported it.

    The master, dead servers, regions in transition and the balancer are printed to stderr;
    `webtable cluster` prints them for programs.
    """
    with open_for_reading(location) as store:
        report = store.admin.report()
    columns = FEW_COLUMNS if form == "table" else ALL_COLUMNS
    print_named(report.servers, columns, form, start=start, limit=limit)
    if form == "table":
        version = f", version {report.version}" if report.version else ""
        talk(f"master {report.master}{version}; balancer {'on' if report.is_balancing else 'off'}")
        for name in report.dead_servers:
            talk(f"dead: {name}")
        for each in report.in_transition:
            talk(f"in transition: region {each.region} of table '{each.table}', {each.state}")
