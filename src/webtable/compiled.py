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

__all__ = ["is_current", "load", "source_digest"]


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
        return made_from == source_digest(folder, name)
    except OSError:
        return False


def source_digest(folder: Path, name: str) -> str:
    """Returns a hash of a module's sources.

    They are its code, its C types, and the types that those rely on, in the same folder: what is
    compiled has them inside. The build writes down the same, by this very function.

    Raises:
        OSError: one of them is missing.
    """
    digest = hashlib.sha256((folder / f"{name}.py").read_bytes())
    found = [f"_{name}"]
    for each in found:  # and what is found meanwhile
        types = (folder / f"{each}.pxd").read_bytes()
        digest.update(types)
        for line in types.splitlines():
            if line.startswith(b"from webtable."):
                other = line.split()[1].rpartition(b".")[2].decode()
                if other not in found:
                    found.append(other)
    return digest.hexdigest()
