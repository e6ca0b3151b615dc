"""The pages about the Python API: all methods are there, and every field has a meaning."""

from __future__ import annotations

import inspect
import pydoc
import re

import pytest

import webtable
from tests.docs.pages import ROOT
from webtable import links, pages

REFERENCE = ROOT / "docs" / "reference"
TYPES = [
    (webtable.WebTable, "python-webtable.md"),
    (pages.Reports, "python-webtable.md"),
    (links.Links, "python-webtable.md"),
    (webtable.Results, "python-webtable.md"),
    (webtable.Store, "python-store.md"),
    (webtable.Table, "python-store.md"),
    (webtable.Batch, "python-store.md"),
]


@pytest.mark.parametrize(("kind", "page"), TYPES, ids=lambda each: getattr(each, "__name__", ""))
def test_every_public_method_has_a_heading(kind: type, page: str) -> None:
    text = (REFERENCE / page).read_text(encoding="utf-8")
    for name, each in vars(kind).items():
        if not name.startswith("_") and (inspect.isfunction(each) or isinstance(each, classmethod)):
            assert f"### {kind.__name__}.{name}\n" in text


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("python-*.md")), ids=lambda page: page.name)
def test_every_field_has_a_meaning(page: str) -> None:
    text = (REFERENCE / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", text, re.MULTILINE)
    assert [name for name, meaning in rows if not meaning.strip()] == []


@pytest.mark.parametrize("package", [pages, links])
def test_every_type_of_results_is_described(package: object) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("python-*.md"))
    for name in package.__all__:  # type: ignore[attr-defined]
        assert re.search(rf"^##+ {name}$|^- `{name}` = ", text, re.MULTILINE), name


def test_signatures_show_what_is_typed() -> None:
    for path in REFERENCE.glob("python-*.md"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"Unpack|\*\*options|ForwardRef|\bself\b|<class|\bSelf\b", text), path


@pytest.mark.parametrize("kind", [kind for kind, _ in TYPES])
def test_help_shows_every_method_with_its_arguments(kind: type) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    assert "Unpack" not in text or kind is webtable.Table
    for name, each in vars(kind).items():
        if not name.startswith("_") and inspect.isfunction(each):
            assert re.search(rf"^ \|  {name}\(self", text, re.MULTILINE)
            assert inspect.getdoc(each)


def test_help_of_the_package_begins_with_the_front_door() -> None:
    text = pydoc.plain(pydoc.render_doc(webtable))
    described = text.partition("PACKAGE CONTENTS")[0]
    assert "WebTable.open(" in described
    assert "help(webtable.WebTable)" in described
