"""What a filtered question shows of entities and relations that excluded documents contribute to as well."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.edit_entity import edit_entity
from lightrag.graph.edit_relation import edit_relation
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from tests.fakes.filtering import GRAPH_MODES, MODES, WAYS, open_in_way
from tests.flow.conftest import EngineFactory

QUESTION = "What did the Hub do in Velmouth?"
POLICIES = ("prune_evidence", "strict_drop", "keep_merged")


@pytest.fixture(params=WAYS)
async def engine(
    request: pytest.FixtureRequest, make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch
) -> LightRAG:
    """An engine with a hub that a permitted and an excluded document tell of, each of which has friends of its own."""
    opened = await open_in_way(make_engine, monkeypatch, request.param)
    pages = {
        "open": ("Hub -> Velmouth: open words on both\nAda -> Alm: open words on Ada", {"tags": ["act"]}),
        "hidden": ("Hub -> Velmouth: hidden words on both\nSpy -> Den: hidden words on a spy", {"tags": ["draft"]}),
    }
    for name, (text, metadata) in pages.items():
        await opened.ainsert(f"Page {name}.\n{text}\n", ids=name, file_paths=name, metadata=metadata)
    return opened


async def seen(engine: LightRAG, mode: str, **fields: Any) -> tuple[set[str], set[frozenset[str]], str]:
    """Return the names of entities, the ends of relations, and everything as text."""
    data = (await engine.aquery_data(QUESTION, QueryParam(mode=mode, **fields)))["data"]
    entities = {row["entity_name"] for row in data.get("entities", ())}
    relations = {frozenset((row["src_id"], row["tgt_id"])) for row in data.get("relationships", ())}
    return entities, relations, str(data)


HUB, ADA = frozenset(("Hub", "Velmouth")), frozenset(("Ada", "Alm"))


@pytest.mark.parametrize("mode", GRAPH_MODES)
@pytest.mark.parametrize("fields", [{"required_tags": ["act"]}, {"forbidden_tags": ["draft"]}], ids=["need", "forbid"])
async def test_policies(engine: LightRAG, mode: str, fields: dict[str, Any]) -> None:
    entities, relations, text = await seen(engine, mode, kg_evidence_policy="prune_evidence", **fields)
    assert (entities, relations) == ({"Hub", "Velmouth", "Ada", "Alm"}, {HUB, ADA})
    assert "open words on both" in text
    assert "hidden" not in text
    assert await seen(engine, mode, **fields) == (entities, relations, text)

    entities, relations, text = await seen(engine, mode, kg_evidence_policy="strict_drop", **fields)
    assert (entities, relations) == ({"Ada", "Alm"}, {ADA})
    assert "hidden" not in text

    entities, relations, text = await seen(engine, mode, kg_evidence_policy="keep_merged", **fields)
    assert (entities, relations) == ({"Hub", "Velmouth", "Ada", "Alm"}, {HUB, ADA})
    # The one policy that tells what the excluded documents say, and says so.
    assert "hidden words on both" in text
    assert "hidden words on a spy" not in text


@pytest.mark.parametrize("mode", MODES)
async def test_the_report_says_when_excluded_text_may_be_there(engine: LightRAG, mode: str) -> None:
    for policy in POLICIES:
        param = QueryParam(mode=mode, kg_evidence_policy=policy, required_tags=["act"])
        report = (await engine.aquery_data(QUESTION, param))["metadata"]["filter"]
        assert report["exact"] is (policy != "keep_merged")
    # Where no document is excluded there is nothing that could be told of one.
    param = QueryParam(mode=mode, kg_evidence_policy="keep_merged", search_filters={"labels": ["thing"]})
    assert (await engine.aquery_data(QUESTION, param))["metadata"]["filter"]["exact"] is True


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("mode", MODES)
async def test_no_policy_lets_chunks_and_references_of_excluded_documents_in(
    engine: LightRAG, mode: str, policy: str
) -> None:
    param = QueryParam(mode=mode, kg_evidence_policy=policy, required_tags=["act"])
    data = (await engine.aquery_data(QUESTION, param))["data"]
    rows = [row for part in ("entities", "relationships", "chunks", "references") for row in data[part]]
    assert {row["file_path"] for row in rows} == {"open"}
    assert {row["source_id"] for row in (*data["entities"], *data["relationships"])} <= {"open-chunk-000"}


# --- forbidden tags and the graph ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", GRAPH_MODES)
async def test_forbidden_tags_drop_graph_objects_only_on_demand(engine: LightRAG, mode: str) -> None:
    await engine.ainsert("Page both.\nBea -> Birk: told in both\n", ids="b", metadata={"tags": ["act", "lang:en"]})
    spared = await seen(engine, mode, forbidden_tags=["draft"])
    assert spared[1] == {HUB, ADA, frozenset(("Bea", "Birk"))}
    dropped = await seen(engine, mode, forbidden_tags=["draft"], apply_forbidden_tags_to_kg=True)
    # An object that any document with the tag contributes to is gone, though others contribute as well.
    assert dropped[:2] == ({"Ada", "Alm", "Bea", "Birk"}, {ADA, frozenset(("Bea", "Birk"))})
    # Documents are excluded in either case; the chunks of permitted ones stay.
    assert "hidden words" not in spared[2] + dropped[2]
    if mode == "mix":
        assert "open words on both" in dropped[2]


@pytest.mark.parametrize("mode", GRAPH_MODES)
async def test_on_demand_without_forbidden_tags_changes_nothing(engine: LightRAG, mode: str) -> None:
    plain = await seen(engine, mode, required_tags=["act"])
    assert await seen(engine, mode, required_tags=["act"], apply_forbidden_tags_to_kg=True) == plain


async def test_both_demands_together(engine: LightRAG) -> None:
    """Strictness looks at all excluded documents, the demand only at those with a forbidden tag."""
    await engine.ainsert("Page plain.\nAda -> Alm: plain words\n", ids="plain", metadata={"tags": ["letter"]})
    fields = {"required_tags": ["act"], "forbidden_tags": ["draft"], "apply_forbidden_tags_to_kg": True}
    assert (await seen(engine, "hybrid", **fields))[1] == {ADA}
    assert (await seen(engine, "hybrid", kg_evidence_policy="strict_drop", **fields))[1] == set()


# --- what people say by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", GRAPH_MODES)
async def test_a_correction_is_never_seen_under_a_filter(engine: LightRAG, mode: str) -> None:
    """A person may have corrected with words of any document, so no filter can vouch for it."""
    correction = {"description": "corrected with hidden words"}
    await edit_entity(engine.context, engine._state, "Hub", {**correction, "entity_type": "guild"})
    await edit_relation(engine.context, engine._state, ("Hub", "Velmouth"), {**correction, "keywords": "hush"})
    assert "corrected with hidden words" in (await seen(engine, mode))[2]
    for fields in ({"required_tags": ["act"]}, {"forbidden_tags": ["draft"]}, {"date_filter": {"undated": "only"}}):
        entities, relations, text = await seen(engine, mode, **fields)
        assert "Hub" in entities
        assert HUB in relations
        assert "corrected" not in text
        assert "guild" not in text.casefold()
        assert "hush" not in text


async def test_properties_that_people_added_are_not_shown_under_a_filter(engine: LightRAG) -> None:
    """They may repeat words of any document as well; where no document is excluded they are shown."""
    await edit_entity(engine.context, engine._state, "Hub", {"note": "hidden note"})
    await edit_relation(engine.context, engine._state, ("Hub", "Velmouth"), {"note": "hidden note"})
    shown = await engine.aget_filtered_graph("Hub", QueryParam(search_filters={"labels": ["thing"]}))
    assert str(shown).count("hidden note") == 2
    shown = await engine.aget_filtered_graph("Hub", QueryParam(required_tags=["act"]))
    assert {node.id for node in shown.nodes} == {"Hub", "Velmouth"}
    assert "open words" in str(shown)
    assert "hidden" not in str(shown)
    # It can still be asked for by name.
    by_note = {"required_tags": ["act"], "search_filters": {"properties": {"note": "hidden note"}}}
    assert (await seen(engine, "local", **by_note))[0] == {"Hub"}


@pytest.mark.parametrize("mode", GRAPH_MODES)
async def test_what_a_person_created_is_undated_and_untagged(engine: LightRAG, mode: str) -> None:
    await create_entity(engine.context, engine._state, "Zoe", {"description": "made by hand"})
    await create_relation(engine.context, engine._state, ("Zoe", "Ada"), {"description": "made by hand too"})
    for fields, visible in (
        ({"required_tags": ["act"]}, False),
        ({"date_filter": {"shape": "dated"}}, False),
        ({"forbidden_tags": ["draft"]}, True),
        ({"date_filter": {"undated": "only"}}, True),
    ):
        text = (await seen(engine, mode, **fields))[2]
        assert ("made by hand" in text) is visible, fields


# --- what else is told of an object --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_type_keywords_weight_and_time_come_from_eligible_evidence(
    make_engine: EngineFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    engine = await open_in_way(make_engine, monkeypatch, way)
    for name, kind, keywords, weight in (("open", "place", "trade", 2.0), ("hidden", "person", "murder", 5.0)):
        for copy in ("1", "2") if name == "hidden" else ("1",):
            graph = {
                "chunks": [{"content": f"{name} page {copy}", "source_id": "s"}],
                "entities": [
                    {"entity_name": end, "entity_type": kind, "description": f"{name} {copy}", "source_id": "s"}
                    for end in ("Hub", "Velmouth")
                ],
                "relationships": [
                    {
                        "src_id": "Hub",
                        "tgt_id": "Velmouth",
                        "description": f"{name} {copy}",
                        "keywords": keywords,
                        "weight": weight,
                        "source_id": "s",
                    }
                ],
            }
            options = CustomOptions(doc_id=f"{name}{copy}", file_path=f"{name}{copy}", metadata={"tags": [name]})
            await insert_custom_kg(engine.context, engine._state, graph, options)
    merged = (await engine.aquery_data(QUESTION, QueryParam(mode="hybrid")))["data"]
    assert {row["entity_type"] for row in merged["entities"]} == {"person"}
    assert (merged["relationships"][0]["keywords"], merged["relationships"][0]["weight"]) == ("trade,murder", 12.0)
    pruned = (await engine.aquery_data(QUESTION, QueryParam(mode="hybrid", required_tags=["open"])))["data"]
    assert {row["entity_type"] for row in pruned["entities"]} == {"place"}
    (relation,) = pruned["relationships"]
    assert (relation["keywords"], relation["weight"], relation["description"]) == ("trade", 2.0, "open 1")
    assert {row["file_path"] for row in (*pruned["entities"], relation)} == {"open1"}
