"""Public names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Returns the `__getattr__` of a package, which imports the module of a name, once; `__dir__`.

    Args:
        modules: the module that each public name is in.
    """

    def __getattr__(name: str) -> object:  # noqa: N807 - Python gives it that name
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value: object = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*vars(sys.modules[package]), *modules})

    return __getattr__, __dir__
