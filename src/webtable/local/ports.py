"""Free ports of 127.0.0.1, reserved until the servers that they are meant for listen on them."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["HOST", "reserved_ports"]

HOST = "127.0.0.1"
_LOWEST = 20_000
_TRIES = 10_000


@contextmanager
def reserved_ports(wanted: Mapping[str, int | None]) -> Iterator[dict[str, int]]:
    """Yields a free port for each name, the wanted one where no program listens on it.

    Until the end of the block no other program gets these ports, while a server in Java can use
    them: it allows reuse, as the sockets here do, and these do not listen.
    """
    with ExitStack() as sockets:
        ports: dict[str, int] = {}
        for name, port in wanted.items():
            # Connections of the last run may linger on a wanted port; reuse ignores them.
            bound = port and _bind(port, reuse=True)
            ports[name] = sockets.enter_context(bound or _bind_any()).getsockname()[1]
        yield ports


def _bind_any() -> socket.socket:
    # Below the range from which the system takes the near ends of connections: none of those
    # will sit on the port when the cluster starts again and would like to have it back.
    limits = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
    stop = int(limits.split()[0])
    start = min(_LOWEST, stop // 2)
    choice = random.SystemRandom()
    for _ in range(_TRIES):
        if bound := _bind(choice.randrange(start, stop), reuse=False):
            return bound
    raise OSError(f"no free port on {HOST} between {start} and {stop}")


def _bind(port: int, *, reuse: bool) -> socket.socket | None:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
    try:
        bound.bind((HOST, port))
    except OSError:
        bound.close()
        return None
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)
    return bound
