"""The models of dates and document metadata: strict, immutable, and helpful about mistakes."""

import copy
import json
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from lightrag.constants import MAX_DOCUMENT_META_BYTES, MAX_DOCUMENT_META_DEPTH
from lightrag.exceptions import FilterSyntaxError
from lightrag.query_filters import (
    DATE_FILTER_PRESETS,
    USER_METADATA_KEYS,
    DateFilter,
    DateRangeFilter,
    DateRangeMode,
    DocumentDateShape,
    DocumentMetadata,
    UndatedMatch,
    public_metadata,
)

FULL = {
    "start_date": "2030-03-30T00:00:00+01:00",
    "end_date": "2031-01-01T00:00:00Z",
    "tags": ["Patent", "channel/ENG"],
    "meta": {"href": "https://example.org", "n": [1, 2.5, None, True, {"ä": "ö"}]},
    "modified_at": "2024-05-06T07:08:09+00:00",
    "doc_type": "PDF",
    "source_path": "/law/uk/act.pdf",
}


class TestDocumentMetadata:
    def test_is_stored_under_user_keys_with_offsets_kept(self) -> None:
        assert DocumentMetadata.model_validate(FULL).to_storage() == {
            "user_start_date": "2030-03-30T00:00:00+01:00",
            "user_end_date": "2031-01-01T00:00:00Z",
            "user_tags": ["patent", "channel_eng"],
            "user_meta": FULL["meta"],
            "user_modified_at": "2024-05-06T07:08:09+00:00",
            "user_doc_type": "pdf",
            "user_source_path": "law/uk/act.pdf",
        }

    def test_every_stored_key_is_on_the_list_of_keys_to_keep(self) -> None:
        assert set(DocumentMetadata.model_validate(FULL).to_storage()) == set(USER_METADATA_KEYS)

    def test_nothing_given_stores_no_dates(self) -> None:
        assert DocumentMetadata().to_storage() == {"user_tags": [], "user_meta": {}}
        blank = DocumentMetadata(tags=["", " "], doc_type=" ", source_path="/")
        assert blank.to_storage() == {"user_tags": [], "user_meta": {}}
        nulls = DocumentMetadata.model_validate(dict.fromkeys(FULL))
        assert nulls == DocumentMetadata()

    def test_json_keeps_offsets(self) -> None:
        dumped = json.loads(DocumentMetadata.model_validate_json(json.dumps(FULL)).model_dump_json())
        assert dumped["start_date"] == FULL["start_date"]
        assert dumped["end_date"] == FULL["end_date"]

    @pytest.mark.parametrize("field", ["start_date", "end_date", "modified_at"])
    @pytest.mark.parametrize("value", ["2020-01-15T00:00:00", "2020-01-15", datetime(2020, 1, 15)])  # noqa: DTZ001
    def test_naive_dates_are_refused(self, field: str, value: object) -> None:
        with pytest.raises(ValidationError, match="Date must include a timezone offset or Z"):
            DocumentMetadata.model_validate({field: value})

    def test_start_after_end_is_refused_by_instant(self) -> None:
        with pytest.raises(ValidationError, match="lies after the end"):
            DocumentMetadata.model_validate(
                {"start_date": "2020-01-15T11:00:00-05:00", "end_date": "2020-01-15T12:00:00Z"}
            )

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("start_date", 0),
            ("tags", "patent"),
            ("tags", [1]),
            ("tags", {"patent": 1}),
            ("meta", []),
            ("meta", "{}"),
            ("doc_type", 1),
            ("source_path", "../up"),
        ],
    )
    def test_nothing_is_coerced(self, field: str, value: object) -> None:
        with pytest.raises(ValidationError):
            DocumentMetadata.model_validate({field: value})

    @pytest.mark.parametrize(
        ("given", "near"),
        [("startdate", "start_date"), ("Tags", "tags"), ("tag", "tags"), ("metadata", "meta"), ("end", "end_date")],
    )
    def test_unknown_fields_are_errors_that_name_the_right_one(self, given: str, near: str) -> None:
        with pytest.raises(ValidationError, match=f"unknown field '{given}'.*Allowed are .*{near}"):
            DocumentMetadata.model_validate({given: None})

    def test_the_nearest_field_is_suggested(self) -> None:
        with pytest.raises(ValidationError, match="did you mean 'start_date'"):
            DocumentMetadata.model_validate({"Start_Dates": None})
        with pytest.raises(ValidationError) as caught:
            DocumentMetadata.model_validate({"zzz": None})
        assert "did you mean" not in str(caught.value)

    def test_tags_that_lost_characters_are_remembered(self) -> None:
        metadata = DocumentMetadata(tags=["tenant:a/b", "Fine", " ", "é"])
        assert metadata.altered_tags == ("tenant:a/b", "é")
        for copied in (copy.deepcopy(metadata), pickle.loads(pickle.dumps(metadata)), metadata.model_copy()):
            assert copied.altered_tags == metadata.altered_tags
        assert DocumentMetadata.model_validate_json('{"tags": ["a/b"]}').altered_tags == ("a/b",)
        assert DocumentMetadata.model_validate(metadata) is metadata
        assert DocumentMetadata.coerce(metadata) is metadata
        assert DocumentMetadata.coerce({"tags": ["ok"]}).altered_tags == ()

    def test_coerce_names_every_fault_with_its_path(self) -> None:
        with pytest.raises(FilterSyntaxError, match=r"start_date: Date must include .*; tags: a tag is a text"):
            DocumentMetadata.coerce({"start_date": "2020-01-15", "tags": [1]})

    def test_is_immutable(self) -> None:
        with pytest.raises(ValidationError):
            DocumentMetadata().tags = ["x"]


class TestMeta:
    def test_size_counts_bytes_of_utf8(self) -> None:
        overhead = len('{"k":""}')
        DocumentMetadata(meta={"k": "x" * (MAX_DOCUMENT_META_BYTES - overhead)})
        with pytest.raises(ValidationError, match="262145 bytes as JSON; allowed are 262144"):
            DocumentMetadata(meta={"k": "x" * (MAX_DOCUMENT_META_BYTES - overhead + 1)})
        with pytest.raises(ValidationError, match="allowed are 262144"):
            DocumentMetadata(meta={"k": "ä" * (MAX_DOCUMENT_META_BYTES // 2)})

    @pytest.mark.parametrize("wrap", [lambda inner: {"k": inner}, lambda inner: [inner]])
    def test_depth_is_limited(self, wrap: Any) -> None:
        def nested(levels: int) -> dict[str, Any]:
            value: Any = 1
            for _ in range(levels):
                value = wrap(value)
            return value if isinstance(value, dict) else {"k": value}

        DocumentMetadata(meta=nested(MAX_DOCUMENT_META_DEPTH))
        with pytest.raises(ValidationError, match="deeper than the 8 levels allowed"):
            DocumentMetadata(meta=nested(MAX_DOCUMENT_META_DEPTH + 1))

    @pytest.mark.parametrize(
        "value",
        [
            {"k": float("nan")},
            {"k": [float("inf")]},
            {"k": "\ud800"},
            {"k\0": 1},
            {"k": {"deep": "a\0b"}},
            {1: "x"},
            {"k": datetime.now(UTC)},
            {"k": (1, 2)},
        ],
    )
    def test_what_would_not_come_back_from_json_is_refused(self, value: dict[Any, Any]) -> None:
        with pytest.raises(ValidationError, match="meta"):
            DocumentMetadata(meta=value)


def test_public_metadata_gives_back_what_was_stored() -> None:
    stored = DocumentMetadata.model_validate(FULL).to_storage()
    assert public_metadata({**stored, "kg_write_state": "pre_graph"}) == {
        **FULL,
        "tags": ["patent", "channel_eng"],
        "doc_type": "pdf",
        "source_path": "law/uk/act.pdf",
    }
    empty = public_metadata(None)
    assert empty.pop("tags") == []
    assert empty.pop("meta") == {}
    assert set(empty.values()) == {None}


class TestDateFilter:
    def test_defaults_are_inactive(self) -> None:
        assert DateFilter() == DateFilter(
            range=None,
            range_mode=DateRangeMode.OVERLAP,
            shape=DocumentDateShape.ANY,
            undated=UndatedMatch.EXCLUDE,
        )
        assert not DateFilter().is_active
        assert not DateFilter(range_mode=DateRangeMode.CONTAINS).is_active

    @pytest.mark.parametrize(
        "given", [{"range": {}}, {"range": {"start": None}}, {"shape": "dated"}, {"undated": "include_or"}]
    )
    def test_each_knob_activates(self, given: dict[str, Any]) -> None:
        assert DateFilter.model_validate(given).is_active

    @pytest.mark.parametrize(
        "given",
        [
            {"range_mode": "starts_in"},
            {"shape": "ANY"},
            {"undated": True},
            {"range": {"start": 0}},
            {"range": {"begin": None}},
            {"range": "2020"},
            {"range": {"start": "2010-01-01"}},
            {"range": {"start": "2021-01-01T00:00:00Z", "end": "2020-01-01T00:00:00Z"}},
            {"ranges": {}},
        ],
    )
    def test_mistakes_are_errors(self, given: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            DateFilter.model_validate(given)

    def test_range_survives_json_with_its_offset(self) -> None:
        text = '{"start":"2030-03-30T00:00:00+01:00","end":null}'
        assert DateRangeFilter.model_validate_json(text).model_dump_json() == text


PRESETS = [
    ("broad_retrieval", "Broad retrieval", "overlap", "any", "exclude"),
    ("archive_discovery", "Archive discovery", "overlap", "any", "include_or"),
    ("legislation_in_force", "Legislation / in force", "contains", "has_start", "exclude"),
    ("activity_in_period", "Activity in period", "overlap", "has_start", "exclude"),
    ("wholly_within_period", "Wholly within period", "contained_by", "has_start", "exclude"),
    ("strict_catalog", "Strict catalog", "overlap", "bounded", "exclude"),
]


class TestPresets:
    @pytest.mark.parametrize(("name", "label", "mode", "shape", "undated"), PRESETS)
    def test_table(self, name: str, label: str, mode: str, shape: str, undated: str) -> None:
        start, end = "2010-01-01T00:00:00Z", datetime(2015, 12, 31, tzinfo=UTC)
        window = {"start": start, "end": end.isoformat()}
        wanted = DateFilter.model_validate({"range": window, "range_mode": mode, "shape": shape, "undated": undated})
        assert DateFilter.preset(name, start, end) == DateFilter.preset(label, start, end) == wanted

    def test_uncatalogued_only_ignores_window_and_shape(self) -> None:
        given = DateFilter.preset("Uncatalogued only", "2010-01-01T00:00:00Z")
        assert given == DateFilter(undated=UndatedMatch.ONLY)

    def test_table_is_complete(self) -> None:
        assert list(DATE_FILTER_PRESETS) == [*(row[0] for row in PRESETS), "uncatalogued_only"]

    def test_open_windows(self) -> None:
        assert DateFilter.preset("strict_catalog").range is None
        window = DateFilter.preset("strict_catalog", end="2015-12-31T00:00:00Z").range
        assert window is not None
        assert window.start is None

    def test_mistakes(self) -> None:
        with pytest.raises(FilterSyntaxError, match="did you mean 'strict_catalog'"):
            DateFilter.preset("strict_catalogue")
        with pytest.raises(FilterSyntaxError, match=r"unknown preset '\?!\?'\. Allowed are"):
            DateFilter.preset("?!?")
        with pytest.raises(FilterSyntaxError, match="Date must include"):
            DateFilter.preset("strict_catalog", "2010-01-01")
        with pytest.raises(FilterSyntaxError, match="lies after the end"):
            DateFilter.preset("strict_catalog", "2011-01-01T00:00:00Z", "2010-01-01T00:00:00Z")
