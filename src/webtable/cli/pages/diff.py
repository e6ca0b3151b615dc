"""`webtable diff`: what changed between two versions of a page."""

from __future__ import annotations

import click

from webtable.cli.list_options import Moment
from webtable.cli.output_formats import print_item, talk
from webtable.cli.safe_text import show_text
from webtable.cli.shared_options import Format, format_option, store_option
from webtable.webtable import WebTable

__all__ = ["diff"]


@click.command(short_help="Show what changed between two versions of a page.")
@click.argument("url")
@store_option
@format_option
@click.option(
    "--from",
    "old",
    metavar="DATE",
    type=Moment(),
    help="The older version: the newest one at this time.",
)
@click.option(
    "--to",
    "new",
    metavar="DATE",
    type=Moment(),
    help="The newer version: the newest one at this time.  [default: now]",
)
def diff(url: str, location: str, form: Format, *, old: int | None, new: int | None) -> None:
    """Show what changed in the page at URL, in its text and in its links.

    Without --from the newer version is compared with the version before it.
    """
    with WebTable.open(location, read_only=True) as web:
        found = web.diff(url, old, new)
    if found.coarse_lines:
        talk(
            f"{found.coarse_lines:,} lines are shown as replaced whole: "
            "comparing them with each other would take too long"
        )
    if form == "table":
        for line in found.lines:
            color = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            click.secho(show_text(line, keep="\t"), fg=color)
        for sign, links in (("+", found.gained), ("-", found.lost)):
            for link in links:
                text = f"{sign} link to {link.url}  {link.rel}  {link.anchor}".rstrip()
                click.echo(show_text(text))
        if found.is_empty:
            talk("nothing changed")
        return
    item = {
        "url": found.url,
        "from": found.old.fetched,
        "to": found.new.fetched,
        "text": found.lines,
        "coarse_lines": found.coarse_lines,
        "links_gained": [link.to_dict() for link in found.gained],
        "links_lost": [link.to_dict() for link in found.lost],
    }
    print_item(item, form)
