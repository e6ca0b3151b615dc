"""What is known about a local HBase: what was asked for, what was recorded, how it is now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from webtable.cluster.processes import Process, is_alive
from webtable.errors import CorruptData

__all__ = [
    "HOST",
    "ClusterSettings",
    "ClusterState",
    "ClusterStatus",
    "ProcessStatus",
    "ProfileName",
    "Storage",
    "describe",
    "load",
    "save",
]

HOST = "127.0.0.1"
Storage = Literal["hdfs", "local"]
ProfileName = Literal["normal", "tests", "bench"]


class ClusterSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a cluster is started with; None means as it was before, or the default for a new one.

    `properties` go into hbase-site.xml and win over every other setting. With `ends_with_caller` the cluster
    goes down by itself when the process that started it ends, however it ends.
    """

    region_servers: int | None = None  # default 1
    storage: Storage | None = None  # default "hdfs"
    profile: ProfileName | None = None  # default "normal"
    properties: Mapping[str, str] | None = None
    start_seconds: float = 180
    ends_with_caller: bool = False


class ClusterState(msgspec.Struct, kw_only=True):
    """The record in `cluster.json`."""

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
    port: int | None
    log: str


class ClusterStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster as it is now.

    `degraded` means that some process has died; what is left may still serve. The locations are None while the
    cluster is stopped or starting.
    """

    state: Literal["running", "starting", "degraded", "stopped"]
    location: str | None
    masters_location: str | None
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
    """Returns how the cluster is now, by looking at its processes."""
    found = [] if state is None else [_describe(folder, state, name) for name in state.processes]
    alive = [process.pid is not None for process in found]
    if state is None or not any(alive):
        now: Literal["running", "starting", "degraded", "stopped"] = "stopped"
    elif not all(alive):
        now = "degraded"
    else:
        now = "running" if state.is_ready else "starting"
    up = state if now in ("running", "degraded") else None
    return ClusterStatus(
        state=now,
        location=up and f"hbase://{HOST}:{up.ports['zookeeper']}",
        masters_location=up and f"hbase+masters://{HOST}:{up.ports['master']}",
        dir=str(folder),
        storage=state and state.storage,
        profile=state and state.profile,
        processes=found,
    )


def _describe(folder: Path, state: ClusterState, name: str) -> ProcessStatus:
    process = state.processes[name]
    return ProcessStatus(
        name=name,
        pid=process.pid if is_alive(process) else None,
        port=state.ports.get(name),
        log=str(folder / "logs" / f"{name}.log"),
    )
