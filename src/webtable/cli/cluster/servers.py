"""`webtable servers`, `cluster` and `balancer …`: servers, and the balance among them."""

from __future__ import annotations

import click

from webtable.cli.open_store import open_for_reading, open_for_writing
from webtable.cli.output import Column, print_items, print_named, talk
from webtable.cli.shared_options import (
    Format,
    format_option,
    group_store_option,
    page_options,
    store_option,
)

__all__ = ["balancer", "cluster", "servers"]

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
BALANCED_COLUMNS = (
    Column("has_run", "RAN"),
    Column("moves_planned", "PLANNED", "count"),
    Column("moves_made", "MADE", "count"),
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


CLUSTER_COLUMNS = (
    Column("version", "VERSION"),
    Column("cluster_id", "CLUSTER", spare=1),
    Column("master", "MASTER", "name"),
    Column("backup_masters", "STANDING BY"),
    Column("servers", "SERVERS", "count"),
    Column("dead_servers", "DEAD"),
    Column("in_transition", "IN TRANSITION"),
    Column("is_balancing", "BALANCER"),
)


@click.command(short_help="Show the master, dead servers, regions in transition, the balancer.")
@store_option
@format_option
def cluster(location: str, form: Format) -> None:
    """Show the cluster as its master sees it: one item.

    Regions in transition from one state or server to another have their names, tables and states.
    """
    with open_for_reading(location) as store:
        report = store.admin.report()
    moving: list[object] = [each._asdict() for each in report.in_transition]
    if form in ("table", "csv"):
        moving = [f"{each.table} {each.region} {each.state}" for each in report.in_transition]
    item = {**report._asdict(), "servers": len(report.servers), "in_transition": moving}
    print_items([item], CLUSTER_COLUMNS, form)


@click.group(short_help="Switch the balancer of a cluster on or off.")
@group_store_option
def balancer() -> None:
    """Switch the balancer on or off: it spreads the regions over the servers."""


@balancer.command(short_help="Switch the balancer on.")
@store_option
def on(location: str) -> None:
    """Switch the balancer on."""
    _switch(location, on=True)


@balancer.command(short_help="Switch the balancer off.")
@store_option
def off(location: str) -> None:
    """Switch the balancer off; a run that is under way ends first."""
    _switch(location, on=False)


@balancer.command(short_help="Run the balancer once, now.")
@store_option
@format_option
def run(location: str, form: Format) -> None:
    """Run the balancer once, now, and print how many regions it moved.

    It does not run while it is off, or while regions are in transition.
    """
    with open_for_writing(location) as store:
        balanced = store.admin.balance()
    print_items([balanced._asdict()], BALANCED_COLUMNS, form)
    if not balanced.has_run:
        talk("it did not run: it is off, or regions are in transition")


def _switch(location: str, *, on: bool) -> None:
    with open_for_writing(location) as store:
        was_on = store.admin.switch_balancer(on=on)
    talk(f"balancer {'on' if on else 'off'}; it was {'on' if was_on else 'off'} before")
