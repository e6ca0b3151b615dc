"""The rules of the link protocol, each one small function; reasons are in `docs/explain/links.md`.

`tests/simulation` removes them one by one and shows that the promise breaks.
"""

from __future__ import annotations

from collections.abc import Iterable

from webtable.index.write_protocol import SKEW_MS, WRITE_LIMIT_MS

__all__ = [
    "INTENT_AGE_MS",
    "INTENT_LIMIT_MS",
    "checks_again",
    "is_abandoned",
    "is_newer",
    "may_write",
    "merged",
    "needs_mark",
    "sums_late",
    "waits_for_rebuild",
]

INTENT_LIMIT_MS = 240_000
"""A worker writes nothing under an intent that is older than this."""

INTENT_AGE_MS = INTENT_LIMIT_MS + WRITE_LIMIT_MS + SKEW_MS
"""When an intent is older than this, every write made under it has reached the store."""


def is_newer(guard: int, stored: int) -> bool:
    """A state replaces only states that were read from an earlier revision of its source."""
    return guard > stored


def merged(earlier: Iterable[bytes], changed: Iterable[bytes]) -> set[bytes]:
    """A new journal includes the unfinished targets of the journal before it."""
    return {*earlier, *changed}


def needs_mark(is_changed: bool) -> bool:  # noqa: ARG001 - the rule is that it does not matter
    """A target is marked even if its state was current already.

    The worker that wrote that state may have died before it wrote the mark.
    """
    return True


def checks_again() -> bool:
    """A worker reads the block list once more after it wrote states.

    A target that was blocked meanwhile had its states removed before this one was written.
    """
    return True


def waits_for_rebuild() -> bool:
    """A removal stops, after it put its intents, where the index is not ready.

    A rebuild first marks the index as not ready and then looks for intents, so that one of the two
    sees the other.
    """
    return True


def sums_late() -> bool:
    """An exporter reads the revision of a page first and sums its shards afterwards.

    Otherwise a sum from before a change could replace a sum from after it.
    """
    return True


def may_write(begun_ms: int, now_ms: int) -> bool:
    """A worker writes no row under an intent that others may regard as abandoned."""
    return now_ms - begun_ms <= INTENT_LIMIT_MS


def is_abandoned(begun_ms: int, now_ms: int) -> bool:
    """Whether the worker that wrote an intent has certainly finished its writes, or died."""
    return now_ms - begun_ms > INTENT_AGE_MS
