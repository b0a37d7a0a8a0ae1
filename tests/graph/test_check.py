"""The check finds what does not agree, and mends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.graph.change import entity_vector_id, relation_vector_id
from lightrag.graph.check import graph_consistency
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.edit_entity import edit_entity
from tests.graph.workspace import NO_SUMMARIES, SCOPES, Fact, Workspace, open_workspace

Damage = Callable[[Workspace], Awaitable[None]]


async def filled() -> Workspace:
    workspace = await open_workspace(**NO_SUMMARIES, **SCOPES)
    await workspace.add("d1", [Fact("A", "B", "one"), Fact("A", "C", "two")], tags=["tenant:1"])
    await workspace.add("d2", [Fact("A", "B", "three")])
    context, state = workspace.context, workspace.state
    await create_entity(context, state, "M", {"description": "by hand"})
    await create_relation(context, state, ("M", "A"), {"description": "by hand too"})
    await edit_entity(context, state, "A", {"description": "corrected", "colour": "red"})
    return workspace


async def lose_node(workspace: Workspace) -> None:
    await workspace.context.stores.graph.remove_nodes(["B"])


async def lose_edge(workspace: Workspace) -> None:
    await workspace.context.stores.graph.remove_edges([("A", "C")])


async def add_node(workspace: Workspace) -> None:
    await workspace.context.stores.graph.upsert_node("Ghost", {"description": "boo"})


async def add_edge(workspace: Workspace) -> None:
    await workspace.context.stores.graph.upsert_edge("B", "C", {"description": "boo"})


async def change_node(workspace: Workspace) -> None:
    graph = workspace.context.stores.graph
    await graph.upsert_node("B", {**(await graph.get_node("B") or {}), "description": "other"})


async def change_tags(workspace: Workspace) -> None:
    graph = workspace.context.stores.graph
    await graph.upsert_node("C", {**(await graph.get_node("C") or {}), "filter_tags": []})


async def change_edge(workspace: Workspace) -> None:
    graph = workspace.context.stores.graph
    await graph.upsert_edge("A", "B", {**(await graph.get_edge("A", "B") or {}), "weight": 99.0})


async def lose_entity_vector(workspace: Workspace) -> None:
    await workspace.context.stores.entities.delete([entity_vector_id("A\x1ftenant:1")])


async def lose_relation_vector(workspace: Workspace) -> None:
    await workspace.context.stores.relationships.delete([relation_vector_id(relation_key("A", "B"))])


async def add_entity_vector(workspace: Workspace) -> None:
    row = {"content": "boo", "entity_name": "Ghost", "graph_node_id": "Ghost"}
    await workspace.context.stores.entities.upsert({entity_vector_id("Ghost"): row})


async def add_relation_vector(workspace: Workspace) -> None:
    await workspace.context.stores.relationships.upsert({"rel-1": {"content": "boo", "src_id": "A", "tgt_id": "B"}})


async def change_vector(workspace: Workspace) -> None:
    row = {"content": "boo", "entity_name": "C", "graph_node_id": "C", "tenant_tag": ""}
    await workspace.context.stores.entities.upsert({entity_vector_id("C"): row})


async def lose_evidence(workspace: Workspace) -> None:
    await workspace.context.stores.evidence.drop_objects(ObjectKind.ENTITY, ["B"])


async def leave_correction(workspace: Workspace) -> None:
    rows = await workspace.evidence(ObjectKind.ENTITY, "A")
    await workspace.context.stores.evidence.add([replace(rows[-1], object_id="Ghost")])


async def lose_document(workspace: Workspace) -> None:
    await workspace.context.stores.doc_status.delete(["d2"])


async def lose_chunk_vector(workspace: Workspace) -> None:
    await workspace.context.stores.chunks.delete(["d1-chunk-001"])


async def add_chunk_vector(workspace: Workspace) -> None:
    await workspace.context.stores.chunks.upsert({"chunk-ghost": {"content": "boo", "full_doc_id": "d1"}})


async def add_chunk(workspace: Workspace) -> None:
    row = {"content": "boo", "full_doc_id": "d1", "file_path": "d1.md", "chunk_order_index": 9}
    await workspace.context.stores.text_chunks.upsert({"chunk-ghost": row})


async def cross_scopes(workspace: Workspace) -> None:
    rows = await workspace.evidence(ObjectKind.RELATION, relation_key("A", "B"))
    key = relation_key("A", "B\x1ftenant:1")
    await workspace.context.stores.evidence.add([replace(rows[0], object_id=key)])


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        (lose_node, "entity 'B' has evidence and is not in the graph"),
        (lose_edge, "relation 'A' and 'C' has evidence and is not in the graph"),
        (add_node, "entity 'Ghost' is in the graph and has no evidence"),
        (add_edge, "relation 'B' and 'C' is in the graph and has no evidence"),
        (change_node, "entity 'B' differs from its evidence in fragments"),
        (change_tags, "entity 'C' differs from its evidence in dates and tags"),
        (change_edge, "relation 'A' and 'B' differs from its evidence in weight"),
        (lose_entity_vector, "entity 'A' of scope 'tenant:1' has no vector"),
        (lose_relation_vector, "relation 'A' and 'B' has no vector"),
        (add_entity_vector, "entity vector"),
        (add_relation_vector, "relation vector 'rel-1' belongs to nothing that has evidence"),
        (change_vector, "entity 'C' has the vector of another text"),
        (lose_evidence, "relation 'A' and 'B' has evidence and not both ends"),
        (leave_correction, "entity 'Ghost' is corrected by a person and has no other evidence"),
        (lose_document, "document 'd2' has evidence and is not processed"),
        (lose_chunk_vector, "chunk 'd1-chunk-001' has no vector of its text"),
        (add_chunk_vector, "chunk vector 'chunk-ghost' belongs to no chunk"),
        (add_chunk, "chunk 'chunk-ghost' belongs to no processed document"),
        (cross_scopes, "has evidence and not both ends"),
    ],
)
async def test_damage_is_found_and_mended(damage: Damage, finding: str) -> None:
    workspace = await filled()
    context = workspace.context
    assert await graph_consistency(context) == []
    version = await context.stores.corpus_version()
    await damage(workspace)
    found = await graph_consistency(context)
    assert [line for line in found if finding in line], found
    assert await context.stores.corpus_version() == version
    assert await graph_consistency(context, repair=True) != []
    assert await graph_consistency(context) == []
    assert await context.stores.corpus_version() != version
    node = await workspace.node("A")
    assert node is not None
    assert node["description"] == "corrected"
    assert node["colour"] == "red"


async def test_a_lost_chunk_is_told_but_cannot_be_mended() -> None:
    workspace = await filled()
    await workspace.context.stores.text_chunks.delete(["d2-chunk-000"])
    expected = ["document 'd2' has lost its chunk 'd2-chunk-000'; process it again"]
    found = await graph_consistency(workspace.context, repair=True)
    assert found[:1] == expected
    assert await graph_consistency(workspace.context) == expected


async def test_a_graph_without_any_evidence_is_left_alone() -> None:
    workspace = await open_workspace()
    await workspace.context.stores.graph.upsert_node("A", {"description": "of another tool"})
    for repair in (False, True):
        (finding,) = await graph_consistency(workspace.context, repair=repair)
        assert "evidence must be rebuilt first" in finding
    assert await workspace.names() == ["A"]


async def test_summaries_are_taken_on_trust() -> None:
    workspace = await open_workspace(force_llm_summary_on_merge=3)
    for number in range(5):
        await workspace.add(f"d{number}", [Fact("A", text=f"text {number}")])
    assert await graph_consistency(workspace.context) == []


async def test_more_than_one_page() -> None:
    workspace = await open_workspace(**NO_SUMMARIES)
    await workspace.add("d1", [Fact(f"N{number}", f"N{number + 1}", "x") for number in range(450)])
    assert await graph_consistency(workspace.context) == []
    graph = workspace.context.stores.graph
    await graph.remove_nodes(["N7", "N444"])
    found = await graph_consistency(workspace.context, repair=True)
    assert len(found) == 6
    assert await graph_consistency(workspace.context) == []
