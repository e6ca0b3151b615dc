"""A reader beside the writer: `python -m tests.crash.reader PATH`; ends when its input closes.

It reads everything again and again and reports how often; it fails at the first row that is not
whole.
"""

from __future__ import annotations

import select
import sys

import webtable
from tests.crash.child import send
from tests.crash.world import read_counters, read_rows


def main(path: str) -> None:
    passes = rows = 0
    with webtable.open(path, read_only=True) as store:
        send({"opened": True})
        while not select.select([sys.stdin], [], [], 0)[0]:
            store.refresh()
            rows += len(read_rows(store))
            read_counters(store)
            passes += 1
            if passes == 1 or passes % 20 == 0:
                send({"passes": passes})
    send({"ended": True, "passes": passes, "rows": rows})


if __name__ == "__main__":
    main(sys.argv[1])
