"""What the shell prints is what HBase's own shell prints, on both engines.

The transcripts under tests/golden/shell were recorded from HBase's shell against a real HBase
2.6.4, by `tools/record_shell.py`, which also says what that shell was put together from.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import get_args

import pytest

import webtable
from tests.shell.running import Shell, masked
from tools.record_shell import normal, script_of
from webtable import Switch

GOLDEN = Path(__file__).parents[1] / "golden" / "shell"
OF_A_CLUSTER = {"cluster", "snapshots"}
TRANSCRIPTS = sorted({path.stem for path in GOLDEN.glob("*.txt")} - OF_A_CLUSTER)
SWITCHES: tuple[Switch, ...] = get_args(Switch)


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_script_prints_what_hbase_prints(
    name: str, location: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "splits" and "://" in location and not os.environ.get("WEBTABLE_SOAK"):
        pytest.skip("creating so many regions takes long; a part of the soak")
    expected = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    if name == "namespaces":  # of the whole cluster, which others may use at the same time
        location = location.partition("?")[0]
        expected = expected.replace("golden_", f"g{secrets.token_hex(4)}_")
    with webtable.open(location) as store:
        shell = Shell(store, capsys)
        shell.session.with_times = True
        done = shell.run(script_of(expected), echo=True)
    assert done.err == ""
    assert masked(done.out) == expected
    assert done.code == 0


@pytest.mark.hbase
@pytest.mark.parametrize("name", sorted(OF_A_CLUSTER))
def test_what_only_a_cluster_has_prints_what_hbase_prints(
    name: str, hbase_location: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    expected = expected.replace("golden_", f"g{secrets.token_hex(4)}_")
    with webtable.open(hbase_location) as store:
        expected = expected.replace("<server>", store.admin.servers()[0].name)
        shell = Shell(store, capsys)
        shell.session.with_times = True
        try:
            done = shell.run(script_of(expected), echo=True)
        finally:
            for switch in SWITCHES:
                store.admin.switch(switch, on=True)
    assert done.err == ""
    assert masked(done.out) == expected


def test_the_recorder_puts_right_what_hbase_forgets() -> None:
    printed = (
        "hbase:001:0> t.scan\nROW  COLUMN+CELL\n0 row(s)\n"
        "Took 0.0012 secondshbase:002:0> scan 't', {\n"
        "hbase:003:1*   LIMIT => 1\n}\n0 row(s)\nTook 1.5 seconds\nhbase:005:0> \nhbase:001:0> \n"
    )
    assert normal(printed).splitlines()[3:7] == [
        "Took X seconds",
        "hbase:002:0> scan 't', {",
        "hbase:003:1*   LIMIT => 1",
        "hbase:004:1* }",
    ]
    assert normal(printed).endswith("Took X seconds\n")
    assert script_of(normal(printed)) == "t.scan\nscan 't', {\n  LIMIT => 1\n}\n"
