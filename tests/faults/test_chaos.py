"""The promises under faults, on three region servers: a short round, and an hour in a soak run.

`WEBTABLE_FAULTS_SECONDS` is how long, `WEBTABLE_FAULTS_SEED` where the dice begin. The report of
each round lies in the temporary folder of the test, with all that was done to the cluster.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.faults.conftest import IS_SOAK
from tests.faults.rounds import Plan, play
from webtable.local.hbase import LocalHBase

pytestmark = pytest.mark.hbase

SECONDS = float(os.environ.get("WEBTABLE_FAULTS_SECONDS") or (3600 if IS_SOAK else 20))
ROUND_SECONDS = 180.0
TIMEOUTS = (30.0, 12.0, 4.0)
SEED = os.environ.get("WEBTABLE_FAULTS_SEED")


def test_the_promises_hold_under_faults(patient: LocalHBase, tmp_path: Path) -> None:
    seed = int(SEED) if SEED else random.SystemRandom().randrange(1_000_000)
    end = time.monotonic() + SECONDS
    while (left := end - time.monotonic()) > 0:
        plan = Plan(
            seed,
            min(left, ROUND_SECONDS),
            kills=15 if IS_SOAK else 6,
            timeout=TIMEOUTS[seed % len(TIMEOUTS)] if IS_SOAK else 30,
            is_gentle=not IS_SOAK,
        )
        report = play(patient, plan, f"faults{seed}")
        path = tmp_path / f"round-{seed}.txt"
        report.write(path)
        print(f"round {seed}: {report.counts} {report.events}")
        shown = "\n".join(report.findings[:20])
        assert not report.findings, (
            f"seed {seed}: {len(report.findings)} findings, see {path}\n{shown}"
        )
        seed += 1
