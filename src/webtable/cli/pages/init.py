"""`webtable init`: creates a store of pages."""

from __future__ import annotations

import click

from webtable.cli.output_formats import talk
from webtable.cli.shared_options import SuggestingChoice, store_option
from webtable.webtable import KeyName, ProfileName, WebTable

__all__ = ["init"]


@click.command(short_help="Create a store for pages.")
@store_option
@click.option(
    "--keys",
    type=SuggestingChoice(["readable", "salted"]),
    show_default="readable in a directory, salted on HBase",
    help="How row keys are built from URLs.",
)
@click.option(
    "--profile",
    type=SuggestingChoice(["live", "archive"]),
    show_default="archive",
    help="archive keeps every version for ever; live keeps 3 bodies of a page for 90 days.",
)
def init(location: str, keys: KeyName | None, profile: ProfileName | None) -> None:
    """Create the tables of a store for pages; `webtable load` fills it, and creates it too.

    An `init` that was interrupted is finished by the next one.
    """
    with WebTable.create(location, keys=keys, profile=profile) as web:
        talk(f"created '{location}' with {web.keys} keys and the profile {web.profile}")
        if not web.links.is_ready:
            talk("the link index lacks the pages that were loaded; run `webtable links rebuild`")
