"""`webtable doctor`: whether a store of pages still fits its size."""

from __future__ import annotations

import click

from webtable.cli.options import Format, format_option, store_option
from webtable.cli.output import Column, print_items, talk
from webtable.webtable import WebTable

__all__ = ["doctor"]

FAILED = 1  # the exit code
COLUMNS = (
    Column("check", "CHECK"),
    Column("measured", "MEASURED"),
    Column("limit", "LIMIT"),
    Column("is_fine", "FINE"),
)


@click.command(short_help="Measure a store of pages and give advice.")
@store_option
@format_option
@click.pass_context
def doctor(ctx: click.Context, location: str, form: Format) -> None:
    """Measure whether a store of pages still fits its size, and say what to do where not.

    The exit code is 1 where a check fails.
    """
    with WebTable.open(location, read_only=True) as web:
        findings = web.doctor()
    print_items([each.to_dict() for each in findings], COLUMNS, form)
    for each in findings:
        if not each.is_fine:
            talk(f"{each.check}: {each.advice}")
    if not all(each.is_fine for each in findings):
        ctx.exit(FAILED)
