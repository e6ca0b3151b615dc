"""Writes docs/reference/config.md: every key of the configuration, from its classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec

from webtable import config

__all__ = ["config_page"]

_EXAMPLE = """[schema_update]
mode = "execute"
drop_data = false
ignore = ["test_*"]
records = ["myapp.models:Visit"]
log_file = "~/schema-statements.log"

[schema_update.email]
host = "mail.example.org"
port = 587
starttls = true
user = "store"
from = "store@example.org"
to = ["ops@example.org"]

[tables.logs]
splits = ["m"]

[tables.logs.families.a]
versions = 3
ttl_seconds = 2592000
"""
# The sections of the file, in the order of the page.
_SECTIONS: tuple[tuple[str, type[msgspec.Struct]], ...] = (
    ("schema_update", config.SchemaUpdateOptions),
    ("schema_update.email", config.EmailOptions),
    ("tables.TABLE", config.TableOptions),
    ("tables.TABLE.families.FAMILY", config.FamilyOptions),
)
_TYPES = {bool: "true or false", int: "number", float: "number", str: "text"}


def config_page(made: str) -> str:
    """Returns the page.

    Args:
        made: the line that says how the page is made.
    """
    doc = inspect.getdoc(inspect.getmodule(config.Config)) or ""
    where = doc.partition("\n\n")[2].partition("The classes here")[0].strip()
    config.parse_config(_EXAMPLE)
    parts = [
        "# Configuration",
        made,
        "A file in [TOML](https://toml.io), which the library and every command read when they"
        " open a store to write, and `webtable schema`. No file is needed. An unknown key is an"
        " error that names the key and the nearest known one. A program gives `WebTable.open` a"
        " `webtable.config.Config` instead, whose attributes are the keys.",
        where,
        f"```toml\n{_EXAMPLE}```",
        "[Change the schema](../howto/change-the-schema.md) shows what it is for.",
    ]
    for title, section in _SECTIONS:
        summary = (inspect.getdoc(section) or "").partition("\n\n")[0]
        parts += [f"## {title}", summary, "\n".join(_rows(section))]
    return "\n\n".join(parts) + "\n"


def _rows(section: type[msgspec.Struct]) -> Iterator[str]:
    meanings = _meanings(section)
    hints = get_type_hints(section)
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for field in msgspec.structs.fields(section):
        key = field.encode_name
        shown = "section" if _is_section(hints[field.name]) else _type(hints[field.name])
        default = _default(field)
        yield f"| `{key}` | {shown} | {default} | {meanings.pop(key)} |"
    assert not meanings, f"{section.__name__} documents keys that it does not have: {meanings}"


def _meanings(section: type[msgspec.Struct]) -> dict[str, str]:
    """Returns the text of each attribute in the docstring of a class."""
    doc = (inspect.getdoc(section) or "").partition("Attributes:\n")[2]
    joined = re.sub(r"\n {5,}", " ", doc)
    pairs = (line.strip().partition(": ") for line in joined.splitlines() if line.strip())
    return {name: text for name, _, text in pairs}


def _is_section(hint: Any) -> bool:
    return any(
        isinstance(each, type) and issubclass(each, msgspec.Struct)
        for each in (hint, *get_args(hint))
    )


def _type(hint: Any) -> str:
    parts = [each for each in (get_args(hint) or (hint,)) if each not in (type(None), Ellipsis)]
    if getattr(hint, "__origin__", None) is tuple:
        return "list of texts"
    if getattr(hint, "__origin__", None) is dict:
        return "texts by name"
    if len(parts) == 1 and get_args(parts[0]):  # a choice, or none
        parts = list(get_args(parts[0]))
    if all(isinstance(each, str) for each in parts):
        return ", ".join(f"`{each}`" for each in parts)
    return _TYPES[parts[0]]


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "needed"
    if field.default_factory is not msgspec.NODEFAULT:
        return "empty"
    value = field.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if value is None:
        return ""
    return "empty" if value in ((), {}) else f"`{value}`"
