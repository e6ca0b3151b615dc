"""Writes docs/reference/shell.md from the commands of the shell and their help."""

from __future__ import annotations

from webtable.cli.shell.cell_format import FORMATTERS
from webtable.cli.shell.command_catalog import ALIASES, GROUPS, OTHER_GROUPS, UNSUPPORTED
from webtable.cli.shell.help import help_of

__all__ = ["shell_page"]

HEAD = """# The shell

{made}

`webtable shell` runs the commands of HBase's shell, on both engines;
[how to use it](../howto/use-the-shell.md) is an introduction. It has every command of the groups
general, ddl, namespace, dml, tools and snapshots; commands that need a cluster fail with an
error on an embedded store. The output equals that of the shell of HBase 2.6: the tests compare it
with transcripts of that shell.

## The language

A part of Ruby, read by a parser of our own.

| written | means |
|---|---|
| `'text'` | a string; `\\'` and `\\\\` are the only escapes |
| `"key\\x00\\n\\101\\u00e9"` | a string with escapes for bytes and characters |
| `5`, `-1`, `1_000_000`, `0xff`, `1.5` | numbers; `+ - * / %` calculate with them |
| `LIMIT`, `VERSIONS`, `NAME` … | the names of options; they need no quotes |
| `ENDROW`, `ENDKEY`, `STARTKEY` | the same as `STOPROW`, `STOPROW` and `STARTROW` |
| `{{LIMIT => 10, 'k' => 'v'}}` | options; at the end of a command also without the braces |
| `['a', 'b']`, `nil`, `true`, `false` | a list, nothing, yes, no |
| `scan 't'`, `scan('t')` | a command |
| `x = 'row'`, `t = get_table 't'`, `t.scan` | variables; a table in one has methods |
| `# …` | a comment |

Several commands on a line have `;` between them. A command continues in the next line inside
brackets and strings, and after a comma, an operator or a backslash. Loops, blocks and
Java classes are not supported: write Python instead.

A column of a read may end in a formatter: `'f:n:toInt'`, or
`'f:n:c(org.apache.hadoop.hbase.util.Bytes).toInt'`. There are {formatters}.
`FORMATTER => 'toString'` is for everything that a read prints. Control characters are escaped then,
as `\\x1B`: a terminal would obey them.
"""

TAIL = """## Where it differs from HBase's shell

- A second colon belongs to the qualifier: `put 't', 'r', 'links:https://example.org/', 'v'` stores
  the column as it is written. HBase's shell cuts it off and stores `links:https`. Only a formatter
  at the end of a column in a read is removed.
- `deleteall` with `ROWPREFIXFILTER` deletes keys with any bytes; HBase's shell misses those that
  are not printable.
- An option that a command does not have is an error, also one in quotes; HBase's shell ignores it.
  `create` and `alter` print the options they ignore, as HBase's do.
- Two strings without a comma between them are an error; HBase's shell makes one of them.
- Errors go to stderr, with messages and hints of WebTable; an error has its line, and a syntax
  error its position.
- `get` with `VERSIONS` alone reads the whole row; HBase's shell wants a column with it.
- `compact` and `major_compact` wait on an embedded store. `truncate` of a table with several
  regions drops it and makes it again.
- The tables of the system (`hbase:meta`) are not shown, and neither is the namespace `hbase`.
- `processlist` reads from the master, not from the web pages of the servers, which may be
  disabled: it is as old as their last report (seconds), and has the start and the end of each task.
- `compact` and `major_compact` of kind MOB are rejected with a reason: HBase 2.6 fails to run them.
- `trace` prints that nothing is traced; HBase's shell traces with an agent inside its JVM.
- `normalize` uses `NAMESPACE` and `REGEX` together; HBase's shell only one of them.
- A command with the name of a server also accepts `host:port` and `host,port`.
- Results that are Java objects (`=> #<Java::…>`) are left out.
- A script prints its lines only with `--echo`; HBase's shell always prints them.
"""


def shell_page(made: str) -> str:
    """Returns the page; `made` is the line that names its source."""
    formatters = ", ".join(f"`{name}`" for name in FORMATTERS)
    parts = [HEAD.format(made=made, formatters=formatters).rstrip()]
    for name, group in GROUPS.items():
        parts.append(f"## {name}: {group.title[0].lower()}{group.title[1:]}")
        for command in group.names:
            if command not in UNSUPPORTED:
                summary, examples = help_of(command)
                also = [alias for alias, meant in ALIASES.items() if meant == command]
                title = ", ".join(f"`{each}`" for each in (command, *also))
                parts.append(f"### {title}\n\n{summary}")
                parts.append("\n".join(["```ruby", *examples, "```"]))
    parts += ["## Commands that are not supported", "| command | why |\n|---|---|"]
    parts[-1] += "".join(f"\n| `{name}` | {UNSUPPORTED[name]} |" for name in sorted(UNSUPPORTED))
    others = ", ".join(OTHER_GROUPS)
    parts.append(f"The groups {others} of HBase's shell are not part of this one.")
    parts.append(TAIL.rstrip())
    return "\n\n".join(parts) + "\n"
