"""Questions limited by dates, tags and sources: every case of the specification, through a real engine."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag import DateFilter, LightRAG, QueryParam, SearchFilters
from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.exceptions import FilterSyntaxError
from lightrag.graph.change import GraphChange
from lightrag.graph.merge import load_facts, merge_evidence
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from lightrag.query_filters import (
    DateRangeFilter,
    DateRangeMode,
    DocumentDateShape,
    RequiredTagsMode,
    UndatedMatch,
    build_filter_cache_hash,
    build_vector_query_filter,
    has_active_filters,
)
from tests.fakes.facts import FactModel
from tests.fakes.filtering import GRAPH_MODES, MODES, WAYS, files_found, open_in_way
from tests.flow.conftest import EngineFactory

QUESTION = "What did the Hub do in Velmouth?"
THIRTIES = {"start": "1930-01-01T00:00:00Z", "end": "1939-12-31T23:59:59Z"}

# One document of each shape, all of which speak of the Hub and Velmouth.
ARCHIVE: dict[str, dict[str, Any]] = {
    "act-1903": {"start_date": "1903-04-01T00:00:00Z", "end_date": "1928-03-31T23:59:59Z", "tags": ["act", "lang:en"]},
    "act-1928": {"start_date": "1928-04-01T00:00:00Z", "tags": ["act", "lang:en"]},
    "courier-1931": {
        "start_date": "1931-10-10T00:00:00+01:00",
        "end_date": "1931-10-10T23:59:59+01:00",
        "tags": ["newspaper", "lang:en"],
    },
    "rule-until-1935": {"end_date": "1935-06-30T00:00:00Z", "tags": ["act", "draft"]},
    "letter-undated": {"tags": ["letter"]},
    "note-bare": {},
}
ALL = set(ARCHIVE)
DATED = {"act-1903", "act-1928", "courier-1931", "rule-until-1935"}
UNDATED = ALL - DATED

CASES: list[tuple[str, dict[str, Any], set[str]]] = [
    ("only complete dates", {"date_filter": {"shape": "bounded"}}, {"act-1903", "courier-1931"}),
    ("any date", {"date_filter": {"shape": "dated"}}, DATED),
    ("a start", {"date_filter": {"shape": "has_start"}}, DATED - {"rule-until-1935"}),
    ("an end", {"date_filter": {"shape": "has_end"}}, DATED - {"act-1928"}),
    ("only undated", {"date_filter": {"undated": "only"}}, UNDATED),
    ("or undated, without a range", {"date_filter": {"undated": "include_or"}}, UNDATED),
    (
        "complete, or undated, without a range",
        {"date_filter": {"shape": "bounded", "undated": "include_or"}},
        UNDATED | {"act-1903", "courier-1931"},
    ),
    ("touching the thirties", {"date_filter": {"range": THIRTIES}}, DATED - {"act-1903"}),
    (
        "touching the thirties, or undated",
        {"date_filter": {"range": THIRTIES, "undated": "include_or"}},
        ALL - {"act-1903"},
    ),
    (
        "wholly within the thirties",
        {"date_filter": {"range": THIRTIES, "range_mode": "contained_by"}},
        {"courier-1931"},
    ),
    ("covering the thirties", {"date_filter": {"range": THIRTIES, "range_mode": "contains"}}, {"act-1928"}),
    (
        "undated alone, whatever range and shape say",
        {"date_filter": {"range": THIRTIES, "shape": "bounded", "undated": "only"}},
        UNDATED,
    ),
    ("an open window", {"date_filter": {"range": {}}}, DATED),
    ("from 1929 on", {"date_filter": {"range": {"start": "1929-01-01T00:00:00Z", "end": None}}}, DATED - {"act-1903"}),
    ("up to 1903", {"date_filter": {"range": {"end": "1903-12-31T00:00:00Z"}}}, {"act-1903", "rule-until-1935"}),
    ("all tags", {"required_tags": ["ACT", "lang:en"]}, {"act-1903", "act-1928"}),
    (
        "any tag",
        {"required_tags": ["newspaper", "Letter"], "required_tags_mode": "or"},
        {"courier-1931", "letter-undated"},
    ),
    ("no tag of these", {"forbidden_tags": ["act", "letter"]}, {"courier-1931", "note-bare"}),
    ("a tag and not another", {"required_tags": ["act"], "forbidden_tags": ["draft"]}, {"act-1903", "act-1928"}),
    ("a tag that nobody has", {"required_tags": ["treaty"]}, set()),
    (
        "dates and tags",
        {"date_filter": {"range": THIRTIES}, "required_tags": ["act"]},
        {"act-1928", "rule-until-1935"},
    ),
    (
        "an undated document still needs the tags",
        {"date_filter": {"range": THIRTIES, "undated": "include_or"}, "required_tags": ["letter"]},
        {"letter-undated"},
    ),
]


def text_of(name: str) -> str:
    return f"A page of {name}.\nHub -> Velmouth: {name} tells what the Hub did in Velmouth\n"


async def fill(engine: LightRAG) -> None:
    for name, metadata in ARCHIVE.items():
        await engine.ainsert(text_of(name), ids=name, file_paths=name, metadata=metadata or None)


# --- which documents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_every_mode_finds_exactly_the_documents_that_the_filter_accepts(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(engine)
    for what, fields, expected in CASES:
        for mode in MODES:
            found = await files_found(engine, QUESTION, QueryParam(mode=mode, **fields))
            assert found == expected, f"{what}, {mode}"
            preview = await engine.afilter_preview(QueryParam(mode=mode, **fields))
            assert preview.eligible_documents == len(expected), what


@pytest.mark.parametrize("mode", MODES)
async def test_models_and_plain_dicts_mean_the_same(make_engine: EngineFactory, mode: str) -> None:
    engine = await make_engine()
    await fill(engine)
    as_model = QueryParam(
        mode=mode,
        date_filter=DateFilter(
            range=DateRangeFilter(start="1930-01-01T00:00:00Z", end="1939-12-31T23:59:59Z"),
            range_mode=DateRangeMode.OVERLAP,
            shape=DocumentDateShape.HAS_END,
            undated=UndatedMatch.INCLUDE_OR,
        ),
        required_tags=["newspaper", "letter"],
        required_tags_mode=RequiredTagsMode.OR,
    )
    as_json = QueryParam(
        mode=mode,
        date_filter={"range": THIRTIES, "range_mode": "overlap", "shape": "has_end", "undated": "include_or"},
        required_tags=["newspaper", "letter"],
        required_tags_mode="or",
    )
    found = await files_found(engine, QUESTION, as_model)
    assert found == await files_found(engine, QUESTION, as_json) == {"courier-1931", "letter-undated"}


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("broad_retrieval", DATED - {"act-1903"}),
        ("archive_discovery", ALL - {"act-1903"}),
        ("legislation_in_force", {"act-1928"}),
        ("activity_in_period", {"act-1928", "courier-1931"}),
        ("wholly_within_period", {"courier-1931"}),
        ("strict_catalog", {"courier-1931"}),
        ("uncatalogued_only", UNDATED),
    ],
)
async def test_presets(make_engine: EngineFactory, preset: str, expected: set[str]) -> None:
    engine = await make_engine()
    await fill(engine)
    param = QueryParam(mode="mix", date_filter=DateFilter.preset(preset, THIRTIES["start"], THIRTIES["end"]))
    assert await files_found(engine, QUESTION, param) == expected


async def test_in_force_on_one_day_is_the_same_by_overlap_and_by_contains(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await fill(engine)
    for mode in ("overlap", "contains"):
        for day, expected in (
            ("1928-03-31T23:59:59Z", "act-1903"),
            ("1928-04-01T01:00:00+01:00", "act-1928"),
        ):
            dates = {"range": {"start": day, "end": day}, "range_mode": mode, "shape": "has_start"}
            param = QueryParam(mode="mix", date_filter=dates, required_tags=["act"])
            assert await files_found(engine, QUESTION, param) == {expected}


async def test_sources(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    sources = {
        "a": {"doc_type": "PDF", "source_path": "acts/1903/a.pdf", "modified_at": "2024-01-01T00:00:00Z"},
        "b": {"doc_type": "note", "source_path": "acts-old/b.md", "modified_at": "2025-01-01T00:00:00+01:00"},
        "c": {},
    }
    for name, metadata in sources.items():
        await engine.ainsert(text_of(name), ids=name, file_paths=name, metadata=metadata or None)
    for fields, expected in (
        ({"doc_types": ["pdf", "other"]}, {"a"}),
        ({"path_prefixes": ["acts"]}, {"a"}),
        ({"path_prefixes": ["/acts/", "acts-old"]}, {"a", "b"}),
        ({"modified_after": "2024-12-31T23:00:00Z"}, {"b"}),
        ({"modified_before": 1704067200}, {"a"}),
        ({"modified_after": "2024-01-01T00:00:00Z", "modified_before": "2024-12-31T23:00:00Z"}, {"a", "b"}),
    ):
        for mode in MODES:
            assert await files_found(engine, QUESTION, QueryParam(mode=mode, **fields)) == expected, (fields, mode)


# --- when a filter is active ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "active"),
    [
        ({}, False),
        ({"date_filter": {}}, False),
        ({"date_filter": {"range_mode": "contains"}}, False),
        ({"required_tags": [], "forbidden_tags": []}, False),
        ({"required_tags_mode": "or", "apply_forbidden_tags_to_kg": True}, False),
        ({"kg_evidence_policy": "strict_drop"}, False),
        ({"search_filters": {}}, False),
        ({"date_filter": {"shape": "bounded"}}, True),
        ({"date_filter": {"undated": "only"}}, True),
        ({"date_filter": {"undated": "include_or"}}, True),
        ({"date_filter": {"range": {}}}, True),
        ({"forbidden_tags": ["draft"]}, True),
        ({"search_filters": {"labels": ["person"]}}, True),
    ],
)
async def test_the_report_is_there_exactly_when_a_filter_is(
    make_engine: EngineFactory, fields: dict[str, Any], active: bool
) -> None:
    assert has_active_filters(QueryParam(**fields)) is active
    engine = await make_engine()
    await fill(engine)
    for mode in MODES:
        result = await engine.aquery_data(QUESTION, QueryParam(mode=mode, **fields))
        assert ("filter" in result["metadata"]) is active
        answered = await engine.aquery_llm(QUESTION, QueryParam(mode=mode, **fields))
        assert ("filter" in answered["metadata"]) is active


@pytest.mark.parametrize("mode", MODES)
async def test_the_report_counts_what_the_filter_did(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, "gate")
    await fill(engine)
    result = await engine.aquery_data(QUESTION, QueryParam(mode=mode, required_tags=["letter"]))
    report = result["metadata"]["filter"]
    assert list(report) == ["active", "eligible_documents", "candidates", "dropped_by_gate", "exact", "scope"]
    assert (report["active"], report["eligible_documents"], report["exact"]) == (True, 1, True)
    assert report["scope"] is None
    if mode == "naive":
        assert (report["candidates"], report["dropped_by_gate"]) == (6, 5)
    empty = await engine.aquery_data(QUESTION, QueryParam(mode=mode, required_tags=["treaty"]))
    assert empty["status"] == "failure"
    assert empty["metadata"]["filter"]["eligible_documents"] == 0
    assert empty["metadata"]["filter"]["dropped_by_gate"] == empty["metadata"]["filter"]["candidates"] > 0


# --- chunks without a status row --------------------------------------------------------------------------------------


async def add_orphan(engine: LightRAG) -> None:
    """Write a chunk with evidence whose document has no status row, as other tools leave them."""
    stores = engine.context.stores
    text = "orphan tells what the Hub did in Velmouth"
    chunk = {"content": text, "full_doc_id": "gone", "file_path": "orphan", "tokens": 8, "chunk_order_index": 0}
    rows = [
        Evidence(ObjectKind.ENTITY, "Hub", "gone-chunk", "gone", text, "thing", file_path="orphan"),
        Evidence(ObjectKind.ENTITY, "Orphanage", "gone-chunk", "gone", text, "thing", file_path="orphan"),
    ]
    change: GraphChange = await merge_evidence(engine.context, rows, await load_facts(engine.context, ["gone"]))
    async with stores.unit_of_work():
        await stores.text_chunks.upsert({"gone-chunk": chunk})
        await stores.chunks.upsert({"gone-chunk": chunk})
        await change.write(stores)


@pytest.mark.parametrize("way", WAYS)
async def test_a_chunk_without_status_row_is_undated_and_untagged(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(engine)
    await add_orphan(engine)
    for what, fields, expected in CASES:
        accepts_bare = "note-bare" in expected
        for mode in ("naive", "mix", "local"):
            found = await files_found(engine, QUESTION, QueryParam(mode=mode, **fields))
            assert ("orphan" in found) is accepts_bare, f"{what}, {mode}"
    assert "orphan" in await files_found(engine, QUESTION, QueryParam(mode="naive"))


@pytest.mark.parametrize("way", WAYS)
async def test_a_custom_graph_without_metadata_is_undated_and_untagged(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(engine)
    graph = {
        "chunks": [{"content": "custom tells what the Hub did in Velmouth", "source_id": "s"}],
        "entities": [
            {"entity_name": "Hub", "description": "custom word of the Hub in Velmouth", "source_id": "s"},
            {"entity_name": "Customs House", "description": "custom word of the Hub in Velmouth", "source_id": "s"},
        ],
        "relationships": [
            {
                "src_id": "Hub",
                "tgt_id": "Customs House",
                "description": "custom word of the Hub in Velmouth",
                "keywords": "custom",
                "source_id": "s",
            }
        ],
    }
    await insert_custom_kg(engine.context, engine._state, graph, CustomOptions(file_path="custom.json"))
    for fields, included in (
        ({"date_filter": {"range": THIRTIES}}, False),
        ({"date_filter": {"shape": "dated"}}, False),
        ({"required_tags": ["act"]}, False),
        ({"date_filter": {"range": THIRTIES, "undated": "include_or"}}, True),
        ({"date_filter": {"undated": "only"}}, True),
        ({"forbidden_tags": ["act"]}, True),
    ):
        for mode in MODES:
            param = QueryParam(mode=mode, **fields)
            assert ("custom.json" in await files_found(engine, QUESTION, param)) is included, (fields, mode)
            data = str((await engine.aquery_data(QUESTION, param))["data"])
            if mode != "naive":
                assert ("Customs House" in data) is included
            assert ("custom word" in data) is (included and mode != "naive")


# --- evidence ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", GRAPH_MODES)
async def test_shared_objects_say_what_the_eligible_documents_say(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, mode: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(engine)
    result = await engine.aquery_data(QUESTION, QueryParam(mode=mode, required_tags=["act"], forbidden_tags=["draft"]))
    data = result["data"]
    assert {entity["entity_name"] for entity in data["entities"]} == {"Hub", "Velmouth"}
    for entity in data["entities"]:
        assert set(entity["description"].split("<SEP>")) == {
            f"{entity['entity_name']} is told of in: {name} tells what the Hub did in Velmouth"
            for name in ("act-1903", "act-1928")
        }
        assert set(entity["source_id"].split("<SEP>")) == {"act-1903-chunk-000", "act-1928-chunk-000"}
    (relation,) = data["relationships"]
    assert set(relation["description"].split("<SEP>")) == {
        f"{name} tells what the Hub did in Velmouth" for name in ("act-1903", "act-1928")
    }
    assert relation["weight"] == 2.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", MODES)
async def test_a_union_that_matches_is_no_document_that_matches(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, mode: str
) -> None:
    """Two documents together cover 1930 to 1935 and carry both tags; neither does so alone."""
    engine = await open_in_way(make_engine, monkeypatch, way)
    halves = {
        "first": {"start_date": "1929-01-01T00:00:00Z", "end_date": "1932-01-01T00:00:00Z", "tags": ["a"]},
        "second": {"start_date": "1932-01-01T00:00:00Z", "end_date": "1936-01-01T00:00:00Z", "tags": ["b"]},
    }
    for name, metadata in halves.items():
        await engine.ainsert(text_of(name), ids=name, file_paths=name, metadata=metadata)
    period = {"start": "1930-01-01T00:00:00Z", "end": "1935-01-01T00:00:00Z"}
    for fields in (
        {"date_filter": {"range": period, "range_mode": "contains"}},
        {"date_filter": {"range": period, "range_mode": "contained_by"}},
        {"required_tags": ["a", "b"]},
    ):
        assert await files_found(engine, QUESTION, QueryParam(mode=mode, **fields)) == set()


# --- caches -----------------------------------------------------------------------------------------------------------


def test_the_fingerprint_is_there_exactly_when_a_filter_is() -> None:
    assert build_filter_cache_hash(QueryParam()) is None
    assert build_filter_cache_hash(QueryParam(date_filter={"range_mode": "contains"})) is None
    variants: list[dict[str, Any]] = [fields for _, fields, _ in CASES]
    keys = [build_filter_cache_hash(QueryParam(**fields)) for fields in variants]
    assert None not in keys
    assert len(set(keys)) == len(variants)
    forbidden = {"forbidden_tags": ["draft"]}
    assert build_filter_cache_hash(QueryParam(**forbidden)) != build_filter_cache_hash(
        QueryParam(**forbidden, apply_forbidden_tags_to_kg=True)
    )


@pytest.mark.parametrize("mode", ["mix", "naive"])
async def test_filtered_and_unfiltered_answers_are_kept_apart(make_engine: EngineFactory, mode: str) -> None:
    model = FactModel()
    engine = await make_engine(model)
    await engine.ainsert(text_of("act-1928"), ids="act-1928", metadata=ARCHIVE["act-1928"])
    # Every filter accepts the one document, so nothing but the filter tells the answers apart.
    variants: list[dict[str, Any]] = [
        {},
        {"required_tags": ["act"]},
        {"required_tags": ["act", "lang:en"]},
        {"required_tags": ["act", "lang:en"], "required_tags_mode": "or"},
        {"forbidden_tags": ["draft"]},
        {"forbidden_tags": ["draft"], "apply_forbidden_tags_to_kg": True},
        {"date_filter": {"shape": "has_start"}},
        {"date_filter": {"range": THIRTIES}},
        {"date_filter": {"range": THIRTIES, "range_mode": "contains"}},
        {"date_filter": {"range": THIRTIES, "undated": "include_or"}},
        {"search_filters": {"document_ids": ["act-1928"]}},
    ]
    for number, fields in enumerate(variants, start=1):
        for _ in range(2):
            await engine.aquery(QUESTION, QueryParam(mode=mode, **fields))
        assert model.count("answer") == number, fields


async def test_keywords_are_found_once_for_all_filters(make_engine: EngineFactory) -> None:
    model = FactModel()
    engine = await make_engine(model)
    await fill(engine)
    for _, fields, _ in CASES:
        await engine.aquery_data(QUESTION, QueryParam(mode="mix", **fields))
    assert model.count("keywords") == 1


# --- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [*MODES, "bypass"])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"date_filter": {"range": {"start": "1930-01-01T00:00:00"}}}, "timezone offset or Z"),
        ({"date_filter": {"range": {"start": THIRTIES["end"], "end": THIRTIES["start"]}}}, "lies after the end"),
        ({"date_filter": {"shapes": "bounded"}}, "did you mean 'shape'"),
        ({"date_filter": {"shape": "round"}}, "shape"),
        ({"required_tags": ["", " "]}, "only blank values"),
        ({"required_tags": ["!!!"]}, "none of the characters"),
        ({"required_tags": [f"t{number}" for number in range(33)]}, "allowed are 32"),
        ({"forbidden_tags": [f"t{number}" for number in range(33)]}, "allowed are 32"),
        ({"required_tags_mode": "any"}, "required_tags_mode"),
        ({"kg_evidence_policy": "drop"}, "kg_evidence_policy"),
        ({"apply_forbidden_tags_to_kg": "yes"}, "apply_forbidden_tags_to_kg"),
        ({"search_filters": {"label": ["person"]}}, "did you mean 'labels'"),
        ({"path_prefixes": ["/"]}, "names nothing"),
    ],
)
async def test_a_malformed_filter_is_refused_in_every_mode(
    make_engine: EngineFactory, mode: str, fields: dict[str, Any], message: str
) -> None:
    engine = await make_engine()
    param = QueryParam(mode=mode, **fields)
    for call in (engine.aquery, engine.aquery_data, engine.aquery_llm):
        with pytest.raises(FilterSyntaxError, match=message):
            await call(QUESTION, param)
    for look in (engine.afilter_preview, engine.afacets):
        with pytest.raises(FilterSyntaxError, match=message):
            await look(param)


def test_search_filters_build_one_effective_filter_with_the_rest() -> None:
    param = QueryParam(search_filters=SearchFilters(document_ids=["a"]), required_tags=["act"])
    wanted = build_vector_query_filter(param)
    assert wanted is not None
    assert wanted.search_filters is not None
    assert (wanted.search_filters.document_ids, wanted.required_tags) == (["a"], ["act"])
