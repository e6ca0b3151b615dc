"""A real HBase on this machine: HDFS, ZooKeeper, a master and region servers.

Each is a process of its own, on 127.0.0.1 and on free ports. `cluster.json` in the cluster's folder
records what runs, so that any later process can query it, go on with it or stop it.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from webtable.errors import DiskFull, InvalidRequest, ServerUnavailable, Timeout, WebTableError
from webtable.local import hbase_state, processes
from webtable.local.class_archive import ClassArchive
from webtable.local.hbase_config import write_config
from webtable.local.hbase_daemons import Launcher
from webtable.local.hbase_jars import find_java, hbase_jars, locked
from webtable.local.hbase_state import ClusterSettings, ClusterState, ClusterStatus
from webtable.local.ports import reserved_ports

__all__ = ["LocalHBase"]

_HDFS = ("namenode", "datanode")
_HDFS_PORTS = ("namenode-http", "datanode-http", "datanode-ipc")
_FOLDERS = ("conf", "data", "logs", "tmp")
_FILES = ("cluster.json", "cluster.json.new", "lock")
_KILL_SECONDS = 60


class LocalHBase:
    """The cluster in one folder. Making the object starts nothing; see `up`.

    Calls that change the cluster of one folder wait for one another, also between processes.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        settings: ClusterSettings | None = None,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.settings = settings or ClusterSettings()
        self._report = report

    @property
    def location(self) -> str:
        """The location of the cluster, to be given to `webtable.open`.

        Raises:
            ServerUnavailable: It does not run.
        """
        location = self.status().location
        if location is None:
            raise self._not_running()
        return location

    def status(self) -> ClusterStatus:
        """Returns how the cluster is now. It checks the processes only, so it is quick."""
        return hbase_state.describe(self.folder, hbase_state.load(self.folder))

    def up(self) -> ClusterStatus:
        """Starts the cluster on the data that it has and returns once tables can be created.

        A cluster that runs is left as it is, whatever the settings are; the rest of one that
        is half dead is stopped first. When the start fails or is interrupted, nothing stays
        running.

        Raises:
            InvalidRequest: The settings do not fit the folder.
            ServerUnavailable: A process died while it started.
            Timeout: The cluster was not ready in time.
            WebTableError: Java or Maven is not installed, or the folder cannot be used.
        """
        with self._locked():
            old = hbase_state.load(self.folder)
            before = hbase_state.describe(self.folder, old)
            if before.state == "running":
                return before
            self._check_folder(old)
            state = self._new_state(old)
            launcher = self._launcher(state)
            if old is not None:
                self._end(old, grace_seconds=30)
            self._start(launcher, state)
            return hbase_state.describe(self.folder, state)

    def down(self, *, delete: bool = False, grace_seconds: float = 30) -> None:
        """Ends every process of the cluster, and nothing else; returns when all have ended.

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
            try:
                self._start_one(state, name)
                state.region_servers.append(name)
            except BaseException:
                state.processes.pop(name, None)
                raise
            finally:
                hbase_state.save(self.folder, state)
            return name

    def start(self, name: str) -> None:
        """Starts one process again that has died, and returns once it serves.

        Raises:
            ServerUnavailable: The cluster does not run, or the process died while it started.
        """
        with self._locked():
            state = self._running()
            if not processes.is_alive(self._process(state, name)):
                self._start_one(state, name)

    def kill(self, name: str, signal_number: int = signal.SIGKILL) -> None:
        """Sends a signal to one process; with SIGKILL and SIGTERM returns when it is dead."""
        with self._locked():
            process = self._process(self._running(), name)
            processes.send(process, signal_number)
            if signal_number in (signal.SIGKILL, signal.SIGTERM):
                processes.wait_until(lambda: not processes.is_alive(process), _KILL_SECONDS)

    def _new_state(self, old: ClusterState | None) -> ClusterState:
        wanted = self.settings
        if old is not None and wanted.storage not in (None, old.storage):
            raise InvalidRequest(
                f"the data of the local HBase in {self.folder} is in '{old.storage}' storage,"
                f" not in '{wanted.storage}'",
                hint="leave the storage out, take another folder, or delete this one",
            )
        count = wanted.region_servers
        if count is None:
            count = len(old.region_servers) if old else 1
        if count < 1:
            raise InvalidRequest(f"{count} region servers are too few", hint="take 1 or more")
        properties = wanted.properties
        if properties is None:
            properties = old.properties if old else {}
        return ClusterState(
            region_servers=[f"region-server-{number}" for number in range(1, count + 1)],
            storage=wanted.storage or (old.storage if old else "hdfs"),
            profile=wanted.profile or (old.profile if old else "normal"),
            properties=dict(properties),
            ports=old.ports if old else {},
            processes={},
        )

    def _start(self, launcher: Launcher, state: ClusterState) -> None:
        on_hdfs = state.storage == "hdfs"
        names = ["zookeeper", *(_HDFS if on_hdfs else ()), "master", *state.region_servers]
        with_ports = [*names, *(_HDFS_PORTS if on_hdfs else ())]
        # The ports of last time where they are free: the location of a cluster stays good.
        with reserved_ports({name: state.ports.get(name) for name in with_ports}) as state.ports:
            try:
                for name in _FOLDERS:
                    (self.folder / name).mkdir(exist_ok=True)
                write_config(self.folder, state)
                self._set_watchdog(state)
                if on_hdfs:
                    self._format(launcher)
                self._run(launcher, state, names)
                launcher.archive.make(map(launcher.classes, names), self._report)
            except BaseException:
                self._end(state, grace_seconds=0)
                raise
        state.is_ready = True
        hbase_state.save(self.folder, state)

    def _start_one(self, state: ClusterState, name: str) -> None:
        with reserved_ports({name: state.ports.get(name)}) as ports:
            if ports[name] != state.ports.get(name) and not name.startswith("region-server-"):
                raise ServerUnavailable(
                    f"another program uses the port {state.ports[name]} of {name}",
                    hint="take the cluster down and up again",
                )
            state.ports |= ports
            try:
                self._run(self._launcher(state), state, [name])
            except BaseException:
                processes.end([state.processes[name]], grace_seconds=0)
                raise

    def _run(self, launcher: Launcher, state: ClusterState, names: list[str]) -> None:
        deadline = time.monotonic() + self.settings.start_seconds
        offsets = {name: launcher.log_size(name) for name in names}
        for name in names:
            command = launcher.command(name, state.ports[name])
            state.processes[name] = processes.spawn(command, os.environ, launcher.output(name))
            hbase_state.save(self.folder, state)
        waiting = names
        while waiting:
            for name in names:
                if not processes.is_alive(state.processes[name]):
                    raise ServerUnavailable(
                        f"{name} of the local HBase died while it started:\n"
                        + launcher.last_lines(name, offsets[name]),
                        hint=f"see {launcher.log(name)} and {launcher.output(name)}",
                    )
            if time.monotonic() > deadline:
                raise Timeout(
                    f"{waiting[0]} of the local HBase was not ready"
                    f" within {self.settings.start_seconds:g} s",
                    hint=f"see {launcher.log(waiting[0])}; on a busy machine give it more time",
                )
            time.sleep(0.05)
            waiting = [
                name
                for name in waiting
                if not launcher.is_ready(name, state.ports[name], offsets[name])
            ]

    def _format(self, launcher: Launcher) -> None:
        # The data node makes this folder when it first runs, which is after the name node was
        # formatted. Without it there is no data, and a format cut short is simply done again.
        if (self.folder / "data" / "datanode").exists():
            return
        run = subprocess.run(launcher.format_command(), capture_output=True, text=True, check=False)
        if run.returncode != 0:
            launcher.output("namenode").write_text(run.stdout + run.stderr, encoding="utf-8")
            raise ServerUnavailable(
                f"HDFS could not be formatted:\n{launcher.last_lines('namenode', 0)}",
                hint=f"see {launcher.log('namenode')} and {launcher.output('namenode')}",
            )

    def _end(self, state: ClusterState, grace_seconds: float) -> None:
        # Processes that store data of others end last.
        stores = {"zookeeper", *_HDFS}
        for group in (state.processes.keys() - stores, stores):
            ending = [process for name, process in state.processes.items() if name in group]
            processes.end(ending, grace_seconds)
        if state.watchdog is not None and state.watchdog != processes.this_process():
            processes.end([state.watchdog], grace_seconds=0)

    def _set_watchdog(self, state: ClusterState) -> None:
        if self.settings.ends_with_caller:
            owner = processes.this_process()
            command = [sys.executable, "-m", "webtable.local.watchdog", str(self.folder)]
            command += [str(owner.pid), str(owner.started), owner.boot]
            output = self.folder / "logs" / "watchdog.out"
            state.watchdog = processes.spawn(command, os.environ, output)
            hbase_state.save(self.folder, state)

    def _launcher(self, state: ClusterState) -> Launcher:
        java, jars = find_java(), hbase_jars(self._report)
        archive = ClassArchive(java, jars, state.storage)
        return Launcher(java, jars, self.folder, state.profile, archive)

    def _running(self) -> ClusterState:
        state = hbase_state.load(self.folder)
        if state is None or hbase_state.describe(self.folder, state).location is None:
            raise self._not_running()
        return state

    def _not_running(self) -> ServerUnavailable:
        return ServerUnavailable(
            f"the local HBase in {self.folder} does not run",
            hint=f"start it: webtable hbase up --dir {self.folder}",
        )

    def _process(self, state: ClusterState, name: str) -> processes.Process:
        if name not in state.processes:
            raise InvalidRequest(
                f"the local HBase in {self.folder} has no process '{name}'",
                hint="it has " + ", ".join(state.processes),
            )
        return state.processes[name]

    def _check_folder(self, old: ClusterState | None) -> None:
        # A colon separates the entries of a class path, and a comma the folders of HDFS.
        if any(sign in str(self.folder) for sign in ":,"):
            raise InvalidRequest(
                f"a local HBase cannot live in {self.folder}",
                hint="take a folder without ':' and ',' in its path",
            )
        others = {path.name for path in self.folder.iterdir()} - {*_FOLDERS, *_FILES}
        if old is None and others:
            raise InvalidRequest(
                f"{self.folder} has something else in it: {min(others)}",
                hint="take an empty folder, or one that does not exist yet",
            )

    def _delete(self) -> None:
        # Only what is ours; the lock at last, as others may wait for it.
        for name in _FOLDERS:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in _FILES:
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with locked(self.folder / "lock"):
                yield
        except OSError as exc:
            kind = DiskFull if exc.errno == errno.ENOSPC else WebTableError
            raise kind(
                f"the local HBase in {self.folder}: {exc}",
                hint="repair that, or use another folder",
            ) from exc
