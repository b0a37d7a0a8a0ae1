"""Choosing chunks that speak of entities and relations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lightrag.query.pick_chunks import chunks_by_object, pick_by_similarity, pick_by_weight

SOURCES = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=8), max_size=6)


def test_a_chunk_belongs_to_the_first_object_that_names_it() -> None:
    groups, occurrences = chunks_by_object([["a", "b"], ["b", "c"], ["b"], ["c", "d"]])
    assert groups == [["b", "a"], ["c"], ["d"]]
    assert occurrences == {"a": 1, "b": 3, "c": 2, "d": 1}


def test_chunks_that_are_taken_are_left_out() -> None:
    groups, _ = chunks_by_object([["a", "b"], ["b", "c"]], exclude={"b"})
    assert groups == [["a"], ["c"]]


def test_the_nearest_chunks_win_and_those_without_a_vector_come_last() -> None:
    groups = [["a", "b"], ["c", "d"]]
    assert pick_by_similarity(groups, {"a": 0.1, "b": 0.5, "d": 0.5}, 4) == ["b", "d", "a", "c"]
    assert pick_by_similarity(groups, {"a": 0.1, "b": 0.5, "d": 0.5}, 1) == ["b"]


def test_the_quota_falls_from_the_best_object_to_the_last() -> None:
    groups = [[f"{name}{number}" for number in range(9)] for name in "abc"]
    assert pick_by_weight(groups, 5) == [
        "a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "c0",
    ]  # fmt: skip


def test_what_an_object_cannot_fill_goes_to_others() -> None:
    assert pick_by_weight([["a0"], ["b0", "b1", "b2", "b3"], ["c0", "c1"]], 3) == ["a0", "b0", "b1", "b2", "c0", "c1"]
    assert pick_by_weight([["a0"]], 5) == ["a0"]
    assert pick_by_weight([], 5) == []


@given(SOURCES, st.integers(1, 6))
def test_picks_are_distinct_and_known(sources: list[list[str]], per_object: int) -> None:
    groups, _ = chunks_by_object(sources)
    every = {chunk for group in sources for chunk in group}
    assert {chunk for group in groups for chunk in group} == every
    for picked in (pick_by_weight(groups, per_object), pick_by_similarity(groups, {}, per_object)):
        assert len(picked) == len(set(picked))
        assert set(picked) <= every
    spread = pick_by_weight(groups, per_object)
    assert len(spread) >= min(len(every), len(groups))
