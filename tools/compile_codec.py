"""Compiles the client's hottest module when the package is built; called by hatchling.

Optional by nature: without Cython, setuptools or a C compiler, or with `WEBTABLE_PURE=1`, the build
says so and goes on, and the same module runs as plain Python. An editable install gets the
compiled form beside its source, a wheel gets it inside.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "webtable", "store", "hbase")
SOURCES = ("codec.py", "_codec.pxd")
MODULE = "webtable.store.hbase._codec"
DIGEST = "_codec.sha256"


class CompileHook(BuildHookInterface[Any]):
    """Adds the compiled form to what is built."""

    _scratch: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compiles, before anything is put together."""
        if self.target_name != "wheel":
            return
        folder = Path(self.root, FOLDER)
        is_editable = version == "editable"
        if is_editable:
            _remove(folder)
        if os.environ.get("WEBTABLE_PURE", "") not in {"", "0"}:
            self.app.display_info("WEBTABLE_PURE is set: nothing is compiled")
            return
        self._scratch = scratch = Path(tempfile.mkdtemp(prefix="webtable-build-"))
        try:
            compiled = compile_codec(Path(self.root), scratch)
        except (Exception, SystemExit) as exc:  # noqa: BLE001  an install must not fail for it
            self.app.display_warning(f"not compiled, plain Python will run: {exc}")
            return
        digest = scratch / DIGEST
        digest.write_text(source_digest(folder) + "\n", encoding="ascii")
        for path in (compiled, digest):
            if is_editable:
                (folder / path.name).write_bytes(path.read_bytes())
            else:
                target = Path(*FOLDER.parts[1:], path.name)
                build_data["force_include"][str(path)] = str(target)
        if not is_editable:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clears up, when everything is put together."""
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


def source_digest(folder: Path) -> str:
    """Returns what tells one version of the sources from another."""
    sources = b"".join((folder / name).read_bytes() for name in SOURCES)
    return hashlib.sha256(sources).hexdigest()


def compile_codec(root: Path, scratch: Path) -> Path:
    """Compiles the module and returns where the result is, in the scratch folder."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    extension = Extension(
        MODULE, [str(root / FOLDER / SOURCES[0])], extra_compile_args=["-O2", "-g0"]
    )
    extensions = cythonize(  # type: ignore[no-untyped-call]
        [extension],
        build_dir=str(scratch),
        include_path=[str(root / "src")],
        force=True,
        quiet=True,
        language_level=3,
        compiler_directives={
            "boundscheck": False,
            "wraparound": False,
            # Python's types say what a value is, C's how it is kept; those are in the .pxd.
            "annotation_typing": False,
        },
    )
    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib = str(scratch / "lib")
    command.build_temp = str(scratch / "temp")
    command.ensure_finalized()
    command.run()
    (compiled,) = map(Path, command.get_outputs())
    return compiled


def _remove(folder: Path) -> None:
    for path in (*folder.glob("_codec.*.so"), *folder.glob("_codec.*.pyd"), folder / DIGEST):
        path.unlink(missing_ok=True)
