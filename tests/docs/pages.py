"""The Markdown pages of the project, and the examples in them.

Three kinds of fenced blocks are examples that must work: `python` (run; with `>>>` also
compared), and `console` (each `$ ` line is run by a shell and its output compared; `...` stands
for anything). A command of a `console` block may fail only when the next one is `$ echo $?`.
Commands that a test must not run are in `sh` blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line it begins on."""

    language: str
    text: str
    line: int


class Command(NamedTuple):
    """A command of a console block and the output that follows it."""

    line: str
    expected: str


def blocks(page: Path) -> list[Block]:
    """Returns the examples of a page in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start(2)) + 1)
        for match in _FENCE.finditer(text)
        if match[1] in ("python", "console")
    ]


def commands(block: Block) -> Iterator[Command]:
    """Yields the commands of a console block."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        while line.endswith("\\"):
            more, _, expected = expected.partition("\n")
            line = line[:-1] + more
        yield Command(line, expected)
