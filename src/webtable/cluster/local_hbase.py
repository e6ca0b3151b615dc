"""A real HBase on this machine, for trying and for tests: HDFS, ZooKeeper, a master, region servers.

Each is a process of its own, on 127.0.0.1 and on free ports. `cluster.json` in the cluster's folder records what
runs, so that any later process can ask for it, go on with it or take it down.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from webtable.cluster import hbase_state, processes
from webtable.cluster.hbase_config import reserve_ports, write_config
from webtable.cluster.hbase_daemons import Launcher, failure_lines, is_ready
from webtable.cluster.hbase_jars import find_java, hbase_jars, locked
from webtable.cluster.hbase_state import ClusterSettings, ClusterState, ClusterStatus
from webtable.errors import InvalidRequest, ServerUnavailable, Timeout

__all__ = ["LocalHBase"]

_HDFS = ("namenode", "datanode")
_HDFS_PORTS = ("namenode-http", "datanode-http", "datanode-ipc")


class LocalHBase:
    """The cluster in one folder. Making the object starts nothing; see `up`.

    Calls that change the cluster of one folder wait for one another, in whatever process they are made.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        settings: ClusterSettings | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.settings = settings or ClusterSettings()
        self._say = say

    @property
    def location(self) -> str:
        """The location of the cluster, to be given to `webtable.open`.

        Raises:
            ServerUnavailable: It does not run.
        """
        status = self.status()
        if status.location is None:
            raise ServerUnavailable(
                f"the local HBase in {self.folder} is {status.state}",
                hint=f"start it: webtable hbase up --dir {self.folder}",
            )
        return status.location

    def status(self) -> ClusterStatus:
        """Returns how the cluster is now. It looks at the processes only, so it is quick."""
        return hbase_state.describe(self.folder, hbase_state.load(self.folder))

    def up(self) -> ClusterStatus:
        """Starts the cluster on the data that its folder has and returns once tables can be created.

        A cluster that runs is left as it is, whatever the settings say; what is left of one that is half dead is
        taken down first. When the start fails or is interrupted, nothing stays running.

        Raises:
            InvalidRequest: The settings do not fit the folder.
            WebTableError: Java or Maven is not installed.
            ServerUnavailable: A process died while it started.
            Timeout: The cluster was not ready in time.
        """
        self._check_folder()
        with self._locked():
            old = hbase_state.load(self.folder)
            before = hbase_state.describe(self.folder, old)
            if before.state == "running":
                return before
            state = self._new_state(old)
            launcher = self._launcher(state)
            if old is not None:
                self._end(old, grace_seconds=30)
            self._start(launcher, state)
            return hbase_state.describe(self.folder, state)

    def down(self, *, delete: bool = False, grace_seconds: float = 30) -> None:
        """Ends every process of the cluster, and nothing else; returns when none is left.

        The data stays unless `delete`, which removes all that the cluster has put into its folder.
        """
        if not self.folder.is_dir():
            return
        with self._locked():
            state = hbase_state.load(self.folder)
            if state is not None:
                self._end(state, 0 if delete else grace_seconds)
                if delete:
                    self._delete()

    def add_region_server(self) -> str:
        """Starts one more region server and returns its name once it serves.

        Raises:
            ServerUnavailable: The cluster does not run, or the process died while it started.
        """
        with self._locked():
            state = self._running()
            number = 1 + max(int(name.rpartition("-")[2]) for name in state.region_servers)
            name = f"region-server-{number}"
            state.region_servers.append(name)
            self._start_one(state, name)
            return name

    def start(self, name: str) -> None:
        """Starts one process again that was killed or has died, and returns once it serves."""
        with self._locked():
            state = self._running()
            if not processes.is_alive(self._process(state, name)):
                self._start_one(state, name)

    def kill(self, name: str, signal_number: int = signal.SIGKILL) -> None:
        """Sends a signal to one process; returns when it is dead if the signal is SIGKILL or SIGTERM."""
        with self._locked():
            process = self._process(self._running(), name)
            processes.send(process, signal_number)
            if signal_number in (signal.SIGKILL, signal.SIGTERM):
                processes.wait_until(lambda: not processes.is_alive(process), 60)

    def _new_state(self, old: ClusterState | None) -> ClusterState:
        wanted = self.settings
        storage = wanted.storage or (old.storage if old else "hdfs")
        if old is not None and storage != old.storage:
            raise InvalidRequest(
                f"the local HBase in {self.folder} keeps its data in storage '{old.storage}', not '{storage}'",
                hint="leave the storage out, take another folder, or delete this one",
            )
        count = wanted.region_servers or (len(old.region_servers) if old else 1)
        properties = wanted.properties if wanted.properties is not None else old and old.properties
        return ClusterState(
            region_servers=[f"region-server-{number + 1}" for number in range(count)],
            storage=storage,
            profile=wanted.profile or (old.profile if old else "normal"),
            properties=dict(properties or {}),
            ports=dict(old.ports) if old else {},
            processes={},
        )

    def _start(self, launcher: Launcher, state: ClusterState) -> None:
        hdfs = state.storage == "hdfs"
        names = ["zookeeper", *(_HDFS if hdfs else ()), "master", *state.region_servers]
        # The same ports as last time where they are still free: a location stays good.
        held = reserve_ports(
            {name: state.ports.get(name) for name in [*names, *(_HDFS_PORTS if hdfs else ())]}
        )
        try:
            state.ports = {name: bound.getsockname()[1] for name, bound in held.items()}
            write_config(self.folder, state)
            hbase_state.save(self.folder, state)
            self._guard(state)
            if hdfs:
                launcher.format_namenode()
            self._spawn_and_wait(launcher, state, names)
            state.is_ready = True
            hbase_state.save(self.folder, state)
        except BaseException:
            self._end(state, grace_seconds=0)
            raise
        finally:
            for bound in held.values():
                bound.close()

    def _start_one(self, state: ClusterState, name: str) -> None:
        held = reserve_ports({name: state.ports.get(name)})[name]
        with held:
            state.ports[name] = held.getsockname()[1]
            if name in ("zookeeper", "master", *_HDFS):
                write_config(self.folder, state)
            self._spawn_and_wait(self._launcher(state), state, [name])

    def _spawn_and_wait(self, launcher: Launcher, state: ClusterState, names: list[str]) -> None:
        offsets = {}
        for name in names:
            log = launcher.log(name)
            offsets[name] = log.stat().st_size if log.exists() else 0
            command = launcher.command(name, state.ports[name])
            state.processes[name] = processes.spawn(command, os.environ, launcher.output(name))
            hbase_state.save(self.folder, state)
        deadline = time.monotonic() + self.settings.start_seconds
        waiting = list(names)
        while waiting:
            for name in names:
                if not processes.is_alive(state.processes[name]):
                    raise self._died(launcher, name, offsets[name])
            waiting = [
                name
                for name in waiting
                if not is_ready(name, state.ports[name], launcher.log(name), offsets[name])
            ]
            if waiting and time.monotonic() > deadline:
                raise Timeout(
                    f"{waiting[0]} of the local HBase was not ready within {self.settings.start_seconds:g} s",
                    hint=f"look at {launcher.log(waiting[0])}; give it more time if the machine is busy",
                )
            time.sleep(0.05)

    def _died(self, launcher: Launcher, name: str, offset: int) -> ServerUnavailable:
        lines = failure_lines(launcher.log(name), offset, launcher.output(name))
        return ServerUnavailable(
            f"{name} of the local HBase died while it started: " + " | ".join(lines),
            hint=f"look at {launcher.log(name)}",
        )

    def _end(self, state: ClusterState, grace_seconds: float) -> None:
        # Who stores goes last: region servers flush into HDFS, and the master says goodbye to ZooKeeper.
        first = {name for name in state.processes if name not in ("zookeeper", *_HDFS)}
        for group in (first, {"zookeeper", "datanode"}, {"namenode"}):
            processes.end(
                [process for name, process in state.processes.items() if name in group], grace_seconds
            )
        if state.watchdog is not None and state.watchdog != processes.this_process():
            processes.end([state.watchdog], grace_seconds=0)

    def _guard(self, state: ClusterState) -> None:
        if not self.settings.ends_with_caller:
            return
        owner = processes.this_process()
        command = [sys.executable, "-m", "webtable.cluster.watchdog", str(self.folder)]
        command += [str(owner.pid), str(owner.started), owner.boot]
        output = self.folder / "logs" / "watchdog.out"
        state.watchdog = processes.spawn(command, os.environ, output)
        hbase_state.save(self.folder, state)

    def _launcher(self, state: ClusterState) -> Launcher:
        return Launcher(find_java(), hbase_jars(self._say), self.folder, state.profile)

    def _running(self) -> ClusterState:
        state = hbase_state.load(self.folder)
        if state is None or not state.is_ready:
            raise ServerUnavailable(
                f"the local HBase in {self.folder} does not run",
                hint=f"start it: webtable hbase up --dir {self.folder}",
            )
        return state

    def _process(self, state: ClusterState, name: str) -> processes.Process:
        if name not in state.processes:
            raise InvalidRequest(
                f"the local HBase in {self.folder} has no process '{name}'",
                hint="it has " + ", ".join(state.processes),
            )
        return state.processes[name]

    def _check_folder(self) -> None:
        # The colon separates the entries of Java's class path.
        if ":" in str(self.folder):
            raise InvalidRequest(
                f"a local HBase cannot live in {self.folder}", hint="take a folder without ':'"
            )
        for name in ("conf", "data", "logs", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def _delete(self) -> None:
        # Only what is ours: the folder may have been somebody's before.
        for name in ("conf", "data", "logs", "tmp"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in ("cluster.json", "lock"):
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _locked(self) -> AbstractContextManager[None]:
        return locked(self.folder / "lock")
