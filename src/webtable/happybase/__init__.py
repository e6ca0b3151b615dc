"""A drop-in for `import happybase`: the same classes over a store, without a Thrift gateway.

    import webtable.happybase as happybase

The signatures and the behaviour are happybase 1.3's, on a cluster (`hbase://…`) and on the embedded
engine (a directory). `docs/howto/move-from-happybase.md` has what differs.
"""

from webtable.happybase import errors
from webtable.happybase.batch import Batch
from webtable.happybase.connection import DEFAULT_HOST, DEFAULT_PORT, Connection
from webtable.happybase.pool import ConnectionPool, NoConnectionsAvailable
from webtable.happybase.table import Table

AlreadyExists = errors.AlreadyExists
IOError = errors.IOError
IllegalArgument = errors.IllegalArgument
TException = errors.TException
TTransportException = errors.TTransportException

__version__ = "1.3.0"
"""The version of happybase that this package behaves like."""

# The exceptions are left out: a star import must not replace Python's own IOError.
__all__ = [
    "DEFAULT_HOST",
    "DEFAULT_PORT",
    "Batch",
    "Connection",
    "ConnectionPool",
    "NoConnectionsAvailable",
    "Table",
]

errors.register()
