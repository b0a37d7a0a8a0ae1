"""Entity types, relation types, documents and properties as constraints on every retrieval method of a question."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag import LightRAG, QueryParam, SearchFilters
from lightrag.graph.edit_entity import edit_entity
from lightrag.graph.edit_relation import edit_relation
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from tests.fakes.filtering import MODES, WAYS, open_in_way
from tests.flow.conftest import EngineFactory

QUESTION = "What links Ada and Bea and Velmouth?"
PEOPLE, PLACES = {"Ada", "Bea"}, {"Velmouth", "Harbour"}


def graph_of(word: str, *, ada: str = "person") -> dict[str, Any]:
    types = {"Ada": ada, "Bea": "person", "Velmouth": "place", "Harbour": "place"}
    links = [
        ("Ada", "Bea", "friendship, letters"),
        ("Velmouth", "Harbour", "location"),
        ("Ada", "Velmouth", "location"),
    ]
    return {
        "chunks": [{"content": f"{word} speaks of Ada, Bea, Velmouth and the harbour", "source_id": "s"}],
        "entities": [
            {"entity_name": name, "entity_type": kind, "description": f"{word} on {name}", "source_id": "s"}
            for name, kind in types.items()
        ],
        "relationships": [
            {"src_id": source, "tgt_id": target, "description": f"{word} links", "keywords": words, "source_id": "s"}
            for source, target, words in links
        ],
    }


@pytest.fixture(params=WAYS)
async def engine(
    request: pytest.FixtureRequest, make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch
) -> LightRAG:
    """An engine with two documents about the same people and places; the second calls Ada a ship."""
    opened = await open_in_way(make_engine, monkeypatch, request.param)
    for name, ada in (("one", "person"), ("two", "ship"), ("three", "ship")):
        options = CustomOptions(doc_id=name, file_path=name, metadata={"tags": [name]})
        await insert_custom_kg(opened.context, opened._state, graph_of(name, ada=ada), options)
    return opened


async def found(engine: LightRAG, mode: str, search: Any, **fields: Any) -> tuple[set[str], set[str], set[str]]:
    """Return the names of entities, the relations as ``a-b``, and the files of chunks."""
    param = QueryParam(mode=mode, search_filters=search, **fields)
    data = (await engine.aquery_data(QUESTION, param))["data"]
    entities = {row["entity_name"] for row in data.get("entities", ())}
    relations = {"-".join(sorted((row["src_id"], row["tgt_id"]))) for row in data.get("relationships", ())}
    return entities, relations, {row["file_path"] for row in data.get("chunks", ())}


async def test_labels_are_types_of_entities_without_case(engine: LightRAG) -> None:
    for labels in (["place"], ["PLACE", "film"], ["Place"]):
        assert (await found(engine, "local", {"labels": labels}))[0] == PLACES
    assert (await found(engine, "local", {"labels": ["person", "place"]}))[0] == {"Bea"} | PLACES
    assert (await found(engine, "local", {"labels": ["plac"]}))[0] == set()


async def test_a_relation_needs_ends_of_these_types(engine: LightRAG) -> None:
    for mode in ("local", "global", "hybrid", "mix"):
        assert (await found(engine, mode, {"labels": ["place"]}))[1] == {"Harbour-Velmouth"}


async def test_relation_types_are_single_keywords_without_case(engine: LightRAG) -> None:
    for types, expected in (
        (["location"], {"Harbour-Velmouth", "Ada-Velmouth"}),
        (["LETTERS"], {"Ada-Bea"}),
        (["friendship", "location"], {"Ada-Bea", "Harbour-Velmouth", "Ada-Velmouth"}),
        (["friend"], set()),
        (["friendship, letters"], set()),
    ):
        for mode in ("local", "global", "hybrid", "mix"):
            assert (await found(engine, mode, {"relation_types": types}))[1] == expected, (mode, types)


async def test_document_ids_limit_every_leg(engine: LightRAG) -> None:
    for mode in MODES:
        param = QueryParam(mode=mode, search_filters={"document_ids": ["one", "no such document"]})
        result = await engine.aquery_data(QUESTION, param)
        assert result["status"] == "success"
        for part in ("entities", "relationships", "chunks", "references"):
            assert {row["file_path"] for row in result["data"][part]} <= {"one"}
        assert "two" not in str(result["data"])
        assert "three" not in str(result["data"])
        assert result["metadata"]["filter"]["eligible_documents"] == 1
        nothing = QueryParam(mode=mode, search_filters={"document_ids": ["no such document"]})
        assert (await engine.aquery_data(QUESTION, nothing))["status"] == "failure"


async def test_types_are_those_that_the_eligible_documents_give(engine: LightRAG) -> None:
    """Two of three documents call Ada a ship, the eligible one a person."""
    assert "Ada" in (await found(engine, "local", {"labels": ["ship"]}))[0]
    only_one = {"labels": ["person"], "document_ids": ["one"]}
    assert (await found(engine, "local", only_one))[0] == PEOPLE
    assert (await found(engine, "local", {"labels": ["person"]}, required_tags=["one"]))[0] == PEOPLE
    assert (await found(engine, "local", {"labels": ["ship"]}, required_tags=["one"]))[0] == set()


async def test_properties_are_compared_exactly_and_without_coercion(engine: LightRAG) -> None:
    await edit_entity(engine.context, engine._state, "Bea", {"born": 1877, "alive": False, "nickname": "B"})
    await edit_entity(engine.context, engine._state, "Velmouth", {"born": "1877", "alive": True})
    await edit_relation(engine.context, engine._state, ("Velmouth", "Harbour"), {"nickname": "B"})
    for properties, expected in (
        ({"born": 1877}, {"Bea"}),
        ({"born": "1877"}, {"Velmouth"}),
        ({"born": [1877, "1877"]}, {"Bea", "Velmouth"}),
        ({"alive": True}, {"Velmouth"}),
        ({"alive": 1}, set()),
        ({"born": 1877, "nickname": "B"}, {"Bea"}),
        ({"born": 1877, "nickname": "C"}, set()),
        ({"born": []}, set()),
        ({"unheard_of": "x"}, set()),
        ({"entity_type": "place"}, PLACES),
    ):
        assert (await found(engine, "local", {"properties": properties}))[0] == expected, properties
    # A relation is compared by its own properties, and by those of its ends, which must be visible.
    assert (await found(engine, "global", {"properties": {"nickname": "B"}}))[1] == set()
    ends = {"entity_type": ["place"]}
    assert (await found(engine, "global", {"properties": ends}))[1] == set()


async def test_constraints_on_objects_leave_chunks_of_a_search_alone(engine: LightRAG) -> None:
    for search in ({"labels": ["film"]}, {"relation_types": ["film"]}, {"properties": {"film": 1}}):
        assert (await found(engine, "naive", search))[2] == {"one", "two", "three"}
        entities, relations, chunks = await found(engine, "mix", search)
        assert chunks == {"one", "two", "three"}
        if "relation_types" not in search:
            assert entities == set()
        assert relations == set()


async def test_they_join_with_all_other_filters(engine: LightRAG) -> None:
    search = SearchFilters(labels=["place"], relation_types=["location"], document_ids=["one", "two"])
    entities, relations, chunks = await found(engine, "mix", search, forbidden_tags=["two"])
    assert (entities, relations, chunks) == (PLACES, {"Harbour-Velmouth"}, {"one"})
    assert await found(engine, "mix", search.model_dump(), forbidden_tags=["two"]) == (entities, relations, chunks)
