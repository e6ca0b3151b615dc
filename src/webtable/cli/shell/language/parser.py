"""Commands from tokens: calls, hashes with and without braces, arrays, assignments.

The grammar, a part of Ruby's:

    statement   NAME "=" statement | value { "." call }
    call        NAME [ "(" arguments ")" | arguments ]
    arguments   value { "," value } { "," pair }          pairs without braces come last
    pair        value "=>" value | LABEL value
    value       string | number | constant | symbol | NAME | call(…) | array | hash
                | value ("+" | "-" | "*" | "/" | "%") value
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from webtable.cli.shell.language.lexer import Lexer, Token

__all__ = ["Array", "Assign", "Binary", "Call", "Hash", "Node", "Word", "parse"]

_RUBY_WORDS = {
    "begin", "class", "def", "do", "end", "for", "if", "in", "loop", "module", "require",
    "unless", "until", "while", "yield",
}  # fmt: skip
_NO_RUBY = "loops, blocks and classes of Ruby are not part of this shell; write Python instead"


# Plain classes: dataclasses are created at every start, which takes longer than a short script.


class Word:
    """A string, number, symbol, constant or name that stands for itself or for a variable."""

    __slots__ = ("token",)

    def __init__(self, token: Token) -> None:
        self.token = token


class Array:
    """A list of values."""

    __slots__ = ("items", "token")

    def __init__(self, token: Token, items: list[Node]) -> None:
        self.token = token
        self.items = items


class Hash:
    """Keys and values."""

    __slots__ = ("pairs", "token")

    def __init__(self, token: Token, pairs: list[tuple[Node, Node]]) -> None:
        self.token = token
        self.pairs = pairs


class Binary:
    """An operation on two values."""

    __slots__ = ("left", "right", "token")

    def __init__(self, token: Token, left: Node, right: Node) -> None:
        self.token = token
        self.left = left
        self.right = right


class Call:
    """A command, or a method of a value."""

    __slots__ = ("arguments", "name", "receiver", "token")

    def __init__(self, token: Token, arguments: list[Node], receiver: Node | None = None) -> None:
        self.token = token
        self.name = token.word
        self.arguments = arguments
        self.receiver = receiver


class Assign:
    """A variable and what it is set to."""

    __slots__ = ("name", "token", "value")

    def __init__(self, token: Token, value: Node) -> None:
        self.token = token
        self.name = token.word
        self.value = value


Node: TypeAlias = Word | Array | Hash | Binary | Call | Assign


def parse(lexer: Lexer) -> list[Node]:
    """Returns the commands that a lexer read; none when there were only comments.

    Raises:
        ShellSyntaxError: they are not well formed; the error has the position and what was
        expected.
    """
    lexer.finish()
    try:
        return _Parser(lexer).statements()
    except RecursionError:
        first = lexer.tokens[0]
        lexer.fail("the command is nested too deeply", first.line, first.column)


class _Parser:
    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._tokens: Sequence[Token] = lexer.tokens
        self._at = 0

    # Walking

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _is_at_end(self) -> bool:
        return self._next.kind == "end"

    def _follows(self, *signs: str) -> bool:
        return self._next.is_sign(*signs)

    def _fail(self, token: Token, message: str, hint: str = "") -> NoReturn:
        self._lexer.fail(message, token.line, token.column, hint)

    def _expect(self, sign: str, what: str) -> None:
        if not self._follows(sign):
            self._unexpected(what)
        self._at += 1

    def _unexpected(self, what: str, hint: str = "") -> NoReturn:
        token = self._next
        if token.kind == "name" and token.value in _RUBY_WORDS:
            self._fail(token, f"'{token.word}' is not supported here", _NO_RUBY)
        self._fail(token, f"expected {what}, found {token.shown}", hint)

    # Rules

    def statements(self) -> list[Node]:
        found: list[Node] = []
        while self._at < len(self._tokens):
            if self._is_at_end():
                self._at += 1
                continue
            found.append(self._statement())
            if not self._is_at_end():
                self._unexpected("',' or the end of the command")
        return found

    def _statement(self) -> Node:
        token = self._next
        if token.kind == "name" and token.value in _RUBY_WORDS:
            self._fail(token, f"'{token.word}' is not supported here", _NO_RUBY)
        if token.kind in ("name", "constant") and self._tokens[self._at + 1].is_sign("="):
            self._at += 2
            return Assign(token, self._statement())
        if token.kind == "name":
            return self._sum(self._product(self._methods(self._command(self._take()), bare=True)))
        return self._value(bare=True)

    def _command(self, token: Token, receiver: Node | None = None) -> Node:
        """Reads the arguments of a command, with or without parentheses."""
        if self._follows("(") and not self._next.spaced:
            return Call(token, self._in_parentheses(), receiver)
        if self._follows("(") and self._is_whole_list():
            return Call(token, self._in_parentheses(), receiver)
        if self._begins_value():
            return Call(token, self._arguments(), receiver)
        return Call(token, [], receiver)

    def _is_whole_list(self) -> bool:
        """Whether `cmd (…)` with a blank has all its arguments in the parentheses."""
        depth = 0
        for number, token in enumerate(self._tokens[self._at :], self._at):
            depth += token.is_sign("(", "[", "{") - token.is_sign(")", "]", "}")
            if not depth:
                return self._tokens[number + 1].kind == "end"
        return False

    def _begins_value(self) -> bool:
        token = self._next
        if token.kind in ("string", "number", "name", "constant", "symbol", "label"):
            return True
        if token.is_sign("-"):  # `x -1` has an argument, `x - 1` is a difference
            return token.spaced and not self._tokens[self._at + 1].spaced
        return token.is_sign("[", "(", "{")

    def _in_parentheses(self) -> list[Node]:
        self._at += 1
        if self._follows(")"):
            self._at += 1
            return []
        found = self._arguments(closer=")")
        self._expect(")", "',' or ')'")
        return found

    def _arguments(self, closer: str = "") -> list[Node]:
        values: list[Node] = []
        pairs: list[tuple[Node, Node]] = []
        first = self._next
        while True:
            token = self._next
            if closer and token.is_sign(closer):  # after a last comma
                break
            entry = self._entry()
            if isinstance(entry, tuple):
                pairs.append(entry)
                first = token if len(pairs) == 1 else first
            elif pairs:
                self._fail(
                    token,
                    f"expected another pair, such as LIMIT => 10, found {token.shown}",
                    "pairs come last, or in braces: {…}",
                )
            else:
                values.append(entry)
            if not self._follows(","):
                break
            self._at += 1
        if pairs:
            values.append(Hash(first, pairs))
        return values

    def _entry(self) -> Node | tuple[Node, Node]:
        """Reads a value, or a pair."""
        if self._next.kind == "label":
            return Word(self._take()), self._value()
        value = self._value()
        if self._follows("=", "==", "->"):
            self._unexpected("'=>'", "such as LIMIT => 10")
        if not self._follows("=>"):
            return value
        self._at += 1
        return value, self._value()

    def _value(self, *, bare: bool = False) -> Node:
        return self._sum(self._product(self._methods(self._primary(), bare=bare)))

    def _sum(self, left: Node) -> Node:
        while self._follows("+", "-"):
            sign = self._take()
            left = Binary(sign, left, self._product(self._methods(self._primary())))
        return left

    def _product(self, left: Node) -> Node:
        while self._follows("*", "/", "%"):
            sign = self._take()
            left = Binary(sign, left, self._methods(self._primary()))
        return left

    def _methods(self, node: Node, *, bare: bool = False) -> Node:
        """Reads `.name` after a value; `bare` methods may have arguments without parentheses."""
        while self._follows(".", "::", "&."):
            sign = self._take()
            token = self._next
            if token.kind not in ("name", "constant"):
                self._unexpected(f"a name after '{sign.word}'")
            self._at += 1
            if bare:
                node = self._command(token, node)
            else:
                follows = self._follows("(") and not self._next.spaced
                arguments = self._in_parentheses() if follows else []
                node = Call(token, arguments, node)
        return node

    def _primary(self) -> Node:
        token = self._next
        if token.is_sign("-", "+"):
            self._at += 1
            number = self._next
            if number.kind != "number":
                self._unexpected(f"a number after '{token.word}'")
            self._at += 1
            assert isinstance(number.value, (int, float))
            value = -number.value if token.value == "-" else number.value
            return Word(number._replace(value=value, column=token.column))
        if token.is_sign("["):
            return self._array()
        if token.is_sign("{"):
            return self._hash()
        if token.is_sign("("):
            self._at += 1
            inner = self._value()
            self._expect(")", "')'")
            return inner
        if token.kind in ("sign", "end", "label") or token.value in _RUBY_WORDS:
            self._unexpected("a value")
        self._at += 1
        if token.kind == "name" and self._follows("(") and not self._next.spaced:
            return Call(token, self._in_parentheses())
        if token.kind == "string" and self._next.kind == "string":
            self._unexpected("',' after the string", "arguments have commas between them")
        return Word(token)

    def _array(self) -> Node:
        token = self._take()
        items: list[Node] = []
        while not self._follows("]"):
            items.append(self._value())
            if not self._follows(","):
                break
            self._at += 1
        self._expect("]", "',' or ']'")
        return Array(token, items)

    def _hash(self) -> Node:
        token = self._take()
        if self._follows("|"):
            self._fail(self._next, "'|' is not supported here", _NO_RUBY)
        pairs: list[tuple[Node, Node]] = []
        while not self._follows("}"):
            entry = self._entry()
            if not isinstance(entry, tuple):
                self._unexpected("'=>'", "such as {LIMIT => 10}")
            pairs.append(entry)
            if not self._follows(","):
                break
            self._at += 1
        self._expect("}", "',' or '}'")
        return Hash(token, pairs)
