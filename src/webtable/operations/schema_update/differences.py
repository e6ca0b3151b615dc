"""Compares a declared table with the one in the store, option by option."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from webtable.operations.schema_update.declared_tables import Declared
from webtable.operations.schema_update.statements import (
    FAMILY_FIELDS,
    TABLE_FIELDS,
    AlterTable,
    FamilyChange,
)
from webtable.store.schema import MAX_TTL_SECONDS, Family, TableSchema

__all__ = ["KINDS", "Difference", "Kind", "alteration", "differences", "missing_splits"]

Kind: TypeAlias = Literal["create", "ttl", "versions", "options", "splits"]
"""Kinds of changes; each has a switch of the same name."""

KINDS: tuple[Kind, ...] = ("create", "ttl", "versions", "options", "splits")
_KIND_OF_FIELD: Mapping[str, Kind] = {
    "ttl_seconds": "ttl",
    "versions": "versions",
    "min_versions": "versions",
}
# How much of deleted cells each value keeps.
_KEPT_DELETES = {"FALSE": 0, "TTL": 1, "TRUE": 2}


class Difference(NamedTuple):
    """One option that the store has with another value, or a family that it does not have.

    Attributes:
        family: its name; empty for an option of the table.
        field: a field of `Family` or `TableSchema`; the name of an attribute; empty where the
            family is missing.
        old, new: the values, of a missing family None and the family.
        is_attribute: whether `field` is the name of an attribute.
        drops_data: whether cells that are stored may disappear by the change.
    """

    kind: Kind
    table: str
    family: str
    field: str
    old: Any
    new: Any
    is_attribute: bool = False
    drops_data: bool = False


def differences(
    declared: Declared, stored: TableSchema, allowed: Collection[Kind] = KINDS
) -> Iterator[Difference]:
    """Yields what the store has to change in a table that exists.

    A family that only the store has stays, and so do options that are not declared.

    Args:
        allowed: the kinds of changes that will be made; whether one drops data may depend on
            another.
    """
    table = declared.schema.name
    for family in declared.schema.families:
        found = stored.family(family.name)
        if found is None:
            yield Difference("create", table, family.name, "", None, family)
            continue
        spoken = [each for each in FAMILY_FIELDS if (family.name, each) not in declared.silent]
        ttl_changes = "ttl" in allowed and "ttl_seconds" in spoken
        ttl_after = _value(family if ttl_changes else found, "ttl_seconds")
        for field in spoken:
            old, new = _value(found, field), _value(family, field)
            if old != new:
                kind = _KIND_OF_FIELD.get(field, "options")
                drops = _drops(field, old, new, ttl_after)
                yield Difference(kind, table, family.name, field, old, new, drops_data=drops)
        yield from _attributes(table, family.name, found.attributes, family.attributes)
    for field in TABLE_FIELDS:
        old, new = getattr(stored, field), getattr(declared.schema, field)
        if new is not None and old != new:
            yield Difference("options", table, "", field, old, new)
    yield from _attributes(table, "", stored.attributes, declared.schema.attributes)


def _attributes(
    table: str, family: str, old: Mapping[str, str], new: Mapping[str, str]
) -> Iterator[Difference]:
    for name in sorted(new):
        if old.get(name) != new[name]:
            yield Difference(
                "options", table, family, name, old.get(name), new[name], is_attribute=True
            )


def _value(family: Family, field: str) -> Any:
    value = getattr(family, field)
    # On a cluster the longest TTL and none are the same.
    return None if field == "ttl_seconds" and value == MAX_TTL_SECONDS else value


def _drops(field: str, old: Any, new: Any, ttl_after: int | None) -> bool:
    """Whether a change of one option lets cells disappear that the store returns now."""
    if field == "ttl_seconds":
        return new is not None and (old is None or new < old)
    if field == "versions":
        return bool(new < old)
    if field == "min_versions":
        return new < old and ttl_after is not None
    if field == "keep_deleted_cells":
        return _KEPT_DELETES[new] < _KEPT_DELETES[old]
    return False


def alteration(table: str, found: Iterable[Difference]) -> AlterTable:
    """Returns the one statement that makes these changes of a table."""
    families: dict[str, tuple[dict[str, Any], dict[str, str]]] = {}
    options: dict[str, Any] = {}
    attributes: dict[str, str] = {}
    for each in found:
        if not each.family:
            (attributes if each.is_attribute else options)[each.field] = each.new
            continue
        of_family = families.setdefault(each.family, ({}, {}))
        if not each.field:
            plain = Family(name=each.family)
            of_family[0].update(
                (field, getattr(each.new, field))
                for field in FAMILY_FIELDS
                if getattr(each.new, field) != getattr(plain, field)
            )
            of_family[1].update(each.new.attributes)
        else:
            of_family[each.is_attribute][each.field] = each.new
    changes = {name: FamilyChange(*given) for name, given in families.items()}
    return AlterTable(table, changes, options, attributes)


def missing_splits(splits: Sequence[bytes], starts: Sequence[bytes]) -> list[list[bytes]]:
    """Returns the declared split keys at which no region begins, those of one region together.

    >>> missing_splits([b"b", b"c", b"k", b"p"], [b"", b"k"])
    [[b'b', b'c'], [b'p']]
    """
    of_region: dict[int, list[bytes]] = {}
    for key in sorted(set(splits) - set(starts)):
        of_region.setdefault(bisect_right(starts, key), []).append(key)
    return list(of_region.values())
