"""`webtable shell`: the command line's door to the shell."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

import webtable
from webtable.cli.output_formats import talk
from webtable.cli.shared_options import store_option
from webtable.cli.shell.hbase_layout import Printer
from webtable.cli.shell.script import Lines, Script, run_script
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest, StoreNotFound

__all__ = ["shell"]


@click.command(short_help="Run commands of HBase's shell.")
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option(
    "-c",
    "--command",
    "commands",
    metavar="COMMAND",
    multiple=True,
    help="Run this command and end; can be given several times.",
)
@store_option
@click.option("--read-only", is_flag=True, help="Read beside a process that writes the store.")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Go on after an error; the exit code is that of the first error.",
)
@click.option("--echo", is_flag=True, help="Print each line of a script before its output.")
@click.option("--times/--no-times", default=True, help="Print how long each command took.")
@click.option("--epoch", is_flag=True, help="Print timestamps as milliseconds, not as dates.")
def shell(
    file: str | None,
    *,
    commands: tuple[str, ...],
    location: str,
    read_only: bool,
    keep_going: bool,
    echo: bool,
    times: bool,
    epoch: bool,
) -> None:
    """Type commands of HBase's shell, or run a script of them.

    Without FILE and without -c a terminal gets a prompt, with history and completion, and anything
    else is read as a script. A script stops at its first error.

    Such as: webtable shell -c "scan 'webtable', {LIMIT => 10}"
    """
    if file is not None and commands:
        raise click.UsageError("both a file and -c: give one of them")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Bytes of a script are written as they were read, UTF-8 or not.
        sys.stdout.reconfigure(errors="surrogateescape")
    leave = click.get_current_context().exit
    # Before the store is opened, which may make one.
    script = _read(file) if file is not None and file != "-" else []
    with _opened(location, read_only=read_only) as store:
        session = Session(
            store,
            Printer(sys.stdout),
            _ask_terminal,
            with_times=times,
            is_read_only=read_only,
            epoch=epoch,
        )
        if file is None and not commands and sys.stdin.isatty():
            from webtable.cli.shell.interactive import run_interactive

            leave(run_interactive(session))
        if commands:
            name, lines = "-c", Lines(line for each in commands for line in each.split("\n"))
        elif file is not None and file != "-":
            name, lines = file, Lines(script)
        else:
            name, lines = "stdin", Lines(_decoded(sys.stdin.buffer))
            session.ask = lines.reply
        leave(run_script(session, Script(name, lines, keep_going=keep_going, echo=echo)))


def _opened(location: str, *, read_only: bool) -> webtable.Store:
    try:
        return webtable.open(location, read_only=read_only, create=False)
    except StoreNotFound:
        if read_only:
            raise
    store = webtable.open(location)
    talk(f"made a new store at {location}")
    return store


def _read(path: str) -> list[str]:
    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError) as exc:
        raise InvalidRequest(
            f"script '{path}' cannot be read: {getattr(exc, 'strerror', None) or exc}",
            hint="name a file of commands, or give them with -c",
        ) from exc
    return list(_decoded(text.splitlines(keepends=True)))


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    return (line.decode("utf-8", "surrogateescape") for line in lines)


def _ask_terminal(_prompt: str) -> str:
    """Returns a reply from standard input; a script in a file does not contain it."""
    return sys.stdin.readline()
