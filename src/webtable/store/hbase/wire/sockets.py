"""Makes the sockets of connections, encrypted where the location requires it."""

from __future__ import annotations

import socket
import struct

from webtable.store.hbase.wire.auth import Identity
from webtable.store.hbase.wire.errors_and_responses import ConnectFailed, NotTrusted, Server
from webtable.store.hbase.wire.tls import TlsFailed, TlsSocket

__all__ = ["dial"]

READ_SLICE_SECONDS = 0.2


def dial(
    server: Server, address: Server, identity: Identity, timeout: float
) -> socket.socket | TlsSocket:
    """Returns a connected socket, whose reads come back after a moment with nothing.

    Args:
        address: where to connect, which differs from `server` where a host map has it.

    Raises:
        ConnectFailed: no server responds there.
        NotTrusted: the TLS handshake failed.
    """
    try:
        connected: socket.socket | TlsSocket
        connected = plain = socket.create_connection(address, timeout=max(timeout, 0.05))
        if identity.encryption is not None:
            try:
                connected = TlsSocket(plain, identity.encryption, server.host)
            except BaseException:
                plain.close()
                raise
        connected.settimeout(None)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # A read comes back now and then, so that its thread can check the time; cheaper
        # than a call of the system before each read.
        piece = struct.pack("ll", 0, int(READ_SLICE_SECONDS * 1_000_000))
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, piece)
    except TlsFailed as exc:
        raise NotTrusted(f"{server}: {exc}", server) from exc
    except OSError as exc:
        where = str(server) if server == address else f"{server} (at {address})"
        raise ConnectFailed(f"cannot connect to {where}: {exc}", server) from exc
    return connected
