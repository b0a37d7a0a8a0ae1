"""Dates as people type them: days, months and years in a zone, as the aware instants that filters and documents need.

    text                     as a start                    as an end                     as a point
    1930                     first instant of the year     last millisecond of it        refused
    1930-06                  first instant of the month    last millisecond of it        refused
    1930-06-15               first instant of the day      last millisecond of it        noon
    1930-06-15T10:30         that instant                  that instant                  that instant
    1930-06-15T10:30+01:00   that instant, in its own offset, whatever the zone

A day as a point is its noon: what was in force on a day was so at noon, also where its bounds were written in the
offset of a neighbouring zone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import StrEnum
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lightrag.exceptions import InputError

_FORM = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[T ](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?)?)?",
    re.ASCII,
)
_OFFSET = re.compile(r"[T ].*(?:[Zz]|[+\-\u2212]\d\d(?::?\d\d)?(?::?\d\d)?)$", re.ASCII)
_FIXED = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)
_MILLISECOND = timedelta(milliseconds=1)
_LOCAL_LINK = Path("/etc/localtime")
_EXAMPLES = "'1930', '1930-06', '1930-06-15' or '1930-06-15T10:30:00+01:00'"


class Edge(StrEnum):
    """What a date is meant as."""

    START = "start"
    END = "end"
    POINT = "point"


@dataclass(frozen=True)
class Zone:
    """A time zone.

    Attributes:
        name: For people.
        rules: Its rules; ``None`` leaves them to the operating system.
    """

    name: str
    rules: tzinfo | None

    def at(self, naive: datetime) -> datetime:
        """Return the instant at which clocks in the zone show a time.

        Raises:
            InputError: The operating system does not know.
        """
        if self.rules is not None:
            return naive.replace(tzinfo=self.rules)
        try:
            return naive.astimezone()
        except (OverflowError, OSError, ValueError) as error:
            raise InputError(f"the local time zone says nothing about {naive}; name one with --zone") from error

    def seen(self, moment: datetime) -> datetime:
        """Return an instant as clocks in the zone show it."""
        return moment.astimezone(self.rules)


def find_zone(name: str | None) -> Zone:
    """Return a zone by name, or the local one.

    Args:
        name: As in ``Europe/London``, ``UTC``, ``+01:00``; ``None`` for the local one.

    Raises:
        InputError: There is no such zone.
    """
    if name is None:
        return _local_zone()
    fixed = _FIXED.fullmatch(name)
    if fixed is not None:
        return Zone(name, _fixed(fixed[1], int(fixed[2]), int(fixed[3])))
    try:
        return Zone(name, ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(f"there is no time zone {name!r}{_hint(name)}") from error


def _fixed(sign: str, hours: int, minutes: int) -> tzinfo:
    if hours > 23 or minutes > 59:
        raise InputError(f"an offset lies between -23:59 and +23:59, which {hours:02}:{minutes:02} does not")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if sign == "-" else offset) if offset else UTC


def _hint(name: str) -> str:
    from difflib import get_close_matches
    from zoneinfo import available_timezones

    near = get_close_matches(name, sorted(available_timezones()), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else "; write it as 'Europe/London', 'UTC' or '+01:00'"


def _local_zone() -> Zone:
    """Return the machine's zone, by name where the name can be told for certain."""
    parts = _LOCAL_LINK.resolve().parts
    if "zoneinfo" in parts:
        name = "/".join(parts[parts.index("zoneinfo") + 1 :])
        try:
            rules = ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            rules = None
        if rules is not None and all(_signature(None, moment) == _signature(rules, moment) for moment in _samples()):
            return Zone(name, rules)
    return Zone(time.tzname[0], None)


def _samples() -> Iterator[datetime]:
    # A process may have been given another zone than its machine; two zones agree in summer, winter and the past only
    # if one may stand for the other.
    for year in (1950, 1970, 1990, datetime.now(UTC).year):
        for month in (1, 7):
            yield datetime(year, month, 1, 12, tzinfo=UTC)


def _signature(rules: tzinfo | None, moment: datetime) -> tuple[timedelta | None, str | None]:
    seen = moment.astimezone(rules)
    return seen.utcoffset(), seen.tzname()


def moment(text: str, zone: Zone, edge: Edge, name: str) -> str:
    """Return a date as ISO-8601 text with offset.

    Args:
        text: As typed.
        zone: Where it is meant; a date with an offset of its own is left as it is.
        edge: What it is meant as.
        name: Of the option, for messages.

    Raises:
        InputError: It is no date, or too coarse for a point.
    """
    from lightrag.query_filters import coerce_aware_datetime, serialize_aware_datetime

    typed = text.strip()
    if has_offset(typed):
        return serialize_aware_datetime(coerce_aware_datetime(typed.replace(" ", "T", 1)))
    found = _FORM.fullmatch(typed)
    if found is None:
        raise InputError(f"{name} {text!r} is no date; write {_EXAMPLES}")
    if edge is Edge.POINT and found["day"] is None:
        raise InputError(f"{name} {text!r} is no day; write it as '1930-06-15', or use --from and --to for a period")
    try:
        return serialize_aware_datetime(_instant(found, zone, edge))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} {text!r} is no date ({error}); write {_EXAMPLES}") from error


def has_offset(text: str) -> bool:
    """Tell whether a date says itself in which offset it is meant."""
    return _OFFSET.search(text) is not None


def _instant(found: re.Match[str], zone: Zone, edge: Edge) -> datetime:
    first = datetime(int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))  # noqa: DTZ001
    if found["clock"] is not None:
        return zone.at(datetime.fromisoformat(f"{first.date().isoformat()}T{found['clock']}"))
    if edge is Edge.POINT:
        return zone.at(first.replace(hour=12))
    return zone.at(first) if edge is Edge.START else _last_millisecond(found, first, zone)


def _last_millisecond(found: re.Match[str], first: datetime, zone: Zone) -> datetime:
    """Return the end of a day, month or year: one millisecond, as time passes, before the next one begins."""
    try:
        if found["day"] is not None:
            following = first + timedelta(days=1)
        elif found["month"] is not None:
            following = (first + timedelta(days=31)).replace(day=1)
        else:
            following = first.replace(year=first.year + 1)
        # Through UTC, since clocks may be put back in between.
        return zone.seen(zone.at(following).astimezone(UTC) - _MILLISECOND)
    except (OverflowError, ValueError):
        return zone.at(datetime(9999, 12, 31, 23, 59, 59, 999_000))  # noqa: DTZ001
