"""The commands by name: their groups, and the module that has each; imported when first called.

Every command name of HBase 2.6's groups general, ddl, namespace, dml, tools and snapshots is
known. Those that no store of ours can do are here with what to use instead.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from webtable.errors import InvalidRequest

__all__ = [
    "ALIASES",
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
        words = " ".join(self.modules.values()).split()
        return sorted([*words, *(name for name in UNSUPPORTED if group_of(name) is self)])


GROUPS = {
    "general": Group(
        "About the store and this shell",
        {"general": "help puts status table_help tools version whoami exit quit"},
    ),
    "ddl": Group(
        "Tables",
        {
            "altering": "alter alter_async alter_status",
            "ddl": "create describe drop drop_all enable enable_all "
            "disable disable_all is_enabled is_disabled exists list list_enabled_tables "
            "list_disabled_tables get_table clone_table_schema",
            "regions": "list_regions locate_region",
            "general": "show_filters",
        },
    ),
    "namespace": Group(
        "Namespaces",
        {
            "namespaces": "create_namespace drop_namespace describe_namespace list_namespace "
            "list_namespace_tables"
        },
    ),
    "dml": Group(
        "Rows",
        {
            "reading": "get scan count get_counter",
            "writing": "put delete deleteall incr append truncate truncate_preserve",
            "regions": "get_splits",
        },
    ),
    "tools": Group(
        "Upkeep of regions and servers",
        {
            "tools": "flush compact major_compact compact_rs compaction_state balancer "
            "balance_switch balancer_enabled list_liveservers list_deadservers rit",
            "regions": "move split merge_region regioninfo",
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

ALIASES = {"desc": "describe", "hlog_roll": "wal_roll"}

_MASTER = "the master does it by itself; HBase's own shell can start it by hand"
_SWITCH = "set it in hbase-site.xml, or with HBase's own shell"
_LOGS = "see the logs and the web page of the server"
UNSUPPORTED = {
    "processlist": "see `status 'simple'`, and the web page of the server",
    "alter_namespace": "namespaces have no properties here; use HBase's own shell",
    "assign": "`move` brings a region to a server",
    "unassign": "`move` takes a region from a server",
    "close_region": "`move` takes a region from a server",
    "normalize": "`split` and `merge_region` do it region by region",
    "normalizer_switch": _SWITCH,
    "normalizer_enabled": _SWITCH,
    "is_in_maintenance_mode": _SWITCH,
    "clear_slowlog_responses": _LOGS,
    "get_slowlog_responses": _LOGS,
    "get_largelog_responses": _LOGS,
    "get_balancer_decisions": _LOGS,
    "get_balancer_rejections": _LOGS,
    "compaction_switch": _SWITCH,
    "flush_master_store": _MASTER,
    "zk_dump": "ask ZooKeeper with its own tools",
    "wal_roll": "the server does it by itself; `flush` makes old logs superfluous",
    "hbck_chore_run": _MASTER,
    "catalogjanitor_run": _MASTER,
    "catalogjanitor_switch": _SWITCH,
    "catalogjanitor_enabled": _SWITCH,
    "cleaner_chore_run": _MASTER,
    "cleaner_chore_switch": _SWITCH,
    "cleaner_chore_enabled": _SWITCH,
    "trace": "there is no tracing here",
    "snapshot_cleanup_switch": _SWITCH,
    "snapshot_cleanup_enabled": _SWITCH,
    "splitormerge_switch": _SWITCH,
    "splitormerge_enabled": _SWITCH,
    "clear_compaction_queues": "compactions end by themselves; see `compaction_state`",
    "clear_deadservers": "dead servers are only listed; see `list_deadservers`",
    "clear_block_cache": "the cache empties itself; restart the server to empty it",
    "stop_master": "stop the process on its machine; `webtable hbase down` for a local one",
    "stop_regionserver": "stop the process on its machine",
    "list_decommissioned_regionservers": "see `list_liveservers`; `move` empties a server",
    "decommission_regionservers": "`balance_switch false`, then `move` its regions away",
    "recommission_regionserver": "`balance_switch true` lets regions come back",
    "truncate_region": "`deleteall` with ROWPREFIXFILTER deletes a range of rows",
    "refresh_meta": _MASTER,
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
"""Groups of HBase's shell that are not part of this one, with the names people know best."""

_UNSUPPORTED_GROUPS = {"processlist": "general", "alter_namespace": "namespace"}


def group_of(name: str) -> Group | None:
    """Returns the group of a command, None when there is no such command."""
    name = ALIASES.get(name, name)
    if name in UNSUPPORTED:
        return GROUPS[_UNSUPPORTED_GROUPS.get(name, "tools")]
    return next((group for group in GROUPS.values() if _module(group, name)), None)


def find_command(name: str) -> Command | None:
    """Returns the function of a command, None when the shell does not know the name.

    Raises:
        InvalidRequest: HBase's shell knows it, this one does not.
    """
    name = ALIASES.get(name, name)
    for group in GROUPS.values():
        if module := _module(group, name):
            commands = importlib.import_module(f"webtable.cli.shell.{module}").COMMANDS
            found: Command = commands[name]
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
