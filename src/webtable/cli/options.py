"""The options that commands share, and how a command opens its store."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar

import click

import webtable

__all__ = [
    "FORMAT_KEY",
    "ROW_KEY",
    "Format",
    "RowKey",
    "format_option",
    "group_store_option",
    "idle_store_option",
    "limit_option",
    "open_for_reading",
    "open_for_writing",
    "store_option",
    "wait_option",
    "yes_option",
]

DEFAULT_STORE = "./webtable.db"
FORMAT_KEY = "webtable.format"
"""Where the chosen format is kept in click's context, for errors to follow it."""
_STORE_KEY = "webtable.store"

Format: TypeAlias = Literal["table", "json", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = ("table", "json", "jsonl", "csv")

_Command = TypeVar("_Command", bound=Callable[..., Any])


def store_option(function: _Command) -> _Command:
    """Gives a command `--store LOCATION`, passed as `location`."""
    return click.option(
        "--store",
        "location",
        metavar="LOCATION",
        envvar="WEBTABLE_STORE",
        default=DEFAULT_STORE,
        show_default=True,
        show_envvar=True,
        callback=_chosen,
        help="A directory, hbase://HOST or hbase+masters://HOST.",
    )(function)


def group_store_option(function: _Command) -> _Command:
    """Gives a group of commands `--store LOCATION`, which counts for the command that follows."""
    return click.option(
        "--store",
        metavar="LOCATION",
        expose_value=False,
        callback=_hand_down,
        help="The store of the command that follows.",
    )(function)


def idle_store_option(function: _Command) -> _Command:
    """Gives a command that works on no store the option `--store` all the same."""
    return click.option(
        "--store",
        metavar="LOCATION",
        envvar="WEBTABLE_STORE",
        expose_value=False,
        help="Every command takes this; here it has no effect.",
    )(function)


def format_option(function: _Command) -> _Command:
    """Gives a command `--format`, passed as `form`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        callback=_remember,
        # Before the others, so that an error in one of them is reported in this form already.
        is_eager=True,
        help="How to print the answer.",
    )(function)


def limit_option(function: _Command) -> _Command:
    """Gives a command `--limit N`, passed as `limit`; None means all."""
    return click.option(
        "--limit",
        metavar="N",
        type=click.IntRange(min=1),
        show_default="all",
        help="Print at most N.",
    )(function)


def wait_option(function: _Command) -> _Command:
    """Gives a command `--no-wait`, passed as `wait`."""
    return click.option(
        "--wait/--no-wait",
        default=True,
        help="Return when it is done, or when it was asked for.  [default: when it is done]",
    )(function)


def yes_option(function: _Command) -> _Command:
    """Gives a command that removes something `--yes`; without it, a person is asked."""
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


def open_for_reading(location: str) -> webtable.Store:
    """Opens a store beside its writer, if it has one; never makes one."""
    return webtable.open(location, read_only=True, create=False)


def open_for_writing(location: str) -> webtable.Store:
    """Opens a store that exists, as its one writer."""
    return webtable.open(location, create=False)


def _confirm(ctx: click.Context, _option: click.Parameter, yes: bool) -> None:
    if yes or ctx.resilient_parsing:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("this removes data: say --yes", ctx)
    click.confirm("This removes data. Go on?", abort=True, err=True)


def _hand_down(ctx: click.Context, _option: click.Parameter, location: str | None) -> None:
    if location is not None:
        ctx.meta[_STORE_KEY] = location


def _chosen(ctx: click.Context, option: click.Parameter, location: str) -> str:
    is_said = ctx.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
    chosen: str = location if is_said else ctx.meta.get(_STORE_KEY, location)
    return chosen


def _remember(ctx: click.Context, _option: click.Parameter, form: Format) -> Format:
    ctx.meta[FORMAT_KEY] = form
    return form
