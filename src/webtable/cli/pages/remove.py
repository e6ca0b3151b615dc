"""`webtable remove …`: removes pages, and shows what was removed and what is blocked."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from webtable.cli.lazy_group import Entry, LazyGroup
from webtable.cli.output_formats import Column, page_of, print_item, print_items, talk
from webtable.cli.shared_options import (
    Format,
    format_option,
    group_store_option,
    page_options,
    store_option,
)
from webtable.errors import CorruptData
from webtable.webtable import WebTable

__all__ = ["blocked", "log", "purge", "remove", "target", "unblock"]

_SECTION = "Commands"
_DIGITS = 12
ENTRIES = {
    "target": Entry("pages.remove", "target", "Remove a page, a domain or a prefix.", _SECTION),
    "blocked": Entry("pages.remove", "blocked", "List what may not be stored again.", _SECTION),
    "unblock": Entry("pages.remove", "unblock", "Allow a URL, domain or prefix again.", _SECTION),
    "log": Entry("pages.remove", "log", "List what was removed, and check the log.", _SECTION),
    "purge": Entry("pages.remove", "purge", "Delete what is left of removed pages.", _SECTION),
}
BLOCKED_COLUMNS = (
    Column("kind", "KIND"),
    Column("since", "SINCE", "when"),
    Column("length", "LENGTH", "count", spare=1),
    Column("hash", "SHA-256", "name"),
)
LOG_COLUMNS = (
    Column("number", "NUMBER", "count"),
    Column("at", "AT", "when"),
    Column("state", "STATE"),
    Column("kind", "KIND"),
    Column("pages", "PAGES", "count"),
    Column("captures", "CAPTURES", "count"),
    Column("bytes", "BYTES", "size"),
    Column("blocked", "BLOCKED"),
    Column("target", "SHA-256", "name"),
    Column("hash", "HASH", "name", spare=1),
)


class _TargetGroup(LazyGroup):
    """A group that takes anything else than the name of a command as a target to remove."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the command in front of a target."""
        if args and args[0] not in self.entries and args[0] != "--help":
            args = ["target", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_TargetGroup, entries=ENTRIES, short_help="Remove pages, and block their URLs.")
@group_store_option
def remove() -> None:
    """Remove pages with all their versions: `webtable remove URL|DOMAIN|PREFIX*`.

    This is short for `webtable remove target`; see its --help.
    """


@click.command(short_help="Remove a page, a domain or a prefix.")
@click.argument("target", metavar="URL|DOMAIN|PREFIX*")
@store_option
@format_option
@click.option("--dry-run", is_flag=True, help="Only count, and show examples.")
@click.option("--block", is_flag=True, help="Do not store the removed URLs again.")
def target(target: str, location: str, form: Format, *, dry_run: bool, block: bool) -> None:
    """Remove a page with all its versions, its index entries and the links that it gave.

    URL is one page. DOMAIN is a host, or a host and a port, with everything under it. PREFIX* is
    every page whose URL begins with what is before the *. Links that a removed page received stay,
    unless it is blocked. Files keep deleted cells until `webtable remove purge` and `webtable
    compact`.
    """
    with WebTable.open(location, create=False, read_only=dry_run) as web:
        report = web.remove(target, dry_run=dry_run, block=block)
    item = report.to_dict()
    # A dry run counts no links; only a dry run has examples.
    del item["unlinked" if dry_run else "examples"]
    shown = {key: value for key, value in item.items() if key != "examples"}
    print_item(item, form, shown=shown)
    for url in report.examples:
        talk(f"would remove {url}")
    if report.pages > len(report.examples) > 0:
        talk(f"would remove {report.pages - len(report.examples):,} more")


@click.command(short_help="List what may not be stored again.")
@page_options("HASH", "Begin with this hash.")
def blocked(location: str, form: Format, limit: int | None, start: str) -> None:
    """List the block list: hashes of URLs, domains and prefixes, and since when."""
    with WebTable.open(location, read_only=True) as web:
        entries = sorted(web.removals.blocked(), key=lambda each: each.hash)
    found, following = page_of(entries, lambda each: each.hash, start, limit)
    print_items([each.to_dict() for each in found], BLOCKED_COLUMNS, form, next_key=following)


@click.command(short_help="Allow a URL, domain or prefix again.")
@click.argument("target", metavar="URL|DOMAIN|PREFIX*")
@store_option
@format_option
def unblock(target: str, location: str, form: Format) -> None:
    """Allow a URL, a domain or a prefix again, named as it was blocked.

    Pages that were removed stay removed. The links to them are derived again, which reads every
    page.
    """
    with WebTable.open(location, create=False) as web:
        print_item(web.removals.unblock(target).to_dict(), form)


@click.command(short_help="List what was removed, and check the log.")
@page_options("NUMBER", "Begin with this entry.")
@click.option("--verify", is_flag=True, help="Only check the chain of hashes.")
def log(location: str, form: Format, *, limit: int | None, start: str, verify: bool) -> None:
    """List the removal log, the oldest entry first; it has hashes and counts, and no URLs.

    Each entry has the hash of the entry before it. With a damaged chain the exit code is 6.
    """
    with WebTable.open(location, read_only=True) as web:
        found = web.removals.check_log()
        if verify:
            print_item({"entries": found.entries, "broken": found.broken, "why": found.why}, form)
        else:
            entries = [
                {"number": number, **each.to_dict()}
                for number, each in enumerate(web.removals.log(), 1)
            ]
            shown, following = page_of(entries, _numbered, start.rjust(_DIGITS, "0"), limit)
            print_items(shown, LOG_COLUMNS, form, next_key=following)
        sys.stdout.flush()
        if found.broken is not None:
            raise CorruptData(
                f"entry {found.broken:,} of the removal log is damaged: {found.why}",
                hint="compare the log with a backup; entries after it prove nothing",
            )


def _numbered(entry: Mapping[str, object]) -> str:
    return str(entry["number"]).rjust(_DIGITS, "0")


@click.command(short_help="Delete what is left of removed pages.")
@store_option
@format_option
def purge(location: str, form: Format) -> None:
    """Delete the tombstones of removed pages, where no writer and no consumer needs them.

    On a cluster a tombstone stays for 22 minutes. `webtable load` and `webtable verify --repair`
    purge as well. Then `webtable compact` removes the deleted cells from the files.
    """
    with WebTable.open(location, create=False) as web:
        print_item(web.removals.purge().to_dict(), form)
