"""The graph as users of the SDK edit it, on the embedded default, across reopening."""

from __future__ import annotations

from pathlib import Path

import pytest

from lightrag import QueryParam
from lightrag.exceptions import PipelineBusyError
from tests.flow.conftest import EngineFactory

HARBOUR = "The harbour record.\nAda Quay -> Velmouth: Ada Quay surveyed the harbour of Velmouth\n"
BRIDGE = "The bridge record.\nVelmouth -> Hallow Bridge: Velmouth paid for the Hallow Bridge\n"
GRAPH = {
    "chunks": [{"content": "The mayor opened the market.", "source_id": "m", "file_path": "market.md"}],
    "entities": [
        {"entity_name": "Mayor", "entity_type": "person", "description": "Head of Velmouth", "source_id": "m"}
    ],
    "relationships": [
        {"src_id": "Mayor", "tgt_id": "Velmouth", "description": "governs", "keywords": "office", "source_id": "m"}
    ],
}


async def test_edits_hold_across_reopening_and_deletion(make_engine: EngineFactory, tmp_path: Path) -> None:
    engine = await make_engine()
    await engine.ainsert([HARBOUR, BRIDGE], ids=["h", "b"], file_paths=["harbour.md", "bridge.md"])
    kg_id = await engine.ainsert_custom_kg(GRAPH)
    chunks_id = await engine.ainsert_custom_chunks(
        "Ned -> Velmouth: Ned lives there", ["Ned -> Velmouth: Ned lives there"]
    )
    await engine.acreate_entity("Ferry", {"description": "A boat", "entity_type": "vehicle"})
    await engine.acreate_relation("Ferry", "Velmouth", {"description": "lands at", "keywords": "boat"})
    await engine.aedit_entity("Velmouth", {"description": "A town that people described"})
    await engine.aedit_relation("Ada Quay", "Velmouth", {"weight": 9})
    await engine.aedit_entity("Ada Quay", {"entity_name": "Ada Q."})
    await engine.amerge_entities(["Mayor", "Ned"], "Mayor Ned", {"entity_type": "keep_first"})
    assert (await engine.adelete_by_relation("Ferry", "Velmouth")).status == "success"
    assert await engine.acheck() == []
    before = await engine.get_knowledge_graph("*")
    await engine.finalize_storages()
    again = await make_engine()
    assert await again.get_knowledge_graph("*") == before
    assert (await again.get_entity_info("Velmouth"))["graph_data"]["description"] == "A town that people described"
    assert (await again.get_relation_info("Velmouth", "Ada Q."))["graph_data"]["weight"] == 9
    assert await again.get_graph_labels() == ["Ada Q.", "Ferry", "Hallow Bridge", "Mayor Ned", "Velmouth"]
    assert await again.get_popular_labels(1) == ["Velmouth"]
    assert await again.search_labels("q.") == ["Ada Q."]
    data = await again.aquery_data("Who governs Velmouth?", QueryParam(mode="mix"))
    assert "Mayor Ned" in {entity["entity_name"] for entity in data["data"]["entities"]}
    assert "market.md" in {reference["file_path"] for reference in data["data"]["references"]}
    await again.aexport_data(str(tmp_path / "graph.csv"))
    assert "Mayor Ned" in (tmp_path / "graph.csv").read_text(encoding="utf-8")
    for doc_id in ("h", "b", kg_id, chunks_id):
        assert (await again.adelete_by_doc_id(doc_id)).status == "success"
        assert await again.acheck() == []
    assert await again.get_graph_labels() == ["Ferry"]
    assert (await again.adelete_by_entity("Ferry")).status == "success"
    assert (await again.get_knowledge_graph("*")).nodes == []


async def test_changes_are_refused_while_documents_are_processed(make_engine: EngineFactory) -> None:
    engine = await make_engine()
    await engine.ainsert(HARBOUR)
    engine._state.begin("processing documents")
    with pytest.raises(PipelineBusyError):
        await engine.acreate_entity("A", {})
    with pytest.raises(PipelineBusyError):
        await engine.adelete_by_entity("Velmouth")
    engine._state.end()


async def test_scopes_by_required_tags(make_engine: EngineFactory) -> None:
    engine = await make_engine(scope_tag_prefixes=["tenant:"], enable_kg_scope_materialization=True)
    await engine.ainsert(HARBOUR, metadata={"tags": ["tenant:1"]})
    await engine.ainsert(BRIDGE)
    await engine.acreate_entity("Secret", {"description": "of one"}, tenant_tag="tenant:1")
    scoped = await engine.get_knowledge_graph("*", required_tags=["tenant:1"])
    assert {node.id for node in scoped.nodes} == {"Ada Quay", "Velmouth", "Secret"}
    whole = await engine.get_knowledge_graph("*")
    assert {node.id for node in whole.nodes} == {"Ada Quay", "Velmouth", "Hallow Bridge"}
    assert await engine.alist_scopes() == {"tenant:1": 3}
    assert await engine.get_graph_labels(tenant_tag="tenant:1") == ["Ada Quay", "Secret", "Velmouth"]
    param = QueryParam(mode="local", required_tags=["tenant:1"])
    data = await engine.aquery_data("The Secret of one", param)
    assert "Secret" in {entity["entity_name"] for entity in data["data"]["entities"]}
