"""The state of a local HBase: the requested settings, the recorded processes, the status now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from webtable.errors import CorruptData
from webtable.local.ports import HOST
from webtable.local.processes import Process, is_alive

__all__ = [
    "ClusterSettings",
    "ClusterState",
    "ClusterStatus",
    "Condition",
    "ProcessStatus",
    "ProfileName",
    "Storage",
    "describe",
    "load",
    "save",
]

Storage: TypeAlias = Literal["hdfs", "local"]
ProfileName: TypeAlias = Literal["normal", "tests", "bench"]
Condition: TypeAlias = Literal["running", "starting", "degraded", "stopped"]


class ClusterSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a cluster is started with; None means as it was before, or the default for a new one.

    `properties` go into hbase-site.xml and win over every other setting. A cluster that
    `ends_with_caller` goes down when the process that started it has ended, however it ended.
    """

    region_servers: int | None = None  # 1
    storage: Storage | None = None  # "hdfs"
    profile: ProfileName | None = None  # "normal"
    properties: Mapping[str, str] | None = None
    start_seconds: float = 180
    ends_with_caller: bool = False


class ClusterState(msgspec.Struct, kw_only=True):
    """The record of a cluster in `cluster.json`."""

    region_servers: list[str]
    storage: Storage
    profile: ProfileName
    properties: dict[str, str]
    ports: dict[str, int]
    processes: dict[str, Process]
    watchdog: Process | None = None
    is_ready: bool = False


class ProcessStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One process of a cluster as it is now; `pid` is None when it does not run."""

    name: str
    pid: int | None
    port: int
    log: str


class ClusterStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster as it is now.

    `degraded` means that some process has died; what is left may still serve. The locations are
    None while the cluster is stopped or starting.
    """

    location: str | None
    masters_location: str | None
    state: Condition
    dir: str
    storage: Storage | None
    profile: ProfileName | None
    processes: list[ProcessStatus]


def load(folder: Path) -> ClusterState | None:
    """Returns the record of the cluster in `folder`, or None when there never was one.

    Raises:
        CorruptData: The record cannot be read.
    """
    path = folder / "cluster.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=ClusterState)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as exc:
        raise CorruptData(
            f"{path} is not the record of a local HBase: {exc}",
            hint="end its java processes by hand and remove the folder",
        ) from exc


def save(folder: Path, state: ClusterState) -> None:
    """Replaces the record in one step, so that a reader never sees half of it."""
    draft = folder / "cluster.json.new"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(state)) + b"\n")
    os.replace(draft, folder / "cluster.json")


def describe(folder: Path, state: ClusterState | None) -> ClusterStatus:
    """Returns the state of the cluster now, as its processes show it."""
    found = [] if state is None else [_describe(folder, state, name) for name in state.processes]
    now = _condition(state, [process.pid is not None for process in found])
    ports = state.ports if state is not None and now in ("running", "degraded") else None
    return ClusterStatus(
        location=f"hbase://{HOST}:{ports['zookeeper']}" if ports else None,
        masters_location=f"hbase+masters://{HOST}:{ports['master']}" if ports else None,
        state=now,
        dir=str(folder),
        storage=state.storage if state else None,
        profile=state.profile if state else None,
        processes=found,
    )


def _condition(state: ClusterState | None, alive: list[bool]) -> Condition:
    if state is None or not any(alive):
        return "stopped"
    if not state.is_ready:
        return "starting"
    return "running" if all(alive) else "degraded"


def _describe(folder: Path, state: ClusterState, name: str) -> ProcessStatus:
    process = state.processes[name]
    return ProcessStatus(
        name=name,
        pid=process.pid if is_alive(process) else None,
        port=state.ports[name],
        log=str(folder / "logs" / f"{name}.log"),
    )
