"""Takes a local HBase down when the process that started it has ended: `python -m webtable.cluster.watchdog`.

It looks at the owner twice a second. A signal at the owner's death would reach only what the owner's *thread* started, and an
inherited pipe stays open in whatever the owner has forked; looking has neither trap.
"""

from __future__ import annotations

import sys
import time

from webtable.cluster.local_hbase import LocalHBase
from webtable.cluster.processes import Process, is_alive


def watch(folder: str, owner: Process) -> None:
    """Returns when the owner has ended and the cluster in `folder` is down."""
    while is_alive(owner):
        time.sleep(0.5)
    LocalHBase(folder).down(grace_seconds=0)


if __name__ == "__main__":
    folder, pid, started, boot = sys.argv[1:]
    watch(folder, Process(int(pid), int(started), boot))
