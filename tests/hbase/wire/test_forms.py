"""That tests of the plain form are tests of it."""

from __future__ import annotations

import sys

import pytest

from tests.hbase.wire.forms import PACKAGE, origin_of, pipeline_of


def test_the_plain_form_of_a_connection_has_nothing_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached = {pipeline_of("plain", monkeypatch).__name__}
    left = list(reached)
    while left:
        origins = set(map(origin_of, vars(sys.modules[left.pop()]).values()))
        new = {origin for origin in origins if origin.startswith(PACKAGE)} - reached
        reached |= new
        left += new
    names = {each.rpartition(".")[2] for each in reached}
    assert {"calls", "cell_codec", "frames", "request_bytes", "stream", "thread_turns"} <= names
    assert [name for name in names if name.startswith("_")] == []
