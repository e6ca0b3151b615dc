"""The job `health`: the checks of `webtable doctor`, whose failures are shown as problems."""

from __future__ import annotations

from webtable.operations.jobs.job import JobResult, JobRun
from webtable.pages.checking.doctor import examine

__all__ = ["check_health"]


def check_health(run: JobRun) -> JobResult:
    """Measures the store; writes nothing."""
    pages = run.pages()
    if pages is None:
        return JobResult("the store has no pages")
    findings = examine(pages)
    failed = [each for each in findings if not each.is_fine]
    return JobResult(
        f"{len(findings)} checks, {len(failed)} failed",
        [f"{each.check}: {each.measured}, the limit is {each.limit}" for each in failed],
        hint="; ".join(f"{each.check}: {each.advice}" for each in failed),
    )
