"""Dates: reading, writing, and comparing them by instant.

A date is stored as ISO-8601 text with the offset it came with, never re-projected to UTC, because a future
calendar date in a named offset cannot be recovered from UTC once the rules of that zone change. Comparisons
use the instant: whole microseconds since 1970-01-01T00:00:00Z, an integer, so no bound is lost to rounding or
to another offset.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache

from lightrag.constants import OPEN_END_MS, OPEN_START_MS
from lightrag.exceptions import FilterSyntaxError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EXAMPLE = "'2020-01-15T00:00:00Z' or '2030-03-30T00:00:00+01:00'"
# The same instant and offset as UTC; the name alone remembers that the text said "Z" and not "+00:00".
_ZULU = timezone(timedelta(0), "Z")

_MAX_CHARS = 64


def _iso_pattern(dash: str, colon: str) -> re.Pattern[str]:
    """Return the pattern of a date with time and offset, extended or (without separators) basic."""
    week = rf"{dash}W(?P<week>\d\d){dash}(?P<weekday>\d)"
    month = rf"{dash}(?P<month>\d\d){dash}(?P<day>\d\d)"
    date_part = rf"(?P<year>\d{{4}})(?:{week}|{month}|{dash}(?P<ordinal>\d{{3}}))"
    second = rf"{colon}(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?"
    time_part = rf"(?P<hour>\d\d)(?:{colon}(?P<minute>\d\d)(?:{second})?)?"
    zone = r"(?P<zone>[Zz]|[+\-\u2212]\d\d(?::?\d\d(?::?\d\d(?:\.\d{1,6})?)?)?)"
    return re.compile(rf"{date_part}(?:[Tt]{time_part}(?:{zone})?)?", re.ASCII)


_EXTENDED = _iso_pattern("-", ":")
_BASIC = _iso_pattern("", "")
_OFFSET = re.compile(r"([+\-\u2212])(\d\d):?(\d\d)?:?(\d\d)?(?:\.(\d{1,6}))?", re.ASCII)


def parse_stored_datetime(iso: str) -> datetime:
    """Return the aware datetime that an ISO-8601 text stands for.

    Accepted is what ISO-8601 allows for a date with time and offset: calendar, week and ordinal dates, the
    basic and the extended form, a time cut to minutes or hours, a fraction of a second, ``24:00`` for the end
    of a day, ``Z`` or an offset, also with seconds as zones had before 1900. Digits beyond the microsecond
    are dropped.

    Args:
        iso: The text, as sent by a client or as stored.

    Raises:
        FilterSyntaxError: The text is no such date; the message shows the form to send.
    """
    found = (_EXTENDED.fullmatch(iso) or _BASIC.fullmatch(iso)) if len(iso) <= _MAX_CHARS else None
    if found is None:
        raise _malformed(iso)
    if found["zone"] is None:
        raise FilterSyntaxError(f"Date must include a timezone offset or Z: send {_EXAMPLE}, not {iso!r}")
    try:
        day = _read_date(found)
        clock, is_end_of_day = _read_time(found)
        zone = _read_zone(found["zone"])
        moment = datetime.combine(day, clock, zone)
        return moment + timedelta(days=1) if is_end_of_day else moment
    except (ValueError, OverflowError) as error:
        raise _malformed(iso, str(error)) from error


def _malformed(iso: str, why: str = "") -> FilterSyntaxError:
    shown = iso if len(iso) <= _MAX_CHARS else iso[:_MAX_CHARS] + "…"
    reason = f" ({why})" if why else ""
    return FilterSyntaxError(f"{shown!r} is no ISO-8601 date with time and offset{reason}: send {_EXAMPLE}")


def _read_date(found: re.Match[str]) -> date:
    year = int(found["year"])
    if found["week"]:
        return date.fromisocalendar(year, int(found["week"]), int(found["weekday"]))
    if found["ordinal"]:
        day = date(year, 1, 1) + timedelta(days=int(found["ordinal"]) - 1)
        if day.year != year:
            raise ValueError(f"day {found['ordinal']} is not in {year}")
        return day
    return date(year, int(found["month"]), int(found["day"]))


def _read_time(found: re.Match[str]) -> tuple[time, bool]:
    """Return the time of day, and whether it was 24:00, the midnight that ends the day."""
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    microsecond = int((found["fraction"] or "0")[:6].ljust(6, "0"))
    if second == 60:
        raise ValueError("leap seconds cannot be represented")
    if hour == 24 and not (minute or second or int(found["fraction"] or 0)):
        return time(0), True
    return time(hour, minute, second, microsecond), False


def _read_zone(text: str) -> tzinfo:
    if text in "Zz":
        return _ZULU
    found = _OFFSET.fullmatch(text)
    assert found is not None  # the date's own pattern has matched this part
    sign, hours, minutes, seconds, fraction = found.groups(default="0")
    if int(minutes) > 59 or int(seconds) > 59:
        raise ValueError(f"offset {text!r} has more than 59 minutes or seconds")
    offset = timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(seconds), microseconds=int(fraction.ljust(6, "0"))
    )
    if sign == "+":
        return timezone(offset) if offset else UTC
    if not offset:
        raise ValueError("a negative zero offset says that the zone is unknown")
    return timezone(-offset)


def is_aware(moment: datetime) -> bool:
    """Tell whether the datetime has an offset; a ``tzinfo`` that gives none does not count."""
    return moment.utcoffset() is not None


def serialize_aware_datetime(dt: datetime) -> str:
    """Return ISO-8601 text with the datetime's own offset, for storage.

    Args:
        dt: An aware datetime. One that was parsed from text ending in ``Z`` is written with ``Z`` again.

    Raises:
        FilterSyntaxError: The datetime is naive.
    """
    _require_aware(dt)
    text = dt.isoformat()
    return text.removesuffix("+00:00") + "Z" if dt.tzname() == "Z" and text.endswith("+00:00") else text


def coerce_aware_datetime(value: object) -> datetime:
    """Return a date given as an aware datetime or as ISO-8601 text.

    Raises:
        FilterSyntaxError: Naive, no date, malformed text, or another type; the message shows the form to
            send.
    """
    if isinstance(value, datetime):
        _require_aware(value)
        return value
    if isinstance(value, str):
        return parse_stored_datetime(value)
    if isinstance(value, date):
        raise FilterSyntaxError(
            f"Date must include a timezone offset or Z: send {_EXAMPLE}, not the day {value.isoformat()!r}"
        )
    raise FilterSyntaxError(f"a date is ISO-8601 text or an aware datetime, such as {_EXAMPLE}, not {value!r}")


def coerce_instant(value: object) -> datetime:
    """As :func:`coerce_aware_datetime`, and also take a number of Unix seconds.

    Raises:
        FilterSyntaxError: As there, or the number lies outside the years 1 to 9999.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return coerce_aware_datetime(value)
    try:
        return _EPOCH + timedelta(seconds=value)
    except (ValueError, OverflowError) as error:
        raise FilterSyntaxError(
            f"{value!r} is outside the years 1 to 9999 as Unix seconds; are they milliseconds?"
        ) from error


def _require_aware(moment: datetime) -> None:
    if not is_aware(moment):
        raise FilterSyntaxError(
            f"Date must include a timezone offset or Z: send {_EXAMPLE}, not {moment.isoformat()!r}"
        )


def instant_us(moment: datetime) -> int:
    """Return microseconds since 1970-01-01T00:00:00Z, exact from year 1 to 9999.

    Two datetimes in one named zone compare by wall clock in Python, which is wrong when the clock is put
    back; so every comparison goes through this.
    """
    return (moment - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=16_384)
def _stored_instant_us(iso: str) -> int | None:
    try:
        return instant_us(parse_stored_datetime(iso))
    except FilterSyntaxError:
        return None


def stored_instant_us(value: object) -> int | None:
    """Return the instant of a stored bound, ``None`` when it is absent or unreadable.

    Our own rows are always readable. One that was damaged or written by another tool must not make every
    filtered query fail, so its bound counts as unknown.
    """
    return _stored_instant_us(value) if isinstance(value, str) and len(value) <= _MAX_CHARS else None


def floor_ms(microseconds: int) -> int:
    """Return the whole millisecond at or before an instant."""
    return microseconds // 1000


def ceil_ms(microseconds: int) -> int:
    """Return the whole millisecond at or after an instant."""
    return -(-microseconds // 1000)


def start_to_row(start_us: int | None) -> tuple[int, int]:
    """Return a start as stored: whole milliseconds, rounded down, and the microseconds (0-999) above them."""
    if start_us is None:
        return OPEN_START_MS, 0
    return floor_ms(start_us), start_us % 1000


def end_to_row(end_us: int | None) -> tuple[int, int]:
    """Return an end as stored: whole milliseconds, rounded up, and the microseconds (0-999) below them."""
    if end_us is None:
        return OPEN_END_MS, 0
    return ceil_ms(end_us), -end_us % 1000


def validate_date_pair(start: datetime | None, end: datetime | None) -> None:
    """Check a pair of bounds; either may be missing.

    Raises:
        FilterSyntaxError: A bound is naive, or the start lies after the end by instant. It is a
            ``ValueError``, so
            pydantic validators can let it pass through.
    """
    for bound in (start, end):
        if bound is not None:
            _require_aware(bound)
    if start is not None and end is not None and instant_us(start) > instant_us(end):
        first, last = serialize_aware_datetime(start), serialize_aware_datetime(end)
        raise FilterSyntaxError(f"the start {first!r} lies after the end {last!r}")
