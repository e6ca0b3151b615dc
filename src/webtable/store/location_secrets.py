"""Secrets in a location: rejected where a store is opened, and masked wherever one is printed.

Locations have no user and no password; programs that put them there mean another database. A store
that is open therefore has a location without secrets. What prints a location before that, in an
error, masks it.
"""

from __future__ import annotations

import os
import re

from webtable.errors import InvalidRequest

__all__ = ["SHOWN_OPTIONS", "mask_secrets", "reject_secrets"]

SHOWN_OPTIONS = frozenset(
    {
        *("namespace", "timeout", "host_map", "auth", "spin"),
        *("tls", "tls_ca", "tls_cert", "tls_key", "tls_verify"),
    }
)
"""The options of a location; what others are set to may be a secret."""

_MASK = "***"
# Also misspelt, and a bare `user:password@host`, which is no usual name of a directory.
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://|hbase(?:\+\w*)?[:/][:/]*|(?=[^/@]*:[^@]*@)")
_PORT = re.compile(r"[0-9]*")
_IPV6 = re.compile(r"\[?[0-9A-Fa-f:.%]*\]?(?::[0-9]*)?")


def reject_secrets(location: str) -> None:
    """Rejects a location with a user, a password or both.

    Raises:
        InvalidRequest: it has them.
    """
    if "://" not in location and os.path.exists(location):
        return
    masked = mask_secrets(location)
    if masked != location and f"{_MASK}@" in masked:
        raise InvalidRequest(
            f"location '{masked}' has a user or a password, which no location has",
            hint="leave out the part before the @; HBase trusts the name of your account,  "
            "or HADOOP_USER_NAME",
        )


def mask_secrets(location: str) -> str:
    """Returns a location without what may be a secret, to be printed."""
    scheme = _ADDRESS.match(location)
    if location.startswith("rocks:") or not scheme:
        return location
    address, mark, query = location[scheme.end() :].partition("?")
    options = [each.partition("=") for each in query.split("&")]
    if any("@" in name + value and name not in SHOWN_OPTIONS for name, _, value in options):
        # A password with a question mark in it.
        return f"{scheme[0]}{_MASK}@{query.rpartition('@')[2]}"
    _, at, rest = address.rpartition("@")
    hosts, slash, path = rest.partition("/")
    hosts = ",".join(_without_password(host) for host in hosts.split(","))
    shown = "&".join(
        name + equals + (value if name in SHOWN_OPTIONS or not value else _MASK)
        for name, equals, value in options
    )
    return f"{scheme[0]}{_MASK if at else ''}{at}{hosts}{slash}{path}{mark}{shown}"


def _without_password(host: str) -> str:
    name, colon, port = host.partition(":")
    if not colon or _PORT.fullmatch(port) or _IPV6.fullmatch(host):
        return host
    return f"{name}:{_MASK}"
