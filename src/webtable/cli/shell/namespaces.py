"""The commands about namespaces."""

from __future__ import annotations

from webtable.cli.shell.catalog import Command
from webtable.cli.shell.ddl import matching
from webtable.cli.shell.session import Session
from webtable.cli.shell.values import Value, to_text
from webtable.errors import InvalidRequest, NotFound

__all__ = ["COMMANDS"]


def create_namespace(session: Session, namespace: Value, *properties: Value) -> None:
    """Creates a namespace.

    create_namespace 'archive'
    """
    if properties:
        raise InvalidRequest("namespaces have no properties here", hint="give the name alone")
    session.store.admin.create_namespace(to_text(namespace, "the namespace"))


def drop_namespace(session: Session, namespace: Value) -> None:
    """Removes a namespace that has no tables.

    drop_namespace 'archive'
    """
    session.store.admin.drop_namespace(to_text(namespace, "the namespace"))


def describe_namespace(session: Session, namespace: Value) -> None:
    """Shows a namespace.

    describe_namespace 'archive'
    """
    name = _known(session, namespace)
    session.out.heading("DESCRIPTION")
    session.out.row(f"{{NAME => '{name}'}}")
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
    name = _known(session, namespace)
    parts = [table.rpartition(":") for table in session.store.tables()]
    tables = [table for space, _, table in parts if (space or "default") == name]
    session.out.heading("TABLE")
    for table in tables:
        session.out.row(table)
    session.out.footer()
    return [table.encode() for table in tables]


def _known(session: Session, namespace: Value) -> str:
    name = to_text(namespace, "the namespace")
    known = [each.name for each in session.store.admin.namespaces()]
    if name not in known:
        raise NotFound("namespace", name, known)
    return name


COMMANDS: dict[str, Command] = {
    "create_namespace": create_namespace,
    "describe_namespace": describe_namespace,
    "drop_namespace": drop_namespace,
    "list_namespace": list_namespace,
    "list_namespace_tables": list_namespace_tables,
}
