"""What a store lost when its machine stopped, recorded until a user has handled it.

On-disk: the file `LOST` has one JSON object a line: `at`, seconds since 1970 when the loss was
found, and `cells`, how many acknowledged cells at the end of the write-ahead log were gone.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from webtable.store.engine import Loss

__all__ = ["note_loss", "read_losses"]

_FILE = "LOST"


def note_loss(store: str, cells: int) -> None:
    """Remembers a loss that was just found."""
    line = json.dumps({"at": int(time.time()), "cells": cells})
    with Path(store, _FILE).open("a") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_losses(store: str) -> list[Loss]:
    """Returns the losses that are remembered, oldest first. A line that is damaged is left out."""
    try:
        lines = Path(store, _FILE).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            record = json.loads(line)
            found.append(Loss(at=int(record["at"]), cells=int(record["cells"])))
        except (ValueError, KeyError, TypeError):
            continue
    return found
