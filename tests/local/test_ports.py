"""Ports are free, held, and kept over a restart."""

from __future__ import annotations

import socket

from webtable.local.ports import HOST, reserved_ports


def _listen(port: int, *, reuse: bool) -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
    server.bind((HOST, port))
    server.listen()
    return server


def test_a_server_that_allows_reuse_can_use_a_reserved_port() -> None:
    with (
        reserved_ports({"a": None}) as ports,
        _listen(ports["a"], reuse=True) as server,
        socket.create_connection((HOST, ports["a"]), timeout=10),
    ):
        server.accept()[0].close()


def test_a_reserved_port_is_given_to_no_other_process() -> None:
    names = [str(number) for number in range(20)]
    with reserved_ports(dict.fromkeys(names)) as ports:
        assert len(set(ports.values())) == len(names)
        for port in ports.values():
            with socket.socket() as other:
                assert other.connect_ex((HOST, port)) != 0, "somebody listens there"
            with socket.socket() as other:
                try:
                    other.bind((HOST, port))
                except OSError:
                    continue
                raise AssertionError(f"{port} is not held")


def test_ports_are_free_again_after_the_block() -> None:
    with reserved_ports({"a": None}) as ports:
        pass
    _listen(ports["a"], reuse=False).close()


def test_a_wanted_port_is_used_when_no_process_listens_on_it() -> None:
    with reserved_ports({"a": None}) as ports:
        wanted = ports["a"]
    with reserved_ports({"a": wanted}) as ports:
        assert ports["a"] == wanted


def test_a_wanted_port_is_kept_though_connections_linger_on_it() -> None:
    with (
        reserved_ports({"a": None}) as ports,
        _listen(ports["a"], reuse=True) as server,
        socket.create_connection((HOST, ports["a"]), timeout=10) as client,
    ):
        server.accept()[0].close()  # the side that closes first is the one that lingers
        assert client.recv(1) == b""
    with reserved_ports({"a": ports["a"]}) as again:
        assert again == ports


def test_a_wanted_port_on_which_a_process_listens_is_given_up() -> None:
    with reserved_ports({"a": None}) as ports:
        pass
    with _listen(ports["a"], reuse=True), reserved_ports(ports) as others:
        assert others["a"] != ports["a"]
