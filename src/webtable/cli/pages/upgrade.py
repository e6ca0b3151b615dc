"""`webtable upgrade`: brings a store of pages of an earlier format to the present one."""

from __future__ import annotations

import sys

import click

from webtable.cli.output_formats import print_item, talk
from webtable.cli.shared_options import Format, format_option, store_option
from webtable.webtable import WebTable

__all__ = ["upgrade"]


@click.command(short_help="Bring a store of pages to the present format.")
@store_option
@format_option
def upgrade(location: str, form: Format) -> None:
    """Bring a store of pages of an earlier format to the present one, in bounded memory.

    Stop every program that has the store open first, and make a copy of a store that cannot be
    loaded again. An upgrade that was stopped continues when it is run again. A store of the present
    format stays as it is. Earlier versions of webtable cannot open the store afterwards.
    """
    shown = _Progress()
    report = WebTable.upgrade(location, on_progress=shown)
    shown.end()
    print_item({**report.to_dict(), "seconds": round(report.seconds, 3)}, form)
    if not report.steps:
        talk(f"'{location}' has format {report.format} already")


class _Progress:
    """Prints each step once, and on a terminal the number of its pages."""

    def __init__(self) -> None:
        self._step = ""

    def __call__(self, step: str, pages: int) -> None:
        if sys.stderr.isatty():
            line = "\n" if self._step not in ("", step) else "\r"
            click.echo(f"{line}upgrade step {step}: {pages:,} pages\x1b[K", err=True, nl=False)
        elif step != self._step:
            talk(f"upgrade step {step}")
        self._step = step

    def end(self) -> None:
        """Ends the line on a terminal."""
        if self._step and sys.stderr.isatty():
            click.echo(err=True)
