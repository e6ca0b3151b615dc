"""The columns of the main table, each defined once.

`webtable.pages.schema` has the families; docs/explain/pages.md describes the cells.
On-disk: changing a name needs a new format version. Frozen by tests/pages/test_columns.py.
"""

from __future__ import annotations

__all__ = [
    "BODY",
    "BODY_OF",
    "CANONICAL",
    "CAPTURE",
    "CAPTURES_FAMILY",
    "CHANGED",
    "CHARSET",
    "DIGEST",
    "FACTS",
    "FACTS_FAMILY",
    "FETCHED",
    "HEAD",
    "HTTP_FAMILY",
    "INLINKS",
    "INLINKS_AT",
    "INLINK_COUNT",
    "LAST_MODIFIED",
    "LINKS",
    "LINKS_OF",
    "LINK_COUNT",
    "METADATA",
    "METADATA_COLUMNS",
    "METADATA_FAMILY",
    "NEWEST",
    "OUTLINKS",
    "PENDING",
    "REDIRECT",
    "REMOVED",
    "REVISION",
    "ROBOTS",
    "SIZE",
    "STATUS",
    "TITLE",
    "TYPE",
    "URL",
    "WAITS",
]

METADATA_FAMILY, CAPTURES_FAMILY = b"metadata", b"captures"
HTTP_FAMILY, FACTS_FAMILY = b"http", b"facts"

METADATA = b"metadata:"
URL = b"metadata:url"
TITLE = b"metadata:title"
STATUS = b"metadata:status_code"
LAST_MODIFIED = b"metadata:last_modified"
FETCHED = b"metadata:fetched"
SIZE = b"metadata:size"
TYPE = b"metadata:type"
DIGEST = b"metadata:digest"
CHARSET = b"metadata:charset"
CANONICAL = b"metadata:canonical"
REDIRECT = b"metadata:redirect"
ROBOTS = b"metadata:robots"
OUTLINKS = b"metadata:outlinks"
"""How many pages the newest capture links to."""
METADATA_COLUMNS = (
    URL,
    TITLE,
    STATUS,
    LAST_MODIFIED,
    FETCHED,
    SIZE,
    TYPE,
    DIGEST,
    CHARSET,
    CANONICAL,
    REDIRECT,
    ROBOTS,
    OUTLINKS,
)
"""The columns that the newest capture of a page writes, always all; empty: no such value."""

NEWEST = b"metadata:held"
"""The newest capture in short; see `webtable.pages.storing.repeated_captures`."""
CHANGED = b"metadata:changed"
"""The revision of the last change; see `webtable.pages.storing.content_revision`."""
REMOVED = b"metadata:removed"
"""In the tombstone of a removed page: the SHA-256 of its row key, 64 hex digits."""
WAITS = b"metadata:waits"
"""The digests of bodies that revisits of the page repeat and that are not stored yet; see
`webtable.pages.storing.waiting_revisits`."""
REVISION, PENDING = b"metadata:rev", b"metadata:pending"
"""The cells of the index machinery; see `webtable.index.cell_encoding`."""

INLINKS, INLINKS_AT = b"metadata:inlinks", b"metadata:inlinks_at"
"""How many pages link here, and the revision of the link index of this count."""
INLINK_COUNT = b"inlinks:count"
"""The same count with its history."""

BODY, BODY_OF = b"content:html", b"content:digest"
"""The body, and the digest of the captures that have it."""
LINKS, LINK_COUNT, LINKS_OF = b"outlinks:urls", b"outlinks:count", b"outlinks:digest"
"""The links of a body, one line each; the number of their targets; the digest of the body."""

CAPTURE = b"captures:"
"""The first bytes of the column of each capture; see `webtable.pages.storing.capture_cells`."""

HEAD = b"http:"
"""The first bytes of the column of each head: the qualifier is that of its capture. The value has
the status line and the headers of the response as received, without the empty line."""
FACTS = b"facts:"
"""The first bytes of the column of the facts of a body, which is followed by its digest; see
`webtable.pages.body_facts`."""
