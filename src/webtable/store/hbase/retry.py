"""What follows from a failed call: the errors of servers and connections, sorted by remedy.

A call is sent again, sent elsewhere, or given up; what is given up becomes an error of
`webtable.errors`. In the response to a batch a server names only the Java class of an exception,
so the classes are listed here.
"""

from __future__ import annotations

import functools
import logging
import random
import re
import time
from collections.abc import Callable, Sequence
from enum import Enum

from webtable.errors import (
    CorruptData,
    FamilyNotFound,
    InvalidRequest,
    NotAllowed,
    NotAuthenticated,
    RegionBusy,
    RetryableError,
    ServerUnavailable,
    TableDisabled,
    TableExists,
    TableNotFound,
    Timeout,
    WebTableError,
)
from webtable.loggers import SLOW_SECONDS, get_logger
from webtable.store.hbase.cluster.find_meta_and_master import RegistryUnavailable
from webtable.store.hbase.rejected_writes import rejection_of
from webtable.store.hbase.wire.errors_and_responses import (
    CallTimedOut,
    ConnectFailed,
    ConnectionLost,
    NotHBase,
    NotTrusted,
    RemoteError,
    RpcError,
    Server,
)
from webtable.store.mutation import Mutation

__all__ = [
    "Attempts",
    "Deadline",
    "Remedy",
    "attempt_seconds",
    "forgotten",
    "is_untouched",
    "log_slow",
    "remedy_for",
    "translate",
]

PAUSES = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
OVERLOADED_FACTOR = 4
REGISTRY_GRACE_SECONDS = 2.0
REFUSED_GRACE_SECONDS = 5.0

_log = get_logger("webtable.store.hbase")


class Remedy(Enum):
    """What to do about a failed call."""

    RESEND = "send it again after a pause"
    RESEND_NOW = "send the rest again at once"
    RELOCATE = "find the region or the master again and send it there"
    REOPEN = "open the scanner again after the last row"
    FAIL = "give up"


_RELOCATE = frozenset(
    (
        "MasterNotRunningException",
        "MasterStoppedException",
        "NotServingRegionException",
        "RegionMovedException",
        "RegionServerAbortedException",
        "RegionServerStoppedException",
        "ServerNotRunningYetException",
        "WrongRegionException",
    )
)
_BUSY = frozenset(
    (
        "CallDroppedException",
        "CallQueueTooBigException",
        "PleaseHoldException",
        "RegionInRecoveryException",
        "RegionOpeningException",
        "RegionTooBusyException",
        "RpcThrottlingException",
        "ThrottlingException",
    )
)
_AT_ONCE = frozenset(("MultiActionResultTooLarge", "RetryImmediatelyException"))
_REOPEN = frozenset(
    (
        "LeaseException",
        "OutOfOrderScannerNextException",
        "ScannerResetException",
        "UnknownScannerException",
    )
)
# Not all that a server can throw: what is not here and not marked counts as temporary.
_FAIL = frozenset(
    (
        "AccessDeniedException",
        "BadAuthException",
        "ConstraintException",
        "CorruptHFileException",
        "DoNotRetryIOException",
        "DoNotRetryNowIOException",
        "FailedSanityCheckException",
        "FatalConnectionException",
        "InvalidFamilyOperationException",
        "InvalidMutationDurabilityException",
        "NamespaceExistException",
        "NamespaceNotFoundException",
        "NoSuchColumnFamilyException",
        "OperationConflictException",
        "QuotaExceededException",
        "RequestTooBigException",
        "SpaceLimitingException",
        "TableExistsException",
        "TableNotDisabledException",
        "TableNotEnabledException",
        "TableNotFoundException",
        "UnknownRegionException",
        "UnknownServiceException",
        "UnsupportedCellCodecException",
        "UnsupportedOperationException",
        "WrongVersionException",
    )
)


def remedy_for(error: RpcError) -> Remedy:
    """Returns what to do about an error."""
    if isinstance(error, NotHBase | NotTrusted):
        return Remedy.FAIL
    if not isinstance(error, RemoteError):
        return Remedy.RELOCATE
    name = error.java_class
    if name in _REOPEN:
        return Remedy.REOPEN
    if name in _RELOCATE:
        return Remedy.RELOCATE
    if name in _AT_ONCE:
        return Remedy.RESEND_NOW
    if error.do_not_retry or name in _FAIL or error.package == "java.lang":
        return Remedy.FAIL
    return Remedy.RESEND


def is_untouched(error: RpcError) -> bool:
    """Whether the server certainly did nothing of the request."""
    if isinstance(error, RemoteError):
        name = error.java_class
        return name in _RELOCATE or name in _BUSY or name in _AT_ONCE
    return not error.maybe_applied


class Deadline:
    """The moment by which an operation must be over, with all that it tries again."""

    __slots__ = ("at", "attempt_seconds", "seconds")

    def __init__(self, seconds: float, started: float | None = None) -> None:
        self.seconds = seconds
        self.at = (time.monotonic() if started is None else started) + seconds
        self.attempt_seconds = attempt_seconds(seconds)

    def remaining(self) -> float:
        """Returns the seconds left; below 0 when it has passed."""
        return self.at - time.monotonic()

    def attempt(self) -> float:
        """Returns the seconds that one call may take."""
        return min(self.remaining(), self.attempt_seconds)


@functools.cache
def attempt_seconds(seconds: float) -> float:
    """Returns how long one call may take of an operation that may take so long."""
    # A server that fell silent must leave time for another to take over its regions.
    return max(seconds / 3, min(seconds, 10))


class Attempts:
    """The failures of one operation so far, and whether to go on.

    Attributes:
        lost: how many calls failed that may have taken effect nevertheless.
        is_patient: whether to wait for stopped servers until the time is up: work is under
            way in the cluster, and another server will take over.
        is_write: whether it is to change something.
        mutations: those of one row that it is to make together, for errors to name them.
    """

    # Of the class until something fails, which is rare; each call makes an object of it.
    lost = 0
    is_patient = False
    is_write = False
    mutations: Sequence[Mutation] = ()
    _number = 0
    _refused_at = 0.0

    def __init__(
        self,
        seconds: float,
        table: str = "",
        is_down: Callable[[], bool] | None = None,
        started: float | None = None,
    ) -> None:
        self.deadline = Deadline(seconds, started)
        self.table = table
        self._is_down = is_down

    @property
    def maybe_applied(self) -> bool:
        """Whether a call that failed may have taken effect nevertheless."""
        return self.lost > 0

    def failed(self, error: RpcError, *, on_the_way: bool = False) -> Remedy:
        """Notes a failure, waits as it requires, and returns the remedy.

        Args:
            on_the_way: whether it was met before the call itself was sent.

        Raises:
            WebTableError: there is no remedy, or no time left for it.
        """
        remedy = remedy_for(error)
        if not on_the_way and not is_untouched(error):
            self.lost += 1
        if remedy is Remedy.FAIL:
            raise self._given_up(error) from error
        pause = self._pause(error, remedy)
        if self._is_hopeless(error) or self.deadline.remaining() <= pause:
            raise self._given_up(error) from error
        self._log_retry(error, remedy, pause)
        if pause:
            time.sleep(pause)
        return remedy

    def succeeded(self, method: str, server: Server | None) -> None:
        """Takes note that the operation is done; a slow one is logged."""
        seconds = self.deadline.seconds - self.deadline.remaining()
        if seconds > SLOW_SECONDS:
            log_slow(method, self.table, server, seconds)

    def _log_retry(self, error: RpcError, remedy: Remedy, pause: float) -> None:
        if remedy is Remedy.REOPEN:
            return  # the scan logs it, with the row
        where = f"table '{self.table}'" if self.table else "the cluster"
        if self._number == 1:
            _log.info(
                "%s: retry in %.2f s, remedy '%s', after an error of %s: %.300s",
                *(where, pause, remedy.value, error.server or "the registry", error),
            )
        elif _log.isEnabledFor(logging.DEBUG):
            _log.debug(
                "%s: retry %d in %.2f s, remedy '%s', after an error of %s: %.300s",
                *(where, self._number, pause, remedy.value, error.server, error),
            )

    def _given_up(self, error: RpcError) -> WebTableError:
        return translate(
            error,
            self.table,
            maybe_applied=self.maybe_applied,
            is_write=self.is_write,
            mutations=self.mutations,
        )

    def _pause(self, error: RpcError, remedy: Remedy) -> float:
        self._number += 1
        if remedy is Remedy.RESEND_NOW:
            return 0.0
        if isinstance(error, RemoteError):
            requested = _requested_pause(error)
            if requested:
                return requested
            if error.moved_to and self._number == 1:
                return 0.0
        pause = PAUSES[min(self._number, len(PAUSES)) - 1] * random.uniform(0.8, 1.2)
        return pause * OVERLOADED_FACTOR if getattr(error, "overloaded", False) else pause

    def _is_hopeless(self, error: RpcError) -> bool:
        # A dead server is replaced within seconds, so a refused connection is worth waiting
        # for; not so when the registry fails too, or no master runs to replace anything.
        if not isinstance(error, ConnectFailed | RegistryUnavailable):
            self._refused_at = 0.0
            return False
        if self.is_patient:
            return False
        now = time.monotonic()
        self._refused_at = self._refused_at or now
        refused = now - self._refused_at
        if isinstance(error, RegistryUnavailable):
            return refused >= REGISTRY_GRACE_SECONDS
        return refused >= REFUSED_GRACE_SECONDS and bool(self._is_down and self._is_down())


def log_slow(method: str, table: str, server: Server | None, seconds: float) -> None:
    """Logs an operation that took long but was not too late."""
    _log.info(
        "slow operation: %s of table '%s' took %.1f s on %s",
        *(method, table, seconds, server or "several servers"),
    )


def translate(
    error: RpcError,
    table: str = "",
    *,
    maybe_applied: bool | None = None,
    is_write: bool = False,
    mutations: Sequence[Mutation] = (),
) -> WebTableError:
    """Returns the error of the public tree that a failed call amounts to.

    Args:
        maybe_applied: whether this or an earlier try may have taken effect; by default
            that of the error.
        is_write: whether there is an effect to speak of.
        mutations: what was to be made together in one row.
    """
    translated = _translate(error, table, mutations)
    if isinstance(translated, RetryableError):
        translated.maybe_applied = (
            not is_untouched(error) if maybe_applied is None else maybe_applied
        )
        if isinstance(translated, Timeout) and is_write and translated.maybe_applied:
            translated.hint = "try again; it is unknown whether it took effect"
    return translated


def forgotten(row: bytes, table: str) -> Timeout:
    """Returns the error for what must not be sent again: its server has changed meanwhile.

    A server recognises an increment or append that it has done by its nonce, and does not repeat
    it. The nonces do not move with a region.
    """
    return Timeout(
        f"it is unknown whether the increment or append to row {row!r:.80} of table '{table}' was "
        "made: its response was lost, and the region is on another server by now",
        hint="read the row and decide",
    )


def _translate(error: RpcError, table: str, mutations: Sequence[Mutation]) -> WebTableError:
    if isinstance(error, RemoteError):
        return _translate_remote(error, table, mutations)
    if isinstance(error, CallTimedOut):
        return Timeout(str(error), hint="try again")
    if isinstance(error, NotTrusted):
        return NotAuthenticated(
            f"no encrypted connection to {error}",
            hint="check tls_ca, tls_cert and tls_verify in the location, and that TLS is on there",
        )
    if isinstance(error, NotHBase):
        return ServerUnavailable(
            f"{error.server or 'the cluster'} does not respond as HBase does: {error}",
            hint="check host and port: ZooKeeper's for hbase://, a master's for hbase+masters://",
        )
    # A server that requires TLS closes plain connections; so does a server that stops.
    hung_up = isinstance(error, ConnectionLost) or isinstance(error.__cause__, ConnectionLost)
    also = ", and whether it requires tls=on" if hung_up else ""
    return ServerUnavailable(
        str(error), hint=f"check that HBase is running there{also}; then try again"
    )


def _translate_remote(
    error: RemoteError, table: str, mutations: Sequence[Mutation]
) -> WebTableError:
    name, detail = error.java_class, error.detail
    if name == "NoSuchColumnFamilyException":
        wanted = re.search(r"[Cc]olumn family (.{1,255}?) does not exist", detail)
        families = re.findall(r"\{NAME => '([^']+)'", detail)
        return FamilyNotFound(table, wanted[1] if wanted else "?", families)
    if name == "TableNotFoundException":
        return TableNotFound(table or detail)
    if name == "TableExistsException":
        return TableExists(table or detail)
    if name == "TableNotEnabledException":
        return TableDisabled(table)
    if name in ("AccessDeniedException", "BadAuthException"):
        # An error that ends a connection is about the user; one in a response is about the call.
        if error.maybe_applied or "Authentication" in detail:
            return NotAuthenticated(f"{error.server} refuses the connection: {detail}")
        return NotAllowed(detail, hint="request the permission, or call as another user")
    if name == "CorruptHFileException":
        return CorruptData(f"a file of table '{table}' is damaged: {detail}")
    if remedy_for(error) is Remedy.FAIL:
        rejection = rejection_of(detail, table, mutations)
        return rejection or InvalidRequest(
            f"HBase rejects it: {detail or name}", hint=f"HBase raised {name}"
        )
    if name in _BUSY or name in _RELOCATE:
        return RegionBusy(f"a region is not ready: {error}", hint="try again later")
    return ServerUnavailable(
        f"{error.server or 'the cluster'} failed: {error}", hint="try again later"
    )


def _requested_pause(error: RemoteError) -> float:
    # "… - wait 1sec, 200ms", the server's own word on when its quota allows more.
    found = re.search(
        r"wait (?:(\d{1,9})\s*mins?,?\s*)?(?:(\d{1,9})\s*sec,?\s*)?(\d{1,9})\s*ms", error.detail
    )
    if error.java_class != "RpcThrottlingException" or not found:
        return 0.0
    minutes, seconds, milliseconds = (int(part or 0) for part in found.groups())
    return minutes * 60 + seconds + milliseconds / 1000
