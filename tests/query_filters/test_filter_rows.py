"""Stored filter fields: of documents, of chunks, of graph objects; and what stores are asked for."""

from typing import Any, ClassVar

import pytest

from lightrag.constants import OPEN_END_MS, OPEN_START_MS
from lightrag.exceptions import UnsupportedFilterError
from lightrag.predicates import FIELDS, MATCH_ALL, MATCH_NONE, evaluate, fields_of, relax
from lightrag.query_filters import (
    NOT_STAMPED,
    STAMPED_FIELDS,
    SUMMARY_FIELDS,
    FilterSummary,
    RequiredTagsMode,
    VectorQueryFilter,
    build_backend_filter_expr,
    document_facts,
    document_predicate,
    kg_union_tags_match,
    normal_form,
    partition_predicate,
    stamp_chunk_filter_metadata,
    summarise,
    summary_predicate,
)

LAW = {"user_start_date": "2010-01-01T00:00:00+01:00", "user_tags": ["law", "uk"]}
LETTER = {"user_end_date": "1990-06-01T00:00:00Z", "user_tags": ["letter"]}
REPORT = {"user_start_date": "2019-01-01T00:00:00Z", "user_end_date": "2019-12-31T00:00:00Z", "user_tags": ["uk"]}
NOTE: dict[str, Any] = {"user_tags": []}


def test_normal_form_of_a_document() -> None:
    metadata = {
        "user_start_date": "1970-01-01T00:00:00.0015Z",
        "user_tags": ["b", "a"],
        "user_doc_type": "Note",
        "user_source_path": "/x/y.md",
        "user_modified_at": "1970-01-01T00:00:01.0009Z",
    }
    assert normal_form(metadata, doc_id="doc-1") == {
        "filter_tags": ["b", "a"],
        "filter_dated": True,
        "filter_start_ms": 1,
        "filter_start_us": 500,
        "filter_end_ms": OPEN_END_MS,
        "filter_end_us": 0,
        "filter_start_date": "1970-01-01T00:00:00.0015Z",
        "filter_end_date": "",
        "full_doc_id": "doc-1",
        "source_path": "x/y.md",
        "doc_type": "note",
        "modified_at": 1000,
    }


def test_normal_form_without_metadata_has_no_nulls() -> None:
    row = normal_form(None)
    assert None not in row.values()
    assert row["filter_dated"] is False
    assert row["modified_at"] == row["filter_start_ms"] == OPEN_START_MS
    assert set(row) - {"filter_start_date", "filter_end_date"} <= set(FIELDS)


def test_chunks_are_stamped_in_place_and_stamps_are_replaced() -> None:
    chunks: dict[str, dict[str, Any]] = {
        "chunk-1": {"content": "x", "full_doc_id": "doc-1", "filter_tags": ["old"]},
        "chunk-2": {"content": "y", "full_doc_id": "doc-1"},
    }
    stamp_chunk_filter_metadata(chunks, LAW)
    for chunk in chunks.values():
        assert chunk["filter_start_date"] == "2010-01-01T00:00:00+01:00"
        assert chunk["filter_end_date"] == ""
        assert chunk["filter_tags"] == ["law", "uk"]
        assert chunk["full_doc_id"] == "doc-1"
        assert set(STAMPED_FIELDS) <= set(chunk)
    assert chunks["chunk-1"]["filter_tags"] is not chunks["chunk-2"]["filter_tags"]
    rows = list(chunks.values())
    stamp_chunk_filter_metadata(rows, None)
    assert rows[0]["filter_tags"] == []
    assert rows[0]["filter_dated"] is False


class TestRowsWithoutStamps:
    DEFAULTS: ClassVar[dict[str, Any]] = {
        "filter_tags": [],
        "filter_dated": False,
        "filter_start_ms": 0,
        "filter_end_ms": 0,
    }

    @pytest.mark.parametrize("row", [{}, DEFAULTS, {"filter_dated": None, "filter_start_ms": None}])
    def test_they_pass_every_pushed_down_filter(self, row: dict[str, Any]) -> None:
        assert evaluate(NOT_STAMPED, row)
        assert evaluate(build_backend_filter_expr({"required_tags": ["a"]}), row)
        assert evaluate(build_backend_filter_expr({"required_tags": ["a"]}, for_summaries=True), row)

    @pytest.mark.parametrize("metadata", [None, LAW, LETTER, REPORT, NOTE])
    def test_stamped_rows_do_not(self, metadata: dict[str, Any] | None) -> None:
        assert not evaluate(NOT_STAMPED, normal_form(metadata))
        assert not evaluate(NOT_STAMPED, summarise([metadata]).to_fields())
        filter = {"required_tags": ["uk"]}
        row = normal_form(metadata)
        assert evaluate(build_backend_filter_expr(filter), row) is evaluate(document_predicate(filter), row)


def test_predicates_of_inactive_filters_fold_to_everything() -> None:
    for given in ({}, {"date_filter": {}}, {"search_filters": {"labels": ["x"]}}):
        assert document_predicate(given) == MATCH_ALL
        assert summary_predicate(given) == MATCH_ALL
        assert build_backend_filter_expr(given) == MATCH_ALL


def test_whole_milliseconds_suffice_where_the_microsecond_fields_are_missing() -> None:
    window = {"start": "2020-01-01T00:00:00Z", "end": "2020-12-31T23:59:59.999999Z"}
    predicate = document_predicate({"date_filter": {"range": window}})
    assert "filter_start_us" not in fields_of(predicate), "a bound at the end of its millisecond needs no rest"
    coarse = relax(predicate, fields=set(FIELDS) - {"filter_start_us", "filter_end_us"})
    assert fields_of(coarse) == {"filter_dated", "filter_start_ms", "filter_end_ms"}
    start, end = "2020-12-31T23:59:59.999Z", "2021-06-01T00:00:00Z"
    assert evaluate(coarse, normal_form({"user_start_date": start, "user_end_date": end}))


def test_a_backend_that_cannot_say_it_refuses_before_any_io() -> None:
    from lightrag.predicates import Compiler

    class NoTags(Compiler[str]):
        backend = "test engine"
        fields = frozenset(FIELDS) - {"filter_tags"}

        def always(self, *, matches: bool) -> str:
            return str(matches)

        def comparison(self, field: str, operator: Any, value: Any) -> str:
            return f"{field} {operator} {value!r}"

        def _other(self, *_: Any) -> str:
            return "…"

        conjunction = disjunction = negation = membership = contains_any = contains_all = under = _other

    with pytest.raises(UnsupportedFilterError, match="test engine cannot express 'contains' on 'filter_tags'"):
        build_backend_filter_expr({"required_tags": ["a"]}, NoTags())
    assert build_backend_filter_expr({"date_filter": {}}, NoTags()) == "True"


class TestSummary:
    def test_of_nothing(self) -> None:
        fields = FilterSummary().to_fields()
        assert tuple(fields) == SUMMARY_FIELDS
        assert summarise([]).to_fields() == fields
        assert fields["filter_start_date"] == fields["filter_end_date"] == ""
        assert fields["filter_dated"] is fields["has_undated_evidence"] is False
        assert fields["filter_doc_count"] == 0
        assert None not in fields.values()

    def test_missing_bounds_do_not_widen_by_default(self) -> None:
        fields = summarise([LAW, LETTER, REPORT, NOTE, None]).to_fields()
        assert fields["filter_start_date"] == "2010-01-01T00:00:00+01:00"
        assert fields["filter_end_date"] == "2019-12-31T00:00:00Z"
        assert fields["filter_tags"] == ["law", "letter", "uk"]
        assert fields["has_undated_evidence"] is fields["has_open_start"] is fields["has_open_end"] is True
        assert fields["filter_doc_count"] == 5

    def test_missing_bounds_widen_when_asked_to(self) -> None:
        fields = summarise([LAW, REPORT]).to_fields(skip_open_bounds=False)
        assert fields["filter_start_date"] == "2010-01-01T00:00:00+01:00"
        assert fields["filter_end_date"] == ""
        assert fields["filter_end_ms"] == OPEN_END_MS
        both = summarise([LAW, LETTER]).to_fields(skip_open_bounds=False)
        assert both["filter_start_date"] == both["filter_end_date"] == ""
        assert both["filter_dated"] is True

    def test_undated_documents_do_not_widen(self) -> None:
        fields = summarise([REPORT, None]).to_fields(skip_open_bounds=False)
        assert fields["filter_end_date"] == REPORT["user_end_date"]
        assert fields["has_open_end"] is False

    def test_starts_without_ends_stay_open(self) -> None:
        fields = summarise([LAW]).to_fields()
        assert fields["filter_end_date"] == ""
        assert fields["filter_end_ms"] == OPEN_END_MS

    def test_the_winning_text_is_kept_and_ties_do_not_depend_on_order(self) -> None:
        noon, same = {"user_start_date": "2020-01-01T12:00:00Z"}, {"user_start_date": "2020-01-01T13:00:00+01:00"}
        later = {"user_start_date": "2020-01-01T10:00:00-05:00"}
        assert summarise([later, noon]).start_date == "2020-01-01T12:00:00Z"
        assert summarise([noon, same]).start_date == summarise([same, noon]).start_date

    def test_round_trip_through_stored_fields_and_extension(self) -> None:
        first = summarise([LAW, NOTE])
        again = FilterSummary.from_fields(first.to_fields())
        assert again == first
        assert again.extend([document_facts(REPORT)]) == summarise([REPORT, NOTE, LAW])
        assert FilterSummary.from_fields({}) == FilterSummary()

    def test_unreadable_stored_bounds_open_the_interval(self) -> None:
        broken = FilterSummary(start_date="rubbish", end_date="rubbish").extend([REPORT])
        assert broken.to_fields()["filter_start_date"] in {"rubbish", REPORT["user_start_date"]}

    def test_the_gate_knows_open_contributors_in_a_narrow_interval(self) -> None:
        row = summarise([LAW, REPORT]).to_fields()
        in_2025 = {"date_filter": {"range": {"start": "2025-01-01T00:00:00Z", "end": "2025-12-31T00:00:00Z"}}}
        assert evaluate(summary_predicate(in_2025), row)
        assert not evaluate(summary_predicate(in_2025), summarise([REPORT]).to_fields())

    def test_undated_evidence(self) -> None:
        filter = {"date_filter": {"undated": "only"}}
        assert evaluate(summary_predicate(filter), summarise([LAW, None]).to_fields())
        assert not evaluate(summary_predicate(filter), summarise([LAW]).to_fields())
        either = {"date_filter": {"undated": "include_or"}}
        assert not evaluate(summary_predicate(either), summarise([LAW]).to_fields())

    def test_forbidden_tags_count_only_on_demand(self) -> None:
        row = summarise([LAW, LETTER]).to_fields()
        filter = {"forbidden_tags": ["letter"]}
        assert evaluate(summary_predicate(filter), row)
        assert not evaluate(summary_predicate({**filter, "apply_forbidden_tags_to_kg": True}), row)

    def test_sources_are_not_tested(self) -> None:
        filter = {"doc_types": ["pdf"], "path_prefixes": ["x"], "modified_after": 1}
        assert summary_predicate(filter) == MATCH_ALL

    def test_all_of_is_tested(self) -> None:
        filter = VectorQueryFilter.model_validate({"all_of": [{"required_tags": ["law"]}]})
        assert evaluate(summary_predicate(filter), summarise([LAW]).to_fields())
        assert not evaluate(summary_predicate(filter), summarise([LETTER]).to_fields())

    def test_a_contradiction_folds_to_nothing_only_where_it_is_one(self) -> None:
        assert summary_predicate({"date_filter": {"range": {}}}) not in (MATCH_ALL, MATCH_NONE)


def test_partitions() -> None:
    assert evaluate(partition_predicate(None), {"tenant_tag": ""})
    assert not evaluate(partition_predicate(None), {"tenant_tag": "tenant:1"})
    assert evaluate(partition_predicate("tenant:1"), {"tenant_tag": "tenant:1"})
    assert not evaluate(partition_predicate("tenant:1"), {"tenant_tag": ""})


@pytest.mark.parametrize(
    ("tags", "required", "forbidden", "apply", "mode", "expected"),
    [
        ({"a", "b"}, {"a", "b"}, set(), False, RequiredTagsMode.AND, True),
        ({"a"}, {"a", "b"}, set(), False, RequiredTagsMode.AND, False),
        ({"a"}, {"a", "b"}, set(), False, RequiredTagsMode.OR, True),
        ({"c"}, {"a", "b"}, set(), False, RequiredTagsMode.OR, False),
        ({"c"}, set(), set(), False, RequiredTagsMode.OR, True),
        ({"a"}, set(), {"a"}, False, RequiredTagsMode.AND, True),
        ({"a"}, set(), {"a"}, True, RequiredTagsMode.AND, False),
        ({"b"}, set(), {"a"}, True, RequiredTagsMode.AND, True),
    ],
)
def test_union_tags(
    tags: set[str], required: set[str], forbidden: set[str], apply: bool, mode: RequiredTagsMode, expected: bool
) -> None:
    assert kg_union_tags_match(tags, required, forbidden, apply, mode) is expected
