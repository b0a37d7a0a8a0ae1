"""Hypothesis strategies for documents, filters and predicates, dense enough that bounds meet."""

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from lightrag.predicates import (
    MATCH_ALL,
    MATCH_NONE,
    And,
    Compare,
    Contains,
    ContainsAll,
    ContainsAny,
    In,
    Not,
    Operator,
    Or,
    Predicate,
    Under,
)

TAGS = ["a", "b", "c", "tenant:1"]
_EPOCHS = [
    datetime(1, 1, 2),  # noqa: DTZ001
    datetime(1969, 12, 31, 23, 59, 59, 999_998),  # noqa: DTZ001
    datetime(2020, 2, 28, 23, 59, 59, 998_000),  # noqa: DTZ001
    datetime(9999, 12, 30),  # noqa: DTZ001
]
_OFFSETS = [timedelta(0), timedelta(hours=5, minutes=30), timedelta(hours=-12), timedelta(minutes=19, seconds=32)]


@st.composite
def aware_datetimes(draw: st.DrawFn) -> datetime:
    """Instants that often coincide, or differ by microseconds, in different offsets."""
    steps = st.sampled_from([0, 1, 2, 500, 999, 1000, 1001, 2000, 86_400_000_000])
    wall = draw(st.just(_EPOCHS[2]) | st.sampled_from(_EPOCHS)) + timedelta(microseconds=draw(steps))
    moment = wall.replace(tzinfo=timezone.utc)  # noqa: UP017
    return moment.astimezone(timezone(draw(st.sampled_from(_OFFSETS)))) if 2 < wall.year < 9999 else moment


@st.composite
def windows(draw: st.DrawFn, first: str, last: str) -> dict[str, str]:
    """Two bounds in order, either of which may be missing."""
    low, high = sorted([draw(aware_datetimes()), draw(aware_datetimes())])
    bounds = {first: low.isoformat(), last: high.isoformat()}
    kept = draw(st.sets(st.sampled_from([first, last])))
    return {name: bounds[name] for name in kept}


@st.composite
def metadatas(draw: st.DrawFn) -> dict[str, Any] | None:
    """``metadata`` of a doc_status row."""
    if draw(st.integers(0, 9)) == 0:
        return None
    row: dict[str, Any] = dict(draw(windows("user_start_date", "user_end_date")))
    if draw(st.booleans()):
        row["user_tags"] = draw(st.lists(st.sampled_from(TAGS), unique=True))
    if draw(st.booleans()):
        row["user_modified_at"] = draw(aware_datetimes()).isoformat()
    if draw(st.booleans()):
        row["user_doc_type"] = draw(st.sampled_from(["pdf", "note"]))
    if draw(st.booleans()):
        row["user_source_path"] = draw(st.sampled_from(["x/y", "x/yz", "x", "w/x/y"]))
    return row


date_filters = st.fixed_dictionaries(
    {},
    optional={
        "range": st.none() | windows("start", "end"),
        "range_mode": st.sampled_from(["overlap", "contains", "contained_by"]),
        "shape": st.sampled_from(["any", "dated", "bounded", "has_start", "has_end"]),
        "undated": st.sampled_from(["exclude", "include_or", "only"]),
    },
)


def _lists(values: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), max_size=3)


@st.composite
def modified_bounds(draw: st.DrawFn) -> dict[str, str]:
    return draw(windows("modified_after", "modified_before"))


@st.composite
def filters(draw: st.DrawFn, nested: bool = True) -> dict[str, Any]:
    """A filter in API form; few parts at a time, so that it often accepts something."""
    parts: dict[str, st.SearchStrategy[Any]] = {
        "date_filter": st.none() | date_filters,
        "required_tags": _lists(TAGS),
        "required_tags_mode": st.sampled_from(["and", "or"]),
        "forbidden_tags": _lists(TAGS),
        "apply_forbidden_tags_to_kg": st.booleans(),
        "doc_types": _lists(["pdf", "note"]),
        "path_prefixes": _lists(["x", "x/y", "w"]),
        "search_filters": st.fixed_dictionaries({"document_ids": _lists(["doc-0", "doc-1", "doc-2"])}),
        "scope_tag": st.none() | st.just("tenant:1"),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(parts)), max_size=4))
    given: dict[str, Any] = {name: draw(parts[name]) for name in sorted(chosen)}
    if draw(st.integers(0, 3)) == 0:
        given.update(draw(modified_bounds()))
    if nested and draw(st.integers(0, 4)) == 0:
        given["all_of"] = draw(st.lists(filters(nested=False), max_size=2))
    return given


_small = st.integers(-1, 2)
_leaves: st.SearchStrategy[Predicate] = st.one_of(
    st.sampled_from([MATCH_ALL, MATCH_NONE]),
    st.builds(Compare, st.just("filter_dated"), st.just(Operator.EQ), st.booleans()),
    st.builds(
        Compare,
        st.sampled_from(["filter_start_ms", "modified_at"]),
        st.sampled_from([Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE]),
        _small,
    ),
    st.builds(Contains, st.just("filter_tags"), st.sampled_from(TAGS)),
    st.builds(ContainsAny, st.just("filter_tags"), _lists(TAGS).map(tuple)),
    st.builds(ContainsAll, st.just("filter_tags"), _lists(TAGS).map(tuple)),
    st.builds(In, st.just("doc_type"), _lists(["pdf", "note"]).map(tuple)),
    st.builds(Under, st.just("source_path"), st.sampled_from(["x", "x/y"])),
)
predicates: st.SearchStrategy[Predicate] = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=8,
)
rows = st.fixed_dictionaries(
    {},
    optional={
        "filter_dated": st.none() | st.booleans(),
        "filter_start_ms": st.none() | _small,
        "modified_at": _small | st.booleans() | st.just("1"),
        "filter_tags": st.none() | _lists(TAGS),
        "doc_type": st.sampled_from(["", "pdf", "note"]) | st.just(1),
        "source_path": st.sampled_from(["", "x", "x/y/z", "x/yz"]),
    },
)
