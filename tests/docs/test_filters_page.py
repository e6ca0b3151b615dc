"""The page of the filters names all of them, with the words of their docstrings."""

from __future__ import annotations

import inspect

import pytest

from tests.docs.pages import ROOT
from webtable import filters
from webtable.store.filtering.filter_text_forms import COMPARATORS, FORMS, usage

PAGE = (ROOT / "docs" / "reference" / "filters.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMS)
def test_a_filter_of_the_language_is_written_as_it_is_read(name: str) -> None:
    assert f"| `{usage(name)}` | {first_line(name)} |" in PAGE


@pytest.mark.parametrize("name", filters.__all__)
def test_every_name_is_there(name: str) -> None:
    # The kinds of comparators that the language has stand for their classes.
    in_language = {"BinaryPrefixComparator", "RegexStringComparator", "SubstringComparator"}
    if name not in {*FORMS, *in_language, "Comparator", "Filter"}:
        assert f"`{name}" in PAGE


@pytest.mark.parametrize("kind", COMPARATORS)
def test_every_kind_of_comparator_is_there(kind: bytes) -> None:
    assert f"| `{kind.decode()}` | " in PAGE


def first_line(name: str) -> str:
    return (inspect.getdoc(getattr(filters, name)) or "").splitlines()[0]
