"""Help is made of examples, and every example works; every command of HBase's groups is known."""

from __future__ import annotations

import importlib
import inspect

import pytest

from tests.shell.running import Shell
from webtable.cli.shell.command_catalog import (
    ALIASES,
    FUNCTIONS,
    GROUPS,
    OTHER_GROUPS,
    UNSUPPORTED,
    find_command,
)
from webtable.cli.shell.help import help_of
from webtable.errors import InvalidRequest

SUPPORTED = sorted(
    name for group in GROUPS.values() for name in group.names if name not in UNSUPPORTED
)
# The names in shell.rb of HBase 2.6, group by group.
HBASE = {
    "general": "status version table_help whoami processlist",
    "ddl": "alter create describe disable disable_all is_disabled drop drop_all enable enable_all "
    "is_enabled exists list show_filters alter_status alter_async get_table locate_region "
    "list_regions clone_table_schema list_enabled_tables list_disabled_tables",
    "namespace": "create_namespace drop_namespace alter_namespace describe_namespace "
    "list_namespace list_namespace_tables",
    "dml": "count delete deleteall get get_counter incr put scan truncate truncate_preserve "
    "append get_splits",
    "tools": "assign balancer balance_switch balancer_enabled normalize normalizer_switch "
    "normalizer_enabled is_in_maintenance_mode clear_slowlog_responses close_region compact "
    "compaction_switch flush flush_master_store get_balancer_decisions get_balancer_rejections "
    "get_slowlog_responses get_largelog_responses major_compact move split merge_region unassign "
    "zk_dump wal_roll hbck_chore_run catalogjanitor_run catalogjanitor_switch "
    "catalogjanitor_enabled cleaner_chore_run cleaner_chore_switch cleaner_chore_enabled "
    "compact_rs compaction_state trace snapshot_cleanup_switch snapshot_cleanup_enabled "
    "splitormerge_switch splitormerge_enabled clear_compaction_queues list_deadservers "
    "list_liveservers clear_deadservers clear_block_cache stop_master stop_regionserver regioninfo "
    "rit list_decommissioned_regionservers decommission_regionservers recommission_regionserver "
    "truncate_region list_unknownservers",
    "snapshots": "snapshot clone_snapshot restore_snapshot delete_snapshot delete_all_snapshot "
    "delete_table_snapshots list_snapshots list_table_snapshots",
}
CHANGING = {"alter", "clone_table_schema", "create"}
"""Commands whose examples do not follow one another."""
SETTING = """create 'webtable', {NAME => 'content', VERSIONS => 3}, 'metadata', 'inlinks'
alter 'webtable', MAX_FILESIZE => '1 GB'
put 'webtable', 'com.example_about', 'metadata:title', 'About'
create 'counters', 'f'
incr 'counters', 'com.example', 'f:visits'
incr 'counters', "key\\x00", 'f:visits'
create 'notes', 'f'
create 'test_one', 'f'
create_namespace 'archive'
t = get_table 'webtable'
"""


@pytest.mark.parametrize("group", HBASE)
def test_every_command_of_hbase_is_recognised(group: str) -> None:
    assert set(HBASE[group].split()) <= set(GROUPS[group].names)


def test_the_catalog_and_the_modules_agree() -> None:
    listed = {
        (module, FUNCTIONS.get(name, name))
        for group in GROUPS.values()
        for module, names in group.modules.items()
        for name in names.split()
    }
    defined = set()
    for module in {module for module, _ in listed}:
        commands = importlib.import_module(f"webtable.cli.shell.commands.{module}")
        shared = getattr(commands, "__all__", [])
        for name, found in inspect.getmembers(commands, inspect.isfunction):
            is_own = found.__module__ == commands.__name__ and not name.startswith("_")
            if is_own and name not in shared and "Session" in found.__annotations__.values():
                defined.add((module, name))
    assert defined == listed


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_a_command_that_is_not_supported_says_what_to_use(reader: Shell, name: str) -> None:
    with pytest.raises(InvalidRequest, match=f"{name} is not supported here; .") as caught:
        find_command(name)
    assert caught.value.hint == UNSUPPORTED[name]
    assert f"here: {UNSUPPORTED[name]}" in reader.answer(f"help '{name}'")


@pytest.mark.parametrize(
    "name", [name for names in OTHER_GROUPS.values() for name in names.split()]
)
def test_a_command_of_another_group_is_recognised_by_name(name: str) -> None:
    with pytest.raises(InvalidRequest, match="use HBase's own shell for"):
        find_command(name)


@pytest.mark.parametrize("name", SUPPORTED)
def test_help_shows_what_a_command_does_with_examples(reader: Shell, name: str) -> None:
    summary, examples = help_of(name)
    assert summary.endswith(".")
    assert examples
    assert any(name in example for example in examples)
    if name in GROUPS:  # the group has the name already
        return
    shown = reader.answer(f"help '{name}'")
    assert shown.startswith(summary)
    assert shown.count("  hbase> ") == len(examples)


@pytest.mark.parametrize("name", [name for name in SUPPORTED if name not in ("exit", "quit")])
def test_every_example_can_be_typed(
    shell: Shell,
    name: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("help")
    monkeypatch.chdir(folder)
    (folder / "splits.txt").write_text("com.\nnet.\n")
    shell.run(SETTING, keep_going=True)
    for number, example in enumerate(help_of(name).examples):
        if number and name in CHANGING:
            for table in shell.store.tables():
                shell.store.drop_table(table)
            shell.run(SETTING, keep_going=True)
        if name in ("create", "create_namespace"):
            shell.run("disable 'webtable'; drop 'webtable'; drop_namespace 'archive'")
        elif name == "drop":
            shell.run("disable 'webtable'")
        asks = name.endswith("_all")
        done = shell.run(f"{example}\ny\n" if asks else example)
        if done.code:  # only for what an embedded store has not
            refused = ("the embedded store", "region '527", "server 'host187")
            assert any(reason in done.err for reason in refused), f"{example}\n{done.err}"


@pytest.mark.parametrize("group", GROUPS)
def test_help_shows_a_group(reader: Shell, group: str) -> None:
    shown = reader.answer(f"help '{group}'")
    assert [name for name in GROUPS[group].names if f"Command: {name}\n" not in shown] == []


def test_help_works_without_quotes(reader: Shell) -> None:
    assert (
        reader.answer("help scan") == reader.answer("help 'scan'") == reader.answer('help "scan"')
    )
    assert "Group name: dml" in reader.answer("help")
    assert "Command: flush" in reader.answer("tools")
    assert "t.put 'row'" in reader.answer("table_help")
    assert reader.answer("help desc").startswith("Shows a table's state")
    assert ALIASES["desc"] == "describe"
