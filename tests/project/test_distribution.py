"""`make dist`: what the sdist and the wheel hold, and that the wheel works on its own."""

from __future__ import annotations

import email.parser
import email.policy
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from importlib import metadata
from pathlib import Path, PurePosixPath

import pytest
from markdown_it import MarkdownIt
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import webtable

ROOT = Path(__file__).parents[2]
# What `tools/dist` calls.
PROGRAMS = ("basename", "dirname", "gzip", "mkdir", "mktemp", "rm", "sh", "tar")
PACKAGE_FILES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("_")
} | {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("__*__.py")}


@pytest.fixture(scope="module")
def without_compiler(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables of a machine that has no C compiler."""
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        for place in os.get_exec_path():
            if Path(place, name).exists():
                (folder / name).symlink_to(Path(place, name))
                break
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": str(folder), "CC": "/nowhere/cc"}


@pytest.fixture(scope="module")
def dist(
    tmp_path_factory: pytest.TempPathFactory, without_compiler: dict[str, str]
) -> dict[str, Path]:
    """The files that `make dist` builds without a C compiler, by the ends of their names."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [ROOT / "tools" / "dist", sys.executable, folder],
        cwd=ROOT,
        env=without_compiler,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not compiled, plain Python will run" in done.stderr
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def wheel_metadata(dist: dict[str, Path]) -> Message:
    with zipfile.ZipFile(dist[".whl"]) as wheel:
        text = wheel.read(f"webtable_db-{webtable.__version__}.dist-info/METADATA").decode()
    return email.parser.Parser(policy=email.policy.compat32).parsestr(text)


def test_make_dist_calls_the_script() -> None:
    planned = subprocess.run(
        ["make", "-n", "dist"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "tools/dist .venv/bin/python dist" in planned.stdout


def test_the_names_are_those_of_the_distribution(dist: dict[str, Path]) -> None:
    assert {path.name for path in dist.values()} == {
        f"webtable_db-{webtable.__version__}.tar.gz",
        f"webtable_db-{webtable.__version__}-py3-none-any.whl",
    }


def test_the_wheel_holds_every_file_of_the_package(dist: dict[str, Path]) -> None:
    with zipfile.ZipFile(dist[".whl"]) as wheel:
        names = set(wheel.namelist())
        licence = wheel.read(
            f"webtable_db-{webtable.__version__}.dist-info/licenses/LICENSE"
        ).decode()
    inside = {name for name in names if name.startswith("webtable/")}
    assert inside >= PACKAGE_FILES
    assert {
        "webtable/py.typed",
        "webtable/local/hbase-pom.xml",
        "webtable/store/hbase/proto/client_pb2.py",
        "webtable/store/hbase/proto/client_pb2.pyi",
    } <= inside
    assert {name.partition("/")[0] for name in names} == {
        "webtable",
        f"webtable_db-{webtable.__version__}.dist-info",
    }
    assert licence == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_metadata_is_fit_for_a_package_index(wheel_metadata: Message) -> None:
    assert wheel_metadata["Name"] == "webtable-db"
    assert wheel_metadata["Version"] == webtable.__version__
    assert wheel_metadata["License-Expression"] == "Apache-2.0"
    assert wheel_metadata["License-File"] == "LICENSE"
    assert wheel_metadata["Requires-Python"] == ">=3.11"
    summary = wheel_metadata["Summary"]
    assert summary
    assert "\n" not in summary
    assert len(summary) <= 512  # more is rejected
    assert wheel_metadata["Description-Content-Type"] == "text/markdown"
    description = wheel_metadata.get_payload()
    assert isinstance(description, str)
    rendered = MarkdownIt("commonmark").render(description)
    assert "<h1>" in rendered
    assert "<code" in rendered


def test_the_sdist_holds_what_is_under_version_control(dist: dict[str, Path]) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    wanted = {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}
    with tarfile.open(dist[".gz"]) as archive:
        members = {
            PurePosixPath(*PurePosixPath(member.name).parts[1:]).as_posix(): member
            for member in archive
            if member.isfile()
        }
    assert set(members) == wanted | {"PKG-INFO"}
    runnable = {name for name in wanted if os.access(ROOT / name, os.X_OK)}
    assert {name for name, member in members.items() if member.mode & 0o100} == runnable


@pytest.fixture(scope="module")
def empty_environment(
    tmp_path_factory: pytest.TempPathFactory, dist: dict[str, Path], wheel_metadata: Message
) -> Path:
    """An environment with the wheel and the distributions that its metadata names, no other.

    These are linked from the environment of the tests, where they are in the locked versions.
    """
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    for name in _needed(wheel_metadata.get_all("Requires-Dist", [])):
        for file in metadata.files(name) or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                target = packages / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(Path(str(file.locate())))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    to_it = ["--python", str(folder / "bin" / "python")]
    install = ["install", "--quiet", "--no-index", "--only-binary", ":all:", str(dist[".whl"])]
    subprocess.run([*pip, *to_it, *install], check=True)
    subprocess.run([*pip, *to_it, "check"], check=True)
    return folder


def _needed(requirements: list[str]) -> set[str]:
    """Returns the named distributions, and all that they require."""
    found: set[str] = set()
    waiting = list(requirements)
    while waiting:
        wanted = Requirement(waiting.pop())
        name = canonicalize_name(wanted.name)
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        waiting += metadata.requires(name) or []
    return found


def test_the_wheel_alone_runs_the_first_steps_of_the_demo(
    tmp_path: Path, empty_environment: Path, without_compiler: dict[str, str]
) -> None:
    def run(*arguments: str) -> str:
        done = subprocess.run(
            [empty_environment / "bin" / "webtable", *arguments],
            cwd=tmp_path,
            env={**without_compiler, "WEBTABLE_STORE": str(tmp_path / "store")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    assert run("--version").split()[-1] == webtable.__version__
    run("sample", "--pages", "200", "crawl.warc.gz")
    run("init", "--profile", "archive")
    run("load", "crawl.warc.gz")
    assert "https://www.example.com/" in run("page", "https://www.example.com/")
    assert len(run("pages", "example.com", "--limit", "5", "--format", "jsonl").splitlines()) == 5
    assert "http" in run("links", "top", "--limit", "5", "--format", "csv")
    assert run("links", "in", "https://www.example.com/", "--limit", "5", "--format", "jsonl")
    assert json.loads(run("verify", "--format", "json"))["differences"] == 0
