"""The source, the tests and the documentation use the words of docs/develop/glossary.md.

Of the source, comments, docstrings and messages are checked; of the tests, comments and docstrings,
as their strings are data; of the documentation, everything but code. The glossary itself names the
turns to avoid, and the changelog keeps its old entries.

Only turns that have no right use are listed; a word with one right meaning, such as *taken* in "may
have taken effect", is a matter of review.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webtable"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs" / "develop" / "glossary.md"}),
]

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
    r"\bunless (it is |you )?(said|told|say)\b": "by default",
    r"\bsays? otherwise\b": "by default, unless … sets",
    r"(?i)\blets? go of\b": "release",
    r"\blook(s|ed|ing)? into\b": "read",
    r"(?i)\b(everybody|anybody)\b": "name the thread, process, user …",
    r"(?i)\bquestions?\b(?! marks?\b)": "query",
    r"\bnot known\b": "unknown",
    r"\b[Rr]efus(es?|ed|ing)\b(?! (the )?connections?\b)": "reject",
}


# Names that other programs or stores rely on: the kind of a capture that a WAT file describes, and
# the reason and count of pages that the store rejected.
PUBLIC_NAMES = re.compile(r"([`\"'])(told|refused)\1")


def texts(path: Path) -> list[tuple[int, str]]:
    """Returns the comments and strings of a source file, each with its line.

    Lines of one comment are one text, and so are strings that follow each other.
    """
    layout = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    read: list[tuple[int, str]] = []
    before = -1
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type in layout:
            continue
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            if token.type == before:
                line, text = read[-1]
                read[-1] = line, f"{text}\n{token.string}"
            else:
                read.append((token.start[0], token.string))
        before = token.type
    return read


def prose(page: str) -> Iterator[tuple[int, str]]:
    """Yields the paragraphs, lists and tables of a page, each with its first line, without code."""
    paragraphs = re.sub(r"(?ms)^ *```.*?^ *```$", lambda code: "\n" * code[0].count("\n"), page)
    line = 1
    for text in re.split(r"(\n\n+)", paragraphs):
        yield line, re.sub(r"`[^`]*`", "`…`", text)
        line += text.count("\n")


def found(text: str) -> list[str]:
    """Returns the turns in a text, each with what to write instead."""
    joined = re.sub(r'"\n[rf]?"', "", PUBLIC_NAMES.sub("", text))
    plain = re.sub(r"\s*\n\s*(# )?", " ", joined)
    return [
        f"{match[0]!r} (better: {instead})"
        for turn, instead in TURNS.items()
        for match in re.finditer(turn, plain)
    ]


ROOMS = sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")})


@pytest.mark.parametrize("room", ROOMS)
def test_the_source_uses_the_words_of_the_glossary(room: str) -> None:
    folder = SOURCE / room
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    wrong = [
        f"{path.relative_to(SOURCE)}:{line}: {turn}"
        for path in paths
        if not path.name.endswith("_pb2.py")
        for line, text in texts(path)
        for turn in found(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_tests_use_the_words_of_the_glossary() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {turn}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line, text in texts(path)
        if text.startswith(("#", '"""', 'r"""'))
        for turn in found(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_documentation_uses_the_words_of_the_glossary(page: Path) -> None:
    wrong = [
        f"{page.relative_to(ROOT)}:{line}: {turn}"
        for line, text in prose(page.read_text("utf-8"))
        for turn in found(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_code_is_not_prose() -> None:
    page = "One.\n\n```sh\nanswer\n```\n\nThe kind `told`,\nand more.\n"
    assert [text for _, text in prose(page) if text.strip()] == [
        "One.",
        "The kind `…`,\nand more.\n",
    ]
    assert [line for line, text in prose(page) if "kind" in text] == [7]


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
