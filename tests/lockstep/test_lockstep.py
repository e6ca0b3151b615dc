"""The judge: random programs run on the embedded engine and on a real HBase give equal results.

A failure prints the program, shrunk, and a `reproduce_failure` line; the program can be pasted into
`test_found.py`. Forty programs by default, two thousand when WEBTABLE_SOAK is set.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.lockstep.driver import Follower, run
from tests.lockstep.programs import Program, programs
from webtable import Store

LENGTH = 30
PROGRAMS = 2000 if os.environ.get("WEBTABLE_SOAK") else 40


@pytest.mark.hbase
@pytest.mark.timeout(0)  # Shrinking a failure takes its time; hypothesis has a limit of its own.
@settings(
    max_examples=PROGRAMS,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@given(program=programs(LENGTH))
def test_both_engines_give_the_same_results(
    cluster: Store, embedded: Store, follow: Follower, program: Program
) -> None:
    run(cluster, embedded, program, follow)
