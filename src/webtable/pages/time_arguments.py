"""Times as arguments of users and programs: a day, or a second in UTC."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime
from typing import TypeAlias

from webtable.errors import InvalidRequest

__all__ = ["When", "optional_second", "second_of"]

When: TypeAlias = str | int | date | datetime
"""`2026-09-01`, `2026-09-01T12:30:00Z`, seconds since 1970, a date, or a datetime with its zone."""

_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?Z?)?", re.ASCII)
_LAST_SECOND = 253_402_300_799  # of the year 9999
_RIGHT_DATES = "write it as 2026-09-01, or as 2026-09-01T12:30:00Z for a time in UTC"


def second_of(when: When, *, begins: bool = False) -> int:
    """Returns a time as seconds since 1970.

    >>> second_of("2026-09-01T12:30:00Z"), second_of("2026-09-01", begins=True)
    (1788265800, 1788220800)

    Args:
        begins: whether a day means its first second; otherwise its last.

    Raises:
        InvalidRequest: `when` is not a time.
    """
    if isinstance(when, bool) or not isinstance(when, str | int | date):
        raise InvalidRequest(f"{when!r:.80} is not a date", hint=_RIGHT_DATES)
    if isinstance(when, int):
        if not 0 <= when <= _LAST_SECOND:
            raise InvalidRequest(f"{when} is not a time in seconds since 1970", hint=_RIGHT_DATES)
        return when
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise InvalidRequest(
                f"{when!r} has no time zone", hint="create it with tzinfo, such as datetime.UTC"
            )
        return int(when.timestamp())
    if isinstance(when, date):
        return _second(when.isoformat(), (when.year, when.month, when.day), begins=begins)
    found = _DATE.fullmatch(when)
    if found is None:
        raise InvalidRequest(f"'{when:.80}' is not a date", hint=_RIGHT_DATES)
    day = (int(found[1]), int(found[2]), int(found[3]))
    if found[4] is None:
        return _second(when, day, begins=begins)
    return _second(when, day, (int(found[4]), int(found[5]), int(found[6] or 0)))


def optional_second(when: When | None) -> int | None:
    """Returns the same as `second_of`, and None for None."""
    return None if when is None else second_of(when)


def _second(
    text: str,
    day: tuple[int, int, int],
    time: tuple[int, int, int] | None = None,
    *,
    begins: bool = False,
) -> int:
    hour, minute, second = time or ((0, 0, 0) if begins else (23, 59, 59))
    try:
        moment = datetime(*day, hour, minute, second, tzinfo=UTC)
    except ValueError as exc:
        raise InvalidRequest(f"'{text}' does not exist in the calendar", hint=_RIGHT_DATES) from exc
    return calendar.timegm(moment.timetuple())
