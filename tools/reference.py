"""Writes the pages of docs/reference that are made from the code: `python -m tools.reference`.

A test compares the pages with the output of this module, so they are always up to date.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import click

import webtable
from tools.config_page import config_page
from tools.docstrings import sections, short_signature
from tools.python_pages import store_page, values_page, webtable_page
from tools.shell_page import shell_page
from webtable import errors, records
from webtable.cli.main import cli
from webtable.store import admin_results, cluster_activity
from webtable.store.cluster_admin import ClusterAdmin

ROOT = Path(__file__).parents[1]
HELP = cli.context_settings["help_option_names"]
MADE = "<!-- Made by `make docs` from the code; do not edit. -->"


def leaf_commands(
    group: click.Group = cli, path: tuple[str, ...] = ("webtable",)
) -> Iterator[tuple[str, click.Command]]:
    """Yields every command that does something, with its full name."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None, name
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield " ".join((*path, name)), command
            yield from leaf_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def commands_page() -> str:
    """Returns docs/reference/commands.md: the help text of every command."""
    parts = [
        "# Commands",
        MADE,
        "Data goes to stdout, talk to stderr, and the meaning into the exit code: "
        "[errors](errors.md) has the list. `python -m webtable` is the same as `webtable`.",
        _help_block("webtable", cli),
    ]
    for name, command in leaf_commands():
        parts += [f"## {name}", _help_block(name, command)]
    return "\n\n".join(parts) + "\n"


def _help_block(name: str, command: click.Command) -> str:
    # The width is given: it must not depend on the terminal that the page is made in.
    ctx = click.Context(command, info_name=name, terminal_width=88, help_option_names=HELP)
    return f"```text\n{command.get_help(ctx)}\n```"


def errors_page() -> str:
    """Returns docs/reference/errors.md: every error class with its codes."""
    lines = [
        "# Errors",
        "",
        MADE,
        "",
        "Errors are sorted by what the caller should do; all are classes of `webtable.errors`. A",
        "command prints `webtable: MESSAGE` and `hint: NEXT STEP` to stderr; with `--format json`",
        "or `jsonl` it prints one object there instead:",
        '`{"ok": false, "code": …, "error": …, "hint": …, "status": …}`.',
        "",
        "| class | code | exit code | HTTP status | meaning |",
        "|---|---|---|---|---|",
    ]
    for depth, kind in _tree(errors.WebTableError):
        door = errors.door(kind)
        first_line = (inspect.getdoc(kind) or "").splitlines()[0]
        indent = "· " * depth
        # The exit code and status of a batch are those of its first error.
        codes = "as its first error | as its first error"
        if kind is not errors.BatchError:
            codes = f"{door.exit_code} | {door.http_status}"
        lines.append(f"| {indent}`{kind.__name__}` | `{kind.code}` | {codes} | {first_line} |")
    lines += [
        "",
        "## Exit codes",
        "",
        "| exit code | meaning |",
        "|---|---|",
        *(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()),
        "",
        "What they mean for some commands:",
        "",
        "| command | exit code | when |",
        "|---|---|---|",
        *(f"| {command} | {code} | {meaning} |" for command, code, meaning in COMMAND_CODES),
    ]
    return "\n".join(lines) + "\n"


EXIT_CODES = {
    0: "done",
    1: "failed: access denied, a full disk, output that cannot be written, a check that fails",
    2: "usage: an option, an argument, a cursor, a URL or a path that cannot be right",
    3: "not found: a store, a page, a table, a family, a region, a server, a snapshot",
    4: "conflict; it exists already; the store is in use; the table is disabled",
    5: "unavailable, try again",
    6: "data damaged, or `verify` found differences",
    130: "stopped: by Ctrl-C (SIGINT), by SIGTERM, or by a reader of its output that went away",
}
COMMAND_CODES = (
    (
        "`webtable load`",
        1,
        "a part of a file was not read, or the store rejected a page; stderr names them",
    ),
    ("`webtable verify`, `webtable records verify`", 6, "something differs and was not repaired"),
    ("`webtable doctor`", 1, "a check failed; stderr has what to do"),
    (
        "`webtable jobs run NAME`",
        6,
        "the job `verify` found differences; 1 if a check of `health` failed, 5 if the store is"
        " in use, 4 if another process runs the job, otherwise that of the error",
    ),
    ("`webtable jobs run`", 0, "it was stopped by Ctrl-C or SIGTERM"),
    ("`webtable hbase status`", 5, "the cluster is not running, or not all of it"),
    ("`webtable export`, `webtable sample`", 1, "the disk is full; no file is left behind"),
    ("`webtable shell`", 2, "a command does not parse; other errors have their own codes"),
    ("any command", 1, "standard output cannot be written, as on a full disk"),
    (
        "any command",
        130,
        "it was stopped; loaded pages stay stored, and a new load continues after them",
    ),
)


def _tree(
    kind: type[errors.WebTableError], depth: int = 0
) -> Iterator[tuple[int, type[errors.WebTableError]]]:
    yield depth, kind
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from _tree(child, depth + 1)


def administration_page() -> str:
    """Returns docs/reference/administration.md: the methods of `store.admin`, and their results."""
    parts = [
        "# Administration",
        MADE,
        "`store.admin` administers a cluster or an embedded store; "
        "[how to](../howto/administer.md) has examples. Tables are created, altered, truncated "
        "and dropped by methods of `Store`.",
        _contract(inspect.getdoc(inspect.getmodule(webtable.Admin)) or ""),
        "## Methods",
        *_methods(webtable.Admin),
        "## Methods that need a cluster",
        "An embedded store rejects them with an error.",
        *_methods(ClusterAdmin),
    ]
    parts.append("## Results\n\nNamed tuples of the package `webtable`.")
    for name in (*admin_results.__all__, *cluster_activity.__all__):
        kind = getattr(admin_results, name, None) or getattr(cluster_activity, name)
        if isinstance(kind, type):
            parts += [f"### {name}", sections(inspect.getdoc(kind) or "")]
            types = {
                key: getattr(each, "__forward_arg__", each)
                for key, each in kind.__annotations__.items()
            }
            parts.append("Fields: " + ", ".join(f"`{key}: {each}`" for key, each in types.items()))
    return "\n\n".join(parts) + "\n"


def _methods(kind: type) -> Iterator[str]:
    for name, method in vars(kind).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            yield f"### {name}\n\n```text\n{short_signature(name, method)}\n```"
            yield sections(inspect.getdoc(method) or "")


def _contract(doc: str) -> str:
    return doc.partition("every engine:\n\n")[2]


def records_page() -> str:
    """Returns docs/reference/records.md: the public names of webtable.records."""
    parts = [
        "# Records",
        MADE,
        "Names of `webtable.records`; [how to](../howto/typed-records.md) has examples.",
    ]
    for kind in (records.Record, records.Collection, records.IndexBy, records.EntityTable):
        parts += [f"## {kind.__name__}", sections(inspect.getdoc(kind) or "")]
        for name, method in vars(kind).items():
            if inspect.isfunction(method) and (not name.startswith("_") or name == "__init__"):
                shown = kind.__name__ if name == "__init__" else name
                parts.append(f"### {shown}\n\n```text\n{short_signature(shown, method)}\n```")
                if name != "__init__":
                    parts.append(sections(inspect.getdoc(method) or ""))
    parts.append("## Others")
    for name in records.__all__:
        each = getattr(records, name)
        if inspect.isfunction(each):
            parts.append(f"### {name}\n\n```text\n{short_signature(name, each)}\n```")
            parts.append(sections(inspect.getdoc(each) or ""))
        elif name in {"FoundRecords", "Ghost", "Partitioner", "HashPartitioner", "WideEntity"}:
            parts += [f"### {name}", sections(inspect.getdoc(each) or "")]
    return "\n\n".join(parts) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/administration.md": administration_page,
    "docs/reference/commands.md": commands_page,
    "docs/reference/config.md": lambda: config_page(MADE),
    "docs/reference/errors.md": errors_page,
    "docs/reference/python-store.md": lambda: store_page(MADE),
    "docs/reference/python-values.md": lambda: values_page(MADE),
    "docs/reference/python-webtable.md": lambda: webtable_page(MADE),
    "docs/reference/records.md": records_page,
    "docs/reference/shell.md": lambda: shell_page(MADE),
}


def main() -> None:
    """Writes all pages."""
    for name, page in PAGES.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
