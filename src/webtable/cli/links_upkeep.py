"""`webtable links rebuild` and `webtable links drain`: looking after the link index."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click
import msgspec

from webtable.cli.options import Format, format_option, open_for_writing, store_option
from webtable.cli.output import print_item
from webtable.errors import NotFound
from webtable.links.graph import LinkIndex
from webtable.links.keeper import LinkKeeper
from webtable.links.rebuild import rebuild as rebuild_links
from webtable.pages.parsing import parse_stored
from webtable.pages.table import PageTable

__all__ = ["COMMANDS"]


@click.command(short_help="Write the link index anew from the stored pages.")
@store_option
@format_option
@click.option(
    "--temp-dir",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, writable=True),
    show_default="the system's",
    help="Where links are sorted: about 200 bytes a link are needed there.",
)
def rebuild(location: str, form: Format, temp_dir: str | None) -> None:
    """Empty the link index and write it anew from the stored pages, in bounded memory.

    Makes the index where there is none. Nothing may be loaded meanwhile, and questions about
    links wait until it is done. A rebuild that was cut off is begun anew.
    """
    with open_for_writing(location) as store:
        pages = PageTable.open(store, parse_stored)
        try:
            index = LinkIndex.open(pages)
        except NotFound:
            index = LinkIndex.create(pages)
        report = rebuild_links(index, directory=temp_dir, on_progress=_shown())
    item = msgspec.to_builtins(report)
    item["seconds"] = round(report.seconds, 3)
    item["pages_per_second"] = round(report.pages / report.seconds, 1) if report.seconds else 0.0
    print_item(item, form)


def _shown() -> Callable[[str, int], None]:
    """Returns what shows how far it is, where somebody watches."""
    if not sys.stderr.isatty():
        return lambda _, __: None
    return lambda what, count: click.echo(f"\r{count:,} {what}\x1b[K", err=True, nl=False)


@click.command(short_help="Finish what loads have left to do about links.")
@store_option
@format_option
def drain(location: str, form: Format) -> None:
    """Finish what loads that were cut off have left to do about links, and count what changed.

    The next load does it, too. On a cluster others may be loading meanwhile; what they are at is
    left to them.
    """
    with open_for_writing(location) as store:
        index = LinkIndex.open(PageTable.open(store, parse_stored))
        drained = LinkKeeper(index).drain()
    print_item(msgspec.to_builtins(drained), form)


COMMANDS = (rebuild, drain)
