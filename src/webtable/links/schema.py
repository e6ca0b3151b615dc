"""The tables of the link index, and their row keys.

A URI is the key form of a canonical URL, unsalted: `com.example.docs/guide?page=2`; a domain is a
registered domain with its parts reversed: `com.example`. Table `webindex`:

    p:<uri>                       page:cur, page:at, page:changed, page:journal, page:incount …
    p:<uri> 00 <shard>            inlinks:<source uri>, page:count, page:shardrev
    d:<domain> 00 <shard>         members:<uri>, domain:pagecount, domain:shardrev
    d:<domain>:<rank>:<uri>       rank:        the pages of a domain, most linked to first
    t:<rank>:<uri>                rank:        all pages, most linked to first

A shard is one hex digit, from a hash of the source or URI counted there; an embedded store has only
`0`. A rank is eight hex digits that fall as the number of links rises. Table `webindex_change_idx`,
the feed of the links, has one entry for each page whose links are stored:

    <revision>_p:<uri>            ref:rowkey   = p:<uri>; the revision has 16 digits
    <bucket>:<revision>_p:<uri>                the same on a cluster; a bucket is one hex digit,
                                               from a hash of the URI

Table `webindex_work`, the work in progress:

    i:<2 hex digits>:<uri>        w:<token>    an intent: a worker is about to write the page's row
    m:<token>                     w:targets    a mark: pages whose links have changed

On-disk: changing this needs a new format version. Frozen by tests/links/test_cell_encoding.py.
"""

from __future__ import annotations

import hashlib
import zlib
from functools import lru_cache
from typing import Final, TypedDict

from webtable.index.index_and_change import PURGE_MS, PURGE_SETTING, state_setting
from webtable.pages.keys import from_key_form, key_form, reversed_host
from webtable.pages.public_suffixes import Suffixes
from webtable.pages.storing.content_revision import DIGITS
from webtable.store.schema import Compression, Family, TableSchema

__all__ = [
    "AT",
    "CHANGED",
    "CHANGES",
    "CHANGE_BUCKETS",
    "CHANGE_BUCKET_BYTES",
    "CHANGE_SPLITS",
    "COUNT",
    "CUR",
    "DOMAIN_RANKS",
    "INCOUNT",
    "INDEX_TABLE",
    "JOURNAL",
    "PAGE_COUNT",
    "REMOVED_AT",
    "TOP_RANKS",
    "WORK_TABLE",
    "Domains",
    "change_row",
    "count_of_rank",
    "domain_rank_row",
    "index_schema",
    "intent_row",
    "page_row",
    "rank_of_count",
    "shard_of",
    "shard_row",
    "top_rank_row",
    "uri_of",
    "url_of",
    "work_schema",
]


class ShardNames(TypedDict):
    """The common parts of the row keys of shards; see `webtable.store.mutation.Spread`."""

    before: bytes
    after: bytes


INDEX_TABLE: Final = "webindex"
WORK_TABLE: Final = "webindex_work"
TOP_RANKS: Final = "webindex_top"
"""The index of all pages by the number of links to them."""
DOMAIN_RANKS: Final = "webindex_domain"
"""The same, domain by domain."""

CHANGES: Final = "webindex_change_idx"
"""The index of pages by the revision of their links, and its table."""
CHANGE_BUCKETS: Final = tuple(b"%x:" % digit for digit in range(16))
"""What its entries begin with on a cluster."""
CHANGE_SPLITS: Final = tuple(b"%x" % digit for digit in range(1, 16))
CHANGE_BUCKET_BYTES: Final = 2

PAGE, INLINKS, DOMAIN, MEMBERS, RANK = "page", "inlinks", "domain", "members", "rank"
CUR, AT, JOURNAL, INCOUNT = b"page:cur", b"page:at", b"page:journal", b"page:incount"
REMOVED_AT = b"page:removed"
CHANGED = b"page:changed"
COUNT, SHARD_REVISION = b"page:count", b"page:shardrev"
PAGE_COUNT, DOMAIN_REVISION = b"domain:pagecount", b"domain:shardrev"
INLINK, MEMBER = b"inlinks:", b"members:"
WORK = b"w:"
TARGETS = b"w:targets"

CLUSTER_SHARDS: Final = 16
SHARD: Final[ShardNames] = {"before": b"p:", "after": b"\x000"}
"""The bytes before and after the URI in the key of its only shard, in an embedded store."""
_HIGHEST = 0xFFFF_FFFF
_CACHED_ORIGINS = 65_536


def index_schema(*, is_embedded: bool) -> TableSchema:
    """Returns the schema of the index table; its ranks are marked as ready."""
    packed: Compression = "ZSTD" if is_embedded else "GZ"
    families = tuple(
        Family(name=name, compression=packed, data_block_encoding="FAST_DIFF")
        for name in (PAGE, INLINKS, DOMAIN, MEMBERS, RANK)
    )
    attributes = {PURGE_SETTING: str(PURGE_MS)}
    attributes |= {state_setting(name): "ready" for name in (TOP_RANKS, DOMAIN_RANKS)}
    return TableSchema(name=INDEX_TABLE, families=families, attributes=attributes)


def work_schema() -> TableSchema:
    """Returns the schema of the table of the work in progress."""
    return TableSchema(
        name=WORK_TABLE, families=(Family(name="w"),), attributes={PURGE_SETTING: str(PURGE_MS)}
    )


def uri_of(url: str) -> bytes:
    """Returns the URI of a canonical URL.

    >>> uri_of("https://docs.example.com/guide?page=2")
    b'com.example.docs/guide?page=2'
    """
    slash = url.index("/", 8)
    return (origin_name(url[:slash]) + url[slash:]).encode()


@lru_cache(_CACHED_ORIGINS)
def origin_name(origin: str) -> str:
    """Returns the prefix of all URIs of an origin: host, scheme and port."""
    return key_form(origin + "/")[:-1]


def url_of(uri: bytes) -> str:
    """Returns the canonical URL of a URI.

    >>> url_of(b"com.example:http/a")
    'http://example.com/a'
    """
    return from_key_form(uri.decode())


class Domains:
    """Finds the registered domain of a URI, using the suffix list the store was created with."""

    def __init__(self, suffixes: Suffixes) -> None:
        self._suffixes = suffixes
        self._of_origin = lru_cache(_CACHED_ORIGINS)(self._find)

    def of(self, uri: bytes) -> bytes:
        """Returns the registered domain of a URI, its last label first."""
        return self._of_origin(uri[: uri.index(b"/")])

    def _find(self, origin: bytes) -> bytes:
        host = url_of(origin + b"/").split("://")[1][:-1]
        if host.rfind(":") > host.rfind("]"):
            host = host[: host.rfind(":")]
        return reversed_host(self._suffixes.registered_domain(host)).encode()

    def share_domain(self, one: bytes, other: bytes) -> bool:
        """Whether two URIs belong to the same domain: a link between them is internal."""
        return self.of(one) == self.of(other)


# Row keys


def page_row(uri: bytes) -> bytes:
    """Returns the row of a page."""
    return b"p:" + uri


def shard_of(what: bytes, shards: int) -> int:
    """Returns the shard in which a source or URI is counted."""
    return zlib.crc32(what) % shards if shards > 1 else 0


def shard_row(kind: bytes, name: bytes, shard: int) -> bytes:
    r"""Returns the row of a shard, of a page (`p:`) or a domain (`d:`).

    >>> shard_row(b"p:", b"com.example/", 10)
    b'p:com.example/\x00a'
    """
    return b"%b%b\0%x" % (kind, name, shard)


def rank_of_count(count: int) -> bytes:
    """Encodes a number of links so that the largest sorts first.

    >>> rank_of_count(0), rank_of_count(17)
    (b'ffffffff', b'ffffffee')
    """
    return b"%08x" % (_HIGHEST - count)


def count_of_rank(rank: bytes) -> int:
    """Decodes the number of links from a rank."""
    return _HIGHEST - int(rank, 16)


def top_rank_row(count: int, uri: bytes) -> bytes:
    """Returns the row of a page in the ranks of all pages."""
    return b"t:%08x:%b" % (_HIGHEST - count, uri)


def domain_rank_row(domain: bytes, count: int, uri: bytes) -> bytes:
    """Returns the row of a page in the ranks of its domain."""
    return b"d:%b:%08x:%b" % (domain, _HIGHEST - count, uri)


def change_row(row: bytes, changed: bytes, *, has_buckets: bool) -> bytes:
    r"""Returns the row of a page in the feed of the links.

    >>> change_row(b"p:com.example/", b"0001788264000000\tnew", has_buckets=True)
    b'b:0001788264000000_p:com.example/'

    Args:
        row: the row of the page in the index, and `changed` its `page:changed`.
    """
    key = b"%b_%b" % (changed[:DIGITS], row)
    return b"%x:%b" % (shard_of(row[2:], CLUSTER_SHARDS), key) if has_buckets else key


def intent_row(uri: bytes) -> bytes:
    """Returns the row of a page's intents; a hash prefix spreads the rows over a cluster."""
    return b"i:%b:%b" % (hashlib.md5(uri, usedforsecurity=False).hexdigest()[:2].encode(), uri)
