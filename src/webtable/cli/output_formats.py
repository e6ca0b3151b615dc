"""How a command prints its results: as a table for people, as json, jsonl or csv for programs.

Results are a list of items, each a mapping of the same keys. `json` is one object that also has
the cursor of the next page; `jsonl` and `csv` are the items only. Bytes appear as HBase shows them.
`webtable.cli.safe_text` makes tables and messages safe for terminals; cells of `csv` are made safe
for spreadsheets here.
"""

from __future__ import annotations

import csv
import itertools
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TextIO, TypeAlias, TypeVar

import click

from webtable.cli.safe_text import show_json, show_text
from webtable.cli.shared_options import Format, is_raw
from webtable.cli.table_width import cut_end, cut_middle, fit_widths, text_width

__all__ = [
    "Column",
    "Item",
    "json_text",
    "more_follows",
    "page_of",
    "print_item",
    "print_items",
    "print_named",
    "show_bytes",
    "show_size",
    "talk",
]

Item: TypeAlias = Mapping[str, object]
T = TypeVar("T")


class Column(NamedTuple):
    """One key of the items: its heading in a table, and what kind of value it is.

    On a terminal that is too narrow a text is cut at its end, a `name` (a URL, a row key, a table)
    in its middle, and a `when` (a time as text) after its day. `time` is in milliseconds.
    """

    key: str
    title: str
    kind: Literal["text", "name", "when", "count", "size", "share", "time", "status"] = "text"
    spare: int = 0
    """Where a terminal is too narrow, the column with the highest number is left out first."""


def print_items(
    items: Iterable[Item],
    columns: Sequence[Column],
    form: Format,
    *,
    next_key: str | None = None,
    go_on: str = "--start",
    more: Callable[[], Item] | None = None,
) -> None:
    """Prints items to stdout as they come; a table reads some of them first, for its widths.

    Args:
        columns: the keys in the order of printing; every item has all of them.
        next_key: where a limited list goes on, None when it is complete.
        go_on: the option that takes it.
        more: returns what else the one object of `json` has, after the items.
    """
    out = sys.stdout
    if form == "json":
        bounds: Item = {"next": next_key, "truncated": next_key is not None}
        _print_object(items, bounds, more, out)
    elif form == "jsonl":
        for item in items:
            out.write(json_text(item) + "\n")
    elif form == "csv":
        _print_csv(items, columns, out)
    else:
        _print_table(iter(items), columns)
    # A reader that went away shows up here, where it can be handled, and not at exit.
    out.flush()
    if next_key is not None and form != "json":
        more_follows(go_on, next_key)


def print_item(item: Item, form: Format, *, shown: Item | None = None) -> None:
    """Prints one thing to stdout: in a table a line for each of its keys.

    Args:
        shown: what people see instead, where that is not all, or not the same.
    """
    if form == "json":
        sys.stdout.write(json_text(item, indent=2) + "\n")
        return
    flat = item if shown is None else shown
    if form == "table":
        width = max(map(len, flat))
        for key, value in flat.items():
            text = _cell(value, "count" if isinstance(value, int) else "text") or "-"
            if key == "status" and (color := _STATUS_COLORS.get(text[:1])):
                text = click.style(text, fg=color)
            click.echo(f"{click.style(key.ljust(width), bold=True)}  {text}")
        return
    print_items([flat], tuple(Column(key, key) for key in flat), form)


def page_of(
    items: Sequence[T], name_of: Callable[[T], str], start: str, limit: int | None
) -> tuple[Sequence[T], str | None]:
    """Returns the items from the one named `start` on, and the name that the next page begins with.

    The items are in the order of their names; a name that is not there stands for the next one.
    """
    rest = [item for item in items if name_of(item) >= start]
    if limit is None or len(rest) <= limit:
        return rest, None
    return rest[:limit], name_of(rest[limit])


def print_named(
    items: Sequence[Any], columns: Sequence[Column], form: Format, *, start: str, limit: int | None
) -> None:
    """Prints named tuples that have a `name`, from the one named `start` on."""
    found, next_name = page_of(items, lambda each: str(each.name), start, limit)
    print_items([each._asdict() for each in found], columns, form, next_key=next_name)


def talk(message: str) -> None:
    """Prints one line for the person at the terminal, to stderr; programs read stdout only."""
    click.echo(show_text(message, keep="\t"), err=True)


def more_follows(option: str, next_key: str) -> None:
    """Prints the option that continues a list, in a form that can be pasted into a shell."""
    quoted = next_key.replace("'", "'\\''")
    talk(f"more results follow: continue with {option} '{quoted}'")


def show_bytes(value: bytes) -> str:
    r"""Returns bytes the way HBase's `Bytes.toStringBinary` shows them.

    >>> print(show_bytes(b"com.example\x00\xff"))
    com.example\x00\xFF
    """
    return "".join(_SHOWN[byte] for byte in value)


def show_size(size_bytes: int) -> str:
    """Returns a size in the largest unit of which there is at least one.

    >>> show_size(999), show_size(1_500_000)
    ('999 B', '1.5 MB')
    """
    if size_bytes < 1000:
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.95 or unit == "TB":
            break
    return f"{size:.1f} {unit}"


def json_text(value: object, indent: int | None = None) -> str:
    """Returns a value as JSON, safe to print on a terminal; bytes as HBase shows them."""
    # Escapes keep the value where the output's encoding lacks a character.
    is_ascii = (sys.stdout.encoding or "").lower() not in ("utf-8", "utf8")
    return show_json(json.dumps(value, default=_plain, ensure_ascii=is_ascii, indent=indent))


_MEASURED_ROWS = 1_000
_STATUS_COLORS = {"2": "green", "3": "cyan", "4": "red", "5": "red"}
# Excel takes the wide forms of East Asian keyboards for the same signs.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_SHOWN = [
    chr(byte) if 0x20 <= byte <= 0x7E and byte != 0x5C else f"\\x{byte:02X}" for byte in range(256)
]


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        return show_bytes(value)
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _print_csv(items: Iterable[Item], columns: Sequence[Column], out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    # A writer quotes the characters of its own line end; readers end a line at a lone \r, too.
    quoting = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    cell = _text if is_raw() else _safe_csv
    writer.writerow([column.key for column in columns])
    for item in items:
        cells = [cell(item[column.key]) for column in columns]
        (quoting if any("\r" in each for each in cells) else writer).writerow(cells)


def _print_object(
    items: Iterable[Item], bounds: Item, more: Callable[[], Item] | None, out: TextIO
) -> None:
    """Prints one object of JSON, whose list may be longer than memory."""
    out.write('{\n  "items": [')
    comma = ""
    for item in items:
        text = json_text(item, indent=2).replace("\n", "\n    ")
        out.write(f"{comma}\n    {text}")
        comma = ","
    out.write("\n  ]" if comma else "]")
    for key, value in {**bounds, **(more() if more else {})}.items():
        text = json_text(value, indent=2).replace("\n", "\n  ")
        out.write(f",\n  {json_text(key)}: {text}")
    out.write("\n}\n")


def _print_table(items: Iterator[Item], columns: Sequence[Column]) -> None:
    titles = [column.title for column in columns]
    first = [_cells(item, columns) for item in itertools.islice(items, _MEASURED_ROWS)]
    widths: list[int | None] = [
        max(map(text_width, texts)) for texts in zip(titles, *first, strict=True)
    ]
    is_cut = sys.stdout.isatty()
    if is_cut:
        width = shutil.get_terminal_size().columns
        widths = fit_widths([each or 0 for each in widths], columns, width)
    click.secho(_line(titles, widths, columns, is_cut=is_cut, is_heading=True), bold=True)
    rest = (_cells(item, columns) for item in items)
    for cells in itertools.chain(first, rest):
        click.echo(_line(cells, widths, columns, is_cut=is_cut))
    if None in widths:
        left_out = [title for title, each in zip(titles, widths, strict=True) if each is None]
        talk(f"not shown, because the terminal is narrow: {', '.join(left_out)}")


def _cells(item: Item, columns: Sequence[Column]) -> list[str]:
    return [_cell(item[column.key], column.kind) for column in columns]


def _line(
    cells: Sequence[str],
    widths: Sequence[int | None],
    columns: Sequence[Column],
    *,
    is_cut: bool,
    is_heading: bool = False,
) -> str:
    texts = []
    for text, width, (_, _, kind, _) in zip(cells, widths, columns, strict=True):
        if width is None:
            continue
        shown = _CUT.get(kind, cut_end)(text, width) if is_cut else text
        blanks = " " * (width - text_width(shown))
        padded = shown + blanks if kind in ("text", "name", "when", "time") else blanks + shown
        color = _STATUS_COLORS.get(shown[:1]) if kind == "status" and not is_heading else None
        texts.append(click.style(padded, fg=color) if color else padded)
    return "  ".join(texts).rstrip()


def _cell(value: object, kind: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and kind != "text":
        return _SHOW[kind](value)
    return show_text(_text(value))


_CUT: Mapping[str, Callable[[str, int], str]] = {
    "name": cut_middle,
    "when": lambda text, width: text[:width],
}


def _show_time(milliseconds: float) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


_SHOW: Mapping[str, Callable[[float], str]] = {
    "status": lambda value: f"{value:.0f}",
    "count": lambda value: f"{value:,.0f}",
    "size": lambda value: show_size(int(value)),
    "share": lambda value: f"{value:.0%}",
    "time": _show_time,
}


def _safe_csv(value: object) -> str:
    """Returns a cell that a spreadsheet takes for text where it is one, not for a formula."""
    text = _text(value)
    if isinstance(value, int | float):
        return text
    if sys.stdout.isatty():
        text = show_text(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return show_bytes(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return json_text(value)
    if isinstance(value, list | tuple):
        if any(isinstance(each, Mapping) for each in value):
            return json_text(value)
        return ", ".join(map(_text, value))
    return str(value)
