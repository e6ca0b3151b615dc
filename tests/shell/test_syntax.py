"""The language: what parses, what it means, and what an error says about a line that does not."""

from __future__ import annotations

import pytest

from tests.shell.running import Shell
from webtable.cli.shell.language.lexer import MAX_DEPTH, Lexer
from webtable.cli.shell.language.parser import parse
from webtable.errors import ShellSyntaxError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("'a'", '"a"'),
        (r"'it\'s \n \\'", r'"it\'s \\n \\"'.replace(r"\'", "'")),
        (r'"\x41\x0"', r'"A\u0000"'),
        (r'"\101\0"', r'"A\u0000"'),
        (r'"\n\t\e\s\"\\"', r'"\n\t\e \"\\"'),
        (r'"\u00e9\u{41 42}"', '"éAB"'),
        (r'"\xff"', r'"\xFF"'),
        ('"a # b"', '"a # b"'),
        (r'"\#{x}"', '"#{x}"'),
        ("5", "5"),
        ("1_000_000", "1000000"),
        ("0xff", "255"),
        ("-5", "-5"),
        ("1.5e3", "1500.0"),
        ("1e20", "1.0e+20"),
        ("60 * 60 * 24", "86400"),
        ("2 + 3 * 4 - 1", "13"),
        ("(2 + 3) * 4", "20"),
        ("7 / 2", "3"),
        ("7 % 4", "3"),
        ("'a' + 'b'", '"ab"'),
        ("[1, 'a', [nil, true]]", '[1, "a", [nil, true]]'),
        ("[1, 2,]", "[1, 2]"),
        ("{'a' => 1, B: 2, :c => 3, LIMIT => 4}", '{"a"=>1, "B"=>2, "c"=>3, "LIMIT"=>4}'),
        ("{}", "{}"),
        ("ENDROW", '"STOPROW"'),
        ("FOREVER", "2147483647"),
        ("x = y = 5; x + y", "=> 5\n=> 10"),
        ("[\n1,\n2\n]", "[1, 2]"),
        ("'two\nlines'", r'"two\nlines"'),
        ('"one \\\nline"', '"one line"'),
        ("1 + \\\n1", "2"),
        ("x = 5 # five", "5"),
    ],
)
def test_a_value_means_what_ruby_means(reader: Shell, text: str, shown: str) -> None:
    expected = shown if shown.startswith("=> ") else f"=> {shown}"
    assert reader.answer(text) == f"{expected}\n"


@pytest.mark.parametrize("text", ["nil", "# a comment", "", ";", "   ", "x = nil"])
def test_nothing_is_printed_for_nothing(reader: Shell, text: str) -> None:
    assert reader.answer(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "create 't', 'f'",
        "create('t', 'f')",
        "create ('t', 'f')",
        "create 't', {NAME => 'f'}",
        "create 't', NAME => 'f'",
        "create 't', {:NAME => 'f'}",
        "create 't', NAME: 'f'",
        "create 't',\n  # the family\n  'f'\n",
        "create(\n't',\n'f'\n)",
        "n = 't'; create n, 'f'",
        "create \"t\", \"f\"",
        "create 't', ['f']",
        "create 't', {NAME => 'f',\n}",
    ],
)  # fmt: skip
def test_a_command_can_be_written_in_many_ways(shell: Shell, text: str) -> None:
    shell.answer(text)
    assert shell.store.describe_table("t").families[0].name == "f"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("scan 't', {LIMIT => }", 1, 21, "expected a value, found '}'"),
        ("scan 't' 'x'", 1, 10, "expected ',' after the string, found the string 'x'"),
        ("scan 't', LIMIT => 5, 'x'", 1, 23, "expected another pair, such as LIMIT => 10"),
        ("scan 't', {LIMIT 5}", 1, 18, "expected '=>', found '5'"),
        ("scan 't', LIMIT=5", 1, 16, "expected '=>', found '='"),
        ("create 't', NAME -> 'f'", 1, 18, "expected '=>', found '->'"),
        ("scan 't', {'a'}", 1, 15, "expected '=>', found '}'"),
        ("get 't', ['a' 'b']", 1, 15, "expected ',' after the string"),
        ("get 't', [1 2]", 1, 13, "expected ',' or ']', found '2'"),
        ("scan 't', {LIMIT => 10", 1, 11, "the '{' here is not closed"),
        ("scan('t'", 1, 5, "the '(' here is not closed"),
        ("scan 't', {LIMIT => 10)", 1, 23, "')' does not close the '{' of line 1, column 11"),
        ("scan 't'}", 1, 9, "'}' closes nothing"),
        ("scan 't',", 1, 9, "something must follow ',', found the end"),
        ("scan 't", 1, 6, "the string that begins here is not closed"),
        ("list\nscan ‘t’", 2, 6, "‘ is not a quote here"),
        ("list\n\n  scan 12abc", 3, 8, "'12abc' is neither a number nor a name"),
        ('put "\\xzz"', 1, 6, "'\\xz' is no escape"),
        ('put "\\ud800"', 1, 6, "'\\ud800' is no character"),
        ('put "a#{b}"', 1, 7, "values inside a string are not filled in here"),
        ("list.each { |t| drop t }", 1, 13, "'|' is not supported here"),
        ("for t in list", 1, 1, "'for' is not supported here"),
        ("scan 't' do", 1, 10, "'do' is not supported here"),
        ("a b c", 1, 5, "expected ',' or the end of the command, found 'c'"),
        ("scan t1", 1, 6, "'t1' is neither in quotes nor a variable"),
        ("scan 't', {LIMITS => 5}", 1, 12, "LIMITS is an unknown option"),
        ("scna 't'", 1, 1, "there is no command 'scna'"),
        ("org.apache.hadoop.X", 1, 1, "classes of Java are not supported here"),
        ("'abc'.size", 1, 7, "'size' of a string is not supported here"),
        ("t = get_table 'x'; t.each", 1, 22, "tables have no method 'each'"),
        ("1 + 'a'", 1, 3, "'+' cannot be done with a string"),
        ("1 / 0", 1, 3, "this divides by 0"),
        ("9223372036854775807 * 2", 1, 21, "the result has more than 64 bits"),
        ("{[1] => 2}", 1, 2, "a list cannot be a key"),
        ("- 'a'", 1, 3, "expected a number after '-', found the string 'a'"),
        ("`ls`", 1, 1, "'`' is no part of a command"),
        ("t.", 1, 2, "something must follow '.', found the end"),
        ("5" * 50, 1, 1, "the number is too long"),
        ("[" * (MAX_DEPTH + 1), 1, MAX_DEPTH + 1, "more than 50 brackets in one another"),
    ],
)
def test_an_error_points_at_the_place(
    reader: Shell, text: str, line: int, column: int, message: str
) -> None:
    done = reader.run(text)
    first, source, caret, *_ = done.err.splitlines()
    assert first.startswith(f"script:{line}:{column}: {message}")
    assert source == f"  {text.splitlines()[line - 1]}"
    assert caret == " " * (column + 1) + "^"
    assert done.code == 2


def test_an_error_says_what_was_meant(reader: Shell) -> None:
    assert "hint: did you mean LIMIT?" in reader.error("scan 't', {LIMITS => 5}")
    assert "hint: did you mean scan?" in reader.error("scna 't'")
    assert "hint: write 't1' with its quotes if it is a name" in reader.error("scan t1")
    assert "hint: use ' or \" instead" in reader.error("scan ‘t’")


def test_the_caret_stands_under_its_place_behind_tabs(reader: Shell) -> None:
    assert "\n  \tlist \t}\n  \t     \t^\n" in reader.error("\tlist \t}")


def test_a_part_of_a_line_that_does_not_parse_runs_nothing(shell: Shell) -> None:
    shell.error("create 't', 'f'; scan 't', {")
    assert shell.store.tables() == []


def test_a_lexer_says_whether_a_command_goes_on() -> None:
    lexer = Lexer(first_line=7)
    lexer.feed("scan 't', {")
    assert (lexer.is_open, lexer.depth) == (True, 1)
    lexer.feed("}")
    assert not lexer.is_open
    assert len(parse(lexer)) == 1


def test_a_syntax_error_knows_its_line() -> None:
    lexer = Lexer(first_line=7)
    lexer.feed("scan 't',")
    with pytest.raises(ShellSyntaxError) as caught:
        lexer.feed("  }")
    assert (caught.value.line, caught.value.column, caught.value.source) == (8, 3, "  }")
    assert caught.value.code == "shell-syntax"
