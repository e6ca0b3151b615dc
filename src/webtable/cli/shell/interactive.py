"""The shell at a terminal: a prompt with history, completion and editing over several lines.

Ctrl-C ends the command that runs, or drops what was typed; Ctrl-D ends the shell. This is the only
module that needs prompt-toolkit, and it is imported when there is a terminal to talk to.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

import webtable
from webtable import WebTableError
from webtable.cli.output_formats import talk
from webtable.cli.shell.completion import complete
from webtable.cli.shell.language.lexer import Lexer, last_command
from webtable.cli.shell.script import report
from webtable.cli.shell.session import ExitShell, Session
from webtable.errors import ShellSyntaxError

__all__ = ["history_path", "run_interactive"]

BANNER = """WebTable Shell, version {version}, on {location}
Use "help" to get list of supported commands.
Use "exit" to quit this interactive shell.
"""


def run_interactive(session: Session) -> int:
    """Reads commands from the terminal until the user exits; returns the exit code."""
    session.ask = _ask
    location = session.store.location
    session.out.line(BANNER.format(version=webtable.__version__, location=location))
    session.out.flush()
    number = 1
    prompt: PromptSession[str] = PromptSession(
        history=_history(),
        completer=_StoreCompleter(session),
        complete_while_typing=False,  # completions may need requests to a cluster: not at every key
        key_bindings=_keys(),
        multiline=True,
    )
    while True:
        mark = f"hbase:{number:03}:0"
        try:
            text = prompt.prompt(f"{mark}> ", prompt_continuation=lambda *_, mark=mark: f"{mark}* ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0
        number += text.count("\n") + 1
        try:
            run_text(session, text)
        except ExitShell as exc:
            return exc.code


def run_text(session: Session, text: str) -> None:
    """Runs what was typed or pasted, several commands perhaps; an error ends the rest of it."""
    lexer = Lexer()
    started = time.perf_counter()
    try:
        for line in text.split("\n"):
            if not lexer.is_open:
                lexer = Lexer()
            lexer.feed(line)
            if not lexer.is_open:
                started = time.perf_counter()
                session.run(lexer)
        lexer.finish()
    except WebTableError as error:
        _show(session, error, time.perf_counter() - started)
    except KeyboardInterrupt:
        talk("")
        talk("interrupted")
    session.out.line()
    session.out.flush()


def is_complete(text: str) -> bool:
    """Whether Enter runs the text, and does not begin another line of it."""
    try:
        return not last_command(text).is_open
    except ShellSyntaxError:
        return True  # running it shows what is wrong


def history_path() -> Path:
    """Returns the file that keeps what was typed."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state, "webtable", "shell_history")


def _history() -> History:
    path = history_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:  # a home that cannot be written to
        return InMemoryHistory()
    return FileHistory(path)


def _show(session: Session, error: WebTableError, seconds: float) -> None:
    session.out.flush()
    if isinstance(error, ShellSyntaxError):
        report(error)
        return
    lines = ["", f"ERROR: {error}", ""]
    if session.command:
        lines += [f"For usage try 'help \"{session.command}\"'", ""]
    for line in lines:
        talk(line)
    if session.with_times:
        session.out.took(seconds)


def _ask(prompt: str) -> str:
    try:
        return input(prompt)
    except EOFError:
        return "n"


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline(copy_margin=False)

    return keys


class _StoreCompleter(Completer):
    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        word, found = complete(self._session, document.text_before_cursor)
        return (Completion(each, start_position=-len(word)) for each in found)
