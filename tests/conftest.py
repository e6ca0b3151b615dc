"""One HBase for the whole run, started when the first test needs it.

With `WEBTABLE_TEST_HBASE=hbase://…` the tests use that cluster instead and start none.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from webtable.local.hbase import LocalHBase
from webtable.local.hbase_state import ClusterSettings, Storage

# A run in the background of a script is started with Ctrl-C switched off, and what it starts would
# be, too; but what Ctrl-C does is a part of what is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_configuration_of_the_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps the tests, and the programs that they start, from the configuration of the user."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("WEBTABLE_CONFIG", raising=False)
        patched.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="session")
def local_hbase(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalHBase | None]:
    """The cluster that all tests share; None when the run was given one."""
    if os.environ.get("WEBTABLE_TEST_HBASE"):
        yield None
        return
    # On HDFS each table, flush and compaction costs twice the processor time, for the same results;
    # a soak run has it. Should the run be killed, the cluster goes too.
    storage: Storage = "hdfs" if os.environ.get("WEBTABLE_SOAK") else "local"
    settings = ClusterSettings(profile="tests", storage=storage, ends_with_caller=True)
    cluster = LocalHBase(tmp_path_factory.mktemp("hbase"), settings)
    cluster.up()
    yield cluster
    # The logs of a run that failed are worth keeping.
    cluster.down(delete=not request.session.testsfailed, grace_seconds=0)


@pytest.fixture(scope="session")
def hbase_location(local_hbase: LocalHBase | None) -> str:
    """Where the shared HBase is; use names of your own in it."""
    return local_hbase.location if local_hbase else os.environ["WEBTABLE_TEST_HBASE"]
