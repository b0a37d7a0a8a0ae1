"""Scopes follow what happens to documents: deletes, new tags, switching scopes on and off; across reopening."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightrag import LightRAG, QueryParam
from lightrag.exceptions import AccessDeniedError, NotFoundError, ScopeError
from tests.fakes.audit import disagreements, snapshot
from tests.fakes.facts import FactModel, make_embedding
from tests.fakes.filtering import FILES
from tests.flow.conftest import EngineFactory
from tests.operate.test_kg_scope_materialization import ONE, SCOPED, TWO, insert, names, tenants


@pytest.fixture(params=["sqlite", "files"])
def make_engine(request: pytest.FixtureRequest, make_engine: EngineFactory) -> EngineFactory:
    """Open engines on every graph store that there is."""
    storages = FILES if request.param == "files" else {}

    async def make(model: FactModel | None = None, **fields: Any) -> LightRAG:
        return await make_engine(model, **{**storages, **fields})

    return make


async def test_a_deleted_document_leaves_its_scope_and_an_empty_scope_is_gone(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    await insert(engine, "d3", "IKEA -> Oslo: three tells of Oslo\n", "tenant:1")
    await engine.adelete_by_doc_id("d1")
    assert await engine.get_graph_labels(tenant_tag="tenant:1") == ["IKEA", "Oslo"]
    await engine.adelete_by_doc_id("d3")
    assert await engine.alist_scopes() == {"tenant:2": 2}
    assert await names(engine, required_tags=["tenant:1"]) == set()
    assert "two" in (await engine.get_entity_info("IKEA"))["graph_data"]["description"]
    assert await disagreements(engine) == []


async def test_new_tags_move_a_document_between_scopes(make_engine: EngineFactory) -> None:
    model = FactModel()
    engine = await tenants(make_engine, model)
    extractions = model.count("extract")
    await engine.aupdate_document_metadata("d1", {"tags": ["tenant:2", "patent"]})
    assert model.count("extract") == extractions
    assert await engine.alist_scopes() == {"tenant:2": 3}
    assert await names(engine, required_tags=["tenant:1"]) == set()
    assert await names(engine, required_tags=["tenant:2"]) == {"IKEA", "Sweden", "Delft"}
    assert await disagreements(engine) == []
    with pytest.raises(ScopeError):
        await engine.aupdate_document_metadata("d1", {"tags": ["tenant:"]})


async def test_switching_scopes_on_and_off_later(make_engine: EngineFactory, tmp_path: Any) -> None:
    model = FactModel()
    plain = await make_engine(model)
    await insert(plain, "d1", ONE, "tenant:1")
    await insert(plain, "d2", TWO, "tenant:2", "tenant:1")
    before = await snapshot(plain)
    await plain.finalize_storages()
    extractions = model.count("extract")
    scoped = await make_engine(model, **SCOPED)
    told: list[tuple[int, int]] = []
    outcome = await scoped.arebuild_scopes(lambda done, total: told.append((done, total)))
    assert (outcome.documents, outcome.changed) == (2, 2)
    assert told[-1] == (2, 2)
    assert (await scoped.arebuild_scopes()).changed == 0
    at_once = await make_engine(working_dir=str(tmp_path / "other"), **SCOPED)
    await insert(at_once, "d1", ONE, "tenant:1")
    await insert(at_once, "d2", TWO, "tenant:2", "tenant:1")
    assert await snapshot(scoped) == await snapshot(at_once)
    assert model.count("extract") == extractions
    await scoped.finalize_storages()
    off = await make_engine(model)
    await off.arebuild_scopes()
    assert await snapshot(off) == before


async def test_a_tag_taken_away_while_scopes_are_off_is_taken_away(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    await insert(engine, "d3", "IKEA -> Oslo: three tells of Oslo\n", "tenant:1", "tenant:3")
    await engine.finalize_storages()
    off = await make_engine()
    await off.aupdate_document_metadata("d3", {"tags": ["tenant:3"]})
    assert await disagreements(off) == []
    await off.finalize_storages()
    engine = await make_engine(**SCOPED)
    for mode in ("local", "global", "mix"):
        data = await engine.aquery_data("IKEA Sweden Oslo", QueryParam(mode=mode, required_tags=["tenant:1"]))
        assert "one tells" in str(data)
        assert "three" not in str(data)
    assert await engine.get_graph_labels(tenant_tag="tenant:1") == ["IKEA", "Sweden"]
    assert await engine.get_graph_labels(tenant_tag="tenant:3") == ["IKEA", "Oslo"]


async def test_what_is_left_of_scopes_is_not_seen_while_they_are_off(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    seen = await engine.aquery_data("IKEA Sweden Delft Moon", QueryParam(mode="mix", top_k=3))
    await engine.finalize_storages()
    off = await make_engine()
    assert await off.aquery_data("IKEA Sweden Delft Moon", QueryParam(mode="mix", top_k=3)) == seen


async def test_edits_stay_in_their_scope(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    await engine.aedit_entity("IKEA", {"description": "edited for one"}, tenant_tag="tenant:1")
    assert "edited" in (await engine.get_entity_info("IKEA", tenant_tag="tenant:1"))["graph_data"]["description"]
    for tag in (None, "tenant:2"):
        assert "edited" not in (await engine.get_entity_info("IKEA", tenant_tag=tag))["graph_data"]["description"]
    await engine.aedit_entity("IKEA", {"entity_name": "Ikea AB"}, tenant_tag="tenant:1")
    assert await engine.get_graph_labels(tenant_tag="tenant:1") == ["Ikea AB", "Sweden"]
    assert "IKEA" in await engine.get_graph_labels()
    await engine.adelete_by_entity("Ikea AB", tenant_tag="tenant:1")
    assert await engine.get_graph_labels(tenant_tag="tenant:1") == ["Sweden"]
    assert "IKEA" in await engine.get_graph_labels(tenant_tag="tenant:2")


# --- limited access --------------------------------------------------------------------------------------------------


async def test_limited_access_is_honoured_everywhere(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    view = engine.restricted(required_tags=["tenant:1"])
    data = await view.aquery_data("IKEA Sweden Delft Moon", QueryParam(mode="mix"))
    assert {entity["entity_name"] for entity in data["data"]["entities"]} == {"IKEA", "Sweden"}
    assert "two tells" not in str(data)
    assert await view.get_graph_labels() == ["IKEA", "Sweden"]
    assert await view.search_labels("de") == ["Sweden"]
    graph = await view.get_knowledge_graph("*")
    assert {node.id for node in graph.nodes} == {"IKEA", "Sweden"}
    assert (await view.afacets()).documents == 1
    assert (await view.afilter_preview(QueryParam())).eligible_documents == 1
    assert await view.get_processing_status() == {"processed": 1}
    assert set(await view.aget_docs_by_ids(["d1", "d2", "d0"])) == {"d1"}
    assert await view.alist_scopes() == {"tenant:1": 2}


async def test_requests_outside_are_refused_and_not_emptied(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    view = engine.restricted(required_tags=["tenant:1"], forbidden_tags=["secret"])
    for fields in (
        {"required_tags": ["tenant:2"]},
        {"required_tags": ["secret"]},
        {"required_tags": ["patent"], "kg_evidence_policy": "keep_merged"},
    ):
        with pytest.raises(AccessDeniedError):
            await view.aquery("IKEA", QueryParam(**fields))
    for doc_id in ("d2", "doc-of-nobody"):
        # What is hidden must not be told from what is not there.
        deleted = await view.adelete_by_doc_id(doc_id)
        assert (deleted.status, deleted.status_code) == ("not_found", 404)
        assert deleted.message == f"document {doc_id!r} does not exist"
        with pytest.raises(NotFoundError, match=f"^document '{doc_id}' does not exist$"):
            await view.aupdate_document_metadata(doc_id, {"tags": ["tenant:1"]})
    with pytest.raises(AccessDeniedError):
        await view.aupdate_document_metadata("d1", {"tags": ["tenant:2"]})
    with pytest.raises(AccessDeniedError):
        await view.ainsert("X -> Y: z\n", metadata={"tags": ["tenant:2"]})
    with pytest.raises(ScopeError):
        view.restricted(required_tags=["tenant:2"])
    await insert(engine, "shared", "IKEA -> Oslo: both tell of Oslo\n", "tenant:1", "tenant:2")
    with pytest.raises(AccessDeniedError, match="out of the scope 'tenant:2'"):
        await view.adelete_by_doc_id("shared")
    assert "Oslo" in await engine.get_graph_labels(tenant_tag="tenant:2")
    assert (await view.adelete_by_doc_id("d1")).status == "success"
    assert set(await engine.aget_docs_by_ids(["d1", "d2", "shared"])) == {"d2", "shared"}


async def test_what_a_limited_caller_adds_is_inside(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    view = engine.restricted(required_tags=["tenant:1"])
    track_id = await view.ainsert("IKEA -> Oslo: three tells of Oslo\n", ids="mine")
    assert set(await view.aget_docs_by_track_id(track_id)) == {"mine"}
    assert await view.get_graph_labels() == ["IKEA", "Oslo", "Sweden"]
    assert (await view.adelete_by_doc_id("mine")).status == "success"
    each = [None, {"tags": ["tenant:1", "extra"]}]
    await view.ainsert(["four", "five"], ids=["4", "5"], metadata=each)
    rows = await view.aget_docs_by_ids(["4", "5"])
    assert [row.metadata["user_tags"] for row in rows.values()] == [["tenant:1"], ["tenant:1", "extra"]]
    with pytest.raises(AccessDeniedError):
        await view.ainsert(["six", "seven"], ids=["6", "7"], metadata=[None, {"tags": ["tenant:2"]}])
    assert await engine.aget_docs_by_ids(["6", "7"]) == {}


async def test_access_without_scopes_filters_the_graph_by_evidence(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await insert(engine, "d1", ONE, "public")
    await insert(engine, "d2", TWO, "secret")
    view = engine.restricted(forbidden_tags=["secret"])
    assert await view.get_graph_labels() == ["IKEA", "Sweden"]
    graph = await view.get_knowledge_graph("IKEA")
    hub = next(node for node in graph.nodes if node.id == "IKEA")
    assert "two" not in str(hub.properties)
    assert "d2" not in str(hub.properties)
    assert "two tells" not in str(await view.aquery_data("IKEA Delft", QueryParam(mode="mix")))


async def test_numbers_do_not_tell_of_what_lies_outside(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await insert(engine, "d1", ONE, "public")
    view = engine.restricted(required_tags=["public"])
    before = await view.aquery_data("IKEA Sweden Delft", QueryParam(mode="mix"))
    await insert(engine, "d2", TWO, "secret")
    after = await view.aquery_data("IKEA Sweden Delft", QueryParam(mode="mix"))
    assert after["metadata"] == before["metadata"]
    told = (await engine.aquery_data("IKEA Sweden Delft", QueryParam(mode="mix", required_tags=["public"])))["metadata"]
    assert told["filter"]["dropped_by_gate"] > 0


# --- any sequence ----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["Ada", "Bo", "Cy", "the Hub"])
FACTS = st.lists(st.tuples(NAMES, NAMES, st.sampled_from(["pays", "owns", "built"])), min_size=1, max_size=4)
TENANTS = st.lists(st.sampled_from(["tenant:a", "tenant:b"]), max_size=2, unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(0, 4), FACTS, TENANTS),
        st.tuples(st.just("delete"), st.integers(0, 4), st.just([]), st.just([])),
        st.tuples(st.just("retag"), st.integers(0, 4), st.just([]), TENANTS),
        st.tuples(st.just("reopen"), st.just(0), st.just([]), st.just([])),
    ),
    max_size=8,
)


async def open_engine(directory: str, **fields: Any) -> LightRAG:
    engine = LightRAG(
        working_dir=directory,
        llm_model_func=FactModel(),
        embedding_func=make_embedding(),
        entity_extract_max_gleaning=0,
        force_llm_summary_on_merge=1000,
        **fields,
    )
    await engine.initialize_storages()
    return engine


def of_scope(state: dict[str, Any], tag: str) -> dict[str, Any]:
    """Return a scope's nodes and edges as an engine that holds nothing else would have them."""

    def bare(identity: str) -> str:
        return identity.replace(f"\x1f{tag}", "")

    def kept(objects: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            bare(key): {name: value for name, value in properties.items() if name != "tenant_tag"}
            for key, properties in objects.items()
            if properties.get("tenant_tag", "") == tag
        }

    return {"nodes": kept(state["nodes"]), "edges": kept(state["edges"])}


async def run(steps: list[tuple[str, int, list[Any], list[str]]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        engine = await open_engine(directory, **SCOPED)
        held: dict[str, tuple[str, list[str]]] = {}
        try:
            for position, (action, number, facts, tags) in enumerate(steps):
                doc_id = f"d{number}"
                if action == "insert" and doc_id not in held:
                    lines = [f"{a} -> {b}: {a} {verb} {b}" for a, b, verb in facts if a != b]
                    held[doc_id] = ("\n".join([f"Document {number} {position}.", *lines]), tags)
                    await insert(engine, doc_id, held[doc_id][0], *tags)
                elif action == "delete" and doc_id in held:
                    await engine.adelete_by_doc_id(doc_id)
                    del held[doc_id]
                elif action == "retag" and doc_id in held:
                    await engine.aupdate_document_metadata(doc_id, {"tags": tags})
                    # A document that joins a scope later comes after those that are there.
                    held[doc_id] = (held[doc_id][0], tags)
                elif action == "reopen":
                    await engine.finalize_storages()
                    engine = await open_engine(directory, **SCOPED)
                assert await disagreements(engine) == []
            state = await snapshot(engine)
            for tag in ("tenant:a", "tenant:b"):
                await compare_with_own_instance(state, tag, held)
        finally:
            await engine.finalize_storages()


async def compare_with_own_instance(state: dict[str, Any], tag: str, held: dict[str, tuple[str, list[str]]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        alone = await open_engine(directory)
        try:
            for doc_id, (text, tags) in held.items():
                if tag in tags:
                    await insert(alone, doc_id, text, *tags)
            own = await snapshot(alone)
        finally:
            await alone.finalize_storages()
    expected = {"nodes": of_scope(own, "")["nodes"], "edges": of_scope(own, "")["edges"]}
    assert unordered(of_scope(state, tag)) == unordered(expected)


def unordered(parts: dict[str, Any]) -> dict[str, Any]:
    """Return objects without what depends on the order in which documents came."""

    def plain(properties: dict[str, Any]) -> dict[str, Any]:
        hidden = {"tokens", "type_votes"}
        shown = {name: value for name, value in properties.items() if name not in hidden}
        return {**shown, "description": sorted(str(shown.get("description", "")).split("<SEP>"))}

    return {kind: {key: plain(row) for key, row in objects.items()} for kind, objects in parts.items()}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_a_scope_equals_an_instance_that_only_held_its_documents(
    steps: list[tuple[str, int, list[Any], list[str]]],
) -> None:
    asyncio.run(run(steps))
