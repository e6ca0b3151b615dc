"""Encrypted connections: HBase 2.6's own TLS, which begins with the first byte of a connection.

A connection of ours is read by one thread while another sends, and Python's TLS sockets do not
stand that. So the encryption works in memory, under a lock, and the socket below is read and
written as ever.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from ssl import SSLContext, SSLObject
from time import monotonic
from typing import Literal, NamedTuple, TypeAlias

from webtable.errors import InvalidRequest

__all__ = ["Tls", "TlsFailed", "TlsSocket", "Verify", "make_context"]

Verify: TypeAlias = Literal["host", "ca", "none"]
_RECORD_BYTES = 1 << 14
_SENT_AT_ONCE = 1 << 18


class TlsFailed(OSError):
    """The peer could not prove its identity, requires a proof from us, or does not use TLS.

    Trying again is of no use.
    """


class Tls(NamedTuple):
    """How to encrypt.

    Attributes:
        ca: a file with the certificates to trust; None means those that the system trusts.
        certificate: a file with our own certificate, for servers that require one.
        key: a file with its key; None means that it is in the same file.
        verify: `host`: the server's certificate is trusted and names the server; `ca`: it is
            trusted; `none`: any will do, which keeps out listeners but not impostors.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: Verify = "host"


def make_context(tls: Tls) -> SSLContext:
    """Returns what connections are made with.

    Raises:
        InvalidRequest: a file cannot be used.
    """
    context = SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = tls.verify == "host"
    context.verify_mode = ssl.CERT_NONE if tls.verify == "none" else ssl.CERT_REQUIRED
    if tls.ca is None:
        context.load_default_certs()
    else:
        with _naming("tls_ca", tls.ca, "certificates to trust"):
            context.load_verify_locations(cafile=tls.ca)
    if tls.key is not None and tls.certificate is None:
        raise InvalidRequest("tls_key without tls_cert", hint="name the certificate too")
    if tls.certificate is not None:
        with _naming("tls_cert", tls.certificate, "a certificate and its key"):
            # Without a password OpenSSL would prompt for one on the terminal.
            context.load_cert_chain(tls.certificate, tls.key, password="")
    return context


@contextlib.contextmanager
def _naming(option: str, path: str, wanted: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:  # SSLError is a subclass
        raise InvalidRequest(
            f"file '{path}' of option {option} cannot be used: {exc.strerror or exc}",
            hint=f"name a PEM file with {wanted}; a key must not have a password",
        ) from exc


class TlsSocket:
    """A socket that encrypts, with the few methods that a connection needs.

    As with a plain one, a thread may send while another receives; not two of a kind at a time.
    """

    def __init__(self, plain: socket.socket, context: SSLContext, host: str) -> None:
        """Encrypts a connected socket; its time-out holds for the handshake.

        Raises:
            TlsFailed: the handshake failed for good.
            OSError: the connection broke.
        """
        self._plain = plain
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls: SSLObject = context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=host
        )
        self._working = threading.Lock()
        self._sealed = b""  # encrypted, and not sent yet
        self._sealed_from = 0  # of how many bytes
        self._is_over = False
        self._shake_hands()

    def _shake_hands(self) -> None:
        seconds = self._plain.gettimeout()
        end = None if seconds is None else monotonic() + seconds
        while True:
            if end is not None:  # for all of it: a server may send a byte now and then
                self._plain.settimeout(max(end - monotonic(), 0.001))
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._plain.sendall(self._outgoing.read())
                self._take_in(self._plain.recv(_RECORD_BYTES))
            except ssl.SSLError as exc:
                with contextlib.suppress(OSError):
                    self._plain.sendall(self._outgoing.read())  # sends the reason to the peer
                raise _failure(exc) from exc
            else:
                self._plain.sendall(self._outgoing.read())
                return

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Returns some bytes, b"" at the end; with flags only looks whether anything has come.

        Raises:
            BlockingIOError: nothing came within the socket's time-out.
        """
        if flags:
            return self._plain.recv(size, flags)
        data = self._read(size)
        if not data and not self._is_over:
            received = self._plain.recv(max(size, _RECORD_BYTES))
            if not received:
                return b""
            with self._working:
                self._take_in(received)
            data = self._read(size)
        if not data and not self._is_over:
            raise BlockingIOError  # a part of a record, or something of TLS's own
        return data

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        with self._working:
            try:
                while size > 0 and (part := self._tls.read(size)):
                    parts.append(part)
                    size -= len(part)
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLZeroReturnError:
                self._is_over = True
            except ssl.SSLError as exc:
                raise _failure(exc) from exc
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _take_in(self, received: bytes) -> None:
        if not received:
            raise ConnectionResetError("closed during the TLS handshake; is TLS on there?")
        self._incoming.write(received)

    def send(self, data: bytes | memoryview, flags: int = 0) -> int:
        """Sends a part of the bytes and returns how many; they are out when it returns.

        Raises:
            BlockingIOError: the socket takes no more; what is to be sent must be the same again.
        """
        if not self._sealed:
            with self._working:
                self._sealed_from = self._tls.write(data[:_SENT_AT_ONCE])
                self._sealed = self._outgoing.read()
        while self._sealed:
            self._sealed = self._sealed[self._plain.send(self._sealed, flags) :]
        return self._sealed_from

    def fileno(self) -> int:
        """Returns the number of the socket, to wait for it."""
        return self._plain.fileno()

    def shutdown(self, how: int) -> None:
        """Announces that no more will be sent."""
        if how == socket.SHUT_WR and not self._sealed:
            with self._working, contextlib.suppress(ssl.SSLError):
                self._tls.unwrap()
            with contextlib.suppress(OSError):
                self._plain.send(self._outgoing.read(), socket.MSG_DONTWAIT)
        self._plain.shutdown(how)

    def close(self) -> None:
        """Closes the socket."""
        self._plain.close()

    def settimeout(self, seconds: float | None) -> None:
        """Sets how long the socket below may take."""
        self._plain.settimeout(seconds)

    def setsockopt(self, level: int, option: int, value: int | bytes) -> None:
        """Sets an option of the socket below."""
        self._plain.setsockopt(level, option, value)


def _failure(exc: ssl.SSLError) -> OSError:
    if isinstance(exc, ssl.SSLCertVerificationError):
        return TlsFailed(f"its certificate is not trusted: {exc.verify_message}")
    if exc.reason in ("WRONG_VERSION_NUMBER", "UNSUPPORTED_PROTOCOL", "RECORD_LAYER_FAILURE"):
        return TlsFailed("it does not speak TLS")
    reason = (exc.reason or str(exc)).replace("_", " ").lower()
    _, alert, what = reason.rpartition("alert ")  # "sslv3 alert bad certificate"
    if alert or "certificate" in reason:
        return TlsFailed(f"it refuses the connection: {what}")
    return ConnectionResetError(f"TLS broke: {reason}")
