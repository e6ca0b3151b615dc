"""What can follow at a prompt: commands, names of the store's things, options, methods of tables.

It uses the store and the tokens of the language, and is independent of terminals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from webtable import WebTableError
from webtable.cli.shell.command_catalog import ALIASES, GROUPS, UNSUPPORTED
from webtable.cli.shell.language.lexer import Token, last_command
from webtable.cli.shell.language.ruby_constants import CONSTANTS
from webtable.cli.shell.language.ruby_values import TableRef
from webtable.cli.shell.session import TABLE_METHODS, Session
from webtable.errors import ShellSyntaxError

__all__ = ["OPTIONS", "complete"]

_READING = """COLUMN COLUMNS FILTER FORMATTER MAXLENGTH TIMERANGE TIMESTAMP VERSIONS"""
_RANGE = """LIMIT RAW REVERSED ROWPREFIXFILTER STARTROW STOPROW BATCH CACHE"""
_SCHEMA = """
    BLOCKCACHE BLOCKSIZE BLOOMFILTER COMPRESSION CONFIGURATION DATA_BLOCK_ENCODING IN_MEMORY
    KEEP_DELETED_CELLS MAX_FILESIZE MEMSTORE_FLUSHSIZE METADATA MIN_VERSIONS NAME TTL VERSIONS
"""
OPTIONS = {
    "get": _READING.split(),
    "scan": f"{_READING} {_RANGE}".split(),
    "count": ["INTERVAL", *f"{_READING} {_RANGE}".split()],
    "create": f"{_SCHEMA} SPLITS SPLITS_FILE NUMREGIONS SPLITALGO".split(),
    "alter": f"{_SCHEMA} METHOD".split(),
    "put": ["TTL"],
    "deleteall": ["CACHE", "ROWPREFIXFILTER"],
    "list_regions": ["LOCALITY_THRESHOLD", "SERVER_NAME"],
    "normalize": ["NAMESPACE", "REGEX", "TABLE_NAME", "TABLE_NAMES"],
    "snapshot": ["MAX_FILESIZE", "SKIP_FLUSH", "TTL"],
    "clone_snapshot": ["CLONE_SFT", "RESTORE_ACL"],
    "restore_snapshot": ["RESTORE_ACL"],
    "alter_namespace": ["METHOD", "NAME"],
    "get_slowlog_responses": ["LIMIT", "TABLE_NAME", "USER"],
    "get_largelog_responses": ["LIMIT", "TABLE_NAME", "USER"],
    "get_balancer_decisions": ["LIMIT"],
    "get_balancer_rejections": ["LIMIT"],
}
WORDS = {
    "balancer": ["dry_run", "ignore_rit"],
    "clear_compaction_queues": ["long", "short"],
    "processlist": ["all", "general", "handler", "operation", "rpc"],
    "splitormerge_enabled": ["MERGE", "SPLIT"],
    "splitormerge_switch": ["MERGE", "SPLIT"],
    "status": ["detailed", "replication", "simple", "summary", "tasks"],
    "trace": ["status"],
}
"""What strings of some commands can be, whatever is in the store."""

_OF_SERVERS = {
    "clear_compaction_queues", "clear_slowlog_responses", "compact_rs", "compaction_switch",
    "decommission_regionservers", "get_largelog_responses", "get_slowlog_responses", "hlog_roll",
    "processlist", "recommission_regionserver", "stop_regionserver", "wal_roll",
}  # fmt: skip
_OF_NAMESPACES = {
    "alter_namespace",
    "describe_namespace",
    "drop_namespace",
    "list_namespace_tables",
}
_OF_SNAPSHOTS = {"clone_snapshot", "delete_snapshot", "restore_snapshot"}
_WORD = re.compile(r"\w*$")


def complete(session: Session, text: str) -> tuple[str, list[str]]:
    """Returns the part of the text that is being typed, and what it can become, sorted."""
    tokens, string = _read(text)
    if string is not None:
        return string, _starting(string, _names(session, tokens))
    match = _WORD.search(text)
    word = match.group() if match else ""
    before = tokens[:-1] if word and tokens else tokens
    last = before[-1] if before else None
    if last is None:
        commands = [name for group in GROUPS.values() for name in group.names]
        names = [name for name in (*commands, *ALIASES) if name not in UNSUPPORTED]
        return word, _starting(word, [*names, *session.variables])
    if last.is_sign("."):
        return word, _starting(word, TABLE_METHODS)
    if word and not word[0].isupper():
        topics = [*GROUPS] if before[0].value == "help" else []
        return word, _starting(word, [*session.variables, *topics, "true", "false", "nil"])
    return word, _starting(word, OPTIONS.get(_command(before), list(CONSTANTS)))


def _read(text: str) -> tuple[list[Token], str | None]:
    """Returns the tokens of the command being typed, and the text of a string not closed yet."""
    try:
        lexer = last_command(text)
    except ShellSyntaxError:
        return [], None
    tokens = lexer.tokens[:-1] if not lexer.is_open else lexer.tokens
    ends = [number for number, token in enumerate(tokens) if token.kind == "end"]
    tokens = tokens[ends[-1] + 1 :] if ends else tokens
    return tokens, lexer.open_string


def _command(tokens: list[Token]) -> str:
    """Returns the command that the tokens call: after `x =`, or a method of a table."""
    names = [token for token in tokens if token.kind == "name"]
    if not names:
        return ""
    index = tokens.index(names[0])
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if following is not None and following.is_sign("=", ".") and len(names) > 1:
        return names[1].word
    return names[0].word


def _names(session: Session, tokens: list[Token]) -> list[str]:
    """Returns what a string can hold: tables first, then columns of the table."""
    command = _command(tokens)
    if command == "help":
        return [*GROUPS, *(name for group in GROUPS.values() for name in group.names)]
    if command in WORDS or command in _OF_SERVERS:
        servers = _listed(session, command) if command in _OF_SERVERS else []
        return [*WORDS.get(command, ()), *servers]
    strings = [token.value for token in tokens if token.kind == "string"]
    owner = session.variables.get(str(tokens[0].value)) if tokens else None
    try:
        if isinstance(owner, TableRef):
            return _families(session, owner.name)
        if not strings:
            return _listed(session, command)
        table = strings[0]
        return _families(session, table.decode()) if isinstance(table, bytes) else []
    except (WebTableError, UnicodeDecodeError):
        return []  # nothing to offer; the command itself will report the error


def _listed(session: Session, command: str) -> list[str]:
    """Returns the names of what a command is about: servers, namespaces, snapshots or tables."""
    admin = session.store.admin
    try:
        if command in _OF_SERVERS:
            return [server.name for server in admin.servers()]
        if command in _OF_NAMESPACES:
            return [namespace.name for namespace in admin.namespaces()]
        if command in _OF_SNAPSHOTS:
            return [snapshot.name for snapshot in admin.snapshots()]
        return session.store.tables()
    except WebTableError:
        return []


def _families(session: Session, table: str) -> list[str]:
    schema = session.store.describe_table(table)
    return [f"{family.name}:" for family in schema.families]


def _starting(word: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(word)})
