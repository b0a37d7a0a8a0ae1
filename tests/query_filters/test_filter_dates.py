"""Reading, writing and comparing dates."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from lightrag.constants import OPEN_END_MS, OPEN_START_MS
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import (
    coerce_aware_datetime,
    instant_us,
    parse_stored_datetime,
    serialize_aware_datetime,
    validate_date_pair,
)
from lightrag.query_filters.dates import coerce_instant, end_to_row, start_to_row, stored_instant_us

NOON = datetime(2020, 1, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2020-01-15T12:00:00Z",
        "2020-01-15T12:00:00z",
        "2020-01-15t12:00:00+00:00",
        "2020-01-15T12:00:00+0000",
        "2020-01-15T12:00:00+00",
        "2020-01-15T12:00Z",
        "2020-01-15T12Z",
        "2020-01-15T12:00:00.000Z",
        "2020-01-15T12:00:00,0Z",
        "2020-01-15T12:00:00.0000000000Z",
        "2020-01-15T13:00:30+01:00:30",
        "2020-01-15T12:00:00.500000+00:00:00.5",
        "2020-01-15T07:00:00-05:00",
        "2020-01-15T07:00:00\u221205:00",
        "20200115T120000Z",
        "20200115T1200Z",
        "2020-W03-3T12:00:00Z",
        "2020W033T12Z",
        "2020-015T12:00:00Z",
        "2020015T120000+0000",
        "2020-01-16T00:00:00+12:00",
        "2020-01-15T24:00:00+12:00",
        "2020-01-15T24:00+1200",
    ],
)
def test_every_iso_form_of_an_instant_is_read(text: str) -> None:
    assert instant_us(parse_stored_datetime(text)) == instant_us(NOON)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "15/01/2020",
        "1579089600",
        "2020-01-15 12:00:00Z",
        "2020-01-15T12:00:00 01:00",
        " 2020-01-15T12:00:00Z",
        "2020-01-15T12:00:00ZZ",
        "2020-01-15T12:00:60Z",
        "2020-01-15T23:59:60Z",
        "2020-01-15T24:00:01Z",
        "2020-01-15T24:00:00.5Z",
        "2020-01-15T25:00:00Z",
        "2020-01-15T12:60:00Z",
        "2020-13-15T12:00:00Z",
        "2020-02-30T12:00:00Z",
        "2021-366T00:00:00Z",
        "2021-W54-1T00:00:00Z",
        "2020-000T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "9999-12-31T24:00:00Z",
        "+12020-01-15T12:00:00Z",
        "2020-01-15T12:00:00+24:00",
        "2020-01-15T12:00:00+01:60",
        "2020-01-15T12:00:00+01:00:60",
        "2020-01-15T12:00:00-00:00",
        "2020-0115T12:00:00Z",
        "20200115T12:00:00Z",
        "2020-01-15T1200Z",
        "２０２０-01-15T12:00:00Z",
        "2020-01-15T12:00:00." + "0" * 60 + "Z",
    ],
)
def test_what_is_no_iso_date_is_refused_with_the_form_to_send(text: str) -> None:
    with pytest.raises(FilterSyntaxError, match=r"send '2020-01-15T00:00:00Z' or '2030-03-30T00:00:00\+01:00'"):
        parse_stored_datetime(text)


@pytest.mark.parametrize("text", ["2020-01-15", "20200115", "2020-W03-3", "2020-01-15T12:00:00", "2020-01-15T12"])
def test_a_date_without_time_or_zone_is_refused(text: str) -> None:
    with pytest.raises(FilterSyntaxError, match="Date must include a timezone offset or Z: send"):
        parse_stored_datetime(text)


@pytest.mark.parametrize(
    "text",
    [
        "2030-03-30T00:00:00+01:00",
        "2020-01-15T12:00:00Z",
        "2020-01-15T12:00:00+00:00",
        "1890-05-01T00:00:00+00:19:32",
        "2020-01-15T12:00:00.250000-05:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59.999999-12:00",
    ],
)
def test_stored_text_comes_back_letter_for_letter(text: str) -> None:
    assert serialize_aware_datetime(parse_stored_datetime(text)) == text


def test_a_named_zone_is_stored_with_the_offset_of_its_day() -> None:
    paris = ZoneInfo("Europe/Paris")
    assert serialize_aware_datetime(datetime(2030, 3, 30, tzinfo=paris)) == "2030-03-30T00:00:00+01:00"
    assert serialize_aware_datetime(datetime(2030, 4, 30, tzinfo=paris)) == "2030-04-30T00:00:00+02:00"


def test_utc_from_code_is_stored_as_python_writes_it() -> None:
    assert serialize_aware_datetime(NOON) == "2020-01-15T12:00:00+00:00"


class _NoOffset(tzinfo):
    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None


@pytest.mark.parametrize("naive", [datetime(2020, 1, 15), datetime(2020, 1, 15, tzinfo=_NoOffset())])  # noqa: DTZ001
def test_naive_datetimes_are_refused_everywhere(naive: datetime) -> None:
    for refuse in (serialize_aware_datetime, coerce_aware_datetime, coerce_instant):
        with pytest.raises(FilterSyntaxError, match="Date must include a timezone offset or Z"):
            refuse(naive)
    for pair in ((naive, None), (None, naive), (NOON, naive)):
        with pytest.raises(ValueError, match="Date must include a timezone offset or Z"):
            validate_date_pair(*pair)


def test_other_types_are_no_dates() -> None:
    with pytest.raises(FilterSyntaxError, match=r"Date must include a timezone offset or Z.*'2020-01-15'"):
        coerce_aware_datetime(date(2020, 1, 15))
    for value in (1579089600, True, None, ["2020-01-15T12:00:00Z"]):
        with pytest.raises(FilterSyntaxError, match="ISO-8601 text or an aware datetime"):
            coerce_aware_datetime(value)


def test_unix_seconds_are_taken_where_instants_are() -> None:
    assert coerce_instant(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert coerce_instant(-1.5) == datetime(1969, 12, 31, 23, 59, 58, 500_000, tzinfo=UTC)
    assert coerce_instant("2020-01-15T12:00:00Z") == NOON
    for value in (1_579_089_600_000, float("nan"), float("inf"), -(10**15)):
        with pytest.raises(FilterSyntaxError, match="outside the years 1 to 9999"):
            coerce_instant(value)
    with pytest.raises(FilterSyntaxError, match="ISO-8601"):
        coerce_instant(True)


def test_pairs_are_ordered_by_instant_not_by_wall_clock() -> None:
    validate_date_pair(None, None)
    validate_date_pair(NOON, None)
    validate_date_pair(NOON, NOON.astimezone(timezone(timedelta(hours=5))))
    validate_date_pair(
        parse_stored_datetime("2020-01-15T12:00:00+05:00"), parse_stored_datetime("2020-01-15T08:00:00Z")
    )
    with pytest.raises(FilterSyntaxError, match="lies after the end"):
        # The clock shows an earlier time, the instant is later.
        validate_date_pair(parse_stored_datetime("2020-01-15T11:00:00-05:00"), NOON)


def test_the_repeated_hour_of_one_zone_is_ordered_by_instant() -> None:
    paris = ZoneInfo("Europe/Paris")
    first = datetime(2020, 10, 25, 2, 45, tzinfo=paris, fold=0)
    second = datetime(2020, 10, 25, 2, 15, tzinfo=paris, fold=1)
    assert first > second, "Python compares the wall clock within one zone"
    validate_date_pair(first, second)
    with pytest.raises(FilterSyntaxError, match="lies after the end"):
        validate_date_pair(second, first)


def test_bounds_in_rows_are_rounded_outwards_and_keep_the_rest() -> None:
    assert start_to_row(None) == (OPEN_START_MS, 0)
    assert end_to_row(None) == (OPEN_END_MS, 0)
    assert start_to_row(1_500) == (1, 500)
    assert end_to_row(1_500) == (2, 500)
    assert start_to_row(-1) == (-1, 999)
    assert end_to_row(-1) == (0, 1)
    assert start_to_row(2_000) == end_to_row(2_000) == (2, 0)


def test_sentinels_lie_outside_every_real_date_and_are_exact_as_floats() -> None:
    first = start_to_row(instant_us(parse_stored_datetime("0001-01-01T00:00:00+23:59")))[0]
    last = end_to_row(instant_us(parse_stored_datetime("9999-12-31T23:59:59.999999-23:59")))[0]
    assert OPEN_START_MS < first < last < OPEN_END_MS
    assert int(float(OPEN_START_MS)) == OPEN_START_MS
    assert int(float(OPEN_END_MS)) == OPEN_END_MS


@pytest.mark.parametrize("value", [None, "", "rubbish", "2020-01-15T12:00:00", 5, "2" * 100])
def test_unreadable_stored_bounds_count_as_unknown(value: object) -> None:
    assert stored_instant_us(value) is None
