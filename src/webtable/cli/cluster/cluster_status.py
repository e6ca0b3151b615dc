"""`webtable cluster`: the cluster as its master sees it."""

from __future__ import annotations

import click

from webtable.cli.open_store import open_for_reading
from webtable.cli.output_formats import Column, print_items
from webtable.cli.shared_options import Format, format_option, store_option

__all__ = ["cluster"]

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
