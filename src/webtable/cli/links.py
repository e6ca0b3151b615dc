"""`webtable links …`: the group of commands about links, put together from several files."""

from __future__ import annotations

import click

from webtable.cli import links_questions, links_reports, links_upkeep
from webtable.cli.options import group_store_option

__all__ = ["links"]


@click.group(short_help="Ask who links where: top, in, out, changes, broken …")
@group_store_option
def links() -> None:
    """Ask who links where, and with which words; the link index answers.

    Each answer is bounded; --after goes on from it.
    """


for _command in (*links_questions.COMMANDS, *links_reports.COMMANDS, *links_upkeep.COMMANDS):
    links.add_command(_command)
