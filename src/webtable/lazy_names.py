"""Public names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Returns the `__getattr__` of a package: it imports the module of a name, once.

    Args:
        modules: the module that each public name is in.
    """

    def __getattr__(name: str) -> object:  # noqa: N807 - Python gives it that name
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value: object = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__
