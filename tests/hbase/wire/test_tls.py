"""TLS: against a cluster that speaks nothing else and wants certificates of its clients too."""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

import webtable
from tests.hbase.servers import Peer, listening
from tests.hbase.wire.certificates import Authority
from webtable import Store
from webtable.errors import InvalidRequest, NotAuthenticated, ServerUnavailable
from webtable.local.hbase import LocalHBase
from webtable.local.hbase_state import ClusterSettings
from webtable.store.hbase.wire.auth import Identity
from webtable.store.hbase.wire.errors_and_responses import ConnectFailed
from webtable.store.hbase.wire.sockets import dial
from webtable.store.hbase.wire.tls import Tls, TlsFailed, TlsSocket, make_context

LIMIT = 20.0


class Files:
    """The files of both sides, and of a stranger whom neither trusts."""

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder)
        stranger = Authority(folder, "elsewhere")
        self.ca, self.server = authority.ca, authority.issue("server")
        self.client, self.stranger = authority.issue("client"), stranger.issue("stranger")
        self.other_ca = stranger.ca


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def cluster(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHBase]:
    properties = {
        "hbase.client.netty.tls.enabled": "true",  # for what the servers say to one another
        "hbase.rpc.tls.keystore.location": str(files.server),
        "hbase.rpc.tls.keystore.type": "PEM",
        "hbase.rpc.tls.truststore.location": str(files.ca),
        "hbase.rpc.tls.truststore.type": "PEM",
        "hbase.server.netty.tls.client.auth.mode": "NEED",
        "hbase.server.netty.tls.enabled": "true",
        "hbase.server.netty.tls.supportplaintext": "false",
    }
    settings = ClusterSettings(
        profile="tests", storage="local", properties=properties, ends_with_caller=True
    )
    made = LocalHBase(tmp_path_factory.mktemp("hbase-tls"), settings)
    made.up()
    yield made
    made.down(delete=True, grace_seconds=0)


@pytest.fixture(scope="module")
def masters(cluster: LocalHBase) -> str:
    location = cluster.status().masters_location
    assert location is not None
    return location


def opened(location: str, **options: object) -> Store:
    return webtable.open(f"{location}?{urlencode(options)}")


@pytest.mark.hbase
def test_a_store_works_over_tls(cluster: LocalHBase, files: Files) -> None:
    large = os.urandom(3_000_000)
    with opened(cluster.location, tls_ca=files.ca, tls_cert=files.client) as store:
        table = store.create_table("encrypted", "f", splits=[b"3", b"6"])
        with table.batch() as batch:
            for number in range(5_000):
                batch.put(b"%04d" % number, {b"f:n": b"%d" % number, b"f:text": b"x" * 300})
        table.put(b"large", {b"f:n": large})
        assert [row.key for row in table.scan(stop=b"9999")] == [b"%04d" % n for n in range(5_000)]

        def read(number: int) -> bytes | None:
            row = table.get(b"%04d" % number)
            return row.value(b"f:n") if row else None

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(read, range(400))) == [b"%d" % number for number in range(400)]
        row = table.get(b"large")
        assert row is not None
        assert row.value(b"f:n") == large
        assert table.increment(b"count", b"f:n", 2) == 2


@pytest.mark.hbase
def test_the_masters_are_queried_over_tls_too(masters: str, files: Files) -> None:
    with opened(masters, tls_ca=files.ca, tls_cert=files.client, tls_key=files.client) as store:
        assert isinstance(store.tables(), list)


@pytest.mark.hbase
def test_a_client_without_a_certificate_is_rejected(masters: str, files: Files) -> None:
    with pytest.raises(NotAuthenticated, match=r"refuses the connection: .*certificate"):
        opened(masters, tls_ca=files.ca, timeout=LIMIT)


@pytest.mark.hbase
def test_a_client_with_a_strangers_certificate_is_rejected(masters: str, files: Files) -> None:
    with pytest.raises(NotAuthenticated, match=r"refuses the connection: .*certificate"):
        opened(masters, tls_ca=files.ca, tls_cert=files.stranger, timeout=LIMIT)


@pytest.mark.hbase
@pytest.mark.parametrize("options", [{"tls": "on"}, {"tls_ca": "other"}])
def test_a_server_that_is_not_trusted_is_rejected(
    masters: str, files: Files, options: dict[str, str]
) -> None:
    chosen = {name: files.other_ca if name == "tls_ca" else v for name, v in options.items()}
    with pytest.raises(NotAuthenticated, match="certificate is not trusted"):
        opened(masters, tls_cert=files.client, timeout=LIMIT, **chosen)


@pytest.mark.hbase
def test_a_certificate_must_name_the_server_by_default(masters: str, files: Files) -> None:
    by_name = masters.replace("127.0.0.1", "localhost")
    with pytest.raises(NotAuthenticated, match="not valid for 'localhost'"):
        opened(by_name, tls_ca=files.ca, tls_cert=files.client, timeout=LIMIT)
    with opened(by_name, tls_ca=files.ca, tls_cert=files.client, tls_verify="ca") as store:
        assert isinstance(store.tables(), list)
    with opened(masters, tls_cert=files.client, tls_verify="none") as store:
        assert isinstance(store.tables(), list)


@pytest.mark.hbase
def test_a_plain_client_of_a_tls_cluster_gets_an_error(masters: str) -> None:
    with pytest.raises(ServerUnavailable, match="tls=on"):
        opened(masters, timeout=5)


@pytest.mark.hbase
def test_a_tls_client_of_a_plain_cluster_gets_an_error(hbase_location: str, files: Files) -> None:
    with pytest.raises((NotAuthenticated, ServerUnavailable), match="TLS"):
        opened(hbase_location, tls_ca=files.ca, timeout=5)


def test_files_that_cannot_be_used_are_named(files: Files, tmp_path: Path) -> None:
    missing, empty = tmp_path / "missing.pem", tmp_path / "empty.pem"
    empty.touch()
    for tls in (
        Tls(ca=str(missing)),
        Tls(ca=str(empty)),
        Tls(certificate=str(missing)),
        Tls(certificate=str(files.ca)),
        Tls(certificate=str(files.client), key=str(files.server)),
        Tls(key=str(files.client)),
    ):
        with pytest.raises(InvalidRequest, match=r"tls_(ca|cert|key)"):
            make_context(tls)


@contextmanager
def echo(files: Files) -> Iterator[socket.socket]:
    """A server that sends back what it gets, over TLS; yields a socket that is connected to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.server)
    near, far = socket.socketpair()
    for side in (near, far):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8_000)
        side.settimeout(LIMIT)

    def serve() -> None:
        try:
            with context.wrap_socket(far, server_side=True) as encrypted:
                while data := encrypted.recv(50_000):
                    encrypted.sendall(data)
        except OSError:
            far.close()  # the client went away in the middle, as some tests want it

    server = threading.Thread(target=serve)
    server.start()
    try:
        yield near
    finally:
        near.close()
        server.join(LIMIT)
        assert not server.is_alive()


def test_sending_and_receiving_at_once(files: Files) -> None:
    data = os.urandom(4_000_000)
    with echo(files) as near:
        tls = TlsSocket(near, make_context(Tls(ca=str(files.ca))), "127.0.0.1")

        def send() -> None:
            rest = memoryview(data)
            while rest:
                try:
                    rest = rest[tls.send(rest, socket.MSG_DONTWAIT) :]
                except BlockingIOError:
                    select.select([], [tls], [], LIMIT)

        sender = threading.Thread(target=send)
        sender.start()
        received = bytearray()
        while len(received) < len(data):
            try:
                received += tls.recv(100_000)
            except BlockingIOError:
                continue
        sender.join(LIMIT)
        assert bytes(received) == data


def test_a_handshake_with_something_else_fails_at_once(files: Files) -> None:
    near, far = socket.socketpair()
    with near, far:
        far.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with pytest.raises(TlsFailed, match="does not speak TLS"):
            TlsSocket(near, make_context(Tls(ca=str(files.ca))), "127.0.0.1")


def test_a_handshake_without_a_response_ends_in_time(files: Files) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(0.2)
        with pytest.raises(TimeoutError):
            TlsSocket(near, make_context(Tls(ca=str(files.ca))), "127.0.0.1")


def test_the_end_of_an_encrypted_connection_is_seen(files: Files) -> None:
    with echo(files) as near:
        tls = TlsSocket(near, make_context(Tls(ca=str(files.ca))), "127.0.0.1")
        tls.send(b"one")
        assert read_some(tls) == b"one"
        tls.shutdown(socket.SHUT_WR)
        assert read_some(tls) == b""
        assert read_some(tls) == b""


def read_some(tls: TlsSocket) -> bytes:
    while True:
        try:
            return tls.recv(100)
        except BlockingIOError:
            continue


def test_a_handshake_that_comes_byte_by_byte_ends_in_its_time() -> None:
    """Each byte comes in time, so only a limit for all of them ends it."""
    is_over = threading.Event()

    def play(peer: Peer) -> None:
        end = time.monotonic() + 20
        peer.socket.sendall(b"\x16\x03\x03\x40\x00\x02")  # a record of 16 KB
        while time.monotonic() < end and not is_over.wait(0.02):
            peer.socket.sendall(b"\0")

    identity = Identity("me", encryption=make_context(Tls(verify="none")))
    with listening(play) as server:
        with pytest.raises(ConnectFailed, match="timed out"):
            dial(server, server, identity, 0.3)
        is_over.set()
