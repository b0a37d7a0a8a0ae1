"""Entities and relations that people create."""

from __future__ import annotations

from typing import Any

import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.exceptions import DuplicateError, InputError, NotFoundError, PipelineBusyError, ScopeError
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.info import entity_info, relation_info
from tests.graph.workspace import NO_SUMMARIES, Fact, Workspace, open_workspace


async def test_a_created_entity_is_in_every_index(workspace: Workspace) -> None:
    data = {"description": "A harbour town", "entity_type": "Location", "colour": "grey"}
    info = await create_entity(workspace.context, workspace.state, "  Velmouth ", data)
    assert info["entity_name"] == "Velmouth"
    assert info["source_id"] == "manual_creation"
    assert {
        "entity_id": "Velmouth",
        "entity_type": "location",
        "description": "A harbour town",
        "file_path": "manual_creation",
        "colour": "grey",
    }.items() <= info["graph_data"].items()
    stores = workspace.context.stores
    rows = await stores.entities.query("harbour town", 5)
    assert [row["entity_name"] for row in rows] == ["Velmouth"]
    assert [row.description for row in await workspace.evidence(ObjectKind.ENTITY, "Velmouth")] == ["A harbour town"]
    assert await entity_info(workspace.context, "Velmouth") == info


async def test_nothing_internal_is_shown(workspace: Workspace) -> None:
    await create_entity(workspace.context, workspace.state, "Velmouth", {"description": "x"})
    info = await entity_info(workspace.context, "Velmouth", include_vector_data=True)
    assert set(info["graph_data"]) == {
        "entity_id",
        "entity_name",
        "entity_type",
        "description",
        "source_id",
        "file_path",
        "created_at",
    }
    assert info["vector_data"]["content"] == "Velmouth\nx"
    assert not {"vector", "tenant_tag", "filter_tags", "graph_node_id"} & set(info["vector_data"])


async def test_what_does_not_exist_is_shown_as_nothing(workspace: Workspace) -> None:
    nobody = await entity_info(workspace.context, "Nobody", include_vector_data=True)
    assert nobody == {"entity_name": "Nobody", "source_id": None, "graph_data": None, "vector_data": None}
    assert (await relation_info(workspace.context, "A", "B"))["graph_data"] is None


async def test_a_created_relation_has_sorted_ends(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    for name in ("Zoe", "Abe"):
        await create_entity(context, state, name, {})
    data = {"description": "knows", "keywords": "friend, old, friend", "weight": "2.5"}
    info = await create_relation(context, state, ("Zoe", "Abe"), data)
    assert (info["src_entity"], info["tgt_entity"]) == ("Abe", "Zoe")
    assert info["graph_data"]["keywords"] == "friend,old"
    assert info["graph_data"]["weight"] == 2.5
    assert await relation_info(context, "Abe", "Zoe") == info
    assert (await context.stores.relationships.query("friend old", 3))[0]["src_id"] == "Abe"


@pytest.mark.parametrize(
    ("ends", "data", "error", "message"),
    [
        (("A", "B"), {"description": "x"}, DuplicateError, "exists already"),
        (("A", "C"), {"description": "x"}, NotFoundError, "'C' does not exist"),
        (("A", "A"), {"description": "x"}, InputError, "two entities"),
        (("A", "A "), {"description": "x"}, InputError, "two entities"),
        (("A", ""), {"description": "x"}, InputError, "target_entity"),
        (("B", "D"), {}, InputError, "description is missing"),
        (("B", "D"), {"description": " \x00 "}, InputError, "description"),
        (("B", "D"), {"description": "x", "weight": 0}, InputError, "weight is 0"),
        (("B", "D"), {"description": "x", "weight": "nan"}, InputError, "weight"),
        (("B", "D"), {"description": "x", "weight": True}, InputError, "weight"),
        (("B", "D"), {"description": "x", "keywords": 3}, InputError, "keywords"),
        (("B", "D"), {"description": "x", "evidence_count": 3}, InputError, "'evidence_count'"),
        (("B", "D"), {"description": "x", "filter_tags": ["a"]}, InputError, "'filter_tags'"),
        (("B", "D"), {"description": "x", "a b": 1}, InputError, "'a b'"),
        (("B", "D"), {"description": "x", "extra": {"deep": 1}}, InputError, "'extra'"),
        (("B", "D"), ["description"], InputError, "must be a dict"),
    ],
)
async def test_refusals_name_what_is_wrong_and_change_nothing(
    workspace: Workspace, ends: tuple[str, str], data: Any, error: type[Exception], message: str
) -> None:
    context, state = workspace.context, workspace.state
    await workspace.add("d1", [Fact("A", "B", "met")])
    await create_entity(context, state, "D", {})
    version = await context.stores.corpus_version()
    with pytest.raises(error, match=message):
        await create_relation(context, state, ends, data)
    assert await workspace.pairs() == {("A", "B")}
    assert await context.stores.corpus_version() == version


async def test_an_entity_is_created_once(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("Ada Quay", text="a surveyor")])
    with pytest.raises(DuplicateError, match="'Ada Quay'"):
        await create_entity(workspace.context, workspace.state, "  Ada   Quay", {})
    with pytest.raises(InputError, match="entity_name"):
        await create_entity(workspace.context, workspace.state, "\x00", {})
    with pytest.raises(InputError, match="text"):
        await create_entity(workspace.context, workspace.state, 7, {})  # type: ignore[arg-type]


async def test_nothing_is_created_while_the_pipeline_runs(workspace: Workspace) -> None:
    workspace.state.begin("processing documents")
    with pytest.raises(PipelineBusyError, match="processing documents"):
        await create_entity(workspace.context, workspace.state, "A", {})
    workspace.state.end()
    await create_entity(workspace.context, workspace.state, "A", {})


async def test_a_failing_model_leaves_nothing_behind() -> None:
    workspace = await open_workspace(**NO_SUMMARIES)

    async def fail(texts: list[str], **_: Any) -> Any:
        raise RuntimeError("no such model")

    workspace.context.models.embedder.calls = fail  # type: ignore[assignment]
    with pytest.raises(RuntimeError):
        await create_entity(workspace.context, workspace.state, "A", {})
    assert await workspace.names() == []
    assert await workspace.context.stores.evidence.count() == 0


async def test_cached_answers_become_unreachable(workspace: Workspace) -> None:
    before = await workspace.context.stores.corpus_version()
    await create_entity(workspace.context, workspace.state, "A", {})
    assert await workspace.context.stores.corpus_version() != before


async def test_documents_add_to_what_a_person_created(workspace: Workspace) -> None:
    await create_entity(workspace.context, workspace.state, "A", {"description": "by hand", "entity_type": "person"})
    await workspace.add("d1", [Fact("A", "B", "met", type="thing")])
    node = await workspace.node("A")
    assert node is not None
    assert node["description"] == "by hand<SEP>A: met"
    assert node["entity_type"] == "person"
    await workspace.delete("d1")
    node = await workspace.node("A")
    assert node is not None
    assert node["description"] == "by hand"
    assert await workspace.names() == ["A"]


async def test_a_relation_by_hand_lives_as_long_as_both_ends(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await workspace.add("d1", [Fact("A", text="one")])
    await workspace.add("d2", [Fact("B", text="two")])
    await create_entity(context, state, "C", {})
    await create_relation(context, state, ("A", "B"), {"description": "x"})
    await create_relation(context, state, ("A", "C"), {"description": "y"})
    await workspace.delete("d2")
    assert await workspace.pairs() == {("A", "C")}
    assert not await workspace.evidence(ObjectKind.RELATION, relation_key("A", "B"))
    await workspace.delete("d1")
    assert await workspace.names() == ["C"]
    await workspace.add("d1", [Fact("A", text="one")])
    assert await workspace.pairs() == set()


async def test_what_names_a_chunk_as_its_source_belongs_to_the_document(workspace: Workspace) -> None:
    context, state = workspace.context, workspace.state
    await workspace.add("d1", [Fact("A", text="one"), Fact("B", text="two")])
    await workspace.add("d2", [Fact("B", text="three"), Fact("C", text="four")])
    sources = "d1-chunk-000<SEP>no-such-chunk<SEP>d1-chunk-001"
    entity = await create_entity(context, state, "E", {"description": "five", "source_id": sources})
    assert entity["source_id"] == "d1-chunk-000<SEP>d1-chunk-001"
    assert entity["graph_data"]["file_path"] == "d1.md"
    relation = await create_relation(
        context, state, ("A", "C"), {"description": "six", "weight": 2.0, "source_id": "d2-chunk-000<SEP>d2-chunk-001"}
    )
    assert relation["graph_data"]["weight"] == 2.0
    # The document now mentions both ends, as a document does that speaks of a relation.
    assert {row.document_id for row in await workspace.evidence(ObjectKind.ENTITY, "A")} == {"d1", "d2"}
    assert {row.document_id for row in await workspace.evidence(ObjectKind.ENTITY, "C")} == {"d2"}
    await workspace.delete("d2")
    assert await workspace.pairs() == set()
    assert await workspace.names() == ["A", "B", "E"]
    await workspace.delete("d1")
    assert await workspace.names() == []


async def test_scopes_are_apart_and_must_exist(scoped_workspace: Workspace) -> None:
    context, state = scoped_workspace.context, scoped_workspace.state
    await create_entity(context, state, "A", {"description": "in scope"}, tenant_tag="tenant:1")
    info = await entity_info(context, "A", tenant_tag="tenant:1")
    assert info["entity_name"] == "A"
    assert info["graph_data"]["tenant_tag"] == "tenant:1"
    assert info["graph_data"]["entity_id"] == "A"
    assert (await entity_info(context, "A"))["graph_data"] is None
    assert (await entity_info(context, "A", tenant_tag="tenant:2"))["graph_data"] is None
    await create_entity(context, state, "B", {})
    with pytest.raises(NotFoundError):
        await create_relation(context, state, ("A", "B"), {"description": "x"}, tenant_tag="tenant:1")
    for tag in ("region:1", "tenant:", "Tenant:1", "tenant:1\x1f"):
        with pytest.raises(ScopeError):
            await create_entity(context, state, "C", {}, tenant_tag=tag)
    with pytest.raises(ScopeError, match="id inside a scope"):
        await create_entity(context, state, "A\x1ftenant:2", {})
    node = await scoped_workspace.node("A\x1ftenant:1")
    assert node is not None
    # What a person says in a scope is found by those who ask in it.
    assert node["filter_tags"] == ["tenant:1"]


async def test_a_scope_is_refused_where_scopes_are_off(workspace: Workspace) -> None:
    with pytest.raises(ScopeError, match="scopes are off"):
        await create_entity(workspace.context, workspace.state, "A", {}, tenant_tag="tenant:1")


async def test_a_scope_takes_no_source_of_another(scoped_workspace: Workspace) -> None:
    await scoped_workspace.add("d1", [Fact("A", text="one")], tags=["tenant:1"])
    await scoped_workspace.add("d2", [Fact("B", text="two")], tags=["tenant:2"])
    info = await create_entity(
        scoped_workspace.context,
        scoped_workspace.state,
        "E",
        {"source_id": "d1-chunk-000<SEP>d2-chunk-000"},
        tenant_tag="tenant:1",
    )
    assert info["source_id"] == "d1-chunk-000"
    assert info["graph_data"]["file_path"] == "d1.md"
