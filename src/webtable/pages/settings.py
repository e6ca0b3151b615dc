"""The settings of a store of pages: its format, the upgrade steps that it has, keys and profile.

They are cells of the row `pages` in the table `webtable_settings`:

    a:format     the number of the format, 4; written last, when the creation is complete
    a:steps      the upgrade steps that the store has, with blanks between them; a new store has all
    a:needs      the earliest version of webtable-db that can open the store
    a:keys       the scheme of the row keys: readable or salted
    a:profile    how long versions are stored: archive or live
    a:suffixes   the public suffix list at its creation, compressed with zlib
    a:incarnation  random; a store that is restored or copied gets another one

The row `revision` has numbers about revisions:

    a:highest, a:highest_links   in an embedded store: the highest revision of a page, and that of
                                 the links of a page
    a:purged, a:purged_links     tombstones up to this revision have been deleted: a reader of the
                                 feed of the pages, or the links, has missed removals if it was
                                 before it and began earlier; absent: none was deleted

On a cluster, the row `clocks` has a cell of every writer, for ten minutes: its timestamp is the
time of the region server, see `webtable.index.clock_check`.

Formats 1 to 3 have neither `a:steps` nor `a:needs`. There `a:groups` says that the digest index
marks pages with the same body, and `a:times` names the indexes by time that contain the second.
On-disk: changing this needs a new format version. Frozen by tests/pages/test_settings.py.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Mapping
from typing import NamedTuple

from webtable.errors import FormatVersionError, NotFound, SchemaMismatch
from webtable.pages.keys import KeyScheme, key_scheme
from webtable.pages.public_suffixes import Suffixes, suffixes_of
from webtable.pages.schema import SETTINGS_TABLE, Profile
from webtable.store.store import Store

__all__ = [
    "CLOCKS",
    "FORMAT",
    "HIGHEST_LINK_REVISION",
    "HIGHEST_REVISION",
    "INCARNATION",
    "NEEDS",
    "PURGED",
    "PURGED_LINKS",
    "SETTINGS_ROW",
    "STEPS",
    "PageSettings",
    "check_complete",
    "check_current",
    "decode_settings",
    "encode_settings",
    "is_current",
    "new_incarnation",
    "read_settings",
    "stored_steps",
]

FORMAT = "4"
STEPS = ("http", "buckets", "feed", "facts", "link-feed")
"""The upgrade steps that a store of this format has, in the order in which they run."""
NEEDS = "0.1.0"
"""The first version of webtable-db that can open a store with all of these steps."""
SETTINGS_ROW, INCARNATION = b"pages", b"a:incarnation"
HIGHEST_REVISION = (SETTINGS_TABLE, b"revision", b"a:highest")
"""The table, row and column of the highest revision of a page in an embedded store."""
HIGHEST_LINK_REVISION = (SETTINGS_TABLE, b"revision", b"a:highest_links")
"""The same of the rows of the link index with the links of a page."""
CLOCKS = (SETTINGS_TABLE, b"clocks")
"""The table and row in which writers on a cluster compare their clocks."""
PURGED = (SETTINGS_TABLE, b"revision", b"a:purged")
"""Where the mark of purged tombstones is; it is written before they are deleted, and only grows."""
PURGED_LINKS = (SETTINGS_TABLE, b"revision", b"a:purged_links")
"""The same of the links of removed pages, where their rows of the link index are deleted."""
_FORMAT, _STEPS, _NEEDS = b"a:format", b"a:steps", b"a:needs"
_KEYS, _PROFILE, _SUFFIXES = b"a:keys", b"a:profile", b"a:suffixes"
_EARLIER = ("1", "2", "3")


class PageSettings(NamedTuple):
    """The settings of a store of pages, chosen when it was created."""

    keys: KeyScheme
    profile: Profile
    suffixes: Suffixes
    incarnation: str = ""
    """Identifies the store; a restored or copied store has another one."""


def read_settings(store: Store) -> Mapping[bytes, bytes]:
    """Returns the settings of a store of pages; empty: its creation was never begun."""
    if SETTINGS_TABLE not in store.tables():
        return {}
    if [each.name for each in store.describe_table(SETTINGS_TABLE).families] != ["a"]:
        return {}  # a table of another application
    found = store.table(SETTINGS_TABLE).get(SETTINGS_ROW)
    return {} if found is None else found.values()


def encode_settings(settings: PageSettings) -> dict[bytes, bytes]:
    """Returns the cells of a new store, which has all upgrade steps."""
    return {
        _FORMAT: FORMAT.encode(),
        _STEPS: " ".join(STEPS).encode(),
        _NEEDS: NEEDS.encode(),
        _KEYS: settings.keys.name.encode(),
        _PROFILE: settings.profile.encode(),
        _SUFFIXES: zlib.compress(settings.suffixes.text.encode()),
        INCARNATION: new_incarnation(),
    }


def new_incarnation() -> bytes:
    """Returns the random value of `a:incarnation`."""
    return secrets.token_hex(8).encode()


def decode_settings(values: Mapping[bytes, bytes]) -> PageSettings:
    """Returns the settings that a store of any format was created with."""
    suffixes = suffixes_of(zlib.decompress(values[_SUFFIXES]).decode())
    profile: Profile = "archive" if values[_PROFILE] == b"archive" else "live"
    keys = key_scheme(values[_KEYS].decode(), suffixes)
    return PageSettings(keys, profile, suffixes, values.get(INCARNATION, b"").decode())


def stored_steps(values: Mapping[bytes, bytes]) -> list[str]:
    """Returns the upgrade steps that a store has."""
    return values.get(_STEPS, b"").decode().split()


def is_current(values: Mapping[bytes, bytes]) -> bool:
    """Whether a store has this format and all upgrade steps."""
    return values.get(_FORMAT) == FORMAT.encode() and set(STEPS) <= set(stored_steps(values))


def check_complete(store: Store, values: Mapping[bytes, bytes]) -> None:
    """Checks that a store has pages, of this format or of an earlier one.

    Raises:
        NotFound: the store has no pages.
        SchemaMismatch: its creation was interrupted.
        FormatVersionError: the pages have a newer format.
    """
    if not values:
        raise NotFound(
            "store of pages", store.location, hint="create it with `webtable init`, then load"
        )
    written = values.get(_FORMAT, b"").decode()
    if not written:
        raise SchemaMismatch(
            f"the store of pages '{store.location}' is not complete: `webtable init` was"
            " interrupted",
            hint="run `webtable init` again; it creates the missing tables",
        )
    unknown = set(stored_steps(values)) - set(STEPS)
    if written not in (*_EARLIER, FORMAT) or unknown:
        needs = values.get(_NEEDS, b"").decode()
        raise FormatVersionError(
            f"the pages of store '{store.location}' have format {written!r:.20}"
            f"{''.join(f', {name!r:.20}' for name in sorted(unknown))};"
            f" this version of webtable reads format {FORMAT}",
            hint=f"install webtable-db {needs:.20} or newer" if needs else "use a newer webtable",
        )


def check_current(store: Store, values: Mapping[bytes, bytes]) -> None:
    """Checks that a store has pages of this format with all upgrade steps.

    Raises:
        NotFound, SchemaMismatch: see `check_complete`.
        FormatVersionError: the pages have a newer format, or must be upgraded first.
    """
    check_complete(store, values)
    if is_current(values):
        return
    written = values[_FORMAT].decode()
    problem = f"have format {written}, this version of webtable reads format {FORMAT}"
    if written == FORMAT:
        missing = [name for name in STEPS if name not in stored_steps(values)]
        problem = f"lack {len(missing)} steps of an upgrade ({', '.join(missing)})"
    raise FormatVersionError(
        f"the pages of store '{store.location}' {problem}",
        hint=f"run `webtable upgrade --store {store.location}`; it continues where it was stopped",
    )
