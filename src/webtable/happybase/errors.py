"""What a program catches: the exceptions of happybase and Thrift, and how the store's become them.

happybase programs catch `Hbase_thrift.IOError`, `IllegalArgument` and `AlreadyExists`, which the
gateway sent, and Thrift's `TTransportException` and `TException`. The same names are here. Each is
a `WebTableError` too, with `hint` and `code`, and the store's own error is its `__cause__`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from webtable.errors import (
    BatchError,
    InvalidRequest,
    NotAuthenticated,
    ServerUnavailable,
    StoreClosed,
    StoreLocked,
    StoreNotFound,
    TableDisabled,
    TableExists,
    Timeout,
    WebTableError,
)

__all__ = [
    "AlreadyExists",
    "IOError",
    "IllegalArgument",
    "TException",
    "TTransportException",
    "raised",
    "register",
    "translated",
]

_THRIFT_MODULE = "Hbase_thrift"


class TException(WebTableError):
    """The base of every error that comes from the store or the way to it."""

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message, hint=hint)

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild, (kind, *rest) = super().__reduce__()
        kind = getattr(kind, "_kind", kind)
        # Pickling finds a class by its name, and ours have the names that programs use instead.
        name = next((name for name, own in _OWN.items() if own is kind), None)
        return (rebuild, (kind, *rest)) if name is None else (_again, (rebuild, name, *rest))


def _again(rebuild: Callable[..., TException], name: str, *rest: Any) -> TException:
    return rebuild(_OWN[name], *rest)


class TTransportException(TException):
    """The store cannot be reached, or the connection to it is closed."""

    UNKNOWN = 0
    NOT_OPEN = 1
    ALREADY_OPEN = 2
    TIMED_OUT = 3
    END_OF_FILE = 4

    def __init__(self, type: int = UNKNOWN, message: str = "", *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.type = type


class IOError(TException):
    """The store rejected the call: no such table or family, a disabled table, a server at fault."""


class IllegalArgument(TException):
    """HBase does not accept an argument."""


class AlreadyExists(TException):
    """A table of that name exists already."""


class _Unreachable(TTransportException, ConnectionError):
    pass


class _TimedOut(TTransportException, TimeoutError):
    pass


for _kind in (_Unreachable, _TimedOut):  # tracebacks show the names that programs use
    _kind.__name__ = _kind.__qualname__ = TTransportException.__name__

_OWN: dict[str, type[TException]] = {
    "TException": TException,
    "TTransportException": TTransportException,
    "IOError": IOError,
    "IllegalArgument": IllegalArgument,
    "AlreadyExists": AlreadyExists,
    "unreachable": _Unreachable,
    "timed out": _TimedOut,
}


# The first that fits; a bare WebTableError at the end fits always.
_KINDS: tuple[tuple[type[WebTableError], type[TException]], ...] = (
    (TableExists, AlreadyExists),
    (Timeout, _TimedOut),
    (ServerUnavailable, _Unreachable),
    (StoreClosed, _Unreachable),
    (StoreLocked, _Unreachable),
    (StoreNotFound, _Unreachable),
    (NotAuthenticated, _Unreachable),
    (TableDisabled, IOError),
    (InvalidRequest, IllegalArgument),
    (WebTableError, IOError),
)


def register() -> None:
    """Makes the module from which programs take the exceptions, as importing happybase does.

    Where happybase itself was imported before, its own module stays.
    """
    here = sys.modules[__name__]
    if sys.modules.setdefault(_THRIFT_MODULE, here) is here:
        for kind in (AlreadyExists, IOError, IllegalArgument):
            kind.__module__ = _THRIFT_MODULE  # some programs compare a class by its text


@contextmanager
def translated() -> Iterator[None]:
    """Raises the store's errors as those that a happybase program catches."""
    try:
        yield
    except TException:
        raise
    except WebTableError as exc:
        first, message = exc, exc.message
        if isinstance(exc, BatchError):
            first = exc.exceptions[0]  # type: ignore[assignment]
            message = f"{message}; the first: {first.message}"
        kind = next(kind for store_kind, kind in _KINDS if isinstance(first, store_kind))
        raise raised(kind, message, hint=exc.hint, code=first.code) from exc


def raised(
    kind: type[TException], message: str, *, hint: str = "", code: str | None = None
) -> TException:
    """Returns an error to raise, one that a program which names thriftpy2's classes catches too."""
    chosen = _caught_as_thrift(kind)
    if issubclass(chosen, TTransportException):
        reason = chosen.TIMED_OUT if issubclass(chosen, TimeoutError) else chosen.NOT_OPEN
        error: TException = chosen(reason, message, hint=hint)
    else:
        error = chosen(message, hint=hint)
    if code is not None:
        error.code = code
    return error


_made: dict[tuple[type, type], type[TException]] = {}


def _caught_as_thrift(kind: type[TException]) -> type[TException]:
    # Only a program that has imported thriftpy2 can have named one of its classes.
    is_transport = issubclass(kind, TTransportException)
    module = sys.modules.get("thriftpy2.transport" if is_transport else "thriftpy2.thrift")
    theirs = getattr(module, "TTransportException" if is_transport else "TException", None)
    if theirs is None:
        return kind
    if (kind, theirs) not in _made:
        # `_kind` is for pickling, which finds a class by its name.
        body = {"__module__": kind.__module__, "__doc__": kind.__doc__, "_kind": kind}
        _made[kind, theirs] = types.new_class(
            kind.__name__, (kind, theirs), {}, lambda new: new.update(body)
        )
    return _made[kind, theirs]
