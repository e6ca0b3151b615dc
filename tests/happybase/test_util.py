"""The functions that programs import from `happybase.util` return what happybase's do."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.happybase import util

theirs: Any = importlib.import_module("happybase.util")

words = st.lists(st.text("abzABZ09é", min_size=1), min_size=1).map("_".join)


def test_every_name_is_there() -> None:
    names = {
        name
        for name, value in vars(theirs).items()
        if not name.startswith("_") and not inspect.ismodule(value) and value is not range
    }
    assert names == set(util.__all__)


@given(words)
def test_names(name: str) -> None:
    assert util.camel_case_to_pep8(name) == theirs.camel_case_to_pep8(name)
    assert util.pep8_to_camel_case(name) == theirs.pep8_to_camel_case(name)
    assert util.pep8_to_camel_case(name, initial=True) == theirs.pep8_to_camel_case(name, True)


@given(st.binary() | st.lists(st.sampled_from([0, 1, 254, 255])).map(bytes))
def test_bytes_increment(key: bytes) -> None:
    assert util.bytes_increment(key) == theirs.bytes_increment(key)


@given(st.binary() | st.text())
def test_ensure_bytes(text: str | bytes) -> None:
    assert util.ensure_bytes(text) == theirs.ensure_bytes(text)


def test_things_of_a_wrong_kind() -> None:
    for module in (util, theirs):
        with pytest.raises(TypeError, match="input must be a text or byte string, got int"):
            module.ensure_bytes(5)
    with pytest.raises(TypeError):
        util.bytes_increment("text")  # type: ignore[arg-type]


def test_thrift_types() -> None:
    from thriftpy2.thrift import TApplicationException

    error = TApplicationException(type=3, message="what")
    assert util.thrift_attrs(error) == theirs.thrift_attrs(error) == ["message", "type"]
    assert util.thrift_type_to_dict(error) == theirs.thrift_type_to_dict(error)
    assert util.thrift_type_to_dict(error) == {"message": "what", "type": 3}
