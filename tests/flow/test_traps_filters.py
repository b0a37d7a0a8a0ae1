"""Faults that users of other tools have reported about filters: here the right behaviour, through the engine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lightrag import DocumentMetadata, LightRAG, QueryParam, SearchFilters
from lightrag.exceptions import FilterSyntaxError
from lightrag.graph.create import create_relation
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from lightrag.prompts import PROMPTS
from tests.fakes.filtering import (
    GRAPH_MODES,
    MODES,
    WAYS,
    Reciting,
    everything_seen,
    files_found,
    open_in_way,
    placed_embedding,
)
from tests.flow.conftest import EngineFactory

QUESTION = "What did the Hub do in Velmouth?"
ACT, DRAFT, LETTER = {"tags": ["act"]}, {"tags": ["act", "draft"]}, {"tags": ["letter"]}
EMPTY_FILTERS: list[dict[str, Any]] = [
    {"required_tags": ["treaty"]},
    {"date_filter": {"shape": "dated"}},
    {"doc_types": ["film"]},
    {"path_prefixes": ["nowhere"]},
    {"modified_after": "2020-01-01T00:00:00Z"},
    {"search_filters": {"document_ids": ["no such document"]}},
]


def about_hub(word: str) -> str:
    return f"A page of {word}.\nHub -> Velmouth: {word} tells what the Hub did in Velmouth\n"


async def fill(engine: LightRAG, documents: dict[str, dict[str, Any]]) -> None:
    for name, metadata in documents.items():
        await engine.ainsert(about_hub(name), ids=name, file_paths=name, metadata=metadata)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """How the filter reaches the stores."""
    return str(request.param)


# --- nothing matches -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", EMPTY_FILTERS, ids=lambda fields: next(iter(fields)))
async def test_a_filter_that_matches_nothing_gives_nothing(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, fields: dict[str, Any]
) -> None:
    model = Reciting()
    engine = await open_in_way(make_engine, monkeypatch, way, model)
    await fill(engine, {"alpha": ACT, "beta": {}})
    for mode in MODES:
        result = await engine.aquery_data(QUESTION, QueryParam(mode=mode, **fields))
        assert (result["status"], result["data"]) == ("failure", {})
        assert result["metadata"]["failure_reason"] == "no_results"
        answer = await engine.aquery(QUESTION, QueryParam(mode=mode, **fields))
        assert answer == PROMPTS["fail_response"]
        assert await engine.aquery(QUESTION, QueryParam(mode=mode, only_need_context=True, **fields)) == answer
    assert model.count("answer") == 0


@pytest.mark.parametrize("blank", [[""], ["", " "], ["\u3000"]])
async def test_a_list_that_is_blank_is_an_error_and_no_filter_means_all(
    make_engine: EngineFactory, blank: list[str]
) -> None:
    engine = await make_engine()
    await fill(engine, {"alpha": ACT})
    for fields in (
        {"required_tags": blank},
        {"forbidden_tags": blank},
        {"doc_types": blank},
        {"path_prefixes": blank},
        {"search_filters": {"labels": blank}},
        {"search_filters": {"relation_types": blank}},
        {"search_filters": {"document_ids": blank}},
    ):
        with pytest.raises(FilterSyntaxError, match="only blank values"):
            await engine.aquery_data(QUESTION, QueryParam(**fields))
    empty = QueryParam(mode="mix", required_tags=[], doc_types=[], search_filters={"document_ids": []})
    assert await files_found(engine, QUESTION, empty) == {"alpha"}


async def test_in_nothing_matches_nothing_and_not_in_nothing_all(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await fill(engine, {"alpha": ACT})
    for mode in GRAPH_MODES:
        nothing = await engine.aquery_data(QUESTION, QueryParam(mode=mode, search_filters={"properties": {"x": []}}))
        assert nothing["data"].get("entities", []) == nothing["data"].get("relationships", []) == []
        assert await files_found(engine, QUESTION, QueryParam(mode=mode, forbidden_tags=[])) == {"alpha"}


async def test_no_hit_never_falls_back_to_an_unfiltered_search(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The one eligible document is too dissimilar to be found; the others are near."""
    model = Reciting()
    engine = await open_in_way(
        make_engine,
        monkeypatch,
        way,
        model,
        embedding_func=placed_embedding(),
        vector_db_storage_cls_kwargs={"cosine_better_than_threshold": 0.2},
    )
    await engine.ainsert(page("near", 0.9), ids="near", file_paths="near", metadata=DRAFT)
    await engine.ainsert(page("far", 0.1), ids="far", file_paths="far", metadata=ACT)
    for mode in MODES:
        assert await files_found(engine, QUESTION, QueryParam(mode=mode)) == {"near"}
        result = await engine.aquery_data(QUESTION, QueryParam(mode=mode, forbidden_tags=["draft"]))
        assert (result["status"], result["data"]) == ("failure", {})
        assert result["metadata"]["filter"]["eligible_documents"] == 1


# --- full pages ----------------------------------------------------------------------------------------------------


def page(name: str, similarity: float) -> str:
    place = f"lies at {similarity:.4f}"
    return f"Page {name} {place}\nLeft {name} -> Right {name}: the link of {name} {place}\n"


@pytest.mark.parametrize(
    "fields",
    [
        {"forbidden_tags": ["draft"]},
        {"date_filter": {"range": {"start": "1928-01-01T00:00:00Z"}}},
        {"date_filter": {"range": {"start": "1928-01-01T00:00:00Z"}}, "required_tags": ["act"]},
    ],
    ids=["tags", "dates", "both"],
)
async def test_a_page_is_full_although_the_nearest_are_out_of_scope(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, fields: dict[str, Any]
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way, embedding_func=placed_embedding())
    for number in range(10):
        metadata = {
            "tags": ["act", "draft"] if number < 4 else ["act"],
            "end_date": "1927-01-01T00:00:00Z" if number < 4 else "1929-01-01T00:00:00Z",
        }
        await engine.ainsert(page(str(number), 0.99 - number / 100), file_paths=f"{number}", metadata=metadata)
    param = {"top_k": 5, "chunk_top_k": 5, **fields}
    naive = (await engine.aquery_data(QUESTION, QueryParam(mode="naive", **param)))["data"]
    assert [chunk["file_path"] for chunk in naive["chunks"]] == ["4", "5", "6", "7", "8"]
    local = (await engine.aquery_data(QUESTION, QueryParam(mode="local", **param)))["data"]
    assert [entity["file_path"] for entity in local["entities"]] == ["4", "4", "5", "5", "6"]
    relations = (await engine.aquery_data(QUESTION, QueryParam(mode="global", **param)))["data"]["relationships"]
    assert [relation["file_path"] for relation in relations] == ["4", "5", "6", "7", "8"]
    mix = (await engine.aquery_data(QUESTION, QueryParam(mode="mix", **param)))["data"]
    assert sorted(chunk["file_path"] for chunk in mix["chunks"]) == ["4", "5", "6", "7", "8"]


async def test_a_page_is_full_where_one_percent_matches(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Of a thousand chunks, entities and relations ten are eligible, and all others are nearer."""
    engine = await open_in_way(make_engine, monkeypatch, way, embedding_func=placed_embedding())
    await add_many(engine, "draft", 990, nearest=0.99)
    await add_many(engine, "act", 10, nearest=0.40)
    for wanted in (5, 10, 40):
        expected = [f"act{number}" for number in range(min(wanted, 10))]
        param = {"top_k": wanted, "chunk_top_k": wanted, "required_tags": ["act"], "max_total_tokens": 100_000}
        naive = (await engine.aquery_data(QUESTION, QueryParam(mode="naive", **param)))["data"]
        assert [chunk["content"].split()[0] for chunk in naive["chunks"]] == expected
        local = (await engine.aquery_data(QUESTION, QueryParam(mode="local", **param)))["data"]
        assert [entity["entity_name"] for entity in local["entities"]] == expected
        relations = (await engine.aquery_data(QUESTION, QueryParam(mode="global", **param)))["data"]["relationships"]
        if wanted < 10:
            assert [{row["src_id"], row["tgt_id"]} for row in relations] == [
                {name, f"act{number + 1}"} for number, name in enumerate(expected)
            ]


async def add_many(engine: LightRAG, name: str, number: int, *, nearest: float) -> None:
    """Add a document of many chunks, each of which has its own entity, linked to the next one's."""
    places = [f"{nearest - position / 10_000:.4f}" for position in range(number)]
    graph = {
        "chunks": [
            {"content": f"{name}{position} lies at {place}", "source_id": f"{position}"}
            for position, place in enumerate(places)
        ],
        "entities": [
            {"entity_name": f"{name}{position}", "description": f"lies at {place}", "source_id": f"{position}"}
            for position, place in enumerate(places)
        ],
        "relationships": [
            {
                "src_id": f"{name}{position}",
                "tgt_id": f"{name}{position + 1}",
                "description": f"lies at {place}",
                "keywords": "next",
                "source_id": f"{position}",
            }
            for position, place in enumerate(places[:-1])
        ],
    }
    options = CustomOptions(doc_id=name, file_path=name, metadata={"tags": [name]})
    await insert_custom_kg(engine.context, engine._state, graph, options)


# --- every leg -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("summarise_from", [2, 100])
async def test_nothing_of_an_excluded_document_is_in_any_context(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, summarise_from: int
) -> None:
    """The context is looked at and not the answer, which a model could have worded away."""
    model = Reciting()
    engine = await open_in_way(make_engine, monkeypatch, way, model, force_llm_summary_on_merge=summarise_from)
    await fill(engine, {"alpha": ACT, "hidden": DRAFT, "gamma": ACT})
    assert "hidden" in await everything_seen(engine, QUESTION, {})
    model.calls.clear()
    seen = await everything_seen(engine, QUESTION, {"forbidden_tags": ["draft"]})
    assert "hidden" not in seen
    assert "alpha" in seen
    assert "hidden" not in model.shown()
    assert "alpha" in model.shown()
    # Asked again: what is kept as an answer holds nothing of it either.
    assert "hidden" not in await everything_seen(engine, QUESTION, {"forbidden_tags": ["draft"]})


async def test_the_merged_description_of_a_shared_entity_is_not_used(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way, force_llm_summary_on_merge=2)
    await fill(engine, {"alpha": ACT, "hidden": DRAFT, "gamma": ACT})
    merged = await engine.chunk_entity_relation_graph.get_node("Hub")
    assert merged is not None
    assert "summary of" in merged["description"]
    result = await engine.aquery_data(QUESTION, QueryParam(mode="local", forbidden_tags=["draft"]))
    hub = next(entity for entity in result["data"]["entities"] if entity["entity_name"] == "Hub")
    assert hub["description"].split("<SEP>") == [
        f"Hub is told of in: {name} tells what the Hub did in Velmouth" for name in ("alpha", "gamma")
    ]


# --- hops ----------------------------------------------------------------------------------------------------------


async def test_every_hop_is_permitted_by_its_own_evidence(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    documents = {
        # Ada and Bea are told of in permitted documents; only an excluded one links them, and Birk with a spy.
        "ada": ("Ada -> Alm: ada tells of Alm", ACT),
        "bea": ("Bea -> Birk: bea tells of Birk", ACT),
        "secret": (
            "Ada -> Bea: secret tells of both\nAda -> Spy: secret tells of a spy\nSpy -> Birk: secret again",
            DRAFT,
        ),
    }
    for name, (text, metadata) in documents.items():
        await engine.ainsert(text, ids=name, file_paths=name, metadata=metadata)
    for mode in GRAPH_MODES:
        everything = (await engine.aquery_data("Ada", QueryParam(mode=mode)))["data"]
        pairs = {frozenset((row["src_id"], row["tgt_id"])) for row in everything["relationships"]}
        assert frozenset(("Ada", "Bea")) in pairs
        permitted = (await engine.aquery_data("Ada", QueryParam(mode=mode, forbidden_tags=["draft"])))["data"]
        pairs = {frozenset((row["src_id"], row["tgt_id"])) for row in permitted["relationships"]}
        assert pairs == {frozenset(("Ada", "Alm")), frozenset(("Bea", "Birk"))}
        assert {row["entity_name"] for row in permitted["entities"]} == {"Ada", "Alm", "Bea", "Birk"}


async def test_a_relation_needs_both_its_ends(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A person links two entities by hand, which is undated; one end is told of in an excluded document only."""
    engine = await open_in_way(make_engine, monkeypatch, way)
    await engine.ainsert("Ada -> Alm: ada tells of Alm", ids="ada", file_paths="ada", metadata=ACT)
    await engine.ainsert("Spy -> Den: secret tells of a den", ids="secret", file_paths="secret", metadata=DRAFT)
    await create_relation(engine.context, engine._state, ("Ada", "Spy"), {"description": "linked by hand"})
    for mode in GRAPH_MODES:
        everything = await engine.aquery_data("Ada", QueryParam(mode=mode))
        assert "linked by hand" in str(everything)
        permitted = await engine.aquery_data("Ada", QueryParam(mode=mode, forbidden_tags=["draft"]))
        assert "linked by hand" not in str(permitted)
        assert "Spy" not in str(permitted["data"])


# --- tags ----------------------------------------------------------------------------------------------------------


async def test_tags_are_compared_element_by_element(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(
        engine,
        {"one": {"tags": ["Work"]}, "two": {"tags": ["WORK", "email"]}, "three": {"tags": ["work:late", "mail-ai"]}},
    )
    for wanted, expected in (
        ("work", {"one", "two"}),
        (" WORK ", {"one", "two"}),
        ("email", {"two"}),
        ("ai", set()),
        ("wor", set()),
        ("work email", set()),
        ("late", set()),
    ):
        for mode in ("naive", "local"):
            param = QueryParam(mode=mode, required_tags=[wanted])
            assert await files_found(engine, QUESTION, param) == expected, (wanted, mode)


async def test_not_keeps_untagged_documents_and_refuses_any_match(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(engine, {"a": {"tags": ["a"]}, "ab": {"tags": ["a", "b"]}, "b": {"tags": ["b"]}, "none": {}})
    await engine.ainsert(about_hub("bare"), ids="bare", file_paths="bare")
    for mode in MODES:
        assert await files_found(engine, QUESTION, QueryParam(mode=mode, forbidden_tags=["a"])) == {"b", "none", "bare"}
        either = QueryParam(mode=mode, required_tags=["a", "b"], required_tags_mode="or")
        assert await files_found(engine, QUESTION, either) == {"a", "ab", "b"}
        both = QueryParam(mode=mode, required_tags=["a", "b"])
        assert await files_found(engine, QUESTION, both) == {"ab"}


# --- hostile and misspelt input ------------------------------------------------------------------------------------

HOSTILE = ["x' OR '1'='1' --", 'x" OR ""="', "%", "_", "*", "`) OR true //", "$ne", "x\\", "日本' --"]


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_value_reaches_the_text_of_a_query(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str, text: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    await fill(engine, {"alpha": {"doc_type": "pdf", "source_path": "acts_1/a.md", "tags": ["act"]}})
    for fields in (
        {"doc_types": [text]},
        {"path_prefixes": [text]},
        {"path_prefixes": [f"acts{text}"]},
        {"search_filters": {"document_ids": [text]}},
    ):
        for mode in ("naive", "local", "global"):
            assert await files_found(engine, QUESTION, QueryParam(mode=mode, **fields)) == set(), fields
    for fields in ({"labels": [text]}, {"properties": {"entity_type": text}}):
        result = await engine.aquery_data(QUESTION, QueryParam(mode="local", search_filters=fields))
        assert result["status"] == "failure"
    result = await engine.aquery_data(QUESTION, QueryParam(mode="global", search_filters={"relation_types": [text]}))
    assert result["status"] == "failure"
    if not text.isidentifier():
        with pytest.raises(FilterSyntaxError, match="property name"):
            await engine.aquery_data(QUESTION, QueryParam(search_filters={"properties": {text: "x"}}))


async def test_documents_with_hostile_sources_are_found_by_them(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    for number, text in enumerate(HOSTILE):
        metadata = {"doc_type": text, "source_path": f"{text}/a.md"}
        await engine.ainsert(about_hub(f"n{number}"), ids=text, file_paths=f"n{number}", metadata=metadata)
    for number, text in enumerate(HOSTILE):
        for fields in (
            {"doc_types": [text]},
            {"path_prefixes": [text]},
            {"search_filters": {"document_ids": [text]}},
        ):
            found = await files_found(engine, QUESTION, QueryParam(mode="mix", **fields))
            assert found == {f"n{number}"}, (text, fields)


@pytest.mark.parametrize(
    ("fields", "near"),
    [
        ({"date_filter": {"Range": {}}}, "range"),
        ({"date_filter": {"range": {"strat": "1930-01-01T00:00:00Z"}}}, "start"),
        ({"date_filter": {"undate": "only"}}, "undated"),
        ({"search_filters": {"relation_type": ["x"]}}, "relation_types"),
        ({"search_filters": {"Document_IDs": ["x"]}}, "document_ids"),
    ],
)
async def test_a_misspelt_field_is_refused_and_the_right_one_named(
    make_engine: EngineFactory, fields: dict[str, Any], near: str
) -> None:
    engine = await make_engine()
    with pytest.raises(FilterSyntaxError, match=f"did you mean '{near}'"):
        await engine.aquery_data(QUESTION, QueryParam(**fields))


def test_a_misspelt_parameter_is_refused() -> None:
    with pytest.raises(TypeError, match="required_tag"):
        QueryParam(required_tag=["act"])  # type: ignore[call-arg]
    with pytest.raises(FilterSyntaxError, match="did you mean 'tags'"):
        DocumentMetadata.coerce({"tag": ["act"]})
    with pytest.raises(ValueError, match="did you mean 'labels'"):
        SearchFilters(label=["person"])  # type: ignore[call-arg]


# --- pushdown ------------------------------------------------------------------------------------------------------


async def test_rows_from_before_pushdown_are_judged_by_their_documents(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the corpus was stored with pushdown off, so its vector rows carry no filter fields."""
    first = await make_engine(enable_vector_metadata_filters=False)
    await fill(first, {"old act": {**ACT, "end_date": "1928-01-01T00:00:00Z"}, "old draft": DRAFT, "old bare": {}})
    await first.finalize_storages()
    engine = await open_in_way(make_engine, monkeypatch, "pushdown")
    await fill(engine, {"new act": {**ACT, "end_date": "1928-01-01T00:00:00Z"}, "new draft": DRAFT, "new bare": {}})
    for mode in MODES:
        for fields, expected in (
            ({"required_tags": ["act"], "forbidden_tags": ["draft"]}, {"old act", "new act"}),
            ({"date_filter": {"shape": "has_end"}}, {"old act", "new act"}),
            ({"date_filter": {"undated": "only"}}, {"old draft", "old bare", "new draft", "new bare"}),
            ({"forbidden_tags": ["act"]}, {"old bare", "new bare"}),
        ):
            assert await files_found(engine, QUESTION, QueryParam(mode=mode, **fields)) == expected, (mode, fields)


async def test_the_way_of_filtering_changes_no_result(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    found: dict[str, str] = {}
    for one in WAYS:
        with monkeypatch.context() as patch:
            engine = await open_in_way(make_engine, patch, one, working_dir=str(tmp_path / one))
            await fill(engine, {"alpha": ACT, "hidden": DRAFT, "gamma": ACT, "delta": LETTER})
            results = []
            for mode in MODES:
                param = QueryParam(mode=mode, forbidden_tags=["draft"], top_k=3, chunk_top_k=2)
                data = (await engine.aquery_data(QUESTION, param))["data"]
                for row in (*data["entities"], *data["relationships"]):
                    del row["created_at"]
                results.append(data)
            found[one] = json.dumps(results)
    assert len(set(found.values())) == 1
