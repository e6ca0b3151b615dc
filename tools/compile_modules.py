"""Compiles the hottest modules when the package is built; called by hatchling.

Optional by nature: without Cython, setuptools or a C compiler, or with `WEBTABLE_PURE=1`, the build
prints a notice and continues, and the same modules run as plain Python. An editable install gets
the compiled forms beside their sources, a wheel gets them inside.
"""

from __future__ import annotations

import os
import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class HotModule(NamedTuple):
    """A module that may run compiled: `name.py` with its C types in `_name.pxd`."""

    package: str
    name: str

    @property
    def folder(self) -> Path:
        """Its folder, relative to the root of the repository."""
        return Path("src", *self.package.split("."))

    @property
    def sources(self) -> tuple[str, str]:
        """Its source files."""
        return f"{self.name}.py", f"_{self.name}.pxd"

    @property
    def digest(self) -> str:
        """The file with the digest of the sources of the compiled form."""
        return f"_{self.name}.sha256"


MODULES = (
    HotModule("webtable.pages.html", "page_scan"),
    HotModule("webtable.pages.html", "tag_depth"),
    HotModule("webtable.pages.html", "text_fingerprint"),
    HotModule("webtable.links", "live_link_values"),
    HotModule("webtable.index", "entry_changes"),
    HotModule("webtable.records.reading", "row_decoder"),
    HotModule("webtable.store.hbase.wire", "calls"),
    HotModule("webtable.store.hbase.wire", "cell_codec"),
    HotModule("webtable.store.hbase.wire", "frames"),
    HotModule("webtable.store.hbase.wire", "pipelined_connection"),
    HotModule("webtable.store.hbase.wire", "request_bytes"),
    HotModule("webtable.store.hbase.wire", "stream"),
    HotModule("webtable.store.hbase.wire", "thread_turns"),
    HotModule("webtable.store.rocks", "row_decoder"),
)


class CompileHook(BuildHookInterface[Any]):
    """Adds the compiled forms to the build."""

    _scratch: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compiles, before anything is put together."""
        if self.target_name != "wheel":
            return
        is_editable = version == "editable"
        if is_editable:
            _remove_compiled(Path(self.root))
        if os.environ.get("WEBTABLE_PURE", "") not in {"", "0"}:
            self.app.display_info("WEBTABLE_PURE is set: nothing is compiled")
            return
        self._scratch = scratch = Path(tempfile.mkdtemp(prefix="webtable-build-"))
        try:
            made = {module: compile_module(Path(self.root), module, scratch) for module in MODULES}
        except (Exception, SystemExit) as exc:  # noqa: BLE001  an install must not fail for it
            self.app.display_warning(f"not compiled, plain Python will run: {exc}")
            return
        for module, compiled in made.items():
            digest = scratch / module.digest
            digest.write_text(source_digest(Path(self.root), module) + "\n", encoding="ascii")
            for path in (compiled, digest):
                if is_editable:
                    _put(path, Path(self.root, module.folder, path.name))
                else:
                    target = Path(*module.folder.parts[1:], path.name)
                    build_data["force_include"][str(path)] = str(target)
        if not is_editable:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clears up, when everything is put together."""
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


def source_digest(root: Path, module: HotModule) -> str:
    """Returns the digest of the sources, as the package calculates it."""
    # Not imported: the dependencies of the package may be missing during a build.
    package = runpy.run_path(str(root / "src" / "webtable" / "compiled.py"))
    digest: str = package["source_digest"](root / module.folder, module.name)
    return digest


def compile_module(root: Path, module: HotModule, scratch: Path) -> Path:
    """Compiles a module and returns the path of the result in the scratch folder."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    extension = Extension(
        f"{module.package}._{module.name}",
        [str(root / module.folder / module.sources[0])],
        extra_compile_args=["-O2", "-g0"],
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
            # Annotations are Python's types; the C types are in the .pxd.
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


def _put(path: Path, target: Path) -> None:
    """Replaces a file. A process that has loaded the old file keeps it."""
    beside = target.with_name(f"{target.name}.new")
    beside.write_bytes(path.read_bytes())
    beside.replace(target)


def _remove_compiled(root: Path) -> None:
    """Removes all compiled forms, including those of modules that were moved."""
    for pattern in ("_*.so", "_*.pyd", "_*.sha256"):
        for path in (root / "src" / "webtable").rglob(pattern):
            path.unlink()
