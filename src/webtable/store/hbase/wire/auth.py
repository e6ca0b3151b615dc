"""Authentication: the seam between a connection and the ways to prove an identity.

HBase has three: SIMPLE (a name without proof), KERBEROS and DIGEST. Only SIMPLE is here; a server
that requires more refuses the connection, which raises `NotAuthenticated`. Another
way is an entry in `METHODS`: a function that returns an `Identity` with the way's byte, and a
handshake that the connection goes through before its header. `preamble` and `connection_header`
are the first bytes of a connection.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from ssl import SSLContext
from typing import NamedTuple, Protocol, TypeAlias

from webtable.errors import NotAuthenticated
from webtable.store.hbase.proto import base_pb2, rpc_pb2

__all__ = ["METHODS", "Channel", "Identity", "connection_header", "identify", "preamble"]

CODEC = "org.apache.hadoop.hbase.codec.KeyValueCodec"
SIMPLE = 0x50
"""The byte that announces SIMPLE in a connection's preamble."""


class Channel(Protocol):
    """What a handshake talks through: a connected socket, encrypted or not."""

    def send(self, data: bytes, flags: int = 0, /) -> int:
        """Sends a part of the bytes and returns how many."""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Returns what has come, b"" at the end.

        Raises:
            BlockingIOError: nothing came within a moment; check the time and read again.
        """


Handshake: TypeAlias = Callable[[Channel, float], None]
"""Proves the identity, within so many seconds. Raises `NotAuthenticated`, or an `OSError`."""


class Identity(NamedTuple):
    """A user's name, and how connections prove and protect it.

    Attributes:
        method: the preamble's byte for the way in which the name is proven.
        handshake: what happens between preamble and header; None means nothing.
        encryption: what connections are encrypted with; None means that they are not.
    """

    user: str
    method: int = SIMPLE
    handshake: Handshake | None = None
    encryption: SSLContext | None = None


def _simple() -> Identity:
    try:
        return Identity(os.environ.get("HADOOP_USER_NAME") or getpass.getuser())
    except (KeyError, OSError) as exc:  # an account without a name, as in some containers
        raise NotAuthenticated(
            "this account has no user name", hint="set HADOOP_USER_NAME"
        ) from exc


METHODS: dict[str, Callable[[], Identity]] = {"simple": _simple}
"""The authentication methods, by their names in a location's `auth` option."""


def identify(method: str = "simple") -> Identity:
    """Returns the identity under which this process calls.

    The name is `HADOOP_USER_NAME` where that is set, as for every Hadoop client, else the
    account's.

    Raises:
        NotAuthenticated: this client does not support the method.
    """
    make = METHODS.get(method.lower())
    if make is None:
        methods = ", ".join(f"'{name}'" for name in METHODS)
        raise NotAuthenticated(
            f"authentication by '{method}' is not supported", hint=f"only {methods} is"
        )
    return make()


def preamble(identity: Identity) -> bytes:
    """Returns the first bytes that a client sends."""
    return b"HBas\0" + bytes((identity.method,))


def connection_header(service: str, identity: Identity) -> bytes:
    """Returns what a client sends next: its user and the service that it needs."""
    # Without a version the server would never respond to a Get in cell blocks, and report less
    # precisely why a scanner ended.
    version = base_pb2.VersionInfo(
        version="2.6.4",
        url="",
        revision="",
        user=identity.user,
        date="",
        src_checksum="",
        version_major=2,
        version_minor=6,
    )
    header = rpc_pb2.ConnectionHeader(
        user_info=rpc_pb2.UserInformation(effective_user=identity.user),
        service_name=service,
        cell_block_codec_class=CODEC,
        version_info=version,
    ).SerializeToString()
    return len(header).to_bytes(4, "big") + header
