"""The reference page of filters says what the code does: every field, preset, limit and example."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from lightrag import constants
from lightrag.contracts.query import QueryParam
from lightrag.exceptions import FilterSyntaxError
from lightrag.query import filter_gate
from lightrag.query.facets import Facets
from lightrag.query.gate import FilterReport
from lightrag.query.preview import FilterPreview
from lightrag.query_filters import (
    DATE_FILTER_PRESETS,
    FILTER_ATTRIBUTES,
    SUMMARY_FIELDS,
    DateFilter,
    DateRangeMode,
    DocumentDateShape,
    DocumentMetadata,
    KgEvidencePolicy,
    SearchFilters,
    UndatedMatch,
    VectorQueryFilter,
    document_matches_date_filter,
    has_active_filters,
    normal_form,
    normalize_tag,
    parse_stored_datetime,
    sources,
)
from lightrag.settings import FilterSettings, Settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "design" / "document-metadata-query-filters.md").read_text(encoding="utf-8")


def tables(heading: str) -> list[list[list[str]]]:
    """Return the tables below a heading, up to the next one, as rows of cells without backticks; headers come first."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    found: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\|$\n?)+", section, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines()]
        found.append([[cell.strip("`") for cell in row] for row in rows[:1] + rows[2:]])
    return found


def columns(heading: str, table: int = 0) -> dict[str, list[str]]:
    """Return the rows of a table by their first cell."""
    rows = tables(heading)[table][1:]
    by_name = {row[0]: row[1:] for row in rows}
    assert len(by_name) == len(rows), f"a row is there twice below {heading!r}"
    return by_name


def shown(value: object) -> str:
    return str(getattr(value, "value", value))


# --- what a document carries ---------------------------------------------------------------------------------------


def test_fields_of_documents_and_the_keys_they_are_stored_under() -> None:
    told = columns("What a document carries")
    assert list(told) == list(DocumentMetadata.model_fields)
    date = "2020-01-15T00:00:00Z"
    given = {"start_date": date, "end_date": date, "modified_at": date, "doc_type": "x", "source_path": "x"}
    stored = DocumentMetadata.model_validate({**given, "tags": ["x"], "meta": {"x": 1}}).to_storage()
    assert {key for key, _ in told.values()} == set(stored)
    assert all(key == f"user_{name}" for name, (key, _) in told.items())


# --- what a question can be limited by -----------------------------------------------------------------------------


def test_fields_of_questions_and_their_defaults() -> None:
    told = columns("What a question can be limited by")
    assert list(told) == list(FILTER_ATTRIBUTES)
    param = QueryParam()
    assert {name: default for name, (default, _) in told.items()} == {
        name: shown(getattr(param, name)) for name in FILTER_ATTRIBUTES
    }
    inside = {name: shown(getattr(VectorQueryFilter(), name)) for name in FILTER_ATTRIBUTES}
    assert inside == {name: default for name, (default, _) in told.items()}
    beyond = set(VectorQueryFilter.model_fields) - set(FILTER_ATTRIBUTES)
    assert beyond == {"scope_tag", "all_of"}
    for name in beyond:
        assert f"`{name}`" in PAGE


def test_knobs_of_date_filters_and_their_defaults() -> None:
    told = columns("Dates")
    assert list(told) == list(DateFilter.model_fields)
    assert {name: row[0] for name, row in told.items()} == {
        name: shown(getattr(DateFilter(), name)) for name in DateFilter.model_fields
    }


@pytest.mark.parametrize(("table", "values"), [(1, DateRangeMode), (2, DocumentDateShape), (3, UndatedMatch)])
def test_values_of_the_knobs(table: int, values: Any) -> None:
    assert list(columns("Dates", table)) == [value.value for value in values]


DOCUMENTS = {
    "undated": {},
    "start only": {"user_start_date": "1930-01-01T00:00:00Z"},
    "end only": {"user_end_date": "1935-01-01T00:00:00Z"},
    "both": {"user_start_date": "1930-01-01T00:00:00Z", "user_end_date": "1935-01-01T00:00:00Z"},
}


def test_shapes_accept_what_the_table_says() -> None:
    header, *rows = tables("Dates")[2]
    assert header[1:] == list(DOCUMENTS)
    for shape, *cells in rows:
        for (kind, metadata), cell in zip(DOCUMENTS.items(), cells, strict=True):
            accepted = document_matches_date_filter(metadata, {"shape": shape})
            assert accepted is (cell == "yes"), f"{shape}, {kind}"


def test_the_formulas_of_the_modes_are_the_truth() -> None:
    points = [None, *range(1930, 1935)]
    for mode, (formula, _) in columns("Dates", 1).items():
        condition = formula.replace("*", "").replace("≤", "<=").replace("≥", ">=")
        for s, e, A, B in [(s, e, A, B) for s in points for e in points for A in points for B in points]:
            if (s is None and e is None) or (s and e and s > e) or (A and B and A > B):
                continue
            bounds = {"s": s or 0, "e": e or 9999, "A": A or 0, "B": B or 9999}
            metadata = {
                f"user_{name}_date": f"{year}-01-01T00:00:00Z" for name, year in (("start", s), ("end", e)) if year
            }
            window = {name: f"{year}-01-01T00:00:00Z" for name, year in (("start", A), ("end", B)) if year}
            accepted = document_matches_date_filter(metadata, {"range": window, "range_mode": mode})
            assert accepted is eval(condition, bounds), (mode, s, e, A, B)


def test_texts_are_accepted_and_refused_as_told() -> None:
    told = columns("Dates", 4)
    assert {verdict for (verdict,) in told.values()} == {"accepted", "refused"}
    for text, (verdict,) in told.items():
        if verdict == "accepted":
            parse_stored_datetime(text)
        else:
            with pytest.raises(FilterSyntaxError):
                parse_stored_datetime(text)


def test_presets_are_the_table() -> None:
    told = columns("Presets")
    assert list(told) == list(DATE_FILTER_PRESETS)
    for name, (label, mode, shape, undated, _) in told.items():
        preset = DATE_FILTER_PRESETS[name]
        assert ("–" if preset.range_mode is None else preset.range_mode.value) == mode
        assert ("–" if preset.shape is None else preset.shape.value) == shape
        assert preset.undated.value == undated
        assert DateFilter.preset(label, "1930-01-01T00:00:00Z") == DateFilter.preset(name, "1930-01-01T00:00:00Z")


def test_tags_have_the_normal_form_that_is_told() -> None:
    told = columns("Tags")
    assert len(told) >= 4
    assert {raw: normal for raw, (normal,) in told.items()} == {raw: normalize_tag(raw) for raw in told}


def test_search_filters_and_evidence_policies() -> None:
    assert list(columns("Graph objects")) == list(SearchFilters.model_fields)
    assert list(columns("What happens to a filtered question")) == [policy.value for policy in KgEvidencePolicy]
    assert f"the {filter_gate.NEWEST_ROWS} newest" in PAGE


# --- limits and examples -------------------------------------------------------------------------------------------


def test_limits_agree() -> None:
    told = {name: int(value) for name, (value, _) in columns("Limits").items()}
    limits = {
        name: value
        for module in (constants, sources)
        for name, value in vars(module).items()
        if name.startswith(("MAX_DOCUMENT_", "MAX_QUERY_FILTER", "MAX_FILTER_", "MAX_TEXT_"))
    }
    assert told == limits


EXAMPLES = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_are_active_filters(example: dict[str, Any]) -> None:
    assert has_active_filters(QueryParam(**example))


# --- what is shown, stored and set ---------------------------------------------------------------------------------


def test_reports_previews_and_facets() -> None:
    heading = "Seeing what a filter does"
    assert list(columns(heading, 0)) == ["active", *(item.name for item in fields(FilterReport))]
    assert list(columns(heading, 1)) == [item.name for item in fields(FilterPreview)]
    assert list(columns(heading, 2)) == [item.name for item in fields(Facets)]


def test_stored_fields() -> None:
    assert set(columns("Stored fields", 0)) == set(normal_form(None))
    assert list(columns("Stored fields", 1)) == list(SUMMARY_FIELDS)


def test_settings_their_variables_and_defaults() -> None:
    told = columns("Configuration")
    assert list(told) == list(FilterSettings.model_fields)
    example = (ROOT / "env.example").read_text(encoding="utf-8")
    for name, (variable, default, _) in told.items():
        field = Settings.model_fields[name]
        alias: Any = field.validation_alias
        assert variable in alias.choices
        assert f"#{variable}=" in example
        value = field.get_default(call_default_factory=True)
        assert default == ("(none)" if value == [] else str(value).lower())


def test_named_functions_exist() -> None:
    from lightrag import LightRAG, query_filters

    for name in set(re.findall(r"`(a\w+)\(", PAGE)):
        assert hasattr(LightRAG, name), name
    for name in set(re.findall(r"`((?:build|document|to)_\w+)", PAGE)) - {"document_metadata", "document_ids"}:
        assert hasattr(query_filters, name) or hasattr(SearchFilters, name), name
