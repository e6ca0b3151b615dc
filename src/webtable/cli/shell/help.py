"""Help with examples: the docstrings of the commands, as a user reads them.

The first paragraph of a docstring describes the command; each line after it is an example
that can be typed as it is.
"""

from __future__ import annotations

import inspect
from typing import NamedTuple

from webtable.cli.shell.command_catalog import ALIASES, GROUPS, UNSUPPORTED, find_command
from webtable.cli.shell.language.ruby_constants import suggestion
from webtable.errors import NotFound

__all__ = ["Help", "about_all", "about_command", "about_group", "help_of"]

PROMPT = "hbase> "
SYNTAX = r"""Names of tables, columns and rows stand in quotes; commas stand between arguments.
Options are pairs, with or without braces: {LIMIT => 10, REVERSED => true}.
Bytes are written in double quotes: "key\x00\xff"; single quotes take everything as it is.
A command goes on in the next line after a comma and inside brackets; # begins a comment.

  hbase> create 't1', {NAME => 'f1', VERSIONS => 3}
  hbase> put 't1', "row\x00", 'f1:q', 'value'
  hbase> scan 't1', {STARTROW => 'a', STOPROW => 'b', LIMIT => 10}
  hbase> t = get_table 't1'
  hbase> t.get 'row', 'f1:q'
  hbase> exit"""


class Help(NamedTuple):
    """What a command does, and examples of it."""

    summary: str
    examples: list[str]


def help_of(name: str) -> Help:
    """Returns the help of a command that exists.

    Raises:
        InvalidRequest: the command is not supported here.
    """
    command = find_command(name)
    assert command is not None, "a command of the catalog"
    summary, _, examples = (inspect.getdoc(command) or "").partition("\n\n")
    return Help(" ".join(summary.split()), examples.splitlines())


def about_all() -> str:
    """Returns the help about everything: the groups with their commands, and the syntax."""
    lines = [
        "Type help 'COMMAND' for examples of a command, help 'GROUP' for those of a group.",
        "",
        "COMMAND GROUPS:",
    ]
    for name, group in GROUPS.items():
        names = [each for each in group.names if each not in UNSUPPORTED]
        lines += [f"  Group name: {name}", f"  Commands: {', '.join(names)}", ""]
    return "\n".join([*lines, "SHELL USAGE:", SYNTAX])


def about_command(name: str) -> str:
    """Returns what a command does, with examples.

    Raises:
        NotFound: there is neither a command nor a group of that name.
    """
    command = ALIASES.get(name, name)
    if command in UNSUPPORTED:
        return f"{command} is not supported here: {UNSUPPORTED[command]}"
    names = [each for group in GROUPS.values() for each in group.names]
    if command not in names:
        everything = [*names, *ALIASES, *GROUPS]
        hint = suggestion(name, everything) or "see `help` for a list"
        raise NotFound("command", name, hint=hint)
    summary, examples = help_of(command)
    return "\n".join([summary, "", *(f"  {PROMPT}{each}" for each in examples)])


def about_group(name: str) -> str:
    """Returns the help of all commands of a group."""
    group = GROUPS[name]
    parts = [f"{group.title}."]
    for each in group.names:
        parts.append(f"Command: {each}\n{about_command(each)}")
    return "\n\n".join(parts)
