"""The one way in which tests of this folder check that a call was rejected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from webtable.errors import WebTableError, door

__all__ = ["refused"]


@contextmanager
def refused(kind: type[WebTableError], *names: str, exit_code: int) -> Iterator[None]:
    """The block must raise exactly this error, which names these things and gives a hint."""
    with pytest.raises(WebTableError) as caught:
        yield
    error = caught.value
    assert type(error) is kind, repr(error)
    for name in names:
        assert name in error.message, f"{name!r} is not in {error.message!r}"
    assert error.hint
    assert error.code == kind.code
    assert door(error).exit_code == exit_code
