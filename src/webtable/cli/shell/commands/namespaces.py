"""The commands about namespaces."""

from __future__ import annotations

from webtable.cli.shell.commands.tables import matching
from webtable.cli.shell.language.ruby_values import Value, check_keys, to_bytes, to_hash, to_text
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest, NotFound


def create_namespace(session: Session, namespace: Value, *properties: Value) -> None:
    """Creates a namespace; on a cluster it can have properties.

    create_namespace 'archive'
    create_namespace 'archive', {'hbase.namespace.quota.maxtables' => '100'}
    """
    given: dict[str, Value] = {}
    for each in properties:
        given |= to_hash(each, "the properties")
    name = to_text(namespace, "the namespace")
    texts = {key: _property(key, value) for key, value in given.items()}
    session.store.admin.create_namespace(name, texts)


def alter_namespace(session: Session, namespace: Value, *changes: Value) -> None:
    """Sets properties of a namespace, or removes one.

    alter_namespace 'archive', {METHOD => 'set', 'hbase.namespace.quota.maxtables' => '200'}
    alter_namespace 'archive', {METHOD => 'unset', NAME => 'hbase.namespace.quota.maxtables'}
    """
    properties: dict[str, str | None] = {}
    for each in changes:
        given = dict(to_hash(each, "a change"))
        method = to_text(given.pop("METHOD", b""), "METHOD")
        if method == "unset":
            check_keys("alter_namespace with METHOD => 'unset'", given, {"NAME"})
            properties[to_text(given.get("NAME"), "NAME")] = None
        elif method == "set":
            properties |= {key: _property(key, value) for key, value in given.items()}
        else:
            raise InvalidRequest(f"METHOD '{method:.40}' is not valid", hint="'set' or 'unset'")
    if not properties:
        raise InvalidRequest(
            "alter_namespace has nothing to change", hint="see `help 'alter_namespace'`"
        )
    session.store.admin.alter_namespace(to_text(namespace, "the namespace"), properties)


def drop_namespace(session: Session, namespace: Value) -> None:
    """Removes a namespace that has no tables.

    drop_namespace 'archive'
    """
    session.store.admin.drop_namespace(to_text(namespace, "the namespace"))


def describe_namespace(session: Session, namespace: Value) -> None:
    """Shows a namespace.

    describe_namespace 'archive'
    """
    name = _existing(session, namespace)
    pairs = {"NAME": name}
    if session.store.capabilities.cluster:
        pairs |= session.store.admin.namespace_properties(name)
    session.out.heading("DESCRIPTION")
    shown = ", ".join(f"{key} => '{value}'" for key, value in pairs.items())
    session.out.row(f"{{{shown}}}")
    session.out.line("Quota is disabled")


def list_namespace(session: Session, regex: Value = b".*") -> None:
    """Lists the namespaces, or those that match.

    list_namespace
    list_namespace 'arch.*'
    """
    names = matching(regex, [each.name for each in session.store.admin.namespaces()])
    session.out.heading("NAMESPACE")
    for name in names:
        session.out.row(name)
    session.out.footer()


def list_namespace_tables(session: Session, namespace: Value) -> list[Value]:
    """Lists the tables of a namespace.

    list_namespace_tables 'default'
    """
    name = _existing(session, namespace)
    parts = [table.rpartition(":") for table in session.store.tables()]
    tables = [table for space, _, table in parts if (space or "default") == name]
    session.out.heading("TABLE")
    for table in tables:
        session.out.row(table)
    session.out.footer()
    return [table.encode() for table in tables]


def _property(name: str, value: Value) -> str:
    return to_bytes(value, f"property {name}").decode("utf-8", "replace")


def _existing(session: Session, namespace: Value) -> str:
    name = to_text(namespace, "the namespace")
    names = [each.name for each in session.store.admin.namespaces()]
    if name not in names:
        raise NotFound("namespace", name, names)
    return name
