"""The options that commands share."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = [
    "FORMAT_KEY",
    "GO_ON_KEY",
    "ROW_KEY",
    "Format",
    "RowKey",
    "SuggestingChoice",
    "complete_files",
    "count_option",
    "format_option",
    "go_on_with",
    "group_store_option",
    "hand_down_store",
    "idle_store_option",
    "is_raw",
    "page_options",
    "store_option",
    "wait_option",
    "yes_option",
]

DEFAULT_STORE = "./webtable.db"
FORMAT_KEY = "webtable.format"
"""Where click's context has the chosen format, so that errors are printed in it too."""
GO_ON_KEY = "webtable.go_on"
"""Where click's context has the advice that Ctrl-C prints."""
_RAW_KEY = "webtable.raw"
_VERBOSE_KEY = "webtable.verbose"
_STORE_KEY = "webtable.store"

Format: TypeAlias = Literal["table", "json", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = ("table", "json", "jsonl", "csv")

_Command = TypeVar("_Command", bound=Callable[..., Any])


class SuggestingChoice(click.Choice[str]):
    """A choice whose error suggests the value that may be meant."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Returns the message for a value that is none of the choices."""
        import difflib

        message = super().get_invalid_choice_message(value, ctx)
        near = difflib.get_close_matches(str(value), self.choices, n=1)
        return f"{message} Did you mean '{near[0]}'?" if near else message


def _store_and_messages(function: _Command, *names: str, **settings: Any) -> _Command:
    """Gives a command `--store`, `--verbose` and `--no-color`."""
    store = click.option(
        "--store", *names, metavar="LOCATION", shell_complete=complete_files, **settings
    )
    no_color = click.option(
        "--no-color",
        is_flag=True,
        expose_value=False,
        callback=_set_color,
        help="Print no colours; the environment variable NO_COLOR does the same.",
    )
    verbose = click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_set_verbosity,
        help="Print log messages to stderr; -vv prints debug messages too.",
    )
    return store(verbose(no_color(function)))


def complete_files(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Lets the shell complete an argument with names of files and directories."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def go_on_with(advice: str) -> None:
    """Names what to do after Ctrl-C; printed where the command that runs is stopped."""
    click.get_current_context().meta[GO_ON_KEY] = advice


def store_option(function: _Command) -> _Command:
    """Gives a command `--store LOCATION`, passed as `location`, and the options of messages."""
    return _store_and_messages(
        function,
        "location",
        envvar="WEBTABLE_STORE",
        default=DEFAULT_STORE,
        show_default=True,
        show_envvar=True,
        callback=_chosen,
        help="A directory, hbase://HOST or hbase+masters://HOST.",
    )


def group_store_option(function: _Command) -> _Command:
    """Gives a group of commands `--store LOCATION`, which counts for the command that follows."""
    return _store_and_messages(
        function,
        expose_value=False,
        callback=_hand_down,
        help="The store of the command that follows.",
    )


def idle_store_option(function: _Command) -> _Command:
    """Gives a command that uses no store the option `--store` too, so that all have it."""
    return _store_and_messages(
        function,
        envvar="WEBTABLE_STORE",
        expose_value=False,
        help="Every command takes this; here it has no effect.",
    )


def format_option(function: _Command) -> _Command:
    """Gives a command `--format`, passed as `form`, and `--raw`, which `is_raw` returns."""
    raw = click.option(
        "--raw",
        is_flag=True,
        expose_value=False,
        callback=_keep_raw,
        help="In csv, do not escape texts that a spreadsheet would run as formulas.",
    )
    return click.option(
        "--format",
        "form",
        type=SuggestingChoice(FORMATS),
        default="table",
        show_default=True,
        callback=_remember,
        # Before the others, so that an error in one of them is reported in this form already.
        is_eager=True,
        help="How to print the results.",
    )(raw(function))


def is_raw() -> bool:
    """Whether the command that runs was given `--raw`."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_RAW_KEY))


def count_option(
    name: str, text: str, *, least: int = 1, **settings: Any
) -> Callable[[_Command], _Command]:
    """Returns an option that takes a number; its help text shows the default where it has one.

    Args:
        text: the help text, in which N is the number.
        least: the smallest number.
        settings: more of what `click.option` takes.
    """
    settings.setdefault("show_default", "default" in settings)
    return click.option(name, metavar="N", type=click.IntRange(min=least), help=text, **settings)


def page_options(metavar: str, begin: str) -> Callable[[_Command], _Command]:
    """Returns the options of a list by name: of store and format, `--limit` and `--start`.

    Without `--limit`, `limit` is None: all.

    Args:
        metavar: what the list has, for `--start`.
        begin: the help text of `--start`.
    """

    def decorate(function: _Command) -> _Command:
        limit = count_option("--limit", "Print at most N results.", show_default="all")
        start = click.option("--start", metavar=metavar, default="", help=begin)
        return store_option(format_option(limit(start(function))))

    return decorate


def wait_option(function: _Command) -> _Command:
    """Gives a command `--no-wait`, passed as `wait`."""
    return click.option(
        "--wait/--no-wait",
        default=True,
        help="Wait until it is done, or return after the request.  [default: wait]",
    )(function)


def yes_option(function: _Command) -> _Command:
    """Gives a command that removes data `--yes`; without it, the command asks first."""
    return click.option(
        "--yes", is_flag=True, expose_value=False, callback=_confirm, help="Do not ask first."
    )(function)


class RowKey(click.ParamType[bytes]):
    r"""A row key as HBase shows it: text, and `\xHH` for any other byte."""

    name = "row key"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> bytes:
        r"""Returns the bytes of a row key.

        >>> ROW_KEY.convert("com.example\\x00", None, None)
        b'com.example\x00'
        """
        if isinstance(value, bytes):
            return value
        text: str = value
        parts = re.split(r"\\x([0-9A-Fa-f]{2})", text)
        plain = [part.encode("utf-8", "surrogateescape") for part in parts[::2]]
        escaped = [bytes.fromhex(part) for part in parts[1::2]] + [b""]
        return b"".join(itertools.chain(*zip(plain, escaped, strict=True)))


ROW_KEY = RowKey()


def _confirm(ctx: click.Context, _option: click.Parameter, yes: bool) -> None:
    if yes or ctx.resilient_parsing:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("this removes data: add --yes to confirm", ctx)
    click.confirm("This removes data. Go on?", abort=True, err=True)


def _hand_down(ctx: click.Context, _option: click.Parameter, location: str | None) -> None:
    if location is not None:
        ctx.meta[_STORE_KEY] = location


def hand_down_store(ctx: click.Context, location: str) -> None:
    """Lets `--store` of a command that is a group as well count for the command that follows."""
    if ctx.get_parameter_source("location") is click.core.ParameterSource.COMMANDLINE:
        ctx.meta[_STORE_KEY] = location


def _chosen(ctx: click.Context, option: click.Parameter, location: str) -> str:
    is_said = ctx.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
    chosen: str = location if is_said else ctx.meta.get(_STORE_KEY, location)
    return chosen


def _set_color(ctx: click.Context, _option: click.Parameter, no_color: bool) -> None:
    if no_color or os.environ.get("NO_COLOR"):
        ctx.color = False


def _set_verbosity(ctx: click.Context, _option: click.Parameter, count: int) -> None:
    # The option may stand before and behind the command: `webtable -v load -v` is -vv.
    ctx.meta[_VERBOSE_KEY] = total = ctx.meta.get(_VERBOSE_KEY, 0) + count
    # Warnings are always printed, but no help text waits for the import.
    is_command = ctx.parent is not None
    if (count or (is_command and not total)) and not ctx.resilient_parsing:
        from webtable.cli.log_messages import print_logs

        print_logs(ctx.find_root(), total)


def _keep_raw(ctx: click.Context, _option: click.Parameter, raw: bool) -> None:
    ctx.meta[_RAW_KEY] = raw


def _remember(ctx: click.Context, _option: click.Parameter, form: Format) -> Format:
    ctx.meta[FORMAT_KEY] = form
    return form
