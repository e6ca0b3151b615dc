"""The jobs: to add one, write its function and declare it here.

Backups are not among them yet: `webtable checkpoint` makes copies by hand. What a time to live
expires in an embedded store is removed by `compact`, so there is no job for that alone.
"""

from __future__ import annotations

from webtable.operations.jobs.embedded_compaction import compact
from webtable.operations.jobs.health_check import check_health
from webtable.operations.jobs.job import EngineKind, Job
from webtable.operations.jobs.link_drain import drain_links
from webtable.operations.jobs.rotating_verification import verify_next_pages

__all__ = ["JOBS"]

_HOUR = 3_600
_EVERY: frozenset[EngineKind] = frozenset({"embedded", "cluster"})
_DIFFERENT = 6

JOBS: tuple[Job, ...] = (
    Job(
        name="health",
        summary="Run the checks of `webtable doctor`.",
        every_seconds=_HOUR,
        engines=_EVERY,
        work=check_health,
    ),
    Job(
        name="drain-links",
        summary="Finish the link updates that stopped loads left behind.",
        every_seconds=_HOUR // 4,
        engines=frozenset({"cluster"}),
        work=drain_links,
        writes=True,
    ),
    Job(
        name="verify",
        summary="Verify the next pages of the store and their links, round after round.",
        every_seconds=_HOUR,
        engines=_EVERY,
        work=verify_next_pages,
        problem_code=_DIFFERENT,
    ),
    Job(
        name="compact",
        summary="Remove deleted, expired and surplus cells, and free their space.",
        every_seconds=24 * _HOUR,
        engines=frozenset({"embedded"}),
        work=compact,
        writes=True,
    ),
)
