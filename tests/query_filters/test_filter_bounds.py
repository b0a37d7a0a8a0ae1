"""Every relation of intervals and windows around one millisecond, all combinations.

Microseconds around a whole millisecond are where rounding shows; random examples seldom meet there.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from lightrag.predicates import FIELDS, evaluate, relax
from lightrag.query_filters import (
    DateRangeMode,
    document_matches_filter,
    document_predicate,
    normal_form,
    summarise,
    summary_predicate,
)

MICROSECONDS = (-1, 0, 1, 999, 1000)
Interval = tuple[int | None, int | None]


def intervals() -> Iterator[Interval]:
    yield None, None
    for instant in MICROSECONDS:
        yield instant, None
        yield None, instant
    yield from combinations_with_replacement(MICROSECONDS, 2)


def text(microseconds: int) -> str:
    """Return the instant so many microseconds after the year 2020 began."""
    return "2019-12-31T23:59:59.999999Z" if microseconds < 0 else f"2020-01-01T00:00:00.{microseconds:06}Z"


def stored(interval: Interval) -> dict[str, str]:
    bounds = zip(("user_start_date", "user_end_date"), interval, strict=True)
    return {key: text(bound) for key, bound in bounds if bound is not None}


def asked(window: Interval, mode: str) -> dict[str, Any]:
    bounds = zip(("start", "end"), window, strict=True)
    return {"date_filter": {"range": {k: text(b) for k, b in bounds if b is not None}, "range_mode": mode}}


def expected(interval: Interval, window: Interval, mode: str) -> bool:
    if interval == (None, None):
        return False
    start, opens = (-1e9 if bound is None else bound for bound in (interval[0], window[0]))
    end, closes = (1e9 if bound is None else bound for bound in (interval[1], window[1]))
    return {
        "overlap": start <= closes and end >= opens,
        "contains": start <= opens and end >= closes,
        "contained_by": start >= opens and end <= closes,
    }[mode]


@pytest.mark.parametrize("mode", DateRangeMode)
@pytest.mark.parametrize("window", list(intervals()), ids=str)
def test_truth_and_stored_rows_are_exact_and_milliseconds_alone_lose_nothing(window: Interval, mode: str) -> None:
    filter = asked(window, mode)
    exact = document_predicate(filter)
    coarse = relax(exact, fields=set(FIELDS) - {"filter_start_us", "filter_end_us"})
    for interval in intervals():
        wanted = expected(interval, window, mode)
        row = normal_form(stored(interval))
        assert document_matches_filter(stored(interval), filter) is wanted, interval
        assert evaluate(exact, row) is wanted, interval
        assert evaluate(coarse, row) or not wanted, interval


@pytest.mark.parametrize("skip_open_bounds", [True, False])
@pytest.mark.parametrize("window", list(intervals()), ids=str)
def test_summaries_of_two_documents_lose_nothing(window: Interval, skip_open_bounds: bool) -> None:
    overlap = summary_predicate(asked(window, "overlap"))
    for pair in combinations_with_replacement(intervals(), 2):
        row = summarise([stored(interval) for interval in pair]).to_fields(skip_open_bounds=skip_open_bounds)
        passes = evaluate(overlap, row)
        for interval, mode in product(pair, DateRangeMode):
            assert summary_predicate(asked(window, mode)) == overlap
            assert passes or not expected(interval, window, mode), (pair, mode)


def test_the_summary_gate_is_as_narrow_as_its_milliseconds_allow() -> None:
    row = summarise([stored((0, 0))]).to_fields()
    for instant, passes in ((-1, False), (0, True), (1, False), (1000, False)):
        assert evaluate(summary_predicate(asked((instant, instant), "overlap")), row) is passes
