"""Scripts: commands from a file, from `-c`, or from standard input, run one after another.

A script stops at its first error, reports its place, and exits with that error's code;
`--keep-going` runs the rest as well and exits with the code of the first error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from webtable import WebTableError
from webtable.cli.output_formats import talk
from webtable.cli.shell.hbase_layout import Printer
from webtable.cli.shell.language.lexer import Lexer
from webtable.cli.shell.session import ExitShell, Session
from webtable.errors import ShellSyntaxError, door

__all__ = ["Lines", "Script", "report", "run_script"]


class Lines(Iterator[str]):
    """The lines of a script as they are read, so that a confirmation can read the next one."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    def __next__(self) -> str:
        return next(self._lines).rstrip("\r\n")

    def reply(self, _prompt: str) -> str:
        """Returns the next line as the reply to a prompt; "n" at the end of the script."""
        return next(self, "n")


class Script(NamedTuple):
    """What to run: its name for messages, its lines, and how.

    Attributes:
        keep_going: go on after an error.
        echo: print each line with its prompt before its output.
    """

    name: str
    lines: Iterator[str]
    keep_going: bool = False
    echo: bool = False


def run_script(session: Session, script: Script) -> int:
    """Runs a script and returns the exit code.

    Every command that does not fail is run before the next line is read.
    """
    code = 0
    lexer, started, number = Lexer(), 1, 0
    for line in script.lines:
        number += 1
        try:
            if script.echo:
                _echo(session.out, number, line, lexer)
            lexer.feed(line)
            if lexer.is_open:
                continue
            session.run(lexer)
        except ExitShell as exc:
            return exc.code or code
        except WebTableError as error:
            report(error, script.name, started)
            code = code or door(error).exit_code
            if not script.keep_going:
                return code
        lexer, started = Lexer(number + 1), number + 1
    try:
        lexer.finish()
    except ShellSyntaxError as error:
        report(error, script.name, started)
        code = code or door(error).exit_code
    return code


def report(error: WebTableError, name: str = "", line: int = 0) -> None:
    """Writes an error to stderr, with file and line; syntax errors show the place.

    Args:
        name: of the script; empty at a prompt.
        line: in which the command begins.
    """
    if isinstance(error, ShellSyntaxError):
        talk(f"{name}:{error.line}:{error.column}: {error.message}" if name else error.message)
        talk(f"  {error.source}")
        # Tabs stay tabs, so that the caret is under its place whatever their width is.
        before = error.source[: error.column - 1]
        talk("  " + "".join("\t" if char == "\t" else " " for char in before) + "^")
    else:
        talk(f"{name}:{line}: {error.message}" if name else error.message)
    if error.hint:
        talk(f"hint: {error.hint}")


def _echo(out: Printer, number: int, line: str, lexer: Lexer) -> None:
    mark = f"{lexer.depth}{lexer.open_quote or '*'}" if lexer.is_open else "0>"
    out.line(f"hbase:{number:03}:{mark} {line}")
