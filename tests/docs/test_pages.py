"""The pages hang together: generated ones are current, links lead somewhere, none is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT
from tools import reference

LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)|<img [^>]*src=\"([^\"]+)\"")


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == reference.PAGES[name](), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert _links(page) - {path for path in _links(page) if path.exists()} == set()


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            waiting += _links(page)
    docs = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert docs - reached == set()


def _links(page: Path) -> set[Path]:
    targets = [match[1] or match[2] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    return {(page.parent / target).resolve() for target in targets if "://" not in target}
