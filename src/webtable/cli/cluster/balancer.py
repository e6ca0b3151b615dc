"""`webtable balancer …`: the balancer of a cluster, switched on and off, and run once."""

from __future__ import annotations

import click

from webtable.cli.open_store import open_for_writing
from webtable.cli.output_formats import Column, print_items, talk
from webtable.cli.shared_options import Format, format_option, group_store_option, store_option

__all__ = ["balancer"]

BALANCED_COLUMNS = (
    Column("has_run", "RAN"),
    Column("moves_planned", "PLANNED", "count"),
    Column("moves_made", "MADE", "count"),
)


@click.group(short_help="Switch the balancer of a cluster on or off.")
@group_store_option
def balancer() -> None:
    """Switch the balancer on or off: it spreads the regions over the servers."""


@balancer.command(short_help="Switch the balancer on.")
@store_option
def on(location: str) -> None:
    """Switch the balancer on."""
    _switch(location, on=True)


@balancer.command(short_help="Switch the balancer off.")
@store_option
def off(location: str) -> None:
    """Switch the balancer off; a run that is under way ends first."""
    _switch(location, on=False)


@balancer.command(short_help="Run the balancer once, now.")
@store_option
@format_option
def run(location: str, form: Format) -> None:
    """Run the balancer once, now, and print how many regions it moved.

    It does not run while it is off, or while regions are in transition.
    """
    with open_for_writing(location) as store:
        balanced = store.admin.balance()
    print_items([balanced._asdict()], BALANCED_COLUMNS, form)
    if not balanced.has_run:
        talk("it did not run: it is off, or regions are in transition")


def _switch(location: str, *, on: bool) -> None:
    with open_for_writing(location) as store:
        was_on = store.admin.switch_balancer(on=on)
    talk(f"balancer {'on' if on else 'off'}; it was {'on' if was_on else 'off'} before")
