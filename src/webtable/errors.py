"""The exception tree, and the one table class → exit code, HTTP status, JSON code.

Errors are sorted by what the caller should do, not by where they came from. Every error names
the thing and, in `hint`, the next step. Backend errors are translated at the engine seam.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

__all__ = [
    "AccessError",
    "AlreadyExists",
    "BatchError",
    "CheckFailed",
    "ClocksDiffer",
    "ConflictError",
    "CorruptData",
    "DiskFull",
    "Door",
    "FamilyNotFound",
    "FormatVersionError",
    "IncompleteLoad",
    "InvalidRequest",
    "InvalidUrl",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "NotUnique",
    "ReadOnly",
    "RegionBusy",
    "RetryableError",
    "SchemaMismatch",
    "ServerUnavailable",
    "ShellSyntaxError",
    "StaleIndex",
    "StorageError",
    "StoreClosed",
    "StoreLocked",
    "StoreNotFound",
    "TableDisabled",
    "TableExists",
    "TableNotFound",
    "Timeout",
    "UrlBlocked",
    "UsageError",
    "WebTableError",
    "door",
    "error_body",
    "without_errors",
]

T = TypeVar("T")


class WebTableError(Exception):
    """The base of every error that this package raises on purpose.

    `code` is stable and meant for programs; `hint` is what to do next (may be empty).
    """

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take other arguments; pickling (worker processes) must not call them again.
        return (_rebuild, (type(self), self.message, self.hint, self.__dict__))


def _rebuild(kind: type[WebTableError], message: str, hint: str, state: dict[str, Any]) -> Any:
    error = kind.__new__(kind)
    WebTableError.__init__(error, message, hint=hint)
    error.__dict__.update(state)
    return error


class UsageError(WebTableError):
    """The caller can fix it."""

    code = "usage"


class NotFound(UsageError):
    """The thing does not exist: a page, an index, a region, a server, a snapshot, a namespace."""

    code = "not-found"

    def __init__(
        self, kind: str, name: str, known: Iterable[str] | None = None, *, hint: str = ""
    ) -> None:
        if not hint and known is not None:
            kinds = "families" if kind == "family" else f"{kind}s"
            hint = _known(f"known {kinds}", name, sorted(known))
        super().__init__(f"{kind} '{name}' does not exist", hint=hint)
        self.kind = kind
        self.name = name


class StoreNotFound(NotFound):
    """There is no store at the location."""

    code = "store-not-found"

    def __init__(self, message: str, *, hint: str = "") -> None:
        UsageError.__init__(self, message, hint=hint)
        self.kind = "store"
        self.name = message


class TableNotFound(NotFound):
    """The table does not exist in this store."""

    code = "table-not-found"

    def __init__(self, table: str, known: Iterable[str] = ()) -> None:
        super().__init__("table", table, known)
        self.table = table


class TableExists(UsageError):
    """A table of that name exists already."""

    code = "table-exists"

    def __init__(self, table: str) -> None:
        super().__init__(
            f"table '{table}' exists already", hint="alter it, drop it first, or take another name"
        )
        self.table = table


class FamilyNotFound(NotFound):
    """The family is not in the table's schema."""

    code = "family-not-found"

    def __init__(self, table: str, family: str, known: Iterable[str] = ()) -> None:
        hint = _known("has", family, sorted(known))
        UsageError.__init__(self, f"family '{family}' is not in table '{table}'", hint=hint)
        self.kind = "family"
        self.name = family
        self.table = table
        self.family = family


class AlreadyExists(UsageError):
    """There is a snapshot or namespace of that name already."""

    code = "already-exists"

    def __init__(self, kind: str, name: str, *, hint: str = "take another name") -> None:
        super().__init__(f"{kind} '{name}' exists already", hint=hint)
        self.kind = kind
        self.name = name


class InvalidRequest(UsageError):
    """The call does not accept an argument."""

    code = "invalid-request"


class InvalidUrl(UsageError):
    """The text is not the URL of a page."""

    code = "invalid-url"


class UrlBlocked(InvalidRequest):
    """The URL, its domain or a prefix of it is blocked: its page was removed."""

    code = "url-blocked"

    def __init__(self) -> None:
        super().__init__(
            "the URL is blocked: a page was removed, and may not be stored again",
            hint="`webtable remove unblock` ends it",
        )


class TableDisabled(InvalidRequest):
    """The table was taken out of service."""

    code = "table-disabled"

    def __init__(self, table: str) -> None:
        super().__init__(f"table '{table}' is disabled", hint="enable it first")
        self.table = table


class SchemaMismatch(UsageError):
    """Two declarations of one table disagree."""

    code = "schema-mismatch"


class ShellSyntaxError(UsageError):
    """A line of the shell does not parse.

    `line` and `column` count from 1, in the text that was given; `source` is that line of it.
    """

    code = "shell-syntax"

    def __init__(
        self, message: str, *, line: int, column: int, source: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.line = line
        self.column = column
        self.source = source


class ConflictError(WebTableError):
    """A check failed; read again and decide."""

    code = "conflict"


class CheckFailed(ConflictError):
    """The condition of a conditional write did not hold."""

    code = "check-failed"


class NotUnique(ConflictError):
    """Another row has the key that a unique index allows once."""

    code = "not-unique"

    def __init__(self, index: str, key: bytes, row: bytes) -> None:
        super().__init__(
            f"index '{index}' has the key {key!r:.80} already, for row {row!r:.80}",
            hint="take another value, or change that row first",
        )
        self.index = index
        self.key = key
        self.row = row


class StaleIndex(ConflictError):
    """The index cannot be read yet: it is being built."""

    code = "stale-index"


class StoreLocked(ConflictError):
    """Another process has the store open for writing.

    `holder` is the host and the number of that process; None where they are unknown.
    """

    code = "store-locked"

    def __init__(
        self, message: str, *, hint: str = "", holder: tuple[str, int] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.holder = holder


class RetryableError(WebTableError):
    """The same call may work later.

    For a write `maybe_applied` is whether it may have been made nevertheless; where it is False,
    nothing was changed. In a `BatchError` each entry has its own.
    """

    code = "retry"
    maybe_applied = True


class RegionBusy(RetryableError):
    """The region rejects work for the moment."""

    code = "region-busy"


class ServerUnavailable(RetryableError):
    """No server responds at the address."""

    code = "server-unavailable"


class Timeout(RetryableError):
    """The call did not finish within its time-out; a write may have taken effect or not."""

    code = "timeout"


class ClocksDiffer(RetryableError):
    """The clock of this machine is not that of the cluster; nothing was written."""

    code = "clocks-differ"


class StorageError(WebTableError):
    """The data or the disk is at fault."""

    code = "storage"


class CorruptData(StorageError):
    """Stored bytes are damaged or missing."""

    code = "corrupt-data"


class FormatVersionError(StorageError):
    """The store was written by another version of the on-disk format."""

    code = "format-version"


class DiskFull(StorageError):
    """The disk has no room left; nothing of the call was stored."""

    code = "disk-full"


class AccessError(WebTableError):
    """The caller may not do this."""

    code = "access"


class NotAuthenticated(AccessError):
    """The server requires authentication."""

    code = "not-authenticated"


class NotAllowed(AccessError):
    """The caller is authenticated, but may not do this."""

    code = "not-allowed"


class ReadOnly(AccessError):
    """The store was opened for reading only."""

    code = "read-only"


class IncompleteLoad(WebTableError):
    """Some of what was to be loaded was not read, or not reported; the rest is stored."""

    code = "incomplete-load"


class StoreClosed(WebTableError):
    """The store was closed before this call."""

    code = "store-closed"

    def __init__(self, location: str) -> None:
        super().__init__(f"store '{location}' is closed", hint="open it again")


def without_errors(outcomes: Sequence[T | WebTableError], failed: str, first: int = 0) -> list[T]:
    """Returns the outcomes of a bulk write.

    Args:
        failed: the message of the error behind the counts, such as "rows of 'pages' not written".
        first: the position of the first one.

    Raises:
        BatchError: some are errors.
    """
    made: list[T] = []
    errors: list[WebTableError] = []
    positions: list[int] = []
    for position, outcome in enumerate(outcomes, first):
        if isinstance(outcome, WebTableError):
            errors.append(outcome)
            positions.append(position)
        else:
            made.append(outcome)
    if errors:
        message = f"{len(errors):,} of {len(outcomes):,} {failed}"
        raise BatchError(message, errors, positions)
    return made


class BatchError(ExceptionGroup[WebTableError], WebTableError):  # type: ignore[override]
    """Some entries of a bulk write failed; the others were stored.

    `positions` has, for each error of `exceptions`, the position of its entry in the call, or of
    a `Batch` among all that was added to it.
    """

    code = "batch"

    def __new__(  # noqa: D102 - see the class
        cls, message: str, errors: Sequence[WebTableError], positions: Sequence[int] = ()
    ) -> BatchError:
        return super().__new__(cls, message, errors)

    def __init__(
        self, message: str, errors: Sequence[WebTableError], positions: Sequence[int] = ()
    ) -> None:
        super().__init__(message, errors)
        self.hint = errors[0].hint
        self.positions = tuple(positions)

    def __str__(self) -> str:
        return f"{self.message}; the first: {self.exceptions[0]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (BatchError, (self.message, list(self.exceptions), self.positions))

    def joined(self, other: BatchError) -> BatchError:
        """Returns one error with the failures of both, where they are of one bulk write."""
        errors = cast("tuple[WebTableError, ...]", (*self.exceptions, *other.exceptions))
        message = f"{self.message}, and {other.message}"
        return BatchError(message, errors, self.positions + other.positions)

    def derive(self, errors: Sequence[WebTableError]) -> BatchError:  # type: ignore[override]
        """Returns a group of some of the errors, as `split` and `except*` need it."""
        return BatchError(self.message, errors)


class Door(NamedTuple):
    """What one class of errors looks like from outside."""

    exit_code: int
    http_status: int


# Looked up along the class's bases, so a subclass needs a row only where it differs.
DOORS: Mapping[type[WebTableError], Door] = {
    WebTableError: Door(1, 500),
    UsageError: Door(2, 400),
    NotFound: Door(3, 404),
    TableExists: Door(4, 409),
    AlreadyExists: Door(4, 409),
    TableDisabled: Door(4, 409),
    ConflictError: Door(4, 409),
    RetryableError: Door(5, 503),
    Timeout: Door(5, 504),
    StorageError: Door(6, 500),
    DiskFull: Door(1, 507),
    AccessError: Door(1, 403),
    NotAuthenticated: Door(1, 401),
    StoreClosed: Door(1, 500),
}


def door(error: WebTableError | type[WebTableError]) -> Door:
    """Returns the exit code and HTTP status of an error; a BatchError takes its first one's."""
    if isinstance(error, BatchError):
        return door(error.exceptions[0])  # type: ignore[arg-type]
    kind = error if isinstance(error, type) else type(error)
    return next(DOORS[base] for base in kind.__mro__ if base in DOORS)


def error_body(error: WebTableError) -> dict[str, object]:
    """Returns the one JSON error body that every interface returns."""
    return {
        "ok": False,
        "code": error.code,
        "error": error.message,
        "hint": error.hint,
        "status": door(error).http_status,
    }


def _known(label: str, wanted: str, names: list[str]) -> str:
    if not names:
        return f"{label}: none"
    near = difflib.get_close_matches(str(wanted), names, n=1)
    guess = f"; did you mean '{near[0]}'?" if near else ""
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"{label}: {shown}{guess}"
