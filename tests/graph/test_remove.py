"""Entities and relations that people take out."""

from __future__ import annotations

import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.exceptions import InputError, PipelineBusyError
from lightrag.graph.edit_entity import edit_entity
from lightrag.ingest.delete_objects import delete_entity, delete_relation
from tests.graph.workspace import Fact, Workspace


async def test_an_entity_takes_its_relations_along(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "one"), Fact("A", "C", "two"), Fact("B", "C", "three")])
    await edit_entity(workspace.context, workspace.state, "A", {"description": "corrected"})
    outcome = await delete_entity(workspace.context, workspace.state, " A ")
    assert (outcome.status, outcome.status_code, outcome.doc_id) == ("success", 200, "")
    assert outcome.message == "entity 'A' and 2 relations deleted"
    assert await workspace.names() == ["B", "C"]
    assert await workspace.pairs() == {("B", "C")}
    assert not await workspace.evidence(ObjectKind.ENTITY, "A")
    # What stays is not brought back by a document that goes or comes.
    await workspace.add("d2", [Fact("A", text="again")])
    node = await workspace.node("A")
    assert node is not None
    assert node["description"] == "A: again"
    assert await workspace.pairs() == {("B", "C")}
    await workspace.delete("d1")
    assert await workspace.names() == ["A"]


async def test_a_relation_leaves_both_entities(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "one")])
    outcome = await delete_relation(workspace.context, workspace.state, ("B", "A"))
    assert (outcome.status, outcome.message) == ("success", "relation of 'B' and 'A' deleted")
    assert await workspace.names() == ["A", "B"]
    assert not await workspace.evidence(ObjectKind.RELATION, relation_key("A", "B"))
    assert await workspace.context.stores.relationships.count() == 0


async def test_what_is_not_there_is_not_found(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "one")])
    missing = await delete_entity(workspace.context, workspace.state, "C")
    assert (missing.status, missing.status_code) == ("not_found", 404)
    assert "'C'" in missing.message
    assert (await delete_relation(workspace.context, workspace.state, ("A", "C"))).status == "not_found"
    with pytest.raises(InputError):
        await delete_entity(workspace.context, workspace.state, "")
    with pytest.raises(InputError):
        await delete_relation(workspace.context, workspace.state, ("A", "A"))


async def test_nothing_is_deleted_while_the_pipeline_runs(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "one")])
    workspace.state.begin("processing documents")
    with pytest.raises(PipelineBusyError):
        await delete_entity(workspace.context, workspace.state, "A")
    with pytest.raises(PipelineBusyError):
        await delete_relation(workspace.context, workspace.state, ("A", "B"))
    workspace.state.end()


async def test_one_scope_at_a_time(scoped_workspace: Workspace) -> None:
    await scoped_workspace.add("d1", [Fact("A", "B", "one")], tags=["tenant:1"])
    await delete_entity(scoped_workspace.context, scoped_workspace.state, "A", tenant_tag="tenant:1")
    assert await scoped_workspace.names() == ["A", "B", "B\x1ftenant:1"]
    await delete_relation(scoped_workspace.context, scoped_workspace.state, ("A", "B"))
    assert await scoped_workspace.pairs() == set()
