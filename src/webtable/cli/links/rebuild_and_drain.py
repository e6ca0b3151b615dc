"""`webtable links rebuild` and `webtable links drain`: maintenance of the link index."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from webtable.cli.output_formats import print_item
from webtable.cli.shared_options import Format, format_option, store_option
from webtable.webtable import WebTable

__all__ = ["drain", "rebuild"]


@click.command(short_help="Rebuild the link index from the pages.")
@store_option
@format_option
@click.option(
    "--temp-dir",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, writable=True),
    show_default="the system's",
    help="The directory for temporary files: about 200 bytes for each link.",
)
def rebuild(location: str, form: Format, temp_dir: str | None) -> None:
    """Empty the link index and write it again from the stored pages, in bounded memory.

    Creates the index if it does not exist. No load may run at the same time, and queries of links
    fail until the rebuild is complete. A rebuild that was stopped starts from the beginning.
    """
    with WebTable.open(location, create=False) as web:
        report = web.rebuild_links(temp_dir=temp_dir, on_progress=_shown())
    item = report.to_dict()
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
    with WebTable.open(location, create=False) as web:
        print_item(web.drain_links().to_dict(), form)
