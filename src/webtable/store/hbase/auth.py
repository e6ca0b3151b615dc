"""Who calls: the seam between a connection and the ways to prove an identity.

HBase knows three: SIMPLE (a name, believed), KERBEROS and DIGEST. Only SIMPLE is here; a server
that wants more refuses the connection, and the refusal comes out as `NotAuthenticated`.
"""

from __future__ import annotations

import getpass
import os
from typing import NamedTuple

from webtable.errors import NotAuthenticated

__all__ = ["Identity", "identify"]

SIMPLE = 0x50
"""The byte that announces SIMPLE in a connection's preamble."""


class Identity(NamedTuple):
    """A user's name, and the preamble's byte for the way in which it is proven."""

    user: str
    method: int = SIMPLE


def identify(method: str = "simple") -> Identity:
    """Returns the identity under which this process calls.

    The name is `HADOOP_USER_NAME` where that is set, as for every Hadoop client, else the
    account's.

    Raises:
        NotAuthenticated: the method is not one that this client can do.
    """
    if method.lower() != "simple":
        raise NotAuthenticated(
            f"authentication by '{method}' is not supported", hint="only 'simple' is"
        )
    try:
        return Identity(os.environ.get("HADOOP_USER_NAME") or getpass.getuser())
    except (KeyError, OSError) as exc:  # an account without a name, as in some containers
        raise NotAuthenticated(
            "this account has no user name", hint="set HADOOP_USER_NAME"
        ) from exc
