"""Scopes: a graph per tenant or chapter inside one graph, equal to the graph that tenant alone would have."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag import LightRAG, QueryParam
from lightrag.exceptions import FilterSyntaxError, InputError, ScopeError
from tests.fakes.audit import disagreements, snapshot
from tests.fakes.facts import FactModel
from tests.fakes.filtering import FILES, timeless
from tests.flow.conftest import EngineFactory

SCOPED: dict[str, Any] = {"enable_kg_scope_materialization": True, "scope_tag_prefixes": ["tenant:"]}
ONE = "IKEA -> Sweden: one tells how IKEA began in Sweden\n"
TWO = "IKEA -> Delft: two tells how IKEA built in Delft\n"
NOBODY = "IKEA -> Moon: nobody tells how IKEA went to the Moon\n"


@pytest.fixture(params=["sqlite", "files"])
def make_engine(request: pytest.FixtureRequest, make_engine: EngineFactory) -> EngineFactory:
    """Open engines on every graph store that there is."""
    storages = FILES if request.param == "files" else {}

    async def make(model: FactModel | None = None, **fields: Any) -> LightRAG:
        return await make_engine(model, **{**storages, **fields})

    return make


async def insert(engine: LightRAG, doc_id: str, text: str, *tags: str) -> None:
    await engine.ainsert(text, ids=doc_id, file_paths=f"{doc_id}.md", metadata={"tags": list(tags)})


async def tenants(make_engine: EngineFactory, model: FactModel | None = None) -> LightRAG:
    engine = await make_engine(model, **SCOPED)
    await insert(engine, "d1", ONE, "tenant:1", "patent")
    await insert(engine, "d2", TWO, "tenant:2")
    await insert(engine, "d0", NOBODY, "patent")
    return engine


async def names(engine: LightRAG, **fields: Any) -> set[str]:
    data = await engine.aquery_data("IKEA Sweden Delft Moon", QueryParam(mode="mix", **fields))
    return {entity["entity_name"] for entity in data.get("data", {}).get("entities", [])}


async def test_a_document_joins_the_aggregate_and_its_scopes(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    info = {tag: await engine.get_entity_info("IKEA", tenant_tag=tag) for tag in (None, "tenant:1", "tenant:2")}
    descriptions = {tag: found["graph_data"]["description"] for tag, found in info.items()}
    assert all(word in descriptions[None] for word in ("one", "two", "nobody"))
    assert "one" in descriptions["tenant:1"]
    assert "two" not in descriptions["tenant:1"]
    assert "nobody" not in descriptions["tenant:1"]
    assert "two" in descriptions["tenant:2"]
    assert "one" not in descriptions["tenant:2"]
    assert await disagreements(engine) == []


async def test_unscoped_documents_are_invisible_to_scopes(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    assert await names(engine) == {"IKEA", "Sweden", "Delft", "Moon"}
    assert await names(engine, required_tags=["tenant:1"]) == {"IKEA", "Sweden"}
    assert await names(engine, required_tags=["tenant:3"]) == set()


async def test_further_required_tags_limit_the_documents(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    assert await names(engine, required_tags=["tenant:1", "patent"]) == {"IKEA", "Sweden"}
    assert await names(engine, required_tags=["tenant:2", "patent"]) == set()
    # The scope is required also in any-mode; the mode is about the other tags.
    assert await names(engine, required_tags=["tenant:2", "patent"], required_tags_mode="or") == set()


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "naive", "mix"])
async def test_every_mode_stays_in_its_scope(make_engine: EngineFactory, mode: str) -> None:
    model = FactModel()
    engine = await tenants(make_engine, model)
    asked = len(model.calls)
    for tag, own, others in (("tenant:1", "one", ("two", "nobody")), ("tenant:2", "two", ("one", "nobody"))):
        param = QueryParam(mode=mode, required_tags=[tag])
        data = str(await engine.aquery_data("IKEA Sweden Delft", param))
        assert own in data
        assert not any(f"{word} tells" in data for word in others)
        assert "\x1f" not in data
        await engine.aquery("IKEA Sweden Delft", param)
    contexts = [system for task, _, system in model.calls[asked:] if task == "answer"]
    assert len(contexts) == 2
    assert "two tells" not in contexts[0]
    assert "one tells" not in contexts[1]


async def test_two_scopes_are_refused(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    with pytest.raises(ScopeError, match="At most one scope tag"):
        await engine.aquery("IKEA", QueryParam(required_tags=["tenant:1", "tenant:2"]))
    with pytest.raises(ScopeError, match="contradict"):
        await engine.aquery("IKEA", QueryParam(required_tags=["tenant:1"], forbidden_tags=["tenant:2"]))


@pytest.mark.parametrize("tag", ["tenant:日本", "tenant:a/b", "tenant:"])
@pytest.mark.parametrize("field", ["required_tags", "forbidden_tags"])
async def test_a_scope_that_may_be_another_is_no_filter(make_engine: EngineFactory, field: str, tag: str) -> None:
    engine = await make_engine(**SCOPED)
    with pytest.raises(ScopeError, match="scope tag"):
        await engine.aquery_data("IKEA", QueryParam(**{field: [tag]}))


async def test_the_graph_of_a_scope_shows_names_and_nothing_of_others(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    for label in ("IKEA", "*"):
        graph = await engine.get_knowledge_graph(label, required_tags=["tenant:1"])
        assert {node.id for node in graph.nodes} == {"IKEA", "Sweden"}
        assert {node.properties["tenant_tag"] for node in graph.nodes} == {"tenant:1"}
        assert [(edge.source, edge.target) for edge in graph.edges] == [("IKEA", "Sweden")]
    everything = await engine.get_knowledge_graph("*")
    assert {node.id for node in everything.nodes} == {"IKEA", "Sweden", "Delft", "Moon"}
    of_patents = await engine.get_knowledge_graph("*", required_tags=["patent"])
    assert {node.id for node in of_patents.nodes} == {"IKEA", "Sweden", "Moon"}
    assert "two" not in str(of_patents)
    either = await engine.get_knowledge_graph("*", required_tags=["patent", "x"], required_tags_mode="or")
    assert either == of_patents
    assert (await engine.get_knowledge_graph("*", required_tags=["tenant:2", "patent"])).nodes == []
    assert await engine.get_graph_labels(tenant_tag="tenant:2") == ["Delft", "IKEA"]
    assert await engine.search_labels("ikea", tenant_tag="tenant:2") == ["IKEA"]
    assert await engine.alist_scopes() == {"tenant:1": 2, "tenant:2": 2}


async def test_scopes_cost_no_extraction_and_share_summaries(make_engine: EngineFactory) -> None:
    model = FactModel()
    engine = await make_engine(model, force_llm_summary_on_merge=2, **SCOPED)
    await insert(engine, "a", "Hub -> A: first\n", "tenant:1", "tenant:2")
    await insert(engine, "b", "Hub -> B: second\n", "tenant:1", "tenant:2")
    assert model.count("extract") == 2
    # Both variants say what the aggregate says, so one summary serves all three.
    assert model.count("summary") == 1
    await insert(engine, "c", "Hub -> C: third\n", "tenant:1")
    assert model.count("summary") == 2


async def test_switched_off_nothing_differs(make_engine: EngineFactory, tmp_path: Any) -> None:
    plain = await make_engine(working_dir=str(tmp_path / "plain"))
    prefixed = await make_engine(working_dir=str(tmp_path / "off"), scope_tag_prefixes=["tenant:"])
    for engine in (plain, prefixed):
        await insert(engine, "d1", ONE, "tenant:1")
        await insert(engine, "d2", TWO, "tenant:2")
    assert await snapshot(plain) == await snapshot(prefixed)
    for fields in ({}, {"required_tags": ["tenant:1"]}, {"required_tags": ["tenant:1", "tenant:2"]}):
        param = QueryParam(mode="mix", **fields)
        found = [await engine.aquery_data("IKEA", param) for engine in (plain, prefixed)]
        assert timeless(found[0]) == timeless(found[1])
    assert await plain.alist_scopes() == {}


@pytest.mark.parametrize("tag", ["tenant:", "tenant:日本", "tenant:a/b", "TENANT: "])
async def test_a_tag_that_could_be_another_tenant_is_refused(make_engine: EngineFactory, tag: str) -> None:
    engine = await tenants(make_engine)
    with pytest.raises((ScopeError, FilterSyntaxError)):
        await insert(engine, "x", "X -> Y: z\n", tag)
    with pytest.raises((ScopeError, FilterSyntaxError)):
        await engine.aquery("IKEA", QueryParam(required_tags=[tag]))
    assert await engine.aget_docs_by_ids("x") == {}


async def test_a_forged_name_cannot_reach_another_scope(make_engine: EngineFactory) -> None:
    engine = await tenants(make_engine)
    before = await engine.get_entity_info("IKEA", tenant_tag="tenant:1")
    await insert(engine, "evil", "IKEA\x1ftenant:1 -> Sweden\x1ftenant:1: evil words\n", "tenant:2")
    assert await engine.get_entity_info("IKEA", tenant_tag="tenant:1") == before
    custom = {
        "chunks": [{"content": "evil chunk", "source_id": "s"}],
        "entities": [{"entity_name": "IKEA\x1ftenant:1", "description": "evil words", "source_id": "s"}],
        "relationships": [],
    }
    # Control characters are taken out of every name that comes in, so this is an entity of another name.
    await engine.ainsert_custom_kg(custom)
    assert "IKEAtenant:1" in await engine.get_graph_labels()
    with pytest.raises(InputError):
        await engine.aedit_entity("IKEA\x1ftenant:1", {"description": "evil words"})
    assert await engine.get_entity_info("IKEA", tenant_tag="tenant:1") == before
    assert "evil" not in str(await engine.aquery_data("IKEA Sweden", QueryParam(required_tags=["tenant:1"])))


async def test_the_book_known_after_chapter_three(make_engine: EngineFactory) -> None:
    engine = await make_engine(enable_kg_scope_materialization=True, scope_tag_prefixes=["known-in-chapter:"])
    for chapter in range(1, 11):
        tags = [f"known-in-chapter:{later:02d}" for later in range(chapter, 11)] + [f"chapter:{chapter:02d}"]
        villain = "Marcus -> Elena: chapter 5 unmasks Marcus\n" if chapter == 5 else ""
        text = f"Elena -> Place {chapter}: chapter {chapter} tells of Elena\n{villain}"
        await insert(engine, f"c{chapter:02d}", text, *tags)
    assert "Marcus" not in await names(engine, required_tags=["known-in-chapter:03"], top_k=100)
    third = await engine.get_entity_info("Elena", tenant_tag="known-in-chapter:03")
    assert "chapter 3" in third["graph_data"]["description"]
    assert "chapter 4" not in third["graph_data"]["description"]
    only = await engine.aquery_data(
        "Elena chapter", QueryParam(mode="mix", required_tags=["known-in-chapter:03", "chapter:03"])
    )
    assert {reference["file_path"] for reference in only["data"]["references"]} == {"c03.md"}
    tenth = await names(engine, required_tags=["known-in-chapter:10"], top_k=100)
    assert tenth == await names(engine, top_k=100)
    assert len(await engine.alist_scopes()) == 10


async def test_materialisation_without_prefixes_says_that_it_does_nothing(
    make_engine: EngineFactory, caplog: pytest.LogCaptureFixture
) -> None:
    await make_engine(enable_kg_scope_materialization=True)
    assert "enable_kg_scope_materialization has no effect: scope_tag_prefixes names no prefix" in caplog.text
