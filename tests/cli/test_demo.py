"""`make demo` makes a crawl, loads it, and queries it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_demo_runs_to_its_end(tmp_path: Path) -> None:
    webtable = Path(sys.executable).with_name("webtable")
    done = subprocess.run(
        [ROOT / "tools" / "demo", webtable, tmp_path / "demo"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "captures          2,013" in done.stdout
    for checked in ("differences", "link_differences"):
        assert re.search(rf"^{checked} +0$", done.stdout, re.MULTILINE)
    assert "3 row(s)" in done.stdout
    assert "Traceback" not in done.stderr
