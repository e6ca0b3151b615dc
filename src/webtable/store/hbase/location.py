"""The parts of a cluster's location: `hbase://host:2181,host/parent?namespace=web&timeout=60`."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl

from webtable.errors import InvalidRequest
from webtable.store.hbase.wire.errors_and_responses import Server
from webtable.store.hbase.wire.tls import Tls
from webtable.store.location_secrets import SHOWN_OPTIONS, mask_secrets

__all__ = ["Location", "parse_location"]

_PORTS = {"hbase": 2181, "hbase+masters": 16000}
_FORM = "hbase://host[:2181][,host…][/parent] or hbase+masters://host[:16000][,host…]"


class Location(NamedTuple):
    """Where a cluster is and how to talk to it.

    Attributes:
        text: the location as it was given.
        by_zookeeper: whether `servers` are ZooKeeper's, else masters.
        parent: the node in ZooKeeper under which the cluster keeps its state.
        namespace: the only namespace to see; None means all, with their names in front.
        timeout_seconds: how long one operation may take, with everything that is tried again.
        host_map: registered `host` or `host:port` → the one to connect to, for clusters behind NAT.
        auth: the authentication method.
        tls: how connections to HBase are encrypted; None means that they are not.
        spins: whether a thread that waits alone may spin for a quick response before it sleeps.
    """

    text: str
    by_zookeeper: bool
    servers: tuple[Server, ...]
    parent: str = "/hbase"
    namespace: str | None = None
    timeout_seconds: float = 60.0
    host_map: tuple[tuple[str, str], ...] = ()
    auth: str = "simple"
    tls: Tls | None = None
    spins: bool = True

    def address_of(self, server: Server) -> Server:
        """Returns where to connect for a server that the cluster names."""
        for seen, used in self.host_map:
            if seen in (server.host, str(server)):
                host, colon, port = used.partition(":")
                return Server(host, int(port) if colon else server.port)
        return server


def parse_location(text: str) -> Location:
    """Parses a location.

    Options after `?`: `namespace`, `timeout` in seconds, `host_map` (`a=b,c:1=d:2`: connect to
    b where the cluster names a), `auth`, `spin=off`, and for encrypted connections `tls=on`,
    `tls_ca`, `tls_cert` and `tls_key` (PEM files; each turns TLS on), `tls_verify` (`host`, `ca`
    or `none`).

    Raises:
        InvalidRequest: it is not a location of a cluster.
    """
    scheme, _, rest = text.partition("://")
    shown = mask_secrets(text)
    if scheme not in _PORTS:
        raise InvalidRequest(f"location '{shown}' is not a cluster's", hint=f"write {_FORM}")
    address, _, query = rest.partition("?")
    hosts, _, path = address.partition("/")
    by_zookeeper = scheme == "hbase"
    path = path.strip("/")
    if path and not by_zookeeper:
        raise InvalidRequest(f"location '{shown}' has a path", hint="only ZooKeeper has paths")
    if path and not all(_is_node(name) for name in path.split("/")):
        raise InvalidRequest(
            f"{'/' + path!r} in location {shown!r} is not a path in ZooKeeper",
            hint=f"write {_FORM}",
        )
    location = Location(
        text=text,
        by_zookeeper=by_zookeeper,
        servers=tuple(_server(shown, host, _PORTS[scheme]) for host in hosts.split(",")),
        parent="/" + path if path else "/hbase",
    )
    for name, value in parse_qsl(query, keep_blank_values=True):
        location = _with_option(location, name, value)
    return location


def _server(shown: str, host: str, default_port: int) -> Server:
    name, colon, port = host.rpartition(":")
    if not colon or name.endswith(":") or host.endswith("]"):  # no port; or a bare IPv6 address
        name, port = host, str(default_port)
    if not name or not _is_port(port):
        own = mask_secrets(f"hbase://{host}").removeprefix("hbase://")
        raise InvalidRequest(
            f"'{own}' in location '{shown}' is not a server", hint=f"write {_FORM}"
        )
    return Server(name.removeprefix("[").removesuffix("]"), int(port))


def _with_option(location: Location, name: str, value: str) -> Location:
    # HBase takes letters of any script in a namespace.
    if name == "namespace" and value and all(c.isalnum() or c == "_" for c in value):
        return location._replace(namespace=value)
    if name == "timeout":
        try:
            seconds = float(value)
        except ValueError:
            seconds = 0.0
        if 0 < seconds < 1e6:
            return location._replace(timeout_seconds=seconds)
    if name == "host_map":
        pairs = [pair.partition("=") for pair in value.split(",")]
        if all(seen and _is_host(used) for seen, _, used in pairs):
            return location._replace(host_map=tuple((seen, used) for seen, _, used in pairs))
    if name == "auth" and value:
        return location._replace(auth=value)
    if name == "spin" and value in ("on", "off"):
        return location._replace(spins=value == "on")
    if name == "tls" or name.startswith("tls_"):
        tls = _with_tls(location.tls, name, value)
        if tls is not None or (name, value) == ("tls", "off"):
            return location._replace(tls=tls)
    what = "has a wrong value" if name in SHOWN_OPTIONS else "is unknown"
    raise InvalidRequest(
        f"option '{name}' in location '{mask_secrets(location.text)}' {what}",
        hint="namespace=NAME, timeout=SECONDS, host_map=HOST=HOST,…, auth=simple, "
        "spin=on|off, tls=on, tls_ca=FILE, tls_cert=FILE, tls_key=FILE, tls_verify=host|ca|none",
    )


def _with_tls(tls: Tls | None, name: str, value: str) -> Tls | None:
    tls = tls or Tls()
    match name, value:
        case "tls", "on":
            return tls
        case "tls_verify", "host" | "ca" | "none":
            return tls._replace(verify=value)
        case "tls_ca", path if path:
            return tls._replace(ca=path)
        case "tls_cert", path if path:
            return tls._replace(certificate=path)
        case "tls_key", path if path:
            return tls._replace(key=path)
        case _:
            return None


def _is_host(text: str) -> bool:
    host, colon, port = text.partition(":")
    return bool(host) and (not colon or _is_port(port))


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536


def _is_node(name: str) -> bool:
    return name.isprintable() and name not in ("", ".", "..")
