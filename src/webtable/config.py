"""The user's configuration: one file of TOML, read into typed values.

It is the first of these that is given:

1. `webtable --config FILE COMMAND`, or the environment variable `WEBTABLE_CONFIG`; the file must
   exist
2. `webtable/webtable.toml` in the user's folder of configuration: `$XDG_CONFIG_HOME`, by default
   `~/.config`

It is never a file beside a store or in the current folder: a configuration names modules that are
imported, and a store may come from another user. The classes here are the reference: their
docstrings and defaults are docs/reference/config.md.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

import msgspec

from webtable.errors import InvalidRequest, NotFound

__all__ = [
    "Config",
    "EmailOptions",
    "FamilyOptions",
    "SchemaUpdateOptions",
    "TableOptions",
    "UpdateMode",
    "load_config",
]

CONFIG_VARIABLE = "WEBTABLE_CONFIG"

UpdateMode: TypeAlias = Literal["off", "print", "execute"]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A table of the file; its keys are the attributes."""


class EmailOptions(Section, frozen=True, kw_only=True):
    """Where the statements of a schema update are sent. The password comes from the environment.

    Attributes:
        host: the SMTP server.
        port: its port; 587 is usual with STARTTLS.
        starttls: encrypt the connection, and check the certificate of the server.
        user: the name to log in with; without it there is no login.
        password_env: the environment variable that has the password.
        from: the sender.
        to: the recipients.
        subject: the subject; the location of the store is added.
        timeout_seconds: how long to wait for the server.
    """

    host: str
    sender: str = msgspec.field(name="from")
    to: tuple[str, ...]
    port: int = 25
    starttls: bool = False
    user: str | None = None
    password_env: str = "WEBTABLE_SMTP_PASSWORD"
    subject: str = "WebTable schema update"
    timeout_seconds: float = 10.0

    def __post_init__(self) -> None:
        if not self.to:
            raise ValueError("`to` has no recipient")
        for address in (self.sender, *self.to, self.subject):
            if "\n" in address or "\r" in address:
                raise ValueError("addresses and the subject are one line each")


class SchemaUpdateOptions(Section, frozen=True, kw_only=True):
    """What a schema update may do: at the start of a program, and by default on the command line.

    Attributes:
        mode: at the start of a program that writes: `off`, `print` the statements that would
            run, or `execute` them.
        create: create tables and families that are missing.
        ttl: change the TTL of families.
        versions: change VERSIONS and MIN_VERSIONS of families.
        options: change all other options of tables and families.
        splits: split tables at declared split keys, on a cluster; to compare them costs a request
            for the regions of each table.
        drop_data: also changes that drop data: a shorter TTL, fewer versions.
        ignore: tables to ignore, by name or by pattern, such as `test_*`.
        records: record classes to declare, as `MODULE:CLASS`; each module is imported.
        log_file: a file to which the statements are appended; it may begin with `~/`.
        email: to whom the statements are sent.
    """

    mode: UpdateMode = "print"
    create: bool = True
    ttl: bool = True
    versions: bool = True
    options: bool = True
    splits: bool = False
    drop_data: bool = False
    ignore: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    log_file: str | None = None
    email: EmailOptions | None = None


class FamilyOptions(Section, frozen=True, kw_only=True):
    """The declared options of a family; an option that is left out is not compared.

    Attributes:
        versions: VERSIONS, the number of versions kept of each column.
        min_versions: MIN_VERSIONS, how many of them outlive the TTL.
        ttl_seconds: TTL; 0 means for ever.
        keep_deleted_cells: KEEP_DELETED_CELLS.
        bloomfilter: BLOOMFILTER.
        compression: COMPRESSION.
        data_block_encoding: DATA_BLOCK_ENCODING.
        blocksize: BLOCKSIZE, in bytes.
        in_memory: IN_MEMORY.
        attributes: further options by their HBase names.
    """

    versions: int | None = None
    min_versions: int | None = None
    ttl_seconds: int | None = None
    keep_deleted_cells: Literal["FALSE", "TRUE", "TTL"] | None = None
    bloomfilter: Literal["NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"] | None = None
    compression: (
        Literal["NONE", "GZ", "SNAPPY", "LZO", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"] | None
    ) = None
    data_block_encoding: Literal["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"] | None = (
        None
    )
    blocksize: int | None = None
    in_memory: bool | None = None
    attributes: dict[str, str] = {}


class TableOptions(Section, frozen=True, kw_only=True):
    """A declared table; an option that is left out is not compared.

    Attributes:
        families: the families by name; other families of the table stay as they are.
        max_filesize: MAX_FILESIZE, in bytes.
        memstore_flushsize: MEMSTORE_FLUSHSIZE, in bytes.
        splits: the row keys at which a new table is split.
        attributes: further options by their HBase names.
    """

    families: dict[str, FamilyOptions]
    max_filesize: int | None = None
    memstore_flushsize: int | None = None
    splits: tuple[str, ...] = ()
    attributes: dict[str, str] = {}


class Config(Section, frozen=True, kw_only=True):
    """The whole file.

    Attributes:
        schema_update: what a schema update may do.
        tables: tables to declare, by name.
    """

    schema_update: SchemaUpdateOptions = SchemaUpdateOptions()
    tables: dict[str, TableOptions] = {}


def load_config(path: str | os.PathLike[str] | None = None) -> Config:
    """Returns the user's configuration; the defaults where the user has no file.

    Args:
        path: the file; None: the one that the environment or the user's folder has.

    Raises:
        NotFound: the named file does not exist.
        InvalidRequest: it is not TOML, has an unknown key or a value that is not valid.
    """
    named = os.fspath(path) if path is not None else os.environ.get(CONFIG_VARIABLE) or None
    file = Path(named) if named is not None else _users_file()
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        if named is None:
            return Config()
        raise NotFound("configuration", named, hint="check the path") from None
    except UnicodeDecodeError as exc:
        raise InvalidRequest(f"'{file}' is not UTF-8: {exc}", hint="TOML is UTF-8") from exc
    try:
        return parse_config(text)
    except InvalidRequest as error:
        raise InvalidRequest(f"'{file}': {error.message}", hint=error.hint) from error


def parse_config(text: str) -> Config:
    """Returns the configuration that a text of TOML has.

    Raises:
        InvalidRequest: it is not TOML, has an unknown key or a value that is not valid.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise InvalidRequest(f"it is not TOML: {exc}", hint="see toml.io for the syntax") from exc
    for key, known in _unknown_keys(values, Config, ""):
        name = key.rpartition(".")[2]
        longer = [each for each in known if each.startswith(name)]
        near = longer or difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(known)}"
        raise InvalidRequest(f"unknown key '{key}'", hint=hint)
    try:
        return msgspec.convert(values, Config)
    except msgspec.ValidationError as exc:
        message, _, path = str(exc).partition(" - at `$.")
        # The names of tables and families are not in msgspec's message.
        key = re.sub(r"\[\.\.\.\]", ".*", path.rstrip("`"))
        where = f"key '{key}': " if key else ""
        raise InvalidRequest(
            f"{where}{message}", hint="see docs/reference/config.md for each key"
        ) from exc


def _users_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(folder) / "webtable" / "webtable.toml"


def _unknown_keys(
    values: Mapping[str, Any], section: type[Section], prefix: str
) -> Iterator[tuple[str, list[str]]]:
    """Yields the keys that no section has, each with the keys that are known in its place."""
    hints = get_type_hints(section)
    fields = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(section)}
    for key, value in values.items():
        if key not in fields:
            yield prefix + key, sorted(fields)
            continue
        inner, is_mapping = _section_of(fields[key])
        if inner is None or not isinstance(value, dict):
            continue
        for name, each in value.items() if is_mapping else [("", value)]:
            if isinstance(each, dict):
                path = f"{prefix}{key}.{name}." if is_mapping else f"{prefix}{key}."
                yield from _unknown_keys(each, inner, path)


def _section_of(hint: Any) -> tuple[type[Section] | None, bool]:
    """Returns the section that a key holds, if any, and whether it holds several by name."""
    for each in (hint, *get_args(hint)):
        if isinstance(each, type) and issubclass(each, Section):
            return each, getattr(hint, "__origin__", None) is dict
    return None, False
