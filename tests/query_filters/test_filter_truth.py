"""Which documents a filter accepts, by the truth and by its predicate over stored rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from lightrag.exceptions import FilterSyntaxError
from lightrag.predicates import evaluate
from lightrag.query_filters import (
    DateFilter,
    DocDateClass,
    VectorQueryFilter,
    classify_doc_dates,
    document_matches_date_filter,
    document_matches_filter,
    document_predicate,
    effective_doc_range,
    normal_form,
    parse_stored_datetime,
)

CASES = json.loads((Path(__file__).parents[1] / "data" / "document_filter_cases.json").read_text())["cases"]


def accepts(filter: dict[str, Any], metadata: dict[str, Any] | None, doc_id: str | None = None) -> bool:
    """Ask the truth, and check that the stored row gives the same answer."""
    answer = document_matches_filter(metadata, filter, doc_id=doc_id)
    row = normal_form(metadata, doc_id=doc_id or "")
    assert evaluate(document_predicate(filter), row) is answer
    return answer


def dated(start: str | None = None, end: str | None = None, *tags: str) -> dict[str, Any]:
    bounds = {"user_start_date": start, "user_end_date": end}
    return {"user_tags": list(tags), **{key: value for key, value in bounds.items() if value is not None}}


def window(start: str | None, end: str | None, **knobs: str) -> dict[str, Any]:
    return {"date_filter": {"range": {"start": start, "end": end}, **knobs}}


def test_cases_are_there() -> None:
    assert len(CASES) == 400


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_given_case(case: dict[str, Any]) -> None:
    assert document_matches_filter(case["metadata"], case["filter"]) is case["matches"]
    assert evaluate(document_predicate(case["filter"]), normal_form(case["metadata"])) is case["matches"]


UNDATED = dated()
START_ONLY = dated("2010-01-01T00:00:00Z")
END_ONLY = dated(None, "2010-01-01T00:00:00Z")
COMPLETE = dated("2010-01-01T00:00:00Z", "2011-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (None, DocDateClass.UNDATED),
        ({}, DocDateClass.UNDATED),
        ({"user_start_date": ""}, DocDateClass.UNDATED),
        (START_ONLY, DocDateClass.START_ONLY),
        (END_ONLY, DocDateClass.END_ONLY),
        (COMPLETE, DocDateClass.COMPLETE),
    ],
)
def test_date_classes(metadata: dict[str, Any] | None, expected: DocDateClass) -> None:
    assert classify_doc_dates(metadata) is expected


@pytest.mark.parametrize(
    ("shape", "classes"),
    [("dated", "SEC"), ("bounded", "C"), ("has_start", "SC"), ("has_end", "EC")],
)
def test_shapes(shape: str, classes: str) -> None:
    documents = {"U": UNDATED, "S": START_ONLY, "E": END_ONLY, "C": COMPLETE}
    matching = {name for name, metadata in documents.items() if accepts({"date_filter": {"shape": shape}}, metadata)}
    assert matching == set(classes)


def test_effective_range_keeps_offsets_and_leaves_open_bounds_open() -> None:
    start, end = effective_doc_range(dated("2030-03-30T00:00:00+01:00"))
    assert start is not None
    assert start.isoformat() == "2030-03-30T00:00:00+01:00"
    assert end is None
    assert effective_doc_range(None) == (None, None)
    assert effective_doc_range(END_ONLY) == (None, parse_stored_datetime("2010-01-01T00:00:00Z"))


class TestWindows:
    def test_a_law_in_force_throughout(self) -> None:
        law = dated("1990-01-01T00:00:00Z")
        inside = ("2010-01-01T00:00:00Z", "2015-12-31T23:59:59Z")
        assert accepts(window(*inside, range_mode="contains", shape="has_start"), law)
        assert not accepts(window(*inside, range_mode="contains"), dated("2012-01-01T00:00:00Z"))
        assert accepts(window(*inside, range_mode="overlap"), dated("2012-01-01T00:00:00Z"))
        assert not accepts(window(*inside, range_mode="contained_by"), law)

    @pytest.mark.parametrize("mode", ["overlap", "contains", "contained_by"])
    def test_bounds_are_closed_by_instant_in_any_offset(self, mode: str) -> None:
        point = dated("2020-01-15T12:00:00Z", "2020-01-15T12:00:00Z")
        assert accepts(window("2020-01-15T17:30:00+05:30", "2020-01-15T07:00:00-05:00", range_mode=mode), point)
        one_later = "2020-01-15T12:00:00.000001Z"
        assert not accepts(window(one_later, one_later, range_mode=mode), point)

    def test_the_last_microsecond_of_a_day_is_before_the_next_day(self) -> None:
        day = ("2020-01-15T00:00:00Z", "2020-01-15T23:59:59.999999Z")
        next_day = dated("2020-01-16T00:00:00Z", "2020-01-16T00:00:00Z")
        assert not accepts(window(*day), next_day)
        assert not accepts(
            window(*day, range_mode="contained_by"), dated("2020-01-15T01:00:00Z", "2020-01-16T00:00:00Z")
        )
        assert accepts(window(*day, range_mode="contained_by"), dated(*day))

    @pytest.mark.parametrize("mode", ["overlap", "contained_by"])
    def test_an_open_window_holds_every_dated_document_and_no_undated_one(self, mode: str) -> None:
        for metadata in (START_ONLY, END_ONLY, COMPLETE):
            assert accepts(window(None, None, range_mode=mode), metadata)
        assert not accepts(window(None, None, range_mode=mode), UNDATED)

    def test_no_dated_document_contains_all_time(self) -> None:
        for metadata in (UNDATED, START_ONLY, END_ONLY, COMPLETE):
            assert not accepts(window(None, None, range_mode="contains"), metadata)
        assert accepts(window(None, "2009-01-01T00:00:00Z", range_mode="contains"), END_ONLY)
        assert accepts(window("2011-01-01T00:00:00Z", None, range_mode="contains"), START_ONLY)

    def test_years_1_and_9999_and_before_1970(self) -> None:
        all_time = window("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", range_mode="contained_by")
        assert accepts(all_time, dated("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"))
        assert accepts(all_time, dated("1912-04-15T02:20:00-03:00", "1912-04-15T05:20:00Z"))
        assert not accepts(all_time, dated("0001-01-01T00:00:00Z"))


class TestUndated:
    PERIOD = ("1930-01-01T00:00:00Z", "1939-12-31T23:59:59Z")

    def test_or_undated_adds_only_fully_undated_documents(self) -> None:
        filter = window(*self.PERIOD, undated="include_or")
        assert accepts(filter, UNDATED)
        assert accepts(filter, dated("1935-01-01T00:00:00Z", "1935-01-01T00:00:00Z"))
        assert not accepts(filter, START_ONLY)

    def test_without_range_and_shape_there_is_nothing_to_add_to(self) -> None:
        filter = {"date_filter": {"undated": "include_or"}}
        assert accepts(filter, UNDATED)
        assert not accepts(filter, COMPLETE)

    def test_a_shape_alone_is_a_criterion(self) -> None:
        filter = {"date_filter": {"undated": "include_or", "shape": "bounded"}}
        assert accepts(filter, UNDATED)
        assert accepts(filter, COMPLETE)
        assert not accepts(filter, START_ONLY)

    def test_only(self) -> None:
        filter = window(*self.PERIOD, undated="only", shape="bounded")
        assert accepts(filter, UNDATED)
        assert not accepts(filter, dated("1935-01-01T00:00:00Z", "1935-01-01T00:00:00Z"))

    def test_a_missing_row_is_undated_and_untagged(self) -> None:
        assert accepts({"date_filter": {"undated": "only"}}, None)
        assert accepts({"forbidden_tags": ["a"]}, None)
        assert not accepts({"date_filter": {"shape": "dated"}}, None)
        assert not accepts({"required_tags": ["a"]}, None)


def test_damaged_rows_do_not_break_queries() -> None:
    damaged = {
        "user_start_date": "2010-01-01",
        "user_end_date": 5,
        "user_tags": "work",
        "user_doc_type": 1,
        "user_source_path": ["a"],
        "user_modified_at": "never",
    }
    assert accepts({"date_filter": {"undated": "only"}}, damaged)
    assert not accepts({"required_tags": ["work"]}, damaged)
    assert not accepts({"required_tags": ["w"]}, damaged)
    assert not accepts({"doc_types": ["1"]}, damaged)
    assert not accepts({"path_prefixes": ["a"]}, damaged)
    assert not accepts({"modified_before": 2_000_000_000}, damaged)
    assert accepts({"required_tags": ["work"]}, {"user_tags": ["work", 1, None]})


def test_an_inactive_date_filter_accepts_everything() -> None:
    for metadata in (None, UNDATED, COMPLETE):
        assert document_matches_date_filter(metadata, None)
        assert document_matches_date_filter(metadata, DateFilter())
        assert document_matches_date_filter(metadata, {"range_mode": "contains"})
        assert accepts({}, metadata)
        assert accepts({"date_filter": {}}, metadata)


def test_filters_in_api_form_are_validated() -> None:
    with pytest.raises(FilterSyntaxError, match="did you mean 'shape'"):
        document_matches_date_filter(None, {"shapes": "dated"})
    with pytest.raises(FilterSyntaxError, match=r"date_filter\.shape: Input should be"):
        document_matches_filter(None, {"date_filter": {"shape": "round"}})


class TestTags:
    AB = dated(None, None, "a", "b")

    def test_and_or(self) -> None:
        assert accepts({"required_tags": ["a", "b"]}, self.AB)
        assert not accepts({"required_tags": ["a", "c"]}, self.AB)
        assert accepts({"required_tags": ["a", "c"], "required_tags_mode": "or"}, self.AB)
        assert not accepts({"required_tags": ["c", "d"], "required_tags_mode": "or"}, self.AB)
        assert accepts({"required_tags": [], "required_tags_mode": "or"}, self.AB)

    def test_elements_are_compared_not_letters_or_the_whole_list(self) -> None:
        assert accepts({"required_tags": ["work"]}, dated(None, None, "work", "home"))
        assert not accepts({"required_tags": ["ai"]}, dated(None, None, "email"))
        assert accepts({"required_tags": ["WORK"]}, dated(None, None, "work"))

    def test_forbidden_keeps_untagged_documents_and_refuses_any_match(self) -> None:
        assert accepts({"forbidden_tags": ["a"]}, UNDATED)
        assert not accepts({"forbidden_tags": ["a"]}, self.AB)
        assert not accepts({"forbidden_tags": ["a", "z"]}, self.AB)
        assert not accepts({"required_tags": ["b"], "forbidden_tags": ["a"]}, self.AB)

    def test_a_scope_tag_is_required_in_every_mode(self) -> None:
        filter = {"scope_tag": "tenant:1", "required_tags": ["a", "c"], "required_tags_mode": "or"}
        assert accepts(filter, dated(None, None, "tenant:1", "a"))
        assert not accepts(filter, dated(None, None, "a", "c"))
        assert not accepts(filter, dated(None, None, "tenant:1"))


class TestSources:
    def test_types_and_folders_are_any_of(self) -> None:
        metadata = {"user_doc_type": "PDF", "user_source_path": "/law/uk/act.pdf"}
        assert accepts({"doc_types": ["note", "pdf"]}, metadata)
        assert not accepts({"doc_types": ["note"]}, metadata)
        assert accepts({"path_prefixes": ["news", "law/uk/"]}, metadata)
        assert accepts({"path_prefixes": ["law/uk/act.pdf"]}, metadata)
        assert not accepts({"path_prefixes": ["law/u", "uk"]}, metadata)
        assert not accepts({"path_prefixes": ["law"], "doc_types": ["note"]}, metadata)
        for filter in ({"doc_types": ["pdf"]}, {"path_prefixes": ["law"]}):
            assert not accepts(filter, UNDATED)

    def test_modification_time_is_closed_and_needs_to_be_known(self) -> None:
        metadata = {"user_modified_at": "1970-01-01T01:00:10+01:00"}
        assert accepts({"modified_after": 10, "modified_before": "1970-01-01T00:00:10Z"}, metadata)
        assert not accepts({"modified_after": 10.001}, metadata)
        assert not accepts({"modified_before": 9.999}, metadata)
        for filter in ({"modified_after": -(10**10)}, {"modified_before": 10**10}):
            assert accepts(filter, metadata)
            assert not accepts(filter, UNDATED)

    def test_document_ids(self) -> None:
        filter = {"search_filters": {"document_ids": ["doc-1", "doc-2"]}}
        assert accepts(filter, None, "doc-1")
        assert not accepts(filter, None, "doc-3")
        assert not accepts(filter, None)

    def test_filters_on_graph_objects_leave_documents_alone(self) -> None:
        assert accepts({"search_filters": {"labels": ["x"], "relation_types": ["y"], "properties": {"k": 1}}}, None)


def test_all_parts_narrow() -> None:
    inner = {"required_tags": ["b"]}
    filter = {"required_tags": ["a"], "all_of": [inner, {"forbidden_tags": ["c"]}]}
    assert accepts(filter, dated(None, None, "a", "b"))
    assert not accepts(filter, dated(None, None, "a"))
    assert not accepts(filter, dated(None, None, "a", "b", "c"))
    assert VectorQueryFilter.model_validate({"all_of": [inner]}).restricts_documents
