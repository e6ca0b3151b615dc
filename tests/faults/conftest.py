"""A cluster of three region servers that tests may hurt, on its own beside the shared one.

With `WEBTABLE_TEST_FAULTS_DIR` the tests use the local HBase in that folder, which must run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from webtable.local.hbase import LocalHBase
from webtable.local.hbase_state import ClusterSettings

IS_SOAK = bool(os.environ.get("WEBTABLE_SOAK"))


@pytest.fixture(scope="session")
def patient(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalHBase]:
    """The cluster; its dead are noticed sooner than HBase would by itself."""
    if folder := os.environ.get("WEBTABLE_TEST_FAULTS_DIR"):
        yield LocalHBase(folder)
        return
    settings = ClusterSettings(
        profile="tests",
        region_servers=3,
        storage="hdfs" if IS_SOAK else "local",
        properties={
            "hbase.zookeeper.property.tickTime": "1000",
            "zookeeper.session.timeout": "6000" if IS_SOAK else "4000",
        },
        ends_with_caller=True,
    )
    cluster = LocalHBase(tmp_path_factory.mktemp("faults"), settings)
    cluster.up()
    yield cluster
    cluster.down(delete=not request.session.testsfailed, grace_seconds=0)
