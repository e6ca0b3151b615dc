"""The compiled forms of the hottest modules: made where they can be, done without elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import webtable
from tools.compile_modules import MODULES, HotModule
from webtable import compiled
from webtable.store.hbase.wire import cell_blocks

ROOT = Path(__file__).parents[2]
COMPILER = (sysconfig.get_config_var("CC") or "cc").split()[0]
# Debian has Python's own headers in a package of their own.
CAN_COMPILE = bool(
    shutil.which(COMPILER) and Path(sysconfig.get_path("include"), "Python.h").exists()
)
ASK = """
from webtable import compiled
module = compiled.load({!r}, {!r})
print(module.COMPILED, module.__name__)
"""


def ask(module: HotModule, **environment: str) -> str:
    """Returns which form a new process runs."""
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(module.package, module.name)],
        env={**os.environ, "WEBTABLE_PURE": "", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.skipif(not CAN_COMPILE, reason="no C compiler here, or no Python.h")
@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.name)
def test_setup_has_compiled_what_is_there_now(module: HotModule) -> None:
    assert ask(module) == f"True {module.package}._{module.name}", "run `make setup`"


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.name)
def test_plain_python_on_request(module: HotModule) -> None:
    assert ask(module, WEBTABLE_PURE="1") == f"False {module.package}.{module.name}"


def test_a_compiled_form_of_other_sources_is_not_used(tmp_path: Path) -> None:
    module = HotModule("webtable.store.hbase.wire", "cell_codec")
    if not cell_blocks.COMPILED:
        pytest.skip("no compiled form here")
    for name in (*module.sources, module.digest):
        shutil.copy(ROOT / module.folder / name, tmp_path)
    assert compiled.is_current(tmp_path, "cell_codec")
    with (tmp_path / "cell_codec.py").open("a", encoding="utf-8") as source:
        source.write("# changed\n")
    assert not compiled.is_current(tmp_path, "cell_codec")
    (tmp_path / module.digest).unlink()
    assert not compiled.is_current(tmp_path, "cell_codec")


@pytest.mark.skipif(not CAN_COMPILE, reason="no C compiler here, or no Python.h")
@pytest.mark.parametrize(
    ("name", "relies_on"),
    [("request_bytes", "_frames"), ("thread_turns", "_stream"), ("pipelined_connection", "_calls")],
)
def test_a_compiled_form_with_other_types_inside_is_not_used(
    tmp_path: Path, name: str, relies_on: str
) -> None:
    module = HotModule("webtable.store.hbase.wire", name)
    folder = ROOT / module.folder
    for path in (folder / f"{name}.py", folder / module.digest, *folder.glob("_*.pxd")):
        shutil.copy(path, tmp_path)
    assert compiled.is_current(tmp_path, name)
    with (tmp_path / f"{relies_on}.pxd").open("a", encoding="utf-8") as types:
        types.write("# changed\n")
    assert not compiled.is_current(tmp_path, name)


def test_types_are_part_of_a_form_however_far_away(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1\n", encoding="ascii")
    for name, relies_on in ("ab", "bc", "ca"):
        line = f"from webtable.any._{relies_on} cimport it\n"
        (tmp_path / f"_{name}.pxd").write_text(line, encoding="ascii")
    before = compiled.source_digest(tmp_path, "a")
    assert before == compiled.source_digest(tmp_path, "a")
    with (tmp_path / "_c.pxd").open("a", encoding="ascii") as types:
        types.write("# changed\n")
    assert before != compiled.source_digest(tmp_path, "a")


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.name)
def test_types_are_imported_in_the_form_that_the_build_reads(
    module: HotModule,
) -> None:
    types = (ROOT / module.folder / module.sources[1]).read_text(encoding="utf-8")
    for line in types.splitlines():
        if "cimport" in line and "webtable" in line:
            assert line.startswith(f"from {module.package}._")
            assert " cimport " in line


def build(target: Path, **environment: str) -> set[str]:
    """Builds a wheel and returns what is in it, after its name."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT,
        env={**os.environ, "WEBTABLE_PURE": "", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    (wheel,) = target.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        return {done.stderr, wheel.name, *(Path(name).name for name in archive.namelist())}


@pytest.mark.skipif(not CAN_COMPILE, reason="no C compiler here, or no Python.h")
def test_a_wheel_has_the_compiled_form(tmp_path: Path) -> None:
    found = build(tmp_path, CFLAGS="-O0")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for module in MODULES:
        assert {f"_{module.name}{suffix}", module.digest, *module.sources} <= found
    assert not any(name.endswith("-none-any.whl") for name in found)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"CC": "/bin/false"}, "not compiled, plain Python will run"),
        ({"WEBTABLE_PURE": "1"}, "WEBTABLE_PURE is set: nothing is compiled"),
    ],
)
def test_without_a_compiler_the_wheel_is_plain(
    tmp_path: Path, environment: dict[str, str], said: str
) -> None:
    found = build(tmp_path, **environment)
    assert f"webtable_db-{webtable.__version__}-py3-none-any.whl" in found
    assert {"cell_codec.py", "_cell_codec.pxd", "cell_blocks.py", "py.typed"} <= found
    assert not any(name.endswith((".so", ".pyd", ".sha256")) for name in found)
    assert any(said in text for text in found)
