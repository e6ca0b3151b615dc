"""A session: the store, the variables, and how a command is found and called.

It is independent of files and terminals; `script` and `interactive` call it. Only errors of
`webtable.errors` come out of `run`, and `ExitShell` after the command exit.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from webtable import Store, Table
from webtable.cli.shell.command_catalog import ALIASES, GROUPS, Command, find_command
from webtable.cli.shell.hbase_layout import Printer
from webtable.cli.shell.language.lexer import Lexer, Token
from webtable.cli.shell.language.parser import Array, Binary, Call, Hash, Node, Word, parse
from webtable.cli.shell.language.ruby_constants import CONSTANTS, suggestion
from webtable.cli.shell.language.ruby_values import TableRef, Value, inspect_value, kind_of, to_text
from webtable.errors import InvalidRequest, ShellSyntaxError

__all__ = ["TABLE_METHODS", "ExitShell", "Session"]

_WITHOUT_TIME = {"help", "tools", "puts", "exit", "quit"}
_LITERALS: dict[str, Value] = {"nil": None, "true": True, "false": False}
TABLE_METHODS = {
    "append", "count", "delete", "deleteall", "describe", "disable", "drop", "enable", "flush",
    "get", "get_counter", "get_splits", "incr", "put", "scan", "snapshot", "truncate",
}  # fmt: skip
_JAVA = {"org", "java", "javax", "com"}
_NO_JAVA = "this shell has no JVM this shell"
_MOST = 2**63


class ExitShell(Exception):
    """The command exit was called, with a code for the process."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Session:
    """Runs commands on one store, and prints their output.

    Attributes:
        ask: shows a prompt to the user, or to the script, and returns the line of the reply.
        with_times: print how long each command took.
        epoch: print timestamps as milliseconds.
        command: the command that runs, or ran last.
    """

    def __init__(
        self,
        store: Store,
        out: Printer,
        ask: Callable[[str], str],
        *,
        with_times: bool = True,
        is_read_only: bool = False,
        epoch: bool = False,
    ) -> None:
        self.store = store
        self.out = out
        self.ask = ask
        self.with_times = with_times
        self.epoch = epoch
        self.command = ""
        self.variables: dict[str, Value] = {}
        self._is_read_only = is_read_only
        self._lexer = Lexer()

    def table(self, name: Value) -> Table:
        """Returns the table of a name or of a reference to one."""
        return self.store.table(to_text(name, "the table's name"))

    def run(self, lexer: Lexer) -> None:
        """Runs the commands that a lexer read, and prints their results.

        Raises:
            ShellSyntaxError: they do not parse; nothing of them was run.
            WebTableError: a command failed; those before it were run.
            ExitShell: one of them was exit.
        """
        self._lexer = lexer
        self.command = ""
        try:
            for node in parse(lexer):
                result = self._evaluate(node)
                if result is not None:
                    self.out.line(f"=> {inspect_value(result)}")
        except RecursionError:
            raise InvalidRequest("the command is nested too deeply", hint="shorten it") from None
        finally:
            self.out.flush()

    def call(self, name: str, arguments: list[Value]) -> Value:
        """Calls a command and prints how long it took."""
        command = find_command(name)
        if command is None:
            raise InvalidRequest(
                f"there is no command '{name}'", hint=_near(name) or "see `help` for a list"
            )
        self.command = ALIASES.get(name, name)
        _check_count(self.command, command, len(arguments))
        if self._is_read_only:
            self.store.refresh()
        started = time.perf_counter()
        result: Value = command(self, *arguments)
        if self.with_times and self.command not in _WITHOUT_TIME:
            self.out.took(time.perf_counter() - started)
        return result

    # Values

    def _wrong(self, token: Token, message: str, hint: str = "") -> ShellSyntaxError:
        return self._lexer.error(message, token.line, token.column, hint)

    def _evaluate(self, node: Node) -> Value:
        if isinstance(node, Word):
            return self._word(node.token)
        if isinstance(node, Array):
            return [self._evaluate(item) for item in node.items]
        if isinstance(node, Hash):
            return {self._key(key): self._evaluate(value) for key, value in node.pairs}
        if isinstance(node, Binary):
            return self._binary(node)
        if isinstance(node, Call):
            return self._call(node) if node.receiver is None else self._method(node, node.receiver)
        value = self._evaluate(node.value)
        self.variables[node.name] = value
        return value

    def _word(self, token: Token) -> Value:
        if not isinstance(token.value, str):
            return token.value
        word = token.word
        if token.kind in ("symbol", "label"):
            return word.encode()
        if word in self.variables:
            return self.variables[word]
        if token.kind == "constant":
            if word not in CONSTANTS:
                hint = suggestion(word, list(CONSTANTS))
                raise self._wrong(
                    token, f"{word} is an unknown option", hint or "quote it if it is a name"
                )
            return CONSTANTS[word]
        if word in _LITERALS:
            return _LITERALS[word]
        raise self._wrong(
            token,
            f"'{word}' is neither in quotes nor a variable",
            f"write '{word}' with its quotes if it is a name",
        )

    def _key(self, node: Node) -> str:
        key = self._evaluate(node)
        if isinstance(key, bytes):
            return key.decode("utf-8", "surrogateescape")
        if isinstance(key, int) and not isinstance(key, bool):
            return str(key)
        raise self._wrong(node.token, f"{kind_of(key)} cannot be a key", "such as {LIMIT => 10}")

    def _binary(self, node: Binary) -> Value:
        left, right = self._evaluate(node.left), self._evaluate(node.right)
        sign = node.token.word
        if isinstance(left, bytes) and isinstance(right, bytes) and sign == "+":
            return left + right
        for side in (left, right):
            if isinstance(side, bool) or not isinstance(side, (int, float)):
                raise self._wrong(node.token, f"'{sign}' cannot be done with {kind_of(side)}")
        assert isinstance(left, (int, float))
        assert isinstance(right, (int, float))
        if sign in "/%" and not right:
            raise self._wrong(node.token, "this divides by 0")
        whole = isinstance(left, int) and isinstance(right, int)
        result: int | float
        try:
            if sign == "+":
                result = left + right
            elif sign == "-":
                result = left - right
            elif sign == "*":
                result = left * right
            elif sign == "%":
                result = left % right
            else:
                result = left // right if whole else left / right
        except OverflowError:
            result = _MOST
        if isinstance(result, int) and not -_MOST <= result < _MOST:
            raise self._wrong(node.token, "the result has more than 64 bits")
        return result

    # Calls

    def _call(self, node: Call) -> Value:
        if not node.arguments:
            if node.name in self.variables:
                return self.variables[node.name]
            if node.name in _LITERALS:
                return _LITERALS[node.name]
        if node.name in _JAVA:
            raise self._wrong(
                node.token, "classes of Java are not supported here", "this shell has no JVM"
            )
        if node.name == "help":  # `help scan`, as well as `help 'scan'`
            names = (self._topic(argument) for argument in node.arguments)
            return self.call("help", list(names))
        if find_command(node.name) is None:
            candidates = [
                *(name for group in GROUPS.values() for name in group.names),
                *self.variables,
            ]
            hint = suggestion(node.name, candidates) or "see `help` for a list"
            raise self._wrong(node.token, f"there is no command '{node.name}'", hint)
        return self.call(node.name, [self._evaluate(argument) for argument in node.arguments])

    def _topic(self, node: Node) -> Value:
        if isinstance(node, Word) and node.token.kind in ("name", "constant"):
            return node.token.word.encode()
        return self._evaluate(node)

    def _method(self, node: Call, receiver: Node) -> Value:
        first = receiver
        while isinstance(first, Call) and first.receiver is not None:
            first = first.receiver
        if first.token.value in _JAVA and first.token.kind == "name":
            raise self._wrong(
                first.token, "classes of Java are not supported here", "this shell has no JVM"
            )
        owner = self._evaluate(receiver)
        if not isinstance(owner, TableRef):
            raise self._wrong(
                node.token,
                f"'{node.name}' of {kind_of(owner)} is not supported here",
                "only tables have methods: t = get_table 'name', then t.scan",
            )
        if node.name == "name":
            return owner.name.encode()
        if node.name == "help":
            return self.call("help", [self._topic(each) for each in node.arguments] or [b"dml"])
        if node.name not in TABLE_METHODS:
            hint = suggestion(node.name, sorted(TABLE_METHODS))
            raise self._wrong(
                node.token,
                f"tables have no method '{node.name}'",
                hint or f"they have {', '.join(sorted(TABLE_METHODS))}",
            )
        arguments = [self._evaluate(argument) for argument in node.arguments]
        return self.call(node.name, [owner, *arguments])


def _check_count(name: str, command: Command, given: int) -> None:
    """Rejects too few or too many arguments; the session is a command's first one."""
    code = command.__code__
    most = code.co_argcount - 1
    least = most - len(command.__defaults__ or ())
    has_rest = bool(code.co_flags & 0x04)
    if least <= given and (given <= most or has_rest):
        return
    if has_rest:
        wanted = f"at least {least}"
    else:
        wanted = str(least) if least == most else f"{least} to {most}"
    raise InvalidRequest(
        f"{name} takes {wanted} argument(s), {given} given", hint=f"see `help '{name}'`"
    )


def _near(name: str) -> str:
    return suggestion(name, [each for group in GROUPS.values() for each in group.names])
