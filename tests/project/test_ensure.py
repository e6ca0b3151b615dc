"""`tools/ensure` brings missing system packages, or says what to run.

The programs around it (`id`, `apt-get`) are small scripts in a PATH of their own: the test must
neither install anything nor depend on who runs it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ENSURE = Path(__file__).parents[2] / "tools" / "ensure"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH where `frobnicate` is missing and apt-get can only install it after an update."""
    programs = tmp_path / "bin"
    programs.mkdir()
    _program(programs / "id", "echo 0")
    _program(
        programs / "apt-get",
        f"""
        echo "$*" >> {tmp_path}/calls
        case "$1" in
            update) touch {tmp_path}/lists ;;
            install)
                [ -e {tmp_path}/lists ] || exit 100
                printf '#!/bin/sh\\n' > {programs}/frobnicate
                chmod +x {programs}/frobnicate ;;
        esac
        """,
    )
    return tmp_path


def _program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def ensure(machine: Path, test: str) -> subprocess.CompletedProcess[str]:
    path = f"{machine / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return subprocess.run(
        [str(ENSURE), test, "libfrob", "frob-tools"],
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_to_do(machine: Path) -> None:
    done = ensure(machine, "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (machine / "calls").exists()


def test_updates_the_lists_when_installing_needs_it(machine: Path) -> None:
    done = ensure(machine, "command -v frobnicate")
    assert done.returncode == 0, done.stderr
    calls = (machine / "calls").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["install", "update", "install"]
    assert calls[-1].endswith("libfrob frob-tools")


def test_the_packages_do_not_bring_it(machine: Path) -> None:
    done = ensure(machine, "command -v something-else")
    assert done.returncode == 1
    assert "still fails" in done.stderr


def test_without_root_says_what_to_run(machine: Path) -> None:
    _program(machine / "bin" / "id", "echo 1000")
    done = ensure(machine, "command -v frobnicate")
    assert done.returncode == 1
    assert "apt-get install -y --no-install-recommends libfrob frob-tools" in done.stderr
    assert not (machine / "calls").exists()
