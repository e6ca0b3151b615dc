"""A small SMTP server on 127.0.0.1 that keeps the messages it receives."""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import threading
from pathlib import Path
from typing import NamedTuple


class Received(NamedTuple):
    """One message: what the client said about it, and its text."""

    sender: str
    recipients: tuple[str, ...]
    text: str
    login: tuple[str, str] | None
    is_encrypted: bool


class SmtpServer:
    """Serves one client after the other until it is closed.

    Args:
        certificate: a file with key and certificate, for STARTTLS; without it there is no TLS.
        rejects: the recipient that it rejects.
    """

    def __init__(self, certificate: Path | None = None, rejects: str = "") -> None:
        self.messages: list[Received] = []
        self._certificate = certificate
        self._rejects = rejects
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> SmtpServer:
        return self

    def __exit__(self, *_: object) -> None:
        # Closing alone does not wake a thread that accepts.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            # A client may go away at any moment.
            with connection, contextlib.suppress(OSError, EOFError):
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        client = _Client(connection)
        client.send("220 test ESMTP")
        while (line := client.read())[:4].upper() != "QUIT":
            verb, argument = line[:4].upper(), line.partition("<")[2].partition(">")[0]
            if verb == "EHLO":
                can_encrypt = self._certificate is not None and not client.is_encrypted
                for each in ("test", "STARTTLS" if can_encrypt else "SIZE"):
                    client.send(f"250-{each}")
                client.send("250 AUTH PLAIN")
            elif verb == "STAR" and self._certificate is not None:
                client.encrypt(self._certificate)
            elif verb == "AUTH":
                client.log_in(line.split()[2])
            elif verb == "DATA":
                self.messages.append(client.receive())
            elif verb == "RCPT" and argument == self._rejects:
                client.send("550 unknown")
            else:
                if verb == "MAIL":
                    client.sender, client.recipients = argument, []
                elif verb == "RCPT":
                    client.recipients.append(argument)
                client.send("250 ok")
        client.send("221 bye")
        client.close()


class _Client:
    """One connection, and what its client has said so far."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = connection.makefile("rwb")
        self._login: tuple[str, str] | None = None
        self.is_encrypted = False
        self.sender = ""
        self.recipients: list[str] = []

    def send(self, line: str) -> None:
        self._stream.write(line.encode() + b"\r\n")
        self._stream.flush()

    def read(self) -> str:
        line = self._stream.readline()
        if not line:
            raise EOFError
        return line.decode().rstrip("\r\n")

    def encrypt(self, certificate: Path) -> None:
        self.send("220 go ahead")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._stream.close()
        self._connection = context.wrap_socket(self._connection, server_side=True)
        self._stream = self._connection.makefile("rwb")
        self.is_encrypted = True

    def log_in(self, encoded: str) -> None:
        _, user, password = base64.b64decode(encoded).decode().split("\0")
        self._login = user, password
        self.send("235 ok")

    def receive(self) -> Received:
        self.send("354 go on")
        lines = []
        while (line := self.read()) != ".":
            lines.append(line.removeprefix("."))
        self.send("250 stored")
        text = "\n".join(lines)
        return Received(self.sender, tuple(self.recipients), text, self._login, self.is_encrypted)

    def close(self) -> None:
        self._stream.close()
        self._connection.close()
