"""`webtable doctor`: whether a store of pages still fits its size."""

from __future__ import annotations

import click

from webtable.cli.output_formats import Column, print_items, talk
from webtable.cli.shared_options import Format, format_option, store_option
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
    """Compare sizes and times of a store of pages with their limits, and print advice.

    The exit code is 1 if a value is beyond its limit.
    """
    with WebTable.open(location, read_only=True) as web:
        findings = web.doctor()
    print_items([each.to_dict() for each in findings], COLUMNS, form)
    for each in findings:
        if not each.is_fine:
            talk(f"{each.check}: {each.advice}")
    if not all(each.is_fine for each in findings):
        ctx.exit(FAILED)
