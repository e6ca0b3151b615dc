"""The job `drain-links`: finishes the link updates that stopped loads left behind on a cluster.

Any number of processes may do that at the same time, see `docs/explain/links.md`; so a holder of
the lease that was paused does no harm.
"""

from __future__ import annotations

from webtable.errors import NotFound
from webtable.links.create_or_open_tables import link_hook
from webtable.links.link_index import LinkIndex
from webtable.operations.jobs.job import JobResult, JobRun

__all__ = ["drain_links"]


def drain_links(run: JobRun) -> JobResult:
    """Drains the work of the link index."""
    pages = run.pages()
    if pages is None:
        return JobResult("the store has no pages")
    try:
        index = LinkIndex.open(pages)
    except NotFound:
        return JobResult("the store has no link index")
    drained = link_hook(index).drain()
    return JobResult(
        f"{drained.pages:,} pages counted, {drained.marks:,} marks and {drained.intents:,} intents"
        " finished"
    )
