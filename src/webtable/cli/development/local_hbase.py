"""`webtable hbase up`, `down` and `status`: a real HBase on this machine."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
import msgspec

from webtable.cli.output_formats import Column, json_text, print_items, talk
from webtable.cli.shared_options import (
    Format,
    SuggestingChoice,
    complete_files,
    count_option,
    format_option,
    group_store_option,
    idle_store_option,
)
from webtable.errors import ServerUnavailable, door
from webtable.local.hbase import LocalHBase
from webtable.local.hbase_state import ClusterSettings, ClusterStatus, ProfileName, Storage

__all__ = ["hbase"]

PROCESS_COLUMNS = (
    Column("name", "PROCESS"),
    Column("pid", "PID"),
    Column("port", "PORT"),
    Column("log", "LOG"),
)

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _default_folder() -> str:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return str(Path(base, "webtable", "hbase"))


def _cluster_options(function: _Command) -> _Command:
    """Gives a command `--dir`, passed as `folder`, and the options that every command has."""
    folder = click.option(
        "--dir",
        "folder",
        metavar="DIR",
        shell_complete=complete_files,
        default=_default_folder,
        show_default="~/.local/share/webtable/hbase",
        envvar="WEBTABLE_HBASE_DIR",
        show_envvar=True,
        help="Where the cluster has its data, settings and logs.",
    )
    return folder(idle_store_option(format_option(function)))


@click.group(short_help="Run a real HBase on this machine.")
@group_store_option
def hbase() -> None:
    """Run a real HBase on this machine, for trying and for tests.

    HDFS, ZooKeeper, a master and region servers run as processes of their own, on 127.0.0.1
    and on free ports, until `webtable hbase down`. It needs Java 17 and Maven.
    """


@hbase.command(short_help="Start the cluster and print its location.")
@_cluster_options
@count_option("--region-servers", "The number of region servers.  [default: 1]")
@click.option(
    "--profile",
    type=SuggestingChoice(get_args(ProfileName)),
    help="How much memory and compiling the processes get.  [default: normal]",
)
@click.option(
    "--storage",
    type=SuggestingChoice(get_args(Storage)),
    help="Keep the files in HDFS, or in plain local files.  [default: hdfs]",
)
@click.option(
    "--set",
    "properties",
    metavar="NAME=VALUE",
    multiple=True,
    help="A property for hbase-site.xml; may be given several times.",
)
@click.option(
    "--timeout",
    "start_seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=180,
    show_default=True,
    help="Give up when the cluster is not ready by then.",
)
def up(folder: str, form: Format, properties: tuple[str, ...], **settings: Any) -> None:
    """Start the cluster and print its location, once tables can be created.

    Data of an earlier run is still there. Options that are left out are as they were then. A
    cluster that runs already is left as it is.
    """
    pairs = dict(_pair(text) for text in properties) if properties else None
    cluster = LocalHBase(folder, ClusterSettings(properties=pairs, **settings), report=talk)
    was_running = cluster.status().state == "running"
    began = time.monotonic()
    if not was_running:
        talk(f"starting HBase in {cluster.folder}")
    with _stopped_by_sigterm():
        status = cluster.up()
    if was_running:
        talk("already running; to change its options, take it down first")
    else:
        where = "" if folder == _default_folder() else f" --dir {shlex.quote(folder)}"
        seconds = time.monotonic() - began
        talk(f"ready after {seconds:.0f} s; to end it: webtable hbase down{where}")
    if form == "table":
        click.echo(status.location)
    else:
        _print(status, form)


@hbase.command(short_help="End every process of the cluster; its data stays.")
@_cluster_options
@click.option("--delete", is_flag=True, help="Remove the data, the settings and the logs as well.")
def down(folder: str, form: Format, delete: bool) -> None:
    """End every process of the cluster, and nothing else, and wait until none is left.

    The data stays, for the next `webtable hbase up`, unless --delete is given.
    """
    cluster = LocalHBase(folder)
    was_stopped = cluster.status().state == "stopped"
    cluster.down(delete=delete)
    talk("it was not running" if was_stopped else "stopped")
    if form != "table":
        _print(cluster.status(), form)


@hbase.command(short_help="Show the location and the processes of the cluster.")
@_cluster_options
@click.pass_context
def status(ctx: click.Context, folder: str, form: Format) -> None:
    """Show the location and the processes of the cluster.

    The exit code is 0 when all of it runs, and 5 when it is stopped, still starting, or
    degraded, which means that some of its processes have died.
    """
    now = LocalHBase(folder).status()
    _print(now, form)
    talk(f"{now.state}: {now.location or now.dir}")
    if now.state != "running":
        ctx.exit(door(ServerUnavailable).exit_code)


def _print(status: ClusterStatus, form: Format) -> None:
    if form == "json":
        click.echo(json_text(msgspec.to_builtins(status), indent=2))
    elif status.processes or form != "table":
        print_items(msgspec.to_builtins(status.processes), PROCESS_COLUMNS, form)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"'{text}' is not NAME=VALUE", param_hint="--set")
    return name, value


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Lets SIGTERM do what Ctrl-C does, so that a start that is called off leaves nothing."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
