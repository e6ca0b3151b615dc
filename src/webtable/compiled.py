"""Which form of a hot module runs: machine code where there is some, plain Python elsewhere.

A module `name.py` may have C types beside it, in `_name.pxd`. Where there is a C compiler,
installing the package compiles the two into a module `_name`; see docs/develop/compiled.md.
`WEBTABLE_PURE=1` in the environment chooses plain Python.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from pathlib import Path
from types import ModuleType

__all__ = ["is_current", "load"]


def load(package: str, name: str) -> ModuleType:
    """Returns a module of a package in the form that is to run."""
    folder = importlib.import_module(package).__path__[0]
    if os.environ.get("WEBTABLE_PURE", "") in {"", "0"} and is_current(Path(folder), name):
        try:
            return importlib.import_module(f"{package}._{name}")
        except ImportError:  # made for another Python
            pass
    return importlib.import_module(f"{package}.{name}")


def is_current(folder: Path, name: str) -> bool:
    """Whether the compiled form was made from the sources that lie beside it.

    In a checkout they may have been changed since.
    """
    try:
        made_from = (folder / f"_{name}.sha256").read_text(encoding="ascii").strip()
        sources = b"".join((folder / each).read_bytes() for each in (f"{name}.py", f"_{name}.pxd"))
    except OSError:
        return False
    return made_from == hashlib.sha256(sources).hexdigest()
