"""From options to filter fields, and into words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lightrag.cli.filters import choose
from lightrag.cli.options import FilterOptions
from lightrag.contracts.query import QueryParam
from lightrag.exceptions import InputError
from lightrag.query_filters import DATE_FILTER_PRESETS, build_vector_query_filter

DAY = {"start": "1930-06-15T00:00:00Z", "end": "1930-06-15T23:59:59.999000Z"}


def fields(**options: Any) -> dict[str, Any]:
    return choose(FilterOptions(**options, zone="UTC")).fields


def test_nothing_asked_for_is_nothing() -> None:
    chosen = choose(FilterOptions())
    assert (chosen.fields, chosen.zone, chosen.in_words()) == ({}, None, "")


def test_tags_and_sources() -> None:
    found = fields(require=["type:act"], forbid=["draft"], forbid_in_graph=True, doc_type=["PDF"], folder=["a/b"])
    assert found == {
        "required_tags": ["type:act"],
        "forbidden_tags": ["draft"],
        "apply_forbidden_tags_to_kg": True,
        "doc_types": ["PDF"],
        "path_prefixes": ["a/b"],
    }
    assert fields(require=["a", "b"], any_tag=True)["required_tags_mode"] == "or"


def test_tags_go_on_as_they_were_typed() -> None:
    # Where a tag names a scope, the engine must see that normalising would make another one of it.
    assert fields(require=["tenant:a/b"])["required_tags"] == ["tenant:a/b"]


def test_a_period() -> None:
    found = fields(start="1930", end="1930-06")["date_filter"]
    assert found == {
        "range": {"start": "1930-01-01T00:00:00+00:00", "end": "1930-06-30T23:59:59.999000+00:00"},
        "range_mode": "overlap",
        "shape": "any",
        "undated": "exclude",
    }


def test_a_point() -> None:
    found = fields(at="1930-06-15")["date_filter"]["range"]
    assert found == dict.fromkeys(("start", "end"), "1930-06-15T12:00:00+00:00")


@pytest.mark.parametrize("name", [name for name in DATE_FILTER_PRESETS if name != "uncatalogued_only"])
def test_presets(name: str) -> None:
    found = fields(preset=name.replace("_", "-"), start="1930")["date_filter"]
    preset = DATE_FILTER_PRESETS[name]
    assert (found["range_mode"], found["shape"], found["undated"]) == preset
    assert fields(preset=name.upper(), start="1930")["date_filter"] == found


def test_uncatalogued_only() -> None:
    assert fields(preset="uncatalogued-only")["date_filter"]["undated"] == "only"


def test_undated_changes_the_preset() -> None:
    found = fields(preset="strict-catalog", undated="include_or", start="1930")["date_filter"]
    assert (found["shape"], found["undated"]) == ("bounded", "include_or")
    assert fields(undated="only")["date_filter"]["undated"] == "only"


def test_modification() -> None:
    found = fields(after="2026-01", before="2026-01")
    assert found == {
        "modified_after": "2026-01-01T00:00:00+00:00",
        "modified_before": "2026-01-31T23:59:59.999000+00:00",
    }


def test_json_of_the_interface(tmp_path: Path) -> None:
    text = '{"search_filters": {"labels": ["person"]}, "required_tags": ["a"]}'
    found = fields(filter_json=text, require=["b"])
    assert found == {"search_filters": {"labels": ["person"]}, "required_tags": ["b"]}
    (tmp_path / "filter.json").write_text(text)
    assert fields(filter_json=f"@{tmp_path}/filter.json", require=["b"]) == found


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"any_tag": True}, "--require"),
        ({"forbid_in_graph": True}, "--forbid"),
        ({"at": "1930-06-15", "start": "1930"}, "--at is one point"),
        ({"preset": "uncatalogued-only", "at": "1930-06-15"}, "leave the dates out"),
        ({"preset": "in-force"}, "unknown preset 'in-force'"),
        ({"undated": "maybe"}, "allowed are exclude, include_or, only"),
        ({"start": "1931", "end": "1930"}, "lies after the end"),
        ({"require": ["!!!"]}, "'!!!'"),
        ({"require": ["  "]}, "only blank values"),
        ({"filter_json": "[1]"}, "write a JSON object"),
        ({"filter_json": "{"}, "--filter is not JSON"),
        ({"filter_json": '{"required_tag": ["a"]}'}, "did you mean 'required_tags'"),
        ({"filter_json": '{"scope_tag": "a"}'}, "has no field 'scope_tag'"),
        ({"filter_json": '{"date_filter": {"shapes": "any"}}'}, "did you mean 'shape'"),
        ({"filter_json": "@nothing.json"}, "'nothing.json' cannot be read"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as found:
        fields(**options)
    assert told in str(found.value)


def test_what_was_chosen_is_what_the_engine_takes() -> None:
    found = fields(require=["a"], start="1930", folder=["x"], after="2026", preset="archive-discovery")
    assert build_vector_query_filter(QueryParam(**found)) == build_vector_query_filter(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"require": ["a", "b"]}, "tagged a and b"),
        ({"require": ["a", "b"], "any_tag": True}, "tagged a or b"),
        ({"forbid": ["a"], "doc_type": ["act", "letter"]}, "not tagged a; of type act or letter"),
        ({"folder": ["x"], "undated": "only"}, "in x; without any date"),
        ({"at": "1930-06-15"}, "at 1930-06-15T12:00:00+00:00; zone UTC"),
        (
            {"start": "1930", "end": "1930", "preset": "legislation-in-force"},
            "covering all of 1930-01-01T00:00:00+00:00 to 1930-12-31T23:59:59.999+00:00, having a start; zone UTC",
        ),
        (
            {"start": "1930", "preset": "archive-discovery"},
            "touching 1930-01-01T00:00:00+00:00 to ..., or undated; zone UTC",
        ),
        ({"after": "2026"}, "modified from 2026-01-01T00:00:00+00:00; zone UTC"),
        ({"filter_json": '{"search_filters": {"labels": ["person"]}}'}, "search filters"),
    ],
)
def test_in_words(options: dict[str, Any], words: str) -> None:
    assert choose(FilterOptions(**options, zone="UTC")).in_words() == words


def test_the_zone_is_named_only_where_it_was_needed() -> None:
    assert choose(FilterOptions(start="1930-01-01T00:00:00Z", zone="Europe/London")).zone is None
    assert choose(FilterOptions(start="1930-01-01T00:00:00Z", end="1931", zone="Europe/London")).zone == "Europe/London"
