"""The commands about regions: where they are, moving, splitting, merging and closing them."""

from __future__ import annotations

import time
from datetime import datetime

from webtable import Region
from webtable.cli.output_formats import show_bytes
from webtable.cli.shell.language.ruby_values import (
    Value,
    check_keys,
    inspect_value,
    to_bytes,
    to_list,
    to_text,
)
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest, NotFound

__all__ = ["region_by_name"]

_WIDTHS = {
    "SERVER_NAME": 12,
    "REGION_NAME": 12,
    "START_KEY": 10,
    "END_KEY": 10,
    "SIZE": 5,
    "REQ": 5,
    "LOCALITY": 10,
}


def list_regions(
    session: Session, table: Value, options: Value = None, columns: Value = None
) -> None:
    """Lists the regions of a table with their servers, sizes in MB and requests.

    list_regions 'webtable'
    list_regions 'webtable', 'server1'
    list_regions 'webtable', {SERVER_NAME => 'server1', LOCALITY_THRESHOLD => 0.8}
    list_regions 'webtable', {}, ['REGION_NAME', 'START_KEY']
    """
    name = to_text(table, "the table's name")
    if not session.store.admin.is_enabled(name):
        raise InvalidRequest(f"table '{name}' is disabled", hint="enable it first")
    given: dict[str, Value] = {"SERVER_NAME": options or b""}
    if isinstance(options, dict):
        given = options
    check_keys("list_regions", given, {"SERVER_NAME", "LOCALITY_THRESHOLD"})
    server = to_text(given.get("SERVER_NAME", b""), "SERVER_NAME")
    threshold = given.get("LOCALITY_THRESHOLD", 1.0)
    if not isinstance(threshold, float) or not 0 <= threshold <= 1:
        raise InvalidRequest(
            f"LOCALITY_THRESHOLD {inspect_value(threshold)} is not valid", hint="from 0.0 to 1.0"
        )
    widths = _chosen(columns)
    lines = [
        {title: value for title, value in _figures(region).items() if title in widths}
        for region in session.store.admin.regions(name)
        if (region.server or "").startswith(server) and (region.locality or 0.0) <= threshold
    ]
    for line in lines:
        widths = {title: max(width, len(line[title])) for title, width in widths.items()}
    out = session.out
    out.line("".join(f" {title:>{width}} |" for title, width in widths.items()))
    out.line("".join(f" {'-' * width} |" for width in widths.values()))
    for line in lines:
        out.line("".join(f" {line[title]:>{width}} |" for title, width in widths.items()))
    out.line(f" {len(lines)} rows")


def locate_region(session: Session, table: Value, row: Value) -> None:
    """Shows the region that has a row key, and its server.

    locate_region 'webtable', 'com.example_about'
    """
    key = to_bytes(row, "the row key")
    regions = session.store.admin.regions(to_text(table, "the table's name"))
    region = next((each for each in regions if each.holds(key)), None)
    if region is None:
        raise NotFound("region", show_bytes(key), hint="it may be moving; try again")
    session.out.heading("HOST", "REGION")
    host = ":".join((region.server or "").split(",")[:2])
    session.out.row(host, _described(region))
    session.out.footer(1)


def regioninfo(session: Session, region: Value) -> None:
    """Shows one region, by its name or its encoded name.

    regioninfo '527db22f95c8a9e0116f0cc13c680396'
    """
    session.out.line(_described(region_by_name(session, region)))


def get_splits(session: Session, table: Value) -> list[Value]:
    """Lists the keys between the regions of a table.

    get_splits 'webtable'
    """
    regions = session.store.admin.regions(to_text(table, "the table's name"))
    keys = [show_bytes(region.start) for region in regions if region.start]
    session.out.line(f"Total number of splits = {len(keys) + 1}")
    for key in keys:
        session.out.line(key)
    return [key.encode() for key in keys]


def move(session: Session, region: Value, server: Value = None) -> None:
    """Moves a region to a server, or to the one with the fewest regions.

    move '527db22f95c8a9e0116f0cc13c680396'
    move '527db22f95c8a9e0116f0cc13c680396', 'host187.example.com,60020,1289493121758'
    """
    target = None if server is None else to_text(server, "the server's name")
    session.store.admin.move(region_by_name(session, region), target)


def split(session: Session, target: Value, at: Value = None) -> None:
    """Splits a table or a region, in the middle or at a row key.

    split 'webtable'
    split 'webtable', 'com.example'
    split '527db22f95c8a9e0116f0cc13c680396', 'com.example'
    """
    key = None if at is None else to_bytes(at, "the split key")
    name = to_text(target, "the table or region")
    if name in session.store.tables():
        session.store.admin.split(name, key)
    else:
        session.store.admin.split_region(region_by_name(session, target), key)


def merge_region(session: Session, *regions: Value) -> None:
    """Makes one region of two or more that follow one another.

    merge_region '527db22f95c8a9e0116f0cc13c680396', 'e37b1ae7a1cbd4b7d2b6f9f2a5b4d7a1'
    """
    names: list[Value] = []
    for each in regions:
        names += to_list(each, "the regions") if isinstance(each, list) else [each]
    if len(names) > 2 and isinstance(names[-1], bool):
        names.pop()  # whether to force it; only neighbours are merged here
    if len(names) < 2:
        raise InvalidRequest("merge_region needs at least 2 regions", hint="see `list_regions`")
    session.store.admin.merge([region_by_name(session, name) for name in names])


def assign(session: Session, region: Value) -> None:
    """Puts a region into service that is out of it.

    assign '527db22f95c8a9e0116f0cc13c680396'
    """
    session.store.admin.assign(region_by_name(session, region))


def unassign(session: Session, region: Value, _force: Value = None) -> None:
    """Takes a region out of service until it is assigned; its rows cannot be reached meanwhile.

    unassign '527db22f95c8a9e0116f0cc13c680396'
    """
    session.store.admin.unassign(region_by_name(session, region))


def close_region(session: Session, _region: Value, _server: Value = None) -> None:
    """Shows that `unassign` replaces it, as HBase's shell does.

    close_region '527db22f95c8a9e0116f0cc13c680396'
    """
    session.out.line("DEPRECATED!!! Use 'unassign' command instead.")


def truncate_region(session: Session, region: Value) -> None:
    """Removes all rows of a region; the region stays.

    truncate_region '527db22f95c8a9e0116f0cc13c680396'
    """
    session.store.admin.truncate_region(region_by_name(session, region))


def rit(session: Session) -> None:
    """Lists the regions that are on their way from one server to another.

    rit
    """
    moving = session.store.admin.report().in_transition
    session.out.heading()
    now = time.time()
    for each in moving:
        since = (each.since_ms or 0) / 1000
        date = datetime.fromtimestamp(since).astimezone()
        session.out.row(
            f"{each.region} state={each.state}, ts={date:%a %b %d %H:%M:%S %Z %Y} "
            f"({now - since:.0f}s ago), server=null"
        )
    session.out.footer()


def region_by_name(session: Session, value: Value) -> Region:
    """Returns the region of an encoded name, or of a whole name.

    Raises:
        NotFound: no region has that name.
    """
    name = to_text(value, "the region's name")
    admin = session.store.admin
    if name.endswith(".") and "," in name:  # the whole name has the encoded one at its end
        name = name.rstrip(".").rpartition(".")[2]
    try:
        return admin.region(name)
    except NotFound as exc:
        raise NotFound("region", name, hint="`list_regions` shows the names") from exc


def _chosen(columns: Value) -> dict[str, int]:
    if columns is None:
        return dict(_WIDTHS)
    titles = [to_text(each, "a column").upper() for each in to_list(columns, "the columns")]
    for title in titles:
        if title not in _WIDTHS:
            raise InvalidRequest(
                f"list_regions has no column {title:.40}", hint=f"one of {', '.join(_WIDTHS)}"
            )
    return {title: _WIDTHS[title] for title in titles}


def _figures(region: Region) -> dict[str, str]:
    requests = None
    if region.reads is not None or region.writes is not None:
        requests = (region.reads or 0) + (region.writes or 0)
    megabytes = None if region.size_bytes is None else -(-region.size_bytes // 2**20)
    return {
        "SERVER_NAME": region.server or "",
        "REGION_NAME": show_bytes(region.full_name),
        "START_KEY": show_bytes(region.start),
        "END_KEY": show_bytes(region.stop),
        "SIZE": "" if megabytes is None else str(megabytes),
        "REQ": "" if requests is None else str(requests),
        "LOCALITY": "" if region.locality is None else str(float(region.locality)),
    }


def _described(region: Region) -> str:
    return (
        f"{{ENCODED => {region.name}, NAME => '{show_bytes(region.full_name)}', "
        f"STARTKEY => '{show_bytes(region.start)}', ENDKEY => '{show_bytes(region.stop)}'}}"
    )
