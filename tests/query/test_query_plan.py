"""Checks of a query and its parameters."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.contracts.query import QueryParam
from lightrag.exceptions import FilterSyntaxError, QueryValidationError
from lightrag.query.plan import make_plan
from lightrag.settings import load_settings

SETTINGS = load_settings(user_prompt_prefix="Be brief.")


@pytest.mark.parametrize("query", ["", "   ", "\n\t", None, 7, ["a"]])
def test_query_must_be_a_text(query: Any) -> None:
    with pytest.raises(QueryValidationError, match="query"):
        make_plan(SETTINGS, query, QueryParam())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "lokal"),
        ("mode", None),
        ("top_k", 0),
        ("top_k", 1001),
        ("top_k", "40"),
        ("top_k", True),
        ("top_k", 3.5),
        ("chunk_top_k", -1),
        ("chunk_top_k", 1001),
        ("max_entity_tokens", 0),
        ("max_relation_tokens", 1_000_001),
        ("max_total_tokens", 0),
        ("hl_keywords", "dues"),
        ("ll_keywords", [1]),
        ("conversation_history", ["hello"]),
        ("conversation_history", [{"content": "hello"}]),
    ],
)
def test_parameter_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(QueryValidationError, match=name):
        make_plan(SETTINGS, "coal", QueryParam(**{name: value}))


def test_none_stands_for_the_setting() -> None:
    settings = load_settings(top_k=7, chunk_top_k=3)
    plan = make_plan(settings, "coal", QueryParam(top_k=None, chunk_top_k=None))
    assert (plan.budgets.top_k, plan.budgets.chunk_top_k) == (7, 3)


def test_keywords_are_stripped_and_kept_once() -> None:
    plan = make_plan(SETTINGS, " coal ", QueryParam(hl_keywords=["a", " ", "b ", "a"], ll_keywords=[]))
    assert plan.query == "coal"
    assert plan.given.high == ("a", "b")
    assert plan.given.low == ()


def test_user_prompt_has_the_prefix() -> None:
    assert make_plan(SETTINGS, "coal", QueryParam(user_prompt="In verse.")).user_prompt == "Be brief.\nIn verse."
    assert make_plan(SETTINGS, "coal", QueryParam()).user_prompt == "Be brief."
    bare = QueryParam(user_prompt="In verse.", disable_user_prompt_prefix=True)
    assert make_plan(SETTINGS, "coal", bare).user_prompt == "In verse."


@pytest.mark.parametrize(
    "fields",
    [
        {"required_tags": ["law"]},
        {"forbidden_tags": ["draft"]},
        {"date_filter": {"undated": "only"}},
        {"doc_types": ["pdf"]},
        {"path_prefixes": ["acts"]},
        {"modified_after": "2020-01-01T00:00:00Z"},
        {"search_filters": {"labels": ["person"]}},
    ],
)
def test_an_active_filter_is_never_ignored(fields: dict[str, Any]) -> None:
    plan = make_plan(SETTINGS, "coal", QueryParam(**fields))
    assert plan.filter is not None
    assert plan.filter.is_active


def test_a_malformed_filter_is_an_error() -> None:
    with pytest.raises(FilterSyntaxError):
        make_plan(SETTINGS, "coal", QueryParam(required_tags=["", " "]))


def test_defaults_are_no_filter() -> None:
    assert make_plan(SETTINGS, "coal", QueryParam(date_filter={}, required_tags_mode="or")).filter is None
