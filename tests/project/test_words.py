"""Comments, docstrings and messages of the source use the words of docs/develop/glossary.md.

Only turns that have no right use are listed; a word with one right meaning, such as *taken* in "may
have taken effect", is a matter of review.
"""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "webtable"

# The folders that were rewritten. A folder joins the list when it has no such turn left.
ROOMS = ("cli/shell", "happybase", "index", "local", "records", "store")

# What not to write → what to write instead.
TURNS = {
    r"(^|[.:;,#\"] ?)\s*[Ww]ho [a-z]+s\b": "name the thread, process, user …",
    r"(?i)\b(whoever|nobody|somebody)\b": "name the thread, process, user …",
    r"\b[Tt]old\b": "called with, configured, reported",
    r"\b[Aa]nswer(s|ed|ing)?\b": "response, result; respond, return",
    r"\b[Mm]end(s|ed|ing)?\b": "repair",
    r"\banew\b": "again",
    r"\b[Ll]ook(s|ed|ing)? at\b": "check, read, use",
    r"\b[Aa]sk(s|ed|ing)? for\b(?! confirmation\b)": "request, need, select",
    r"\bis not one\b(?! of\b)": "is not valid",
    r"\b[Tt]here (is|are) none\b": "does not exist, has no …",
    r"\bif nothing is said\b": "by default",
    r"\bhas no words\b": "cannot express",
    r"\b[Rr]efus(es?|ed|ing)\b(?! (the )?connections?\b)": "reject",
}


def texts(path: Path) -> list[tuple[int, str]]:
    """Returns the comments and strings of a source file, each with its line."""
    with path.open(encoding="utf-8") as file:
        tokens = list(tokenize.generate_tokens(io.StringIO(file.read()).readline))
    return [
        (each.start[0], each.string)
        for each in tokens
        if each.type in (tokenize.COMMENT, tokenize.STRING)
    ]


def found(text: str) -> list[str]:
    """Returns the turns in a text, each with what to write instead."""
    plain = re.sub(r"\s*\n\s*(# )?", " ", text)
    return [
        f"{match[0]!r} (better: {instead})"
        for turn, instead in TURNS.items()
        for match in re.finditer(turn, plain)
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_the_source_uses_the_words_of_the_glossary(room: str) -> None:
    paths = [each for each in (SOURCE / room).rglob("*.py") if not each.name.endswith("_pb2.py")]
    assert paths
    wrong = [
        f"{path.relative_to(SOURCE)}:{line}: {turn}"
        for path in sorted(paths)
        for line, text in texts(path)
        for turn in found(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "# Who wants TLS hangs up on who does not.",
        '"""Is told of the rows."""',
        '"chance 1.5 is not one"',
        '"""Whether the server did what it was asked\n    for."""',
        '"""None where there is none."""',
    ],
)
def test_a_turn_is_found(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize(
    "text", ["# A server refuses connections.", '"is not one of the filters of HBase"']
)
def test_a_right_use_is_not_found(text: str) -> None:
    assert not found(text)
