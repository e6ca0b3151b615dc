"""The commands by name: their groups, and the module that has each; imported when first called.

Every command of HBase 2.6's groups general, ddl, namespace, dml, tools and snapshots is there.
Names of other versions and groups are listed too, with the reason why they are not supported.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from webtable.errors import InvalidRequest

__all__ = [
    "ALIASES",
    "FUNCTIONS",
    "GROUPS",
    "OTHER_GROUPS",
    "UNSUPPORTED",
    "Command",
    "find_command",
    "group_of",
]

Command: TypeAlias = Callable[..., Any]
"""Takes the session and the arguments as values; returns a value or None."""


class Group(NamedTuple):
    """A group of commands, and where they are."""

    title: str
    modules: dict[str, str]

    @property
    def names(self) -> list[str]:
        """All names of the group, also those that are not supported here."""
        names = " ".join(self.modules.values()).split()
        return sorted([*names, *(name for name in UNSUPPORTED if group_of(name) is self)])


GROUPS = {
    "general": Group(
        "About the store and this shell",
        {
            "help_version_exit": "help puts table_help tools version whoami exit quit",
            "servers": "processlist",
            "status": "status",
        },
    ),
    "ddl": Group(
        "Tables",
        {
            "alter": "alter alter_async alter_status",
            "tables": "create describe drop drop_all enable enable_all "
            "disable disable_all is_enabled is_disabled exists list list_enabled_tables "
            "list_disabled_tables get_table clone_table_schema",
            "regions": "list_regions locate_region",
            "help_version_exit": "show_filters",
        },
    ),
    "namespace": Group(
        "Namespaces",
        {
            "namespaces": "alter_namespace create_namespace drop_namespace describe_namespace "
            "list_namespace list_namespace_tables"
        },
    ),
    "dml": Group(
        "Rows",
        {
            "read_rows": "get scan count get_counter",
            "write_rows": "put delete deleteall incr append truncate truncate_preserve",
            "regions": "get_splits",
        },
    ),
    "tools": Group(
        "Upkeep of regions and servers",
        {
            "flush_and_compact": "flush compact major_compact compact_rs compaction_state "
            "compaction_switch clear_compaction_queues",
            "help_version_exit": "trace",
            "regions": "assign unassign close_region move split merge_region regioninfo "
            "truncate_region rit",
            "servers": "list_liveservers list_deadservers list_unknownservers clear_deadservers "
            "wal_roll "
            "list_decommissioned_regionservers decommission_regionservers "
            "recommission_regionserver stop_regionserver clear_block_cache",
            "master_chores": "balancer balance_switch balancer_enabled normalize "
            "normalizer_switch normalizer_enabled catalogjanitor_run "
            "catalogjanitor_switch catalogjanitor_enabled cleaner_chore_run cleaner_chore_switch "
            "cleaner_chore_enabled snapshot_cleanup_switch snapshot_cleanup_enabled "
            "splitormerge_switch splitormerge_enabled is_in_maintenance_mode hbck_chore_run "
            "flush_master_store stop_master",
            "server_logs": "get_slowlog_responses get_largelog_responses clear_slowlog_responses "
            "get_balancer_decisions get_balancer_rejections zk_dump",
        },
    ),
    "snapshots": Group(
        "Snapshots",
        {
            "snapshots": "snapshot clone_snapshot restore_snapshot delete_snapshot "
            "delete_all_snapshot list_snapshots list_table_snapshots delete_table_snapshots"
        },
    ),
}

FUNCTIONS = {"exit": "leave", "help": "show_help", "list": "list_tables", "quit": "leave"}
"""The functions of commands whose names mean something else in Python; others have their own."""

ALIASES = {"desc": "describe", "hlog_roll": "wal_roll"}

UNSUPPORTED = {
    "refresh_meta": "no server of HBase 2.6 has such a request; it came with HBase 3",
}

OTHER_GROUPS = {
    "replication": "add_peer remove_peer list_peers enable_peer disable_peer",
    "quotas": "set_quota list_quotas list_quota_table_sizes list_quota_snapshots",
    "security": "grant revoke user_permission list_security_capabilities",
    "procedures": "list_procedures list_locks abort_procedure",
    "visibility labels": "add_labels list_labels set_auths get_auths clear_auths set_visibility",
    "rsgroup": "list_rsgroups get_rsgroup add_rsgroup remove_rsgroup balance_rsgroup",
    "configuration": "update_config update_all_config",
    "storefiletracker": "change_sft change_sft_all",
}
"""Groups of HBase's shell that are not part of this one, with their most used names."""


def group_of(name: str) -> Group | None:
    """Returns the group of a command, None when there is no such command."""
    name = ALIASES.get(name, name)
    if name in UNSUPPORTED:
        return GROUPS["tools"]
    return next((group for group in GROUPS.values() if _module(group, name)), None)


def find_command(name: str) -> Command | None:
    """Returns the function of a command, None when no command has the name.

    Raises:
        InvalidRequest: HBase's shell has it, this one does not.
    """
    name = ALIASES.get(name, name)
    for group in GROUPS.values():
        if module := _module(group, name):
            commands = importlib.import_module(f"webtable.cli.shell.commands.{module}")
            found: Command = getattr(commands, FUNCTIONS.get(name, name))
            return found
    if name in UNSUPPORTED:
        raise InvalidRequest(f"{name} is not supported here", hint=UNSUPPORTED[name])
    for title, names in OTHER_GROUPS.items():
        if name in names.split():
            raise InvalidRequest(
                f"{name} is not supported here", hint=f"use HBase's own shell for {title}"
            )
    return None


def _module(group: Group, name: str) -> str | None:
    return next((module for module, names in group.modules.items() if name in names.split()), None)
