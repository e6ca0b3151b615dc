"""The steps that a regular expression of a filter may take are bounded, whatever it is."""

from __future__ import annotations

import random

import pytest

import webtable
from tests.store.backtracking import Backtracking, parsed
from webtable import Table
from webtable.errors import InvalidRequest
from webtable.filters import RegexStringComparator, RowFilter, ValueFilter
from webtable.store.regex import backtracking_cost, compile_regex
from webtable.store.regex.automaton import Automaton

HOSTILE = {
    "(a+)+$": "a" * 28 + "!",
    "(a*)*b": "a" * 5_000,
    "(a|aa)+$": "a" * 5_000 + "!",
    "(a|a)+$": "a" * 5_000 + "!",
    "(.*a){20}$": "a" * 5_000 + "!",
    "(x+x+)+y": "x" * 5_000,
    "([a-z]+)*[0-9]": "a" * 5_000,
    "a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b": "a" * 5_000,
    ".*.*.*.*.*.*=.*;": "=" * 5_000,
    "a.*b.*c.*d": "ab" * 100_000,
    "\\s+$": " " * 100_000 + "x",
    "<a [^>]*href=": "<a " * 100_000,
    "(?i)(A+)+$": "a" * 5_000 + "!",
    "(?:(?:){1000}){1000}x": "a" * 5_000,
}


@pytest.fixture
def table(tmp_path: object) -> Table:
    return webtable.open(f"{tmp_path}/regex.wt").create_table("t", "f")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_hostile_expression_ends_soon(table: Table, pattern: str) -> None:
    table.put(b"row", {b"f:v": HOSTILE[pattern].encode()})
    assert not list(table.scan(filter=ValueFilter("=", RegexStringComparator(pattern))))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "pattern",
    ["(?=(a+)+$)", "(a+)+(?!b)", "((a)\\2|a)*$", "(?>(a+)+)b(a+)+c", "(a*+b*)*c", "(?<!x)(a+)+$"],
)
def test_what_no_automaton_can_follow_is_rejected_at_once(table: Table, pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="could take more than 5,000,000 steps") as caught:
        table.scan(filter=RowFilter("=", RegexStringComparator(pattern)))
    assert repr(pattern) in str(caught.value)
    assert caught.value.hint


def test_a_value_too_long_for_a_back_reference_is_named() -> None:
    finds = compile_regex("(\\w+) .*\\1")
    assert finds("one two one")
    with pytest.raises(InvalidRequest, match="on a value of 5,000 characters"):
        finds("a" * 5_000)


@pytest.mark.timeout(120)
def test_a_text_that_needs_ever_new_states_is_given_up() -> None:
    finds = compile_regex("(a|b)*a(a|b){100}c")
    text = "".join(random.Random(1).choices("ab", k=200_000))
    with pytest.raises(InvalidRequest, match="on a value of 200,000 characters"):
        finds(text)
    assert finds("a" * 101 + "c")  # the next search starts from zero


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "<a [^>]*href=", "\\b\\w+@(\\w+\\.)+com$", "a.*b|c.*d"]
)
def test_the_steps_of_an_automaton_grow_with_the_text(pattern: str) -> None:
    counts = []
    for size in (2_000, 4_000):
        automaton = Automaton(parsed(pattern), ignore_case=False)
        text = "".join(random.Random(size).choices("a<a c. @", k=size))
        assert not automaton.finds(text + "!")
        counts.append(automaton.steps)
    assert counts[1] <= 2 * counts[0]


ORDINARY = [
    "foo",
    "^com\\.example.*",
    ".*foo.*",
    "^.*/page/\\d{3}.*\\.html$",
    "foo.*bar.*baz",
    "id=\\d+",
    "(?i)<title>.*news",
    "^(com|org)\\.[a-z]{2,10}/",
    "^(?!.*admin).*",
]


@pytest.mark.parametrize("pattern", ORDINARY)
def test_an_ordinary_expression_takes_one_pass_of_python(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The automaton is some ten times as slow, so it is for the others only."""

    def fail(automaton: Automaton, text: str) -> bool:
        raise AssertionError(pattern)

    monkeypatch.setattr(Automaton, "finds", fail)
    compile_regex.cache_clear()
    compile_regex(pattern)("x" * 1_000_000)


def test_the_bound_holds_for_a_backtracking_search() -> None:
    draw = random.Random(7)
    compared = 0
    for _ in range(600):
        pattern = some_pattern(draw, 0)
        tree = parsed(pattern)
        bound = backtracking_cost.search_steps(tree)
        for size in (0, 1, 5, 9):
            text = "".join(draw.choices("aab", k=size))
            limit = bound.factor * (size + 1) ** bound.degree
            if limit > 50_000:
                continue
            search = Backtracking(tree, text)
            search.finds()
            assert search.steps <= limit, (pattern, text)
            compared += 1
    assert compared > 500


def some_pattern(draw: random.Random, depth: int) -> str:
    parts = []
    for _ in range(draw.randint(1, 3)):
        part = draw.choice(("a", "b", ".", "^", "$", "(?=a*b)", "(", "("))
        if part == "(":
            part = "a" if depth > 2 else f"({some_pattern(draw, depth + 1)})"
        if part[0] in "ab.(" and draw.random() < 0.5:
            part += draw.choice(("*", "+", "?", "*?", "{2}", "{0,3}", "{1,2}?", "{2,}"))
        parts.append(part)
    return "".join(parts) + ("|" + some_pattern(draw, depth + 1) if draw.random() < 0.2 else "")
