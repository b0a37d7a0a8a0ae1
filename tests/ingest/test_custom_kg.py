"""Knowledge graphs that people bring are documents: checked, filtered, replaced and deleted like others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.exceptions import DuplicateError, FilterSyntaxError, InputError, PipelineBusyError, ScopeError
from lightrag.graph.check import graph_consistency
from lightrag.graph.info import entity_info, relation_info
from lightrag.ingest.custom_documents import CustomOptions
from lightrag.ingest.custom_kg import insert_custom_kg
from lightrag.runtime.hashing import compute_mdhash_id
from tests.graph.workspace import NO_SUMMARIES, SCOPES, Fact, Workspace, open_workspace

TEXT = "Ada Quay surveyed the harbour of Velmouth."
CHUNK = compute_mdhash_id(TEXT, "chunk-")


def harbour() -> dict[str, Any]:
    return {
        "chunks": [{"content": TEXT, "source_id": "note-1", "file_path": "notes/harbour.md"}],
        "entities": [
            {"entity_name": '"Ada Quay"', "entity_type": "Person", "description": "A surveyor", "source_id": "note-1"},
            {"entity_name": "Velmouth", "description": "A town", "source_id": "note-1"},
        ],
        "relationships": [
            {
                "src_id": "Ada Quay",
                "tgt_id": "Velmouth",
                "description": "surveyed",
                "keywords": "survey, harbour",
                "weight": 3,
                "source_id": "note-1",
            },
            {"src_id": "Velmouth", "tgt_id": "The King", "description": "belongs to", "keywords": "crown"},
        ],
    }


@pytest.fixture
async def workspace() -> AsyncIterator[Workspace]:
    opened = await open_workspace(**NO_SUMMARIES, **SCOPES)
    yield opened
    assert await graph_consistency(opened.context) == []


async def insert(workspace: Workspace, graph: Any, **options: Any) -> str:
    return await insert_custom_kg(workspace.context, workspace.state, graph, CustomOptions(**options))


async def everything(workspace: Workspace) -> dict[str, Any]:
    stores = workspace.context.stores
    return {
        "documents": await stores.doc_status.get_status_counts(),
        "texts": [key for key, _ in await stores.full_docs.scan()],
        "chunks": [key for key, _ in await stores.text_chunks.scan()],
        "chunk vectors": await stores.chunks.scan_ids(),
        "nodes": await workspace.names(),
        "edges": await workspace.pairs(),
        "evidence": await stores.evidence.count(),
    }


NOTHING: dict[str, Any] = {
    "documents": {},
    "texts": [],
    "chunks": [],
    "chunk vectors": [],
    "nodes": [],
    "edges": set(),
    "evidence": 0,
}


async def test_it_becomes_a_document(workspace: Workspace) -> None:
    context = workspace.context
    doc_id = await insert(workspace, harbour())
    row = await context.stores.doc_status.get_by_id(doc_id)
    assert row is not None
    assert row["status"] == "processed"
    assert (row["chunks_list"], row["chunks_count"]) == ([CHUNK], 1)
    assert row["file_path"] == "notes/harbour.md"
    assert row["content_summary"] == "Custom knowledge graph: 2 entities, 2 relations"
    chunk = await context.stores.text_chunks.get_by_id(CHUNK)
    assert chunk is not None
    assert (chunk["full_doc_id"], chunk["content"], chunk["file_path"]) == (doc_id, TEXT, "notes/harbour.md")
    assert [hit["id"] for hit in await context.stores.chunks.query("harbour of Velmouth", 3)] == [CHUNK]
    ada = (await entity_info(context, "Ada Quay"))["graph_data"]
    assert (ada["entity_type"], ada["source_id"], ada["file_path"]) == ("person", CHUNK, "notes/harbour.md")
    link = (await relation_info(context, "Velmouth", "Ada Quay"))["graph_data"]
    assert (link["keywords"], link["weight"], link["description"]) == ("survey,harbour", 3.0, "surveyed")
    king = (await entity_info(context, "The King"))["graph_data"]
    assert (king["entity_type"], king.get("description")) == ("UNKNOWN", "")


async def test_it_is_deleted_like_any_document(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("Velmouth", "Sea", "lies by")])
    before = await everything(workspace)
    doc_id = await insert(workspace, harbour())
    assert await workspace.delete(doc_id) == "success"
    assert await everything(workspace) == before


async def test_the_same_graph_again_changes_nothing(workspace: Workspace) -> None:
    doc_id = await insert(workspace, harbour())
    before, version = await everything(workspace), await workspace.context.stores.corpus_version()
    assert await insert(workspace, harbour()) == doc_id
    assert await everything(workspace) == before
    assert await workspace.context.stores.corpus_version() == version


async def test_another_graph_of_the_same_id_replaces_it(workspace: Workspace) -> None:
    await insert(workspace, harbour(), doc_id="mine")
    changed = harbour()
    changed["chunks"].append({"content": "More.", "source_id": "note-2"})
    changed["entities"] = [{"entity_name": "Velmouth", "description": "A city", "source_id": "note-2"}]
    del changed["relationships"][0], changed["chunks"][0]
    await insert(workspace, changed, doc_id="mine")
    found = await everything(workspace)
    assert found["documents"] == {"processed": 1}
    assert found["nodes"] == ["The King", "Velmouth"]
    assert found["chunks"] == [compute_mdhash_id("More.", "chunk-")]
    assert (await entity_info(workspace.context, "Velmouth"))["graph_data"]["description"] == "A city"


async def test_a_document_made_otherwise_is_never_replaced(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("A", "B", "met")])
    before = await everything(workspace)
    with pytest.raises(DuplicateError, match="'d1' exists already"):
        await insert(workspace, harbour(), doc_id="d1")
    assert await everything(workspace) == before


async def test_two_documents_with_one_text_keep_their_own_chunks(workspace: Workspace) -> None:
    await insert(workspace, harbour(), doc_id="one")
    await insert(workspace, harbour(), doc_id="two")
    found = await everything(workspace)
    assert len(found["chunks"]) == 2
    assert CHUNK in found["chunks"]
    await workspace.delete("one")
    assert len((await everything(workspace))["chunks"]) == 1
    assert (await entity_info(workspace.context, "Ada Quay"))["graph_data"]["description"] == "A surveyor"
    await workspace.delete("two")
    assert await everything(workspace) == NOTHING


async def test_entries_need_no_chunks(workspace: Workspace) -> None:
    graph = harbour()
    del graph["chunks"]
    doc_id = await insert(workspace, graph)
    info = await entity_info(workspace.context, "Ada Quay")
    assert info["source_id"] == f"{doc_id}-custom_kg"
    assert info["graph_data"]["file_path"] == "custom_kg"
    await workspace.delete(doc_id)
    assert await everything(workspace) == NOTHING


async def test_paths_of_entries(workspace: Workspace) -> None:
    graph = harbour()
    graph["entities"][0]["file_path"] = "people/ada.md"
    doc_id = await insert(workspace, graph)
    row = await workspace.context.stores.doc_status.get_by_id(doc_id)
    assert row is not None
    assert row["file_path"] == "custom_kg"
    assert (await entity_info(workspace.context, "Ada Quay"))["graph_data"]["file_path"] == "people/ada.md"
    assert (await entity_info(workspace.context, "Velmouth"))["graph_data"]["file_path"] == "notes/harbour.md"


async def test_a_path_of_another_document_is_left_to_it(workspace: Workspace) -> None:
    await workspace.add("harbour", [Fact("A", "B", "met")])
    graph = harbour()
    graph["chunks"][0]["file_path"] = "harbour.md"
    doc_id = await insert(workspace, graph)
    row = await workspace.context.stores.doc_status.get_by_id(doc_id)
    assert row is not None
    assert row["file_path"] == "custom_kg"
    assert (await entity_info(workspace.context, "Velmouth"))["graph_data"]["file_path"] == "harbour.md"


async def test_what_several_entries_say_of_one_object_is_joined(workspace: Workspace) -> None:
    graph = harbour()
    graph["chunks"].append({"content": "Second.", "source_id": "note-2"})
    graph["entities"] += [
        {"entity_name": "Velmouth", "entity_type": "place", "description": "By the sea", "source_id": "note-1"},
        {"entity_name": "Velmouth", "description": "Old", "source_id": "note-1<SEP>note-2"},
    ]
    graph["relationships"].append(
        {
            "src_id": "Velmouth",
            "tgt_id": "Ada Quay",
            "description": "hired",
            "source_id": "note-1<SEP>note-2",
            "weight": 2,
        }
    )
    await insert(workspace, graph)
    town = (await entity_info(workspace.context, "Velmouth"))["graph_data"]
    assert (town["description"], town["entity_type"]) == ("A town\nBy the sea\nOld<SEP>Old", "place")
    link = (await relation_info(workspace.context, "Velmouth", "Ada Quay"))["graph_data"]
    assert (link["weight"], link["description"]) == (5.0, "surveyed\nhired<SEP>hired")
    rows = await workspace.evidence(ObjectKind.RELATION, relation_key("Ada Quay", "Velmouth"))
    assert len(rows) == 2


def broken(section: str, position: int, **changes: Any) -> dict[str, Any]:
    graph = harbour()
    graph[section][position] = {**graph[section][position], **changes}
    return graph


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        ([], InputError, "must be a dict"),
        ({}, InputError, "custom_kg is empty"),
        ({"chunks": "text"}, InputError, r"custom_kg\['chunks'\]"),
        ({"entities": ["Ada"]}, InputError, r"entities\[0\]"),
        (broken("chunks", 0, content=" \x00"), InputError, r"chunks\[0\]\.content"),
        (broken("chunks", 0, content=None), InputError, r"chunks\[0\]\.content"),
        (broken("chunks", 0, chunk_order_index="1"), InputError, r"chunks\[0\]\.chunk_order_index"),
        (broken("entities", 1, entity_name=""), InputError, r"entities\[1\]\.entity_name"),
        (broken("entities", 1, entity_name=None), InputError, r"entities\[1\]\.entity_name"),
        (broken("entities", 1, description=7), InputError, r"entities\[1\]\.description is 7"),
        (broken("relationships", 1, tgt_id=None), InputError, r"relationships\[1\]\.tgt_id"),
        (broken("relationships", 1, tgt_id=" Velmouth "), InputError, r"relationships\[1\].*both 'Velmouth'"),
        (broken("relationships", 0, description=""), InputError, r"relationships\[0\]\.description"),
        (broken("relationships", 0, weight=-1), InputError, r"relationships\[0\]\.weight is -1"),
        (broken("relationships", 0, weight="heavy"), InputError, r"relationships\[0\]\.weight"),
        (broken("relationships", 0, keywords=5), InputError, r"relationships\[0\]\.keywords"),
        (broken("entities", 0, tenant_tag="tenant:1"), ScopeError, "belong to one scope"),
        ({**harbour(), "tenant_tag": "region:1"}, ScopeError, "no scope tag"),
        ({**harbour(), "tenant_tag": 5}, ScopeError, "5"),
    ],
)
async def test_bad_input_is_named_and_nothing_is_stored(
    workspace: Workspace, graph: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        await insert(workspace, graph)
    assert await everything(workspace) == NOTHING


@pytest.mark.parametrize("doc_id", ["", " x", "a\x00b", "manual_creation", "manual_edit", "manual_creation:tenant:1"])
async def test_ids_that_no_document_may_have(workspace: Workspace, doc_id: str) -> None:
    with pytest.raises(InputError, match="document id"):
        await insert(workspace, harbour(), doc_id=doc_id)


@pytest.mark.parametrize("fails_at", ["Ada Quay\nA surveyor", TEXT])
async def test_a_failing_model_leaves_nothing_behind(fails_at: str) -> None:
    workspace = await open_workspace(**NO_SUMMARIES)
    calls = workspace.context.models.embedder.calls

    async def fail(texts: list[str], **options: Any) -> Any:
        if fails_at in texts:
            raise RuntimeError("no such model")
        return await calls(texts, **options)

    workspace.context.models.embedder.calls = fail  # type: ignore[assignment]
    with pytest.raises(RuntimeError):
        await insert(workspace, harbour())
    assert await everything(workspace) == NOTHING


async def test_a_replacement_that_fails_leaves_no_half(workspace: Workspace) -> None:
    await workspace.add("d1", [Fact("Velmouth", "Sea", "lies by")])
    before = await everything(workspace)
    await insert(workspace, harbour(), doc_id="mine")
    calls = workspace.context.models.embedder.calls

    async def fail(texts: list[str], **options: Any) -> Any:
        if any("A harbour town" in text for text in texts):
            raise RuntimeError("no such model")
        return await calls(texts, **options)

    workspace.context.models.embedder.calls = fail  # type: ignore[assignment]
    with pytest.raises(RuntimeError):
        await insert(workspace, broken("entities", 1, description="A harbour town"), doc_id="mine")
    assert await everything(workspace) == before


async def test_not_while_documents_are_deleted_but_while_others_are_processed(workspace: Workspace) -> None:
    workspace.state.begin("processing documents")
    await insert(workspace, harbour())
    workspace.state.destructive_busy = True
    with pytest.raises(PipelineBusyError):
        await insert(workspace, harbour(), doc_id="other")
    workspace.state.end()


@pytest.mark.parametrize("place", ["whole", "argument", "entries", "tags"])
async def test_a_scope_for_the_whole(workspace: Workspace, place: str) -> None:
    graph = harbour()
    options: dict[str, Any] = {}
    if place == "whole":
        graph["tenant_tag"] = "tenant:1"
    elif place == "argument":
        options["tenant_tag"] = "tenant:1"
    elif place == "tags":
        options["metadata"] = {"tags": ["Tenant:1", "patent"]}
    else:
        for entries in graph.values():
            for entry in entries:
                entry["tenant_tag"] = "tenant:1"
    doc_id = await insert(workspace, graph, **options)
    row = await workspace.context.stores.doc_status.get_by_id(doc_id)
    assert row is not None
    assert "tenant:1" in row["metadata"]["user_tags"]
    for tag in (None, "tenant:1"):
        assert (await entity_info(workspace.context, "The King", tenant_tag=tag))["graph_data"] is not None
    assert len(await workspace.pairs()) == 4
    await workspace.delete(doc_id)
    assert await everything(workspace) == NOTHING


async def test_a_scope_may_not_contradict_the_tags(workspace: Workspace) -> None:
    with pytest.raises(ScopeError, match="give one of them"):
        await insert(workspace, harbour(), tenant_tag="tenant:1", metadata={"tags": ["tenant:2"]})
    with pytest.raises(ScopeError, match="give one of them"):
        await insert(workspace, {**harbour(), "tenant_tag": "tenant:2"}, tenant_tag="tenant:1")
    with pytest.raises(ScopeError):
        await insert(workspace, harbour(), metadata={"tags": ["tenant:日本"]})
    assert await everything(workspace) == NOTHING


async def test_metadata_are_those_of_a_document(workspace: Workspace) -> None:
    metadata = {"start_date": "2030-03-30T00:00:00+01:00", "tags": ["Survey"]}
    doc_id = await insert(workspace, harbour(), metadata=metadata)
    row = await workspace.context.stores.doc_status.get_by_id(doc_id)
    assert row is not None
    assert row["metadata"]["user_start_date"] == "2030-03-30T00:00:00+01:00"
    assert row["metadata"]["user_tags"] == ["survey"]
    node = await workspace.node("Velmouth")
    assert node is not None
    assert node["filter_tags"] == ["survey"]
    with pytest.raises(FilterSyntaxError):
        await insert(workspace, harbour(), doc_id="x", metadata={"start_date": "2030-03-30"})
