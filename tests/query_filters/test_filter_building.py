"""From a query's parameters to one effective filter, its cache key, and the documents it accepts."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import (
    FILTER_ATTRIBUTES,
    DateFilter,
    DateRangeFilter,
    SearchFilters,
    VectorQueryFilter,
    as_filter,
    build_eligible_chunk_ids,
    build_filter_cache_hash,
    build_vector_query_filter,
    combine_filters,
    document_matches_filter,
    has_active_filters,
    parse_stored_datetime,
    resolve_eligible_doc_ids,
)


@dataclass
class Param:
    mode: str = "mix"
    date_filter: Any = None
    required_tags: Any = field(default_factory=list)
    required_tags_mode: Any = "and"
    forbidden_tags: Any = field(default_factory=list)
    apply_forbidden_tags_to_kg: Any = False
    search_filters: Any = None
    doc_types: Any = field(default_factory=list)
    path_prefixes: Any = field(default_factory=list)
    modified_after: Any = None
    modified_before: Any = None
    kg_evidence_policy: Any = "prune_evidence"


NEUTRAL: list[dict[str, Any]] = [
    {},
    {"date_filter": {}},
    {"date_filter": DateFilter()},
    {"date_filter": {"range": None, "range_mode": "contains"}},
    {"required_tags": None, "forbidden_tags": None},
    {"required_tags_mode": "or", "apply_forbidden_tags_to_kg": True},
    {"kg_evidence_policy": "strict_drop"},
    {"search_filters": {}},
    {"search_filters": SearchFilters()},
    {"doc_types": (), "path_prefixes": []},
]

ACTIVE: list[dict[str, Any]] = [
    {"date_filter": {"range": {}}},
    {"date_filter": {"shape": "bounded"}},
    {"date_filter": {"undated": "only"}},
    {"date_filter": DateFilter(range=DateRangeFilter())},
    {"required_tags": ["a"]},
    {"forbidden_tags": ["a"]},
    {"search_filters": {"labels": ["x"]}},
    {"search_filters": {"relation_types": ["x"]}},
    {"search_filters": SearchFilters(document_ids=["doc-1"])},
    {"search_filters": {"properties": {"k": 1}}},
    {"doc_types": ["pdf"]},
    {"path_prefixes": ["a"]},
    {"modified_after": 0},
    {"modified_before": "2020-01-01T00:00:00Z"},
]


@pytest.mark.parametrize("given", NEUTRAL, ids=str)
def test_nothing_asked_for_is_no_filter(given: dict[str, Any]) -> None:
    assert not has_active_filters(Param(**given))
    assert build_vector_query_filter(given) is None
    assert build_filter_cache_hash(Param(**given)) is None


@pytest.mark.parametrize("given", ACTIVE, ids=str)
def test_each_part_alone_is_a_filter(given: dict[str, Any]) -> None:
    assert has_active_filters(Param(**given))
    filter = build_vector_query_filter(SimpleNamespace(**given))
    assert filter is not None
    assert filter == build_vector_query_filter(given) == build_vector_query_filter(filter)
    concerns_graph_only = "search_filters" in given and not filter.search_filters.document_ids  # type: ignore[union-attr]
    assert filter.restricts_documents is not concerns_graph_only


def test_attributes_are_optional_and_others_ignored() -> None:
    assert build_vector_query_filter(object()) is None
    assert set(Param().__dict__) - {"mode"} == set(FILTER_ATTRIBUTES)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"required_tags": ["", ""]}, "required_tags holds only blank values"),
        ({"required_tags": ["!!!"]}, "required_tags: tag '!!!' holds none"),
        ({"required_tags": "patent"}, "required_tags is a list"),
        ({"doc_types": [" "]}, "doc_types holds only blank values"),
        ({"path_prefixes": [""]}, "path_prefixes holds only blank values"),
        ({"search_filters": {"document_ids": [""]}}, "document_ids holds only blank values"),
        ({"date_filter": {"Shape": "any"}}, "did you mean 'shape'"),
        ({"date_filter": {"range": {"start": "2010-01-01"}}}, r"date_filter\.range\.start: Date must include"),
        ({"date_filter": "1930s"}, "date_filter"),
        ({"apply_forbidden_tags_to_kg": "yes"}, "apply_forbidden_tags_to_kg"),
    ],
)
def test_mistakes_are_errors_and_never_no_filter(given: dict[str, Any], message: str) -> None:
    for refuse in (has_active_filters, build_vector_query_filter, build_filter_cache_hash):
        with pytest.raises(FilterSyntaxError, match=message):
            refuse(Param(**given))


def test_a_scope_tag_is_set_apart_from_the_other_required_tags() -> None:
    param = Param(required_tags=["tenant:1", "a", "b"], required_tags_mode="or")
    filter = build_vector_query_filter(param, scope_tag="tenant:1")
    assert filter is not None
    assert (filter.scope_tag, filter.required_tags) == ("tenant:1", ["a", "b"])
    alone = build_vector_query_filter(Param(required_tags=["tenant:1"]), scope_tag="tenant:1")
    assert alone is not None
    assert alone.required_tags == []
    assert document_matches_filter({"user_tags": ["tenant:1"]}, alone)
    assert not document_matches_filter({}, alone)


def test_combined_filters_only_narrow() -> None:
    first, second = as_filter({"required_tags": ["a"]}), as_filter({"forbidden_tags": ["b"]})
    assert combine_filters() is None
    assert combine_filters(None, as_filter({})) is None
    assert combine_filters(None, first) is first
    both = combine_filters(first, None, second)
    assert both is not None
    assert both.is_active
    assert document_matches_filter({"user_tags": ["a"]}, both)
    assert not document_matches_filter({"user_tags": ["a", "b"]}, both)
    assert not document_matches_filter({"user_tags": []}, both)
    assert build_vector_query_filter(both) == both
    graph_only = VectorQueryFilter(all_of=[as_filter({"search_filters": {"labels": ["x"]}})])
    assert graph_only.is_active
    assert not graph_only.restricts_documents


class TestCacheHash:
    BASE: ClassVar[dict[str, Any]] = {
        "date_filter": {"range": {"start": "2020-01-01T00:00:00Z"}, "shape": "dated"},
        "required_tags": ["b", "a"],
        "forbidden_tags": ["c", "d"],
        "doc_types": ["pdf", "note"],
        "path_prefixes": ["x", "y"],
        "search_filters": {"labels": ["P", "Q"], "document_ids": ["doc-1", "doc-2"], "properties": {"k": 1, "l": 2}},
    }

    @pytest.mark.parametrize(
        "change",
        [
            {"required_tags": ["A", "b", "a"]},
            {"forbidden_tags": ["d", "c"]},
            {"doc_types": ["NOTE", "pdf"]},
            {"path_prefixes": ["/y/", "x"]},
            {"date_filter": {"range": {"start": "2020-01-01T01:00:00+01:00", "end": None}, "shape": "dated"}},
            {
                "search_filters": {
                    "labels": ["q", "p"],
                    "document_ids": ["doc-2", "doc-1"],
                    "properties": {"l": 2, "k": 1},
                }
            },
        ],
        ids=str,
    )
    def test_spelling_makes_no_difference(self, change: dict[str, Any]) -> None:
        assert build_filter_cache_hash({**self.BASE, **change}) == build_filter_cache_hash(self.BASE)

    def test_every_difference_in_meaning_makes_one(self) -> None:
        changes: list[dict[str, Any]] = [
            {},
            {"required_tags": ["a"]},
            {"required_tags_mode": "or"},
            {"forbidden_tags": ["c"]},
            {"required_tags": ["a", "b", "c"], "forbidden_tags": ["d"]},
            {"apply_forbidden_tags_to_kg": True},
            {"kg_evidence_policy": "keep_merged"},
            {"doc_types": ["pdf"]},
            {"path_prefixes": ["x"]},
            {"modified_after": 1},
            {"modified_before": 1},
            {"date_filter": None},
            {"date_filter": {"range": {"start": "2020-01-01T00:00:00Z"}}},
            {"date_filter": {"range": {"end": "2020-01-01T00:00:00Z"}, "shape": "dated"}},
            {"date_filter": {"range": {"start": "2020-01-01T00:00:00.000001Z"}, "shape": "dated"}},
            {"date_filter": {"range": {"start": "2020-01-01T00:00:00Z"}, "shape": "dated", "range_mode": "contains"}},
            {"date_filter": {"range": {"start": "2020-01-01T00:00:00Z"}, "shape": "dated", "undated": "include_or"}},
            {"date_filter": {"shape": "dated"}},
            {"search_filters": None},
            {"search_filters": {**self.BASE["search_filters"], "relation_types": ["P"]}},
            {"search_filters": {**self.BASE["search_filters"], "properties": {"k": "1", "l": 2}}},
            {"search_filters": {**self.BASE["search_filters"], "properties": {"k": True, "l": 2}}},
        ]
        keys = [build_filter_cache_hash({**self.BASE, **change}) for change in changes]
        assert None not in keys
        assert len(set(keys)) == len(changes)
        assert build_filter_cache_hash(self.BASE, scope_tag="a") not in keys

    def test_scopes_differ_from_each_other_and_from_ordinary_tags(self) -> None:
        given = [{"scope_tag": "tenant:1"}, {"scope_tag": "tenant:2"}, {"required_tags": ["tenant:1"]}]
        assert len({build_filter_cache_hash(as_filter(filter)) for filter in given}) == 3

    def test_modes_that_change_nothing_make_no_difference(self) -> None:
        one = build_filter_cache_hash({"required_tags": ["a"]})
        assert build_filter_cache_hash({"required_tags": ["a"], "required_tags_mode": "or"}) == one
        assert build_filter_cache_hash({"required_tags": ["a"], "apply_forbidden_tags_to_kg": True}) == one
        assert build_filter_cache_hash({"required_tags": ["a"], "date_filter": {}, "search_filters": {}}) == one

    def test_limits_of_the_server_count(self) -> None:
        limit_1, limit_2 = as_filter({"required_tags": ["x"]}), as_filter({"required_tags": ["y"]})
        caller = as_filter({"required_tags": ["a"]})
        keys = {
            build_filter_cache_hash(combine_filters(caller, *limits))
            for limits in ((), (limit_1,), (limit_2,), (limit_1, limit_2), (limit_2, limit_1))
        }
        assert len(keys) == 4


class Status:
    """A status store in memory; rows as objects or as mappings."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self.rows = rows
        self.reads = 0

    async def get_docs_by_statuses(self, statuses: Any) -> dict[str, Any]:
        self.reads += 1
        assert "processed" in statuses
        assert len(statuses) == 7
        return self.rows

    async def get_by_ids(self, ids: list[str]) -> list[Any]:
        self.reads += 1
        return [self.rows.get(doc_id) for doc_id in ids]


def _row(tags: list[str], chunks: list[str] | None, **metadata: Any) -> SimpleNamespace:
    return SimpleNamespace(metadata={"user_tags": tags, **metadata}, chunks_list=chunks)


async def test_eligible_documents_and_chunks() -> None:
    store = Status(
        {
            "doc-1": _row(["a"], ["chunk-1", "chunk-2"]),
            "doc-2": _row(["b"], ["chunk-3"]),
            "doc-3": {"metadata": {"user_tags": ["a"]}, "chunks_list": ["chunk-4"]},
            "doc-4": _row(["a"], None),
            "doc-5": {"metadata": None},
            "dup-1": _row(["a"], [], is_duplicate=True),
        }
    )
    eligible = await resolve_eligible_doc_ids(store, {"required_tags": ["a"]})
    assert eligible == {"doc-1", "doc-3", "doc-4"}
    assert await build_eligible_chunk_ids(store, eligible | {"doc-gone"}) == {"chunk-1", "chunk-2", "chunk-4"}
    by_id = {"search_filters": {"document_ids": ["doc-2", "doc-5"]}}
    assert await resolve_eligible_doc_ids(store, by_id) == {"doc-2", "doc-5"}


async def test_nothing_eligible_gives_nothing_without_asking() -> None:
    store = Status({"doc-1": _row(["a"], ["chunk-1"])})
    assert await resolve_eligible_doc_ids(store, {"required_tags": ["z"]}) == set()
    reads = store.reads
    assert await build_eligible_chunk_ids(store, set()) == set()
    assert store.reads == reads


async def test_eligibility_refuses_a_malformed_filter_before_reading() -> None:
    store = Status({})
    with pytest.raises(FilterSyntaxError):
        await resolve_eligible_doc_ids(store, {"required_tag": ["a"]})
    assert store.reads == 0


def test_window_instants_are_kept_as_given() -> None:
    filter = as_filter({"date_filter": {"range": {"start": "2030-03-30T00:00:00+01:00"}}})
    assert filter.date_filter is not None
    assert filter.date_filter.range is not None
    assert filter.date_filter.range.start == parse_stored_datetime("2030-03-29T23:00:00Z")
    assert '"2030-03-30T00:00:00+01:00"' in filter.model_dump_json()
