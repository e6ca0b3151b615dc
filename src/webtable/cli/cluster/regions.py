"""`webtable regions` and `webtable region …`: the regions of tables, and what is done to them."""

from __future__ import annotations

import click

from webtable import Region
from webtable.cli.open_store import open_for_reading, open_for_writing
from webtable.cli.output_formats import Column, print_items, show_bytes, talk
from webtable.cli.shared_options import (
    ROW_KEY,
    Format,
    format_option,
    group_store_option,
    page_options,
    store_option,
    wait_option,
)
from webtable.errors import NotFound

__all__ = ["region", "regions"]

FEW_COLUMNS = (
    Column("table", "TABLE", "name"),
    Column("name", "REGION", "name"),
    Column("start", "START", "name"),
    Column("stop", "STOP", "name"),
    Column("server", "SERVER", "name"),
    Column("state", "STATE"),
    Column("size_bytes", "SIZE", "size"),
    Column("memory_bytes", "MEMORY", "size", spare=3),
    Column("store_files", "FILES", "count", spare=4),
    Column("reads", "READS", "count", spare=2),
    Column("writes", "WRITES", "count", spare=1),
    Column("locality", "LOCAL", "share", spare=5),
)
# A table for people has to fit a wide screen; programs get everything.
ALL_COLUMNS = (
    *FEW_COLUMNS,
    Column("compaction", "COMPACTION"),
    Column("last_major_compaction_ms", "LAST MAJOR COMPACTION", "time"),
    Column("full_name", "FULL NAME"),
)


@click.command(short_help="List regions with their servers, sizes and requests.")
@click.argument("table", required=False)
@click.option("--server", metavar="SERVER", help="Only those on this server.")
@page_options("REGION", "Begin with this region.")
def regions(
    table: str | None,
    *,
    server: str | None,
    location: str,
    form: Format,
    limit: int | None,
    start: str,
) -> None:
    """List the regions of TABLE, or of all tables, in the order of their keys.

    '-' stands where the engine does not know. HBase counts in whole megabytes, rounded up. The
    other formats have more: the whole name, compactions under way, the last major compaction.
    """
    with open_for_reading(location) as store:
        found = store.admin.regions(table, server=server)
    if start:
        names = [each.name for each in found]
        if start not in names:
            raise NotFound("region", start, hint="begin with a region of the list")
        found = found[names.index(start) :]
    next_name = found[limit].name if limit is not None and limit < len(found) else None
    _print(found[:limit], form, next_name)


@click.group(short_help="Move, split, merge, flush and compact regions.")
@group_store_option
def region() -> None:
    """Move, split, merge, flush and compact regions.

    A region is given by its name in `webtable regions`.
    """


@region.command(short_help="Show one region.")
@click.argument("name", metavar="REGION")
@store_option
@format_option
def show(name: str, location: str, form: Format) -> None:
    """Show one region as it is now."""
    with open_for_reading(location) as store:
        found = store.admin.region(name)
    _print([found], form)


@region.command(short_help="Move a region to a server.")
@click.argument("name", metavar="REGION")
@click.argument("server", required=False)
@store_option
@format_option
def move(name: str, server: str | None, location: str, form: Format) -> None:
    """Move REGION to SERVER, or to the server that has the fewest regions.

    SERVER is a name of `webtable servers`, or host:port. Prints the region as it is then.
    """
    with open_for_writing(location) as store:
        there = store.admin.move(name, server)
        talk(f"{name}: now on {there}")
        found = store.admin.region(name)
    _print([found], form)


@region.command(short_help="Split a region in two.")
@click.argument("name", metavar="REGION")
@click.option("--at", metavar="KEY", type=ROW_KEY, help="The first row key of the second half.")
@store_option
@format_option
def split(name: str, at: bytes | None, location: str, form: Format) -> None:
    r"""Split REGION at a row key, or in the middle of its data.

    A key is text, with \xHH for other bytes. Prints the two regions.
    """
    with open_for_writing(location) as store:
        before = store.admin.region(name)
        store.admin.split_region(before, at)
        found = [each for each in store.admin.regions(before.table) if _is_inside(each, before)]
    talk(f"{name}: split at '{show_bytes(found[-1].start)}'")
    _print(found, form)


@region.command(short_help="Make one region of neighbours.")
@click.argument("names", metavar="REGION REGION...", nargs=-1, required=True)
@store_option
@format_option
def merge(names: tuple[str, ...], location: str, form: Format) -> None:
    """Make one region of two or more that follow one another; prints the new one."""
    with open_for_writing(location) as store:
        before = [store.admin.region(name) for name in names]
        store.admin.merge(before)
        first = min(before, key=lambda each: each.start)
        now = store.admin.regions(first.table)
    talk(f"merged {len(before)} regions of table '{first.table}'")
    _print([each for each in now if each.holds(first.start)], form)


@region.command(short_help="Write what a region has in memory to files.")
@click.argument("name", metavar="REGION")
@store_option
def flush(name: str, location: str) -> None:
    """Write what REGION has in memory to files."""
    with open_for_writing(location) as store:
        store.admin.flush_region(name)
    talk(f"{name}: flushed")


@region.command(short_help="Merge the files of a region.")
@click.argument("name", metavar="REGION")
@click.option("--family", help="Only this family.")
@click.option(
    "--major", is_flag=True, help="Rewrite all files without deleted, expired and surplus cells."
)
@wait_option
@store_option
def compact(name: str, *, family: str | None, major: bool, wait: bool, location: str) -> None:
    """Merge the files of REGION, as many as the cluster sees fit, or with --major all of them."""
    with open_for_writing(location) as store:
        store.admin.compact_region(name, family, major=major, wait=wait)
    talk(f"{name}: {'compacted' if wait else 'to be compacted'}")


def _is_inside(region: Region, whole: Region) -> bool:
    return whole.holds(region.start) and region.start >= whole.start


def _print(found: list[Region], form: Format, next_name: str | None = None) -> None:
    columns = FEW_COLUMNS if form == "table" else ALL_COLUMNS
    print_items([each._asdict() for each in found], columns, form, next_key=next_name)
