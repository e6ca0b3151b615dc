"""A group of commands that imports the module of a command when that command is called.

The group knows the name, the section and one line about each command, so that its help text needs
no import of any of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click
from click.exceptions import NoSuchCommand

__all__ = ["Entry", "LazyGroup"]


class Entry(NamedTuple):
    """Where a command is defined, its line in the help text, and the section of that line."""

    module: str
    """Below `webtable.cli`."""
    name: str
    summary: str
    section: str = ""


class LazyGroup(click.Group):
    """A group of commands that are imported when they are called.

    Args:
        entries: the commands by their names, in the order of the help text.
    """

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the commands, sorted."""
        return sorted(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports one command; None if no command has that name."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"webtable.cli.{entry.module}")
        command: click.Command = getattr(module, entry.name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command; the error for an unknown name suggests similar ones."""
        name = args[0]
        is_unknown = name not in self.entries and not name.startswith("-")
        if is_unknown and not ctx.resilient_parsing:
            raise NoSuchCommand(name, possibilities=self.entries, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands, section by section, without importing any of them."""
        sections: dict[str, list[tuple[str, str]]] = {}
        # One width for all sections, so that the summaries stand below each other.
        width = max(map(len, self.entries))
        for name, entry in self.entries.items():
            sections.setdefault(entry.section, []).append((name.ljust(width), entry.summary))
        for title, lines in sections.items():
            with formatter.section(title or "Commands"):
                formatter.write_dl(lines)
