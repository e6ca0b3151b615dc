"""The `webtable` command: how it starts, and what an error looks like to a shell.

Data goes to stdout, messages to stderr. `webtable.errors` maps each class of errors to an exit
code.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import click

from webtable import WebTableError, __version__
from webtable.cli.command_list import COMMANDS
from webtable.cli.lazy_group import Entry, LazyGroup
from webtable.cli.output_formats import json_text, talk
from webtable.cli.safe_text import show_text
from webtable.cli.shared_options import FORMAT_KEY, GO_ON_KEY, complete_files, group_store_option
from webtable.errors import UsageError, door, error_body

__all__ = ["COMMANDS", "Entry", "cli", "main"]

FAILED = 1
STOPPED = 130


class MainGroup(LazyGroup):
    """The group of all commands; it turns errors into messages and exit codes."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Reads the arguments, which may print a help text."""
        with _system_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the subcommand; an error of ours becomes a message and an exit code."""
        try:
            with _system_errors():
                return super().invoke(ctx)
        except WebTableError as error:
            _report(error, ctx.meta.get(FORMAT_KEY, "table"))
            ctx.exit(door(error).exit_code)
        except (KeyboardInterrupt, SystemExit) as stop:
            if isinstance(stop, KeyboardInterrupt) or stop.code == STOPPED:
                talk(f"webtable: stopped{_go_on(ctx)}")
            raise


def _go_on(ctx: click.Context) -> str:
    """Returns what to do after Ctrl-C, where the command that ran has named it."""
    advice = ctx.meta.get(GO_ON_KEY)
    return f"; {advice}" if advice else ""


class _OutputFailed(Exception):
    """Standard output cannot be written: its disk is full, or its reader is gone."""

    def __init__(self, error: OSError) -> None:
        self.error = error


@contextlib.contextmanager
def _system_errors() -> Iterator[None]:
    # click would end the process with exit code 1, without a word, for a reader that is gone.
    try:
        yield
    except OSError as exc:
        if exc.filename is None:
            raise _OutputFailed(exc) from exc
        raise WebTableError(
            f"'{os.fsdecode(exc.filename)}' cannot be used: {exc.strerror or exc}",
            hint="check the path and its permissions",
        ) from exc


@click.group(
    cls=MainGroup,
    entries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option(
    "--config",
    metavar="FILE",
    envvar="WEBTABLE_CONFIG",
    shell_complete=complete_files,
    expose_value=False,
    callback=lambda _ctx, _option, file: _use_config(file),
    help="The configuration of all commands; see docs/reference/config.md.",
)
@group_store_option
def cli() -> None:
    """Store crawled web pages the way Bigtable's Webtable did, and query them.

    Every command takes --store LOCATION: a directory for an embedded store, or hbase://HOST for
    a cluster. The environment variable WEBTABLE_STORE sets it for all commands.
    """


def _use_config(file: str | None) -> None:
    # The library reads the variable, in worker processes too.
    if file is not None:
        os.environ["WEBTABLE_CONFIG"] = file


def main() -> None:
    """Runs the command line and leaves the process with its exit code."""
    _prepare_output()
    # SIGTERM, like Ctrl-C, runs every `with` and `finally`, so that partial files are removed.
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        result = cli.main(prog_name="webtable", standalone_mode=False)
        with _system_errors():
            sys.stdout.flush()
    except click.ClickException as error:
        _report_click(error)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        # click turns Ctrl-C into Abort.
        sys.exit(STOPPED)
    except _OutputFailed as failed:
        sys.exit(_report_output(failed.error))
    finally:
        signal.signal(signal.SIGTERM, before)
    sys.exit(result if isinstance(result, int) else 0)


def _prepare_output() -> None:
    """Lets any text be printed, whatever encoding the output has, and also where it is closed."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - kept open
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _stop(_signal: int, _frame: object) -> NoReturn:
    # Not KeyboardInterrupt: at the prompt of the shell that only discards the line.
    sys.exit(STOPPED)


def _report(error: WebTableError, form: str) -> None:
    if form in ("json", "jsonl"):
        click.echo(json_text(error_body(error)), err=True)
        return
    talk(f"webtable: {error.message}")
    if error.hint:
        talk(f"hint: {error.hint}")


def _report_click(error: click.ClickException) -> None:
    """Prints an error in the arguments, as click words it."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is not None and ctx.meta.get(FORMAT_KEY) in ("json", "jsonl"):
        wrong = UsageError(error.format_message(), hint=f"see `{ctx.command_path} --help`")
        _report(wrong, "json")
        return
    text = io.StringIO()
    error.show(text)
    click.echo(show_text(text.getvalue(), keep="\n\t"), err=True, nl=False)


def _report_output(error: OSError) -> int:
    """Says why the output cannot be written; returns the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        # What is left in the buffer must not fail again when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return STOPPED  # the reader, such as `head`, has read enough: no message
    talk(f"webtable: the output cannot be written: {error.strerror or error}")
    talk("hint: make room on its disk, or send it elsewhere")
    return FAILED
