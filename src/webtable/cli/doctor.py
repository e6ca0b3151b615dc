"""`webtable doctor`: whether a store of pages still fits its size."""

from __future__ import annotations

import click

from webtable.cli.options import Format, format_option, open_for_reading, store_option
from webtable.cli.output import Column, print_items, talk
from webtable.pages.doctor import examine
from webtable.pages.parsing import parse_stored
from webtable.pages.table import PageTable

__all__ = ["doctor"]

COLUMNS = (
    Column("check", "CHECK"),
    Column("measured", "MEASURED"),
    Column("limit", "LIMIT"),
    Column("is_fine", "FINE"),
)


@click.command(short_help="Measure whether a store of pages fits its size, with advice.")
@store_option
@format_option
def doctor(location: str, form: Format) -> None:
    """Measure whether a store of pages still fits its size, and say what to do where not."""
    with open_for_reading(location) as store:
        findings = examine(PageTable.open(store, parse_stored))
    print_items([each._asdict() for each in findings], COLUMNS, form)
    for each in findings:
        if not each.is_fine:
            talk(f"{each.check}: {each.advice}")
