"""`webtable links rebuild` and `webtable links drain`: maintenance of the link index."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click
import msgspec

from webtable.cli.options import Format, format_option, open_for_writing, store_option
from webtable.cli.output import print_item
from webtable.errors import NotFound
from webtable.links.checking.rebuild import rebuild as rebuild_links
from webtable.links.index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.table import PageTable

__all__ = ["drain", "rebuild"]


@click.command(short_help="Rebuild the link index from the pages.")
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
    """Empty the link index and write it again from the stored pages, in bounded memory.

    Creates the index if there is none. No load may run meanwhile, and queries of links fail until
    the rebuild is complete. A rebuild that was stopped starts from the beginning.
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
    """Returns the function that prints the progress, on a terminal only."""
    if not sys.stderr.isatty():
        return lambda _, __: None
    return lambda what, count: click.echo(f"\r{count:,} {what}\x1b[K", err=True, nl=False)


@click.command(short_help="Finish the link updates of stopped loads.")
@store_option
@format_option
def drain(location: str, form: Format) -> None:
    """Finish the link updates that stopped loads left behind, and count the changes.

    The next load does the same. On a cluster other loads may run meanwhile; their updates are not
    touched.
    """
    with open_for_writing(location) as store:
        index = LinkIndex.open(PageTable.open(store, parse_stored))
        drained = LinkHook(index).drain()
    print_item(msgspec.to_builtins(drained), form)
