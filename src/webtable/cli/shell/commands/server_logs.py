"""The commands about the logs in servers' memory, and about ZooKeeper."""

from __future__ import annotations

import json
from collections.abc import Mapping

from webtable import SlowCall
from webtable.cli.output_formats import show_bytes
from webtable.cli.shell.commands.servers import servers_named
from webtable.cli.shell.language.ruby_values import Value, check_keys, to_hash, to_int, to_text
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest

_WHERE = {"REGION_NAME": "region", "TABLE_NAME": "table", "CLIENT_IP": "client", "USER": "user"}
# As HBase's shell writes calls, so that the text can also stand in a page of HTML.
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&='"}


def get_slowlog_responses(session: Session, servers: Value, options: Value = None) -> None:
    """Shows slow calls, newest first, if the servers are configured to record them.

    get_slowlog_responses '*'
    get_slowlog_responses '*', {LIMIT => 50}
    get_slowlog_responses ['host187.example.com,60020'], {TABLE_NAME => 'webtable'}
    get_slowlog_responses '*', {'CLIENT_IP' => '192.162.1.40:60225', USER => 'crawler'}
    get_slowlog_responses '*', {USER => 'crawler', TABLE_NAME => 'links', 'FILTER_BY_OP' => 'AND'}
    """
    _print_calls(session, servers, options, large=False)


def get_largelog_responses(session: Session, servers: Value, options: Value = None) -> None:
    """Shows calls with large responses, newest first, if servers are configured to record them.

    get_largelog_responses '*'
    get_largelog_responses ['host187.example.com,60020'], {LIMIT => 50, TABLE_NAME => 'webtable'}
    """
    _print_calls(session, servers, options, large=True)


def clear_slowlog_responses(session: Session, servers: Value = None) -> None:
    """Clears the records of slow calls and of calls with large responses.

    clear_slowlog_responses
    clear_slowlog_responses ['host187.example.com,60020']
    """
    chosen = None if servers is None else servers_named(session, servers)
    done = session.store.admin.clear_slow_calls(chosen)
    session.out.line(
        f"Cleared Slowlog responses from {sum(done.values())}/{len(done)} RegionServers"
    )


def get_balancer_decisions(session: Session, options: Value = None) -> None:
    """Shows the balancer's last plans, if the master is configured to record them.

    get_balancer_decisions
    get_balancer_decisions LIMIT => 10
    """
    found = session.store.admin.balancer_decisions(_limit("get_balancer_decisions", options))
    session.out.line("Retrieved BalancerDecision Responses")
    for each in found:
        shown = {
            "initialFunctionCosts": each.costs_before,
            "finalFunctionCosts": each.costs_after,
            "initTotalCost": each.total_before,
            "computedTotalCost": each.total_after,
            "computedSteps": each.steps,
            "regionPlans": list(each.moves),
        }
        session.out.line(_json(shown))


def get_balancer_rejections(session: Session, options: Value = None) -> None:
    """Shows why the balancer moved nothing, if the master is configured to record it.

    get_balancer_rejections
    get_balancer_rejections LIMIT => 10
    """
    found = session.store.admin.balancer_rejections(_limit("get_balancer_rejections", options))
    session.out.line("Retrieved BalancerRejection Responses")
    for each in found:
        shown = {"reason": each.reason, "costFuncInfoList": list(each.costs)}
        session.out.line(_json(shown))


def zk_dump(session: Session) -> None:
    """Shows what ZooKeeper has stored about the cluster.

    zk_dump
    """
    found = session.store.admin.zookeeper()
    out = session.out
    out.line(f"HBase is rooted at {found.parent}")
    out.line("Active master address: ")
    out.line(f" {found.master or 'null'}")
    out.line("Backup master addresses:")
    for name in found.backup_masters:
        out.line(f" {name}")
    out.line("Region server holding hbase:meta:")
    for number, server in enumerate(found.meta_servers):
        out.line(f" replica{number}: {server or 'null'}" if number else f" {server or 'null'}")
    out.line("Region servers:")
    for name in found.servers:
        out.line(f" {name}")
    out.line("Quorum Server Statistics:")
    for address, lines in found.quorum.items():
        out.line(f" {address}")
        for line in lines:
            out.line(f"  {line}")


def _print_calls(session: Session, servers: Value, options: Value, *, large: bool) -> None:
    chosen = None if servers == b"*" else servers_named(session, servers)
    given = {} if options is None else to_hash(options, "what to look for")
    check_keys(session.command, given, {*_WHERE, "LIMIT", "FILTER_BY_OP"})
    operator = to_text(given.get("FILTER_BY_OP", b"OR"), "FILTER_BY_OP")
    if operator not in ("AND", "OR"):
        raise InvalidRequest(f"FILTER_BY_OP '{operator:.40}' is not valid", hint="'AND' or 'OR'")
    found = session.store.admin.slow_calls(
        chosen,
        large=large,
        limit=to_int(given.get("LIMIT", 10), "LIMIT"),
        where={_WHERE[key]: to_text(given[key], key) for key in _WHERE if key in given},
        match_all=operator == "AND",
    )
    kind = "LargeLog" if large else "SlowLog"
    session.out.line(f"Retrieved {kind} Responses from RegionServers")
    for each in found:
        session.out.line(_json(_described(each)).translate(_ESCAPED))


def _described(call: SlowCall) -> dict[str, object]:
    shown: dict[str, object] = {
        "startTime": call.started_ms,
        "processingTime": call.processing_ms,
        "queueTime": call.queue_ms,
        "responseSize": call.response_bytes,
        "blockBytesScanned": call.scanned_bytes,
        "fsReadTime": call.filesystem_ms,
        "clientAddress": call.client,
        "serverClass": call.service,
        "methodName": call.method,
        "callDetails": call.details,
        "param": call.parameter,
        "userName": call.user,
        "multiGetsCount": call.gets or None,
        "multiMutationsCount": call.mutations or None,
        "multiServiceCalls": call.service_calls or None,
        "requestAttributes": _attributes(call.request_attributes),
        "connectionAttributes": _attributes(call.connection_attributes),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _attributes(found: Mapping[str, bytes]) -> dict[str, str] | None:
    return {name: show_bytes(value) for name, value in found.items()} or None


def _limit(command: str, options: Value) -> int:
    given = {} if options is None else to_hash(options, "the options")
    check_keys(command, given, {"LIMIT"})
    return to_int(given.get("LIMIT", 250), "LIMIT")


def _json(found: Mapping[str, object]) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False)
