"""The `webtable` command: its subcommands, and what an error looks like to a shell.

A subcommand's module is imported when it is called, not before: the help text must come at once,
whatever libraries the commands need. Data goes to stdout, talk to stderr, the meaning into the
exit code, which `webtable.errors` gives each class of errors.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, NamedTuple

import click

from webtable import WebTableError, __version__
from webtable.cli.options import FORMAT_KEY, group_store_option
from webtable.errors import door, error_body

__all__ = ["cli", "main"]

STOPPED = 130


class Entry(NamedTuple):
    """Where a subcommand is defined, and the line about it in the help text."""

    module: str
    name: str
    summary: str


COMMANDS = {
    "balancer": Entry(
        "servers", "balancer", "Let the cluster spread its regions by itself, or not."
    ),
    "checkpoint": Entry("upkeep", "checkpoint", "Write a consistent copy of the store."),
    "cluster": Entry(
        "servers",
        "cluster",
        "Show the master, dead servers, regions on their way, the balancer.",
    ),
    "compact": Entry("upkeep", "compact", "Rewrite tables without what no read can see."),
    "diff": Entry("pages", "diff", "Show what changed between two versions of a page."),
    "doctor": Entry(
        "doctor", "doctor", "Measure whether a store of pages fits its size, with advice."
    ),
    "export": Entry("export", "export", "Write pages to a file: WARC, JSON lines, CDXJ."),
    "flush": Entry("upkeep", "flush", "Write what is in memory to files."),
    "hbase": Entry("hbase", "hbase", "Run a real HBase on this machine, for trying and for tests."),
    "index": Entry("verify", "index", "Look after the indexes of pages."),
    "init": Entry("pages", "init", "Make a store for pages."),
    "links": Entry("links", "links", "Ask who links where: top, in, out, changes, broken …"),
    "load": Entry("load", "load", "Load crawls: WARC, ARC, WAT or JSON lines."),
    "namespace": Entry("namespaces", "namespace", "List, create and drop namespaces."),
    "page": Entry("pages", "page", "Show a page: now, at a date, its history, its body."),
    "pages": Entry("pages", "pages", "List the pages of a domain or a directory."),
    "records": Entry("records", "records", "Look after tables of records: ghost fields, indexes."),
    "region": Entry("regions", "region", "Move, split, merge, flush and compact regions."),
    "regions": Entry("regions", "regions", "List regions with their servers, sizes and requests."),
    "report": Entry("reports", "report", "Ask about all pages: errors, largest, modified …"),
    "sample": Entry("sample", "sample", "Write a small, made-up crawl to try things with."),
    "servers": Entry("servers", "servers", "List the servers that are alive, with their load."),
    "shell": Entry(
        "shell.command", "shell", "Type commands of HBase's shell, or run a script of them."
    ),
    "snapshot": Entry(
        "snapshots", "snapshot", "Take, list, restore, clone and delete snapshots of tables."
    ),
    "stats": Entry(
        "stats", "stats", "Show sizes and counts: by family, of pages by part or domain."
    ),
    "table": Entry("schemas", "table", "Create, describe, alter, enable, disable and drop tables."),
    "tables": Entry("tables", "tables", "List the tables with their families and sizes."),
    "tour": Entry("tour", "tour", "Show what the store can do, step by step."),
    "verify": Entry("verify", "verify", "Check that pages and indexes agree; mend what does not."),
}


class LazyGroup(click.Group):
    """A group that imports a subcommand only when it is called, and reports our errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the subcommands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports one subcommand; None when there is none of that name."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"webtable.cli.{entry.module}")
        command: click.Command = getattr(module, entry.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of subcommands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].summary) for name in sorted(COMMANDS)])

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the subcommand; an error of ours becomes a message and an exit code."""
        try:
            return super().invoke(ctx)
        except WebTableError as error:
            _report(error, ctx.meta.get(FORMAT_KEY, "table"))
            ctx.exit(door(error).exit_code)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@group_store_option
def cli() -> None:
    """Keep crawled web pages the way Bigtable's Webtable did.

    Every command takes --store LOCATION: a directory for the embedded store, or hbase://HOST for
    a cluster. WEBTABLE_STORE sets it for all of them.
    """


def main() -> None:
    """Runs the command line and leaves the process with its exit code."""
    try:
        result = cli.main(prog_name="webtable", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        # click turns Ctrl-C into Abort. The shell has moved the cursor already.
        sys.exit(STOPPED)
    sys.exit(result if isinstance(result, int) else 0)


def _report(error: WebTableError, form: str) -> None:
    if form in ("json", "jsonl"):
        click.echo(json.dumps(error_body(error), ensure_ascii=False), err=True)
        return
    click.echo(f"webtable: {error.message}", err=True)
    if error.hint:
        click.echo(f"hint: {error.hint}", err=True)
