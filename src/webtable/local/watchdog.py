"""Takes a local HBase down once its owner has ended: `python -m webtable.local.watchdog`.

It checks the owner twice a second. A signal at a parent's death is bound to the *thread* that
forked, and an inherited pipe stays open in whatever the owner has forked; looking has no such trap.
"""

from __future__ import annotations

import sys
import time

from webtable.local.hbase import LocalHBase
from webtable.local.processes import Process, is_alive

__all__ = ["watch"]


def watch(folder: str, owner: Process) -> None:
    """Returns when the owner has ended and the cluster in `folder` is down."""
    while is_alive(owner):
        time.sleep(0.5)
    LocalHBase(folder).down(grace_seconds=0)


if __name__ == "__main__":
    watch(sys.argv[1], Process(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
