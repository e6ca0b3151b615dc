"""For any input, the shell prints a result or an error; it never crashes."""

from __future__ import annotations

import io
import os
import random
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import webtable
from tests.shell.running import Shell
from tools.record_shell import script_of
from webtable.cli.shell.command_catalog import ALIASES, GROUPS, UNSUPPORTED
from webtable.cli.shell.completion import complete
from webtable.cli.shell.hbase_layout import Printer
from webtable.cli.shell.interactive import is_complete
from webtable.cli.shell.language.lexer import Lexer
from webtable.cli.shell.language.parser import parse
from webtable.cli.shell.language.ruby_constants import CONSTANTS
from webtable.cli.shell.session import ExitShell, Session
from webtable.errors import ShellSyntaxError, WebTableError

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
GOLDEN = Path(__file__).parents[1] / "golden" / "shell"
VALID = [
    line
    for path in sorted(GOLDEN.glob("*.txt"))
    for line in script_of(path.read_text(encoding="utf-8")).splitlines()
    if line.strip()
]
NAMES = [name for group in GROUPS.values() for name in group.names]
WORDS = [
    *NAMES, *ALIASES, *UNSUPPORTED, *CONSTANTS,
    "'t'", "'f'", "'f:q'", "'f:q:toInt'", "'a'", '"\\x00"', "'.*'", "''", '"', "'", "\\",
    "0", "1", "-1", "3.5", "1e999", "99999999999999999999", "nil", "true", "false", "t", "x",
    "=", "=>", ",", ";", ".", "::", "(", ")", "[", "]", "{", "}", "|", "+", "-", "*", "/", "%",
    "#", "\n", "\t", ":", ":sym", "key:", "do", "end", "é", "‘", "\x00", "\ud800",
]  # fmt: skip

soups = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A line that was right, with a few characters taken out, put in or doubled."""
    line = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(line)))
        cut = draw(st.integers(0, 3))
        line = line[:at] + draw(st.sampled_from(["", *WORDS])) + line[at + cut :]
    return line


texts = st.one_of(soups, mutated(), st.text(max_size=60))
many = settings(
    max_examples=20_000 if SOAK else 500,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with webtable.open(str(tmp_path / "store.db")) as store:
        store.create_table("t", "f").put(b"a", {b"f:q": b"v"})
        yield Session(store, Printer(io.StringIO()), lambda _: "y")


def syntax_error(text: str) -> ShellSyntaxError | None:
    lexer = Lexer()
    try:
        for line in text.split("\n"):
            lexer.feed(line)
        parse(lexer)
    except ShellSyntaxError as error:
        return error
    return None


def outcome(session: Session, text: str) -> WebTableError | ExitShell | None:
    lexer = Lexer()
    try:
        for line in text.split("\n"):
            if not lexer.is_open:
                lexer = Lexer()
            lexer.feed(line)
            if not lexer.is_open:
                session.run(lexer)
        lexer.finish()
    except (WebTableError, ExitShell) as error:
        return error
    return None


@given(texts)
@many
def test_a_parser_returns_or_reports_the_position(text: str) -> None:
    error = syntax_error(text)
    if error is not None:
        lines = text.split("\n")
        assert 1 <= error.line <= len(lines)
        assert error.source == lines[error.line - 1]
        assert 1 <= error.column <= len(error.source) + 1
        assert error.message


@given(texts)
@many
def test_a_session_returns_or_raises_an_error(session: Session, text: str) -> None:
    error = outcome(session, text)
    assert error is None or str(error)


@given(texts)
@many
def test_a_prompt_completes_or_offers_nothing(session: Session, text: str) -> None:
    word, found = complete(session, text)
    assert all(each.startswith(word) for each in found)
    assert is_complete(text) in (True, False)


@pytest.mark.parametrize(
    "text",
    [
        "x = " * 5000 + "1",
        "1" + " + 1" * 5000,
        "t" + ".a" * 5000,
        "(" * 40 + "1" + ")" * 40,
        "list 'a{99999}{99999}{99999}'",
        "list '(?P<a'",
        "puts " + "'" + "x" * 100_000 + "'",
        "scan 't', {FILTER => '" + "(" * 5000 + "'}",
    ],
)
def test_deep_or_long_input_gets_a_result_too(shell: Shell, text: str) -> None:
    assert shell.run(text).code in (0, 2)


def test_a_store_survives_it(session: Session) -> None:
    chance = random.Random(1)
    for _ in range(300):
        line = " ".join(chance.choices(WORDS, k=8))
        lexer = Lexer()
        try:
            lexer.feed(line)
            if not lexer.is_open:
                session.run(lexer)
        except (WebTableError, ExitShell):
            continue
    assert session.store.table("t").schema().families


# What can be asked of a cluster that others use too.
HARMLESS = [
    "assign",
    "balancer_enabled",
    "catalogjanitor_enabled",
    "clear_block_cache",
    "clear_compaction_queues",
    "clear_slowlog_responses",
    "close_region",
    "describe_namespace",
    "flush",
    "flush_master_store",
    "get_balancer_decisions",
    "get_balancer_rejections",
    "get_largelog_responses",
    "get_slowlog_responses",
    "hlog_roll",
    "is_in_maintenance_mode",
    "list_decommissioned_regionservers",
    "list_unknownservers",
    "list_regions",
    "locate_region",
    "merge_region",
    "move",
    "normalize",
    "processlist",
    "recommission_regionserver",
    "regioninfo",
    "rit",
    "snapshot_cleanup_enabled",
    "splitormerge_enabled",
    "status",
    "trace",
    "truncate_region",
    "unassign",
    "wal_roll",
    "zk_dump",
    "alter_namespace",
    "compaction_state",
]
KEYS = [
    "LIMIT",
    "TABLE_NAME",
    "TABLE_NAMES",
    "REGEX",
    "NAMESPACE",
    "METHOD",
    "NAME",
    "USER",
    "'FILTER_BY_OP'",
    "'p'",
]


def drawn_value(chance: random.Random, atoms: list[str], depth: int = 0) -> str:
    kind = chance.random()
    if kind < 0.75 or depth > 1:
        return chance.choice(atoms)
    inner = [drawn_value(chance, atoms, depth + 1) for _ in range(chance.randint(0, 3))]
    if kind < 0.87:
        return f"[{', '.join(inner)}]"
    return f"{{{', '.join(f'{chance.choice(KEYS)} => {each}' for each in inner)}}}"


@pytest.mark.hbase
def test_random_commands_about_a_cluster_end_with_a_result(hbase_location: str) -> None:
    namespace = f"fuzz_{secrets.token_hex(4)}"
    chance = random.Random()
    seed = chance.randrange(2**32) if SOAK else 1
    chance.seed(seed)
    with webtable.open(f"{hbase_location}?namespace={namespace}&timeout=10") as store:
        table = store.create_table("t", "f")
        known = [store.admin.servers()[0].name, table.regions()[0].name, "127.0.0.1", "a,1,1"]
        atoms = [f"'{each}'" for each in (*known, "t", "f", "x", "SPLIT", "*", "all", "set", "[")]
        atoms += ["''", "5", "-1", "nil", "true", "1.5", '"\\x00\\xff"', "99999999999999999999"]
        session = Session(store, Printer(io.StringIO()), lambda _: "n")
        for _ in range(3000 if SOAK else 150):
            values = [drawn_value(chance, atoms) for _ in range(chance.choice((0, 1, 1, 2, 3)))]
            line = f"{chance.choice(HARMLESS)} {', '.join(values)}"
            error = outcome(session, line)
            assert error is None or str(error), (seed, line)
        for region in table.regions():
            if region.state != "OPEN":
                store.admin.assign(region)
        store.drop_table("t")
    with webtable.open(hbase_location) as store:
        store.admin.drop_namespace(namespace)
