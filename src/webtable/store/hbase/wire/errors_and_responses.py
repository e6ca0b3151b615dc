"""What can go wrong with a call of HBase's RPC, and what a response is read as.

The errors here stay inside `store.hbase`: `retry` decides what follows from them and translates
what the caller gets to see.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from webtable.store.hbase.proto import base_pb2, rpc_pb2

__all__ = [
    "AsBytes",
    "CallTimedOut",
    "ConnectFailed",
    "ConnectionLost",
    "NotHBase",
    "NotTrusted",
    "RemoteError",
    "Response",
    "RpcError",
    "RpcResponse",
    "Server",
    "inner_error",
    "remote_error",
]

M = TypeVar("M", bound="Response")

MOST_ERROR_CHARACTERS = 1 << 16


class Server(NamedTuple):
    """The address under which a server is registered."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Response(Protocol):
    """What a response is read as: a message, or `AsBytes`."""

    @classmethod
    def FromString(cls, s: bytes) -> Self:  # noqa: N802  protobuf's name for it
        """Returns the response that the bytes are."""


class AsBytes(bytes):
    """A response that is left as it is."""

    @classmethod
    def FromString(cls, s: bytes) -> AsBytes:  # noqa: N802
        """Returns the same bytes: an object of this class would be a copy."""
        return s  # type: ignore[return-value]


class RpcResponse(NamedTuple, Generic[M]):
    """A response, and the bytes of its frame, in which the cell block begins at `block_at`."""

    message: M
    frame: bytes
    block_at: int


class RpcError(Exception):
    """A call did not get its response.

    `maybe_applied` is whether the server may nevertheless have done the work.
    """

    def __init__(self, message: str, server: Server | None, *, maybe_applied: bool = False) -> None:
        super().__init__(message)
        self.server = server
        self.maybe_applied = maybe_applied

    def again(self) -> RpcError:
        """Returns an equal error to raise in another thread, with a traceback of its own."""
        twin = type(self).__new__(type(self), *self.args)
        twin.__dict__.update(self.__dict__)
        return twin


class ConnectFailed(RpcError):
    """No server responds at the address; nothing was sent."""


class NotTrusted(RpcError):
    """Server and client could not agree on their identities, or on whether to encrypt."""


class NotHBase(RpcError):
    """A program responds at the address, but not in HBase's protocol."""


class ConnectionLost(RpcError):
    """The connection broke while the call was under way, or before."""


class CallTimedOut(RpcError):
    """The server did not respond in time."""


class RemoteError(RpcError):
    """The server responded with an exception.

    Attributes:
        java_class: the exception's class, without its package.
        detail: its message, without the stack trace.
        do_not_retry: whether the server reports that a retry is of no use.
        overloaded: whether the server reports that it has too much to do.
        moved_to: where the region is now, if the server reports it.
    """

    def __init__(self, java_class: str, stack_trace: str, server: Server | None) -> None:
        self.package, _, name = java_class.rpartition(".")
        self.java_class = name.rpartition("$")[2]
        text = stack_trace[:MOST_ERROR_CHARACTERS].partition("\n")[0]
        self.detail = text.removeprefix(java_class).removeprefix(":").strip()
        super().__init__(f"{self.java_class}: {self.detail}", server)
        self.do_not_retry = False
        self.overloaded = False
        self.moved_to: Server | None = None


def remote_error(exception: rpc_pb2.ExceptionResponse, server: Server) -> RemoteError:
    """Returns the error that a response header carries."""
    error = RemoteError(exception.exception_class_name, exception.stack_trace, server)
    error.do_not_retry = exception.do_not_retry
    error.overloaded = exception.server_overloaded
    if exception.hostname:
        error.moved_to = Server(exception.hostname, exception.port)
    return error


def inner_error(exception: base_pb2.NameBytesPair, server: Server) -> RemoteError:
    """Returns the error that the response to a batch has in place of a result."""
    return RemoteError(exception.name, exception.value.decode("utf-8", "replace"), server)
