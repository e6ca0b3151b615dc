"""The commands about the store and the shell itself: version, help, exit."""

from __future__ import annotations

import getpass
import grp
import os

import webtable
from webtable.cli.shell.command_catalog import GROUPS
from webtable.cli.shell.commands.describe_text import java_order
from webtable.cli.shell.help import about_all, about_command, about_group
from webtable.cli.shell.language.ruby_values import Value, inspect_value, to_int, to_text
from webtable.cli.shell.session import ExitShell, Session
from webtable.errors import InvalidRequest
from webtable.store.filtering.filter_text_forms import FORMS

TABLE_HELP = """A variable can hold a table, and commands can be called on it without its name.

  hbase> t = create 't1', 'f1'
  hbase> t = get_table 't1'
  hbase> t.put 'row', 'f1:q', 'value'
  hbase> t.get 'row'
  hbase> t.scan LIMIT => 10
  hbase> t.count
  hbase> t.describe
  hbase> t.disable
  hbase> t.drop"""


def show_help(session: Session, topic: Value = None) -> None:
    """Shows all commands, or examples of a command or of a group.

    help
    help 'scan'
    help 'dml'
    """
    if topic is None:
        session.out.line(about_all())
        return
    name = to_text(topic, "the command's name")
    session.out.line(about_group(name) if name in GROUPS else about_command(name))


def tools(session: Session) -> None:
    """Shows examples of the commands of the group tools.

    tools
    """
    session.out.line(about_group("tools"))


def table_help(session: Session) -> None:
    """Shows how to call commands on a table that a variable holds.

    table_help
    """
    session.out.line(TABLE_HELP)


def version(session: Session) -> None:
    """Shows the version of this program, and of the cluster.

    version
    """
    cluster = session.store.admin.report().version
    behind = f"HBase {cluster}" if cluster else "embedded store"
    session.out.line(f"WebTable {webtable.__version__}, {behind}")


def whoami(session: Session) -> None:
    """Shows the user that a cluster sees.

    whoami
    """
    try:
        user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
    except (KeyError, OSError):  # a user without an entry
        user = str(os.getuid())
    session.out.line(f"{user} (auth:SIMPLE)")
    names = []
    for number in os.getgroups() or [os.getgid()]:
        try:
            names.append(grp.getgrgid(number).gr_name)
        except KeyError:
            names.append(str(number))
    session.out.line(f"    groups: {', '.join(names)}")


def show_filters(session: Session) -> None:
    """Lists the filters that FILTER can name.

    show_filters
    """
    session.out.heading()
    for name in java_order(FORMS, seed=0):
        session.out.row(name)


def trace(_: Session, action: Value = b"status", _name: Value = None) -> bool:
    """Shows whether calls are traced: never. Tracing needs an agent inside a JVM.

    trace
    trace 'status'
    """
    word = to_text(action, "what to do")
    if word not in ("start", "status", "stop"):
        raise InvalidRequest(f"trace '{word:.40}' is not valid", hint="'start', 'status', 'stop'")
    if word == "start":
        raise InvalidRequest(
            "calls cannot be traced from here",
            hint="HBase's shell hands its spans to an agent of OpenTelemetry inside its JVM; "
            "there is no JVM behind this one",
        )
    return False


def puts(session: Session, *values: Value) -> None:
    """Prints values, each on a line.

    puts 'half of it is done'
    """
    for value in values or (b"",):
        shown = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else None
        session.out.line(inspect_value(value) if shown is None else shown)


def leave(_: Session, code: Value = 0) -> None:
    """Ends the shell, with an exit code if one is given.

    exit
    exit 3
    quit
    """
    number = to_int(code, "the exit code")
    if not 0 <= number <= 255:
        raise InvalidRequest(f"exit code {number} is out of range", hint="from 0 to 255")
    raise ExitShell(number)
