"""The rules of the link protocol, each one small function. `docs/explain/links.md` says why.

`tests/simulation` takes them out one by one and shows that the promise breaks.
"""

from __future__ import annotations

from collections.abc import Iterable

from webtable.index.rules import SKEW_MS, WRITE_LIMIT_MS

__all__ = [
    "INTENT_AGE_MS",
    "INTENT_LIMIT_MS",
    "is_abandoned",
    "is_newer",
    "may_write",
    "merged",
    "needs_mark",
    "sums_late",
]

INTENT_LIMIT_MS = 240_000
"""Nothing is written any more under an intent of this age."""

INTENT_AGE_MS = INTENT_LIMIT_MS + WRITE_LIMIT_MS + SKEW_MS
"""By this age of an intent everything that was written under it has landed."""


def is_newer(guard: int, stored: int) -> bool:
    """A state is written over those taken from an earlier revision of its source, and no other."""
    return guard > stored


def merged(earlier: Iterable[bytes], changed: Iterable[bytes]) -> set[bytes]:
    """A new journal has what is left to do of the one before it, too."""
    return {*earlier, *changed}


def needs_mark(is_changed: bool) -> bool:  # noqa: ARG001 - it does not matter, which is the rule
    """A target is marked also where its state was current already.

    Whoever wrote that state may have died before it put a mark.
    """
    return True


def sums_late() -> bool:
    """An exporter reads the revision of a page first, and sums its shards after that.

    Otherwise a sum from before a change could be written over one from after it.
    """
    return True


def may_write(begun_ms: int, now_ms: int) -> bool:
    """A worker writes no row under an intent that others may take for abandoned."""
    return now_ms - begun_ms <= INTENT_LIMIT_MS


def is_abandoned(begun_ms: int, now_ms: int) -> bool:
    """Whether whoever put an intent has surely done everything under it, or died."""
    return now_ms - begun_ms > INTENT_AGE_MS
