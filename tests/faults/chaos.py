"""What is done to the cluster under the load, drawn from a seed, and the story of it.

Four hands work at the same time: one moves, splits and merges regions, one flushes and compacts
them, one kills processes and starts others, one spoils the connections that go through proxies.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from tests.faults import rows
from tests.faults.proxy import Proxy
from tests.faults.regions import RegionHand
from webtable.errors import WebTableError
from webtable.local.hbase import LocalHBase

__all__ = ["Chaos", "Story"]

Act: TypeAlias = Callable[[random.Random], None]


class Story:
    """What happened when, so that a failure can be understood."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.lines: list[str] = []
        self.counts: Counter[str] = Counter()
        self._adding = threading.Lock()

    def tell(self, event: str, detail: str = "") -> None:
        """Adds an event; it is counted by its first word."""
        now = time.monotonic()
        with self._adding:
            self.counts[event] += 1
            self.lines.append(f"{now:12.3f} (+{now - self.began:8.3f}) {event} {detail}".rstrip())


class Chaos:
    """The hands. `start`, let them work, `finish`: then everything is whole again."""

    def __init__(
        self, cluster: LocalHBase, hand: RegionHand, proxies: list[Proxy], story: Story, seed: int
    ) -> None:
        self._cluster = cluster
        self._hand = hand
        self._proxies = proxies
        self._story = story
        self._seed = seed
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._is_gentle = False
        self._on_regions = threading.Lock()
        self.failures: list[str] = []

    def start(self, kills: float, *, is_gentle: bool = False) -> None:
        """Lets the hands work; `kills` is the mean time between two kills in seconds."""
        self._is_gentle = is_gentle
        network = (
            *[self._cut_response] * 9,
            *[self._cut_request] * 5,
            *[self._cut_all] * 2,
            *[self._slow] * 3,
            self._stall,
        )
        hands: tuple[tuple[str, float, tuple[Act, ...]], ...] = (
            ("regions", 0.3, (self._move, self._move, self._move, self._split, self._merge)),
            ("files", 1.0, (self._flush, self._flush, self._compact)),
            ("kills", kills, (*[self._kill_server] * 3, self._kill_master)),
            ("network", 0.5, network),
        )
        for name, pause, acts in hands:
            draw = random.Random(f"{self._seed} {name}")
            thread = threading.Thread(target=self._run, args=(acts, draw, pause), name=name)
            self._threads.append(thread)
            thread.start()

    def finish(self) -> None:
        """Ends the hands' work, and repairs what they broke."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        for proxy in self._proxies:
            proxy.heal()
        self._revive()
        self._hand.wait_until_whole()

    def _run(self, acts: tuple[Act, ...], draw: random.Random, pause: float) -> None:
        deck: list[Act] = []
        while not self._stop.wait(pause * draw.uniform(0.5, 1.5)):
            # Every act comes in its turn; only the order is left to chance.
            if not deck:
                deck = draw.sample(acts, len(acts))
            act = deck.pop()
            try:
                act(draw)
            except WebTableError as error:
                # A region that moved on, a master that is just being killed: part of the game.
                self._story.tell("refused", f"{act.__name__}: {str(error)[:200]}")
            except Exception as error:
                self.failures.append(f"{act.__name__} died of {error!r}")
                raise

    def _move(self, draw: random.Random) -> None:
        with self._on_regions:
            self._story.tell("move", self._hand.move(draw))

    def _split(self, draw: random.Random) -> None:
        with self._on_regions:
            self._story.tell("split", self._hand.split(b"%04d" % draw.randrange(rows.PLACES)))

    def _merge(self, draw: random.Random) -> None:
        with self._on_regions:
            self._story.tell("merge", self._hand.merge(draw))

    def _flush(self, draw: random.Random) -> None:
        self._hand.table.flush()
        self._story.tell("flush")

    def _compact(self, draw: random.Random) -> None:
        self._hand.table.major_compact()
        self._story.tell("compact")

    def _kill_master(self, draw: random.Random) -> None:
        with self._on_regions if self._is_gentle else contextlib.nullcontext():
            self._cluster.kill("master")
        self._story.tell("kill-master")
        self._stop.wait(draw.uniform(0, 3))
        self._cluster.start("master")
        self._story.tell("start-master")

    def _kill_server(self, draw: random.Random) -> None:
        victim = draw.choice(self._servers(alive=True))
        self._cluster.kill(victim)
        self._story.tell("kill-server", victim)
        self._stop.wait(draw.uniform(0, 5))
        if draw.random() < 0.3:
            self._story.tell("add-server", self._cluster.add_region_server())
        else:
            self._cluster.start(victim)
            self._story.tell("start-server", victim)

    def _cut_response(self, draw: random.Random) -> None:
        proxy = draw.choice(self._proxies)
        proxy.cut_in("response", size := draw.choice((0, 1, 30, 500, 20_000)))
        self._story.tell("cut-response", f"{proxy.target} after {size}")

    def _cut_request(self, draw: random.Random) -> None:
        proxy = draw.choice(self._proxies)
        proxy.cut_in("request", size := draw.choice((0, 3, 50, 700, 10_000)))
        self._story.tell("cut-request", f"{proxy.target} after {size}")

    def _cut_all(self, draw: random.Random) -> None:
        proxy = draw.choice(self._proxies)
        proxy.cut_all()
        self._story.tell("cut-all", str(proxy.target))

    def _slow(self, draw: random.Random) -> None:
        proxy = draw.choice(self._proxies)
        proxy.slow(2, draw.choice((0.01, 0.1, 0.5)))
        self._story.tell("slow", str(proxy.target))

    def _stall(self, draw: random.Random) -> None:
        proxy = draw.choice(self._proxies)
        proxy.stall(seconds := draw.choice((1, 4, 15)))
        self._story.tell("stall", f"{proxy.target} for {seconds} s")

    def _revive(self) -> None:
        """Starts what is dead until three region servers and the master are there."""
        for process in self._cluster.status().processes:
            if process.name == "master" and process.pid is None:
                self._cluster.start("master")
        dead = self._servers(alive=False)
        while len(self._servers(alive=True)) < 3 and dead:
            self._cluster.start(dead.pop())

    def _servers(self, *, alive: bool) -> list[str]:
        return [
            process.name
            for process in self._cluster.status().processes
            if process.name.startswith("region-server-") and (process.pid is not None) == alive
        ]
