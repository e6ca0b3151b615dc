"""Which remedy an error has, what becomes of it, and when to stop trying."""

from __future__ import annotations

import time

import pytest

from webtable import errors
from webtable.store.hbase.cluster.find_meta_and_master import RegistryUnavailable
from webtable.store.hbase.retry import Attempts, Remedy, is_untouched, remedy_for, translate
from webtable.store.hbase.wire.errors_and_responses import (
    CallTimedOut,
    ConnectFailed,
    ConnectionLost,
    NotHBase,
    RemoteError,
    RpcError,
    Server,
)

SERVER = Server("host", 16020)
HBASE = "org.apache.hadoop.hbase"


def remote(java_class: str, text: str = "") -> RemoteError:
    return RemoteError(java_class, f"{java_class}: {text}", SERVER)


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (remote(f"{HBASE}.NotServingRegionException"), Remedy.RELOCATE),
        (remote(f"{HBASE}.exceptions.RegionMovedException"), Remedy.RELOCATE),
        (remote(f"{HBASE}.regionserver.RegionServerStoppedException"), Remedy.RELOCATE),
        (remote(f"{HBASE}.ipc.ServerNotRunningYetException"), Remedy.RELOCATE),
        (remote(f"{HBASE}.RegionTooBusyException"), Remedy.RESEND),
        (remote(f"{HBASE}.CallQueueTooBigException"), Remedy.RESEND),
        (remote(f"{HBASE}.PleaseHoldException"), Remedy.RESEND),
        (remote("java.io.IOException", "Cannot append; log is closed"), Remedy.RESEND),
        (remote(f"{HBASE}.MultiActionResultTooLarge"), Remedy.RESEND_NOW),
        (remote(f"{HBASE}.UnknownScannerException"), Remedy.REOPEN),
        (remote(f"{HBASE}.exceptions.OutOfOrderScannerNextException"), Remedy.REOPEN),
        (remote(f"{HBASE}.regionserver.NoSuchColumnFamilyException"), Remedy.FAIL),
        (remote(f"{HBASE}.DoNotRetryIOException"), Remedy.FAIL),
        (remote("java.lang.NullPointerException"), Remedy.FAIL),
        (ConnectionLost("lost", SERVER), Remedy.RELOCATE),
        (ConnectFailed("refused", SERVER), Remedy.RELOCATE),
        (CallTimedOut("slow", SERVER), Remedy.RELOCATE),
        (NotHBase("HTTP", SERVER), Remedy.FAIL),
    ],
)
def test_remedies(error: RpcError, remedy: Remedy) -> None:
    assert remedy_for(error) is remedy


def test_the_server_has_the_last_word() -> None:
    error = remote("org.example.CoprocessorException")
    assert remedy_for(error) is Remedy.RESEND
    error.do_not_retry = True
    assert remedy_for(error) is Remedy.FAIL


def test_what_may_have_taken_effect() -> None:
    assert is_untouched(ConnectFailed("refused", SERVER))
    assert is_untouched(remote(f"{HBASE}.NotServingRegionException"))
    assert is_untouched(remote(f"{HBASE}.RegionTooBusyException"))
    assert not is_untouched(remote("java.io.IOException"))
    assert not is_untouched(ConnectionLost("lost", SERVER, maybe_applied=True))


FAMILY_TEXT = (
    "Column family achor does not exist in region t,,1.a. in table 't', {TABLE_ATTRIBUTES => {}}, "
    "{NAME => 'anchor', VERSIONS => '1'}, {NAME => 'contents', VERSIONS => '3'}"
)


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (
            remote(f"{HBASE}.regionserver.NoSuchColumnFamilyException", FAMILY_TEXT),
            errors.FamilyNotFound,
            "family 'achor' is not in table 't'; has: anchor, contents; did you mean 'anchor'?",
        ),
        (remote(f"{HBASE}.TableExistsException"), errors.TableExists, "table 't' exists already"),
        (remote(f"{HBASE}.TableNotEnabledException"), errors.TableDisabled, "is disabled"),
        (
            remote(f"{HBASE}.security.AccessDeniedException", "no permission"),
            errors.NotAllowed,
            "no permission",
        ),
        (
            remote(f"{HBASE}.security.AccessDeniedException", "Authentication is required"),
            errors.NotAuthenticated,
            "host:16020",
        ),
        (remote(f"{HBASE}.DoNotRetryIOException", "too large"), errors.InvalidRequest, "too large"),
        (remote(f"{HBASE}.RegionTooBusyException"), errors.RegionBusy, "RegionTooBusy"),
        (remote(f"{HBASE}.NotServingRegionException"), errors.RegionBusy, "NotServing"),
        (remote("java.io.IOException", "disk"), errors.ServerUnavailable, "host:16020 failed"),
        (ConnectFailed("cannot connect to a:1", SERVER), errors.ServerUnavailable, "a:1"),
        (CallTimedOut("host:16020 did not respond", SERVER), errors.Timeout, "host:16020"),
        (NotHBase("it sent b'HTTP'", SERVER), errors.ServerUnavailable, "check host and port"),
    ],
)
def test_translations(error: RpcError, kind: type[errors.WebTableError], said: str) -> None:
    translated = translate(error, "t")
    assert type(translated) is kind
    assert said in str(translated)


def test_a_hopeless_error_ends_it_at_once() -> None:
    attempts = Attempts(60, "t")
    with pytest.raises(errors.InvalidRequest) as caught:
        attempts.failed(remote(f"{HBASE}.DoNotRetryIOException", "no"))
    assert isinstance(caught.value.__cause__, RemoteError)


def fail_for_ever(attempts: Attempts, error: RpcError) -> None:
    while True:
        attempts.failed(error)


def test_the_deadline_ends_it() -> None:
    attempts = Attempts(0.05, "t")
    with pytest.raises(errors.RegionBusy):
        fail_for_ever(attempts, remote(f"{HBASE}.RegionTooBusyException"))


def test_the_time_of_an_operation_that_began_before_its_first_failure() -> None:
    attempts = Attempts(60, "t", started=time.monotonic() - 59.5)
    assert attempts.deadline.attempt() <= 0.5
    with pytest.raises(errors.RegionBusy):
        fail_for_ever(attempts, remote(f"{HBASE}.RegionTooBusyException"))


def test_a_missing_registry_ends_it_long_before_the_deadline() -> None:
    attempts = Attempts(60, "t")
    with pytest.raises(errors.ServerUnavailable):
        fail_for_ever(attempts, RegistryUnavailable("no ZooKeeper responds at a:1", SERVER))
    assert attempts.deadline.remaining() > 30


def test_it_remembers_that_a_call_may_have_taken_effect() -> None:
    attempts = Attempts(60, "t")
    attempts.failed(remote(f"{HBASE}.NotServingRegionException"))
    assert not attempts.maybe_applied
    attempts.failed(ConnectionLost("lost", SERVER, maybe_applied=True))
    assert attempts.maybe_applied


def test_a_server_can_request_a_pause() -> None:
    error = remote(f"{HBASE}.quotas.RpcThrottlingException", "exceeded - wait 2sec, 500ms")
    attempts = Attempts(2, "t")
    with pytest.raises(errors.RegionBusy):  # it needs more time than there is
        attempts.failed(error)
