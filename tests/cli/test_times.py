"""Dates as people type them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightrag.cli import times
from lightrag.cli.times import Edge, Zone, find_zone, moment
from lightrag.exceptions import InputError
from lightrag.query_filters import coerce_aware_datetime, instant_us

ZONES = ["UTC", "Europe/London", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "+05:30", "-11:00"]


def read(text: str, zone: str = "UTC", edge: Edge = Edge.START) -> str:
    return moment(text, find_zone(zone), edge, "--from")


@pytest.mark.parametrize(
    ("text", "zone", "edge", "expected"),
    [
        ("1930", "UTC", Edge.START, "1930-01-01T00:00:00+00:00"),
        ("1930", "UTC", Edge.END, "1930-12-31T23:59:59.999000+00:00"),
        ("1930-02", "UTC", Edge.END, "1930-02-28T23:59:59.999000+00:00"),
        ("1932-02", "UTC", Edge.END, "1932-02-29T23:59:59.999000+00:00"),
        ("1930-12", "UTC", Edge.END, "1930-12-31T23:59:59.999000+00:00"),
        ("1930-06-15", "Europe/London", Edge.START, "1930-06-15T00:00:00+01:00"),
        ("1930-06-15", "Europe/London", Edge.END, "1930-06-15T23:59:59.999000+01:00"),
        ("1930-01-15", "Europe/London", Edge.START, "1930-01-15T00:00:00+00:00"),
        ("1930-06-15", "Europe/London", Edge.POINT, "1930-06-15T12:00:00+01:00"),
        ("1930-06-15", "+05:30", Edge.START, "1930-06-15T00:00:00+05:30"),
        ("1930-06-15T10:30", "Europe/London", Edge.END, "1930-06-15T10:30:00+01:00"),
        ("1930-06-15 10:30:05.25", "UTC", Edge.POINT, "1930-06-15T10:30:05.250000+00:00"),
        ("1930-06-15T10:30:00-03:00", "Europe/London", Edge.START, "1930-06-15T10:30:00-03:00"),
        ("1930-06-15 10:30Z", "Europe/London", Edge.END, "1930-06-15T10:30:00Z"),
        # Before there were zones, clocks showed the time of their place, to the second.
        ("1840-06-15", "Europe/London", Edge.START, "1840-06-15T00:00:00-00:01:15"),
        ("9999", "UTC", Edge.END, "9999-12-31T23:59:59.999000+00:00"),
        ("0001", "UTC", Edge.START, "0001-01-01T00:00:00+00:00"),
        ("0999-06-15T10:30", "UTC", Edge.START, "0999-06-15T10:30:00+00:00"),
        # Clocks went back at midnight, so the last hour of the day came twice; its end is the second one.
        ("2018-02-17", "America/Sao_Paulo", Edge.END, "2018-02-17T23:59:59.999000-03:00"),
    ],
)
def test_reading(text: str, zone: str, edge: Edge, expected: str) -> None:
    found = read(text, zone, edge)
    assert found == expected
    assert coerce_aware_datetime(found) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "30",
        "1930-6-1",
        "15.06.1930",
        "1930-02-30",
        "1930-13",
        "0000",
        "1930-06-15T25:00",
        "1930T10:00",
    ],
)
def test_what_is_no_date_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InputError, match=r"--from .* is no date.*'1930-06'"):
        read(text)


@pytest.mark.parametrize("text", ["1930", "1930-06"])
def test_a_point_is_a_day_at_the_coarsest(text: str) -> None:
    with pytest.raises(InputError, match=r"is no day.*--from and --to"):
        read(text, edge=Edge.POINT)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Europe/Londn", "did you mean 'Europe/London'"), ("", "'Europe/London'"), ("../etc/passwd", "'+01:00'"),
     ("+25:00", "between -23:59 and"), ("zzzzzzzz", "'UTC'")],
)  # fmt: skip
def test_unknown_zones_are_refused(name: str, hint: str) -> None:
    with pytest.raises(InputError) as found:
        find_zone(name)
    assert hint in str(found.value)


@given(
    day=st.dates(date(1, 1, 2), date(9999, 12, 29)),
    zone=st.sampled_from(ZONES),
)
def test_days_join_without_gap_or_overlap(day: date, zone: str) -> None:
    following = day + timedelta(days=1)
    begin, end = read(day.isoformat(), zone), read(day.isoformat(), zone, Edge.END)
    noon, after = read(day.isoformat(), zone, Edge.POINT), read(following.isoformat(), zone)
    instants = [instant_us(coerce_aware_datetime(text)) for text in (begin, noon, end, after)]
    assert instants[0] < instants[1] < instants[2]
    assert instants[3] - instants[2] == 1000


@given(year=st.integers(1, 9998), zone=st.sampled_from(ZONES))
def test_months_fill_the_year(year: int, zone: str) -> None:
    months = [f"{year:04}-{month:02}" for month in range(1, 13)]
    begins = [read(text, zone) for text in [*months, f"{year + 1:04}"]]
    ends = [read(text, zone, Edge.END) for text in months]
    assert read(f"{year:04}", zone) == begins[0]
    assert read(f"{year:04}", zone, Edge.END) == ends[-1]
    gaps = {
        instant_us(coerce_aware_datetime(after)) - instant_us(coerce_aware_datetime(end))
        for end, after in zip(ends, begins[1:], strict=True)
    }
    assert gaps == {1000}


PRINT_LOCAL = """
from lightrag.cli.times import Edge, find_zone, moment
zone = find_zone(None)
print(zone.name, moment("1930-06-15", zone, Edge.START, "--from"))
"""


@pytest.mark.parametrize(
    ("variable", "names", "expected"),
    [
        ("Europe/London", {"Europe/London", "GMT"}, "1930-06-15T00:00:00+01:00"),
        ("Asia/Kolkata", {"Asia/Kolkata", "IST"}, "1930-06-15T00:00:00+05:30"),
        ("UTC", {"UTC", "Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu"}, "1930-06-15T00:00:00+00:00"),
    ],
)
def test_the_local_zone_is_that_of_the_process(variable: str, names: set[str], expected: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_LOCAL],
        env={**os.environ, "TZ": variable},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    name, text = done.stdout.split()
    assert name in names
    assert text == expected


@pytest.fixture
def process_in_london(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/London")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("process_in_london")
@pytest.mark.parametrize(
    ("linked", "expected"),
    [
        ("Europe/London", Zone("Europe/London", ZoneInfo("Europe/London"))),
        # Its clocks agree with London's today, and did not in 1970.
        ("Europe/Lisbon", Zone("GMT", None)),
        ("Nowhere/Land", Zone("GMT", None)),
    ],
)
def test_the_link_of_the_machine_names_the_zone_if_the_process_is_in_it(
    linked: str, expected: Zone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "zoneinfo" / linked
    target.parent.mkdir(parents=True)
    target.touch()
    (tmp_path / "localtime").symlink_to(target)
    monkeypatch.setattr(times, "_LOCAL_LINK", tmp_path / "localtime")
    assert find_zone(None) == expected
    assert moment("1930-06-15", find_zone(None), Edge.START, "--from") == "1930-06-15T00:00:00+01:00"
