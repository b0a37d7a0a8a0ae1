"""What somebody else changes in the files while we are away, without the published package: edits of its files."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from lightrag import LightRAG, QueryParam
from lightrag.contracts.evidence import ObjectKind
from lightrag.exceptions import StorageError
from lightrag.graph.check import graph_consistency
from lightrag.runtime.hashing import compute_mdhash_id
from tests.fakes.facts import FactModel, make_embedding
from tests.kg.files_impl.workspace import PEER_FOLDER, STORAGES, content_of, copy_of_peer_folder

FIRST, SECOND = "doc-a5e54d1fd7bb69a228ef0dcd2431367e", "doc-ce506ace22f28ac2bc4f933d4cf989fd"
GRAPHML = "graph_chunk_entity_relation.graphml"


async def open_engine(folder: Path, **fields: Any) -> LightRAG:
    engine = LightRAG(
        working_dir=str(folder),
        llm_model_func=FactModel(),
        embedding_func=make_embedding(64, model_name=None),
        **{**STORAGES, **fields},
    )
    await engine.initialize_storages()
    return engine


def edit_json(folder: Path, name: str, change: Any) -> None:
    path = folder / name
    rows = json.loads(path.read_text())
    change(rows)
    path.write_text(json.dumps(rows, indent=2))


async def test_the_folder_of_the_peer_as_it_is(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    engine = await open_engine(tmp_path)
    stores = engine.context.stores
    assert await graph_consistency(engine.context) == []
    assert await stores.doc_status.get_status_counts() == {"processed": 2, "failed": 1}
    assert await stores.graph.count_nodes() == 11
    assert await stores.graph.count_edges() == 10
    assert await stores.entities.count() == 11
    node = await stores.graph.get_node("Output")
    assert node is not None
    assert (node["description"], node["evidence_count"]) == ("Output is described in the text.", 2)
    rows = (await stores.evidence.of_objects(ObjectKind.ENTITY, ["Output"]))["Output"]
    assert [(row.document_id, row.description, row.file_path) for row in rows] == [
        (FIRST, "Output is described in the text.", "a.txt"),
        (SECOND, "Output is described in the text.", "b.txt"),
    ]
    (relation,) = (await stores.evidence.of_objects(ObjectKind.RELATION, ["Output\x1eParis"])).values()
    assert [(row.description, row.weight) for row in relation] == [("Output relates to Paris.", 1.0)]
    await engine.finalize_storages()
    # The peer's own files of what we did not change are its own to the byte; nothing of the rest has gone.
    before, after = content_of(PEER_FOLDER), content_of(tmp_path)
    for name in ("kv_store_full_docs.json", "kv_store_text_chunks.json", "kv_store_doc_status.json", "vdb_chunks.json"):
        assert after[name] == before[name]
    old, new = nx.read_graphml(PEER_FOLDER / GRAPHML), nx.read_graphml(tmp_path / GRAPHML)
    assert dict(new.nodes.items()) == dict(old.nodes.items())
    assert {frozenset(pair): row for *pair, row in new.edges.data()} == {
        frozenset(pair): row for *pair, row in old.edges.data()
    }
    for name in ("full_entities", "full_relations", "entity_chunks", "relation_chunks"):
        mine, theirs = (json.loads(files[f"kv_store_{name}.json"]) for files in (after, before))
        # The peer forgets the time of some rows when it changes them.
        assert {key: {**row, "create_time": 0} for key, row in mine.items()} == {
            key: {**row, "create_time": 0} for key, row in theirs.items()
        }
    for name in ("vdb_entities.json", "vdb_relationships.json"):
        mine, theirs = json.loads(after[name]), json.loads(before[name])
        assert matrix_of(mine) == pytest.approx(matrix_of(theirs), abs=1e-6)
        assert [compared(row) for row in mine["data"]] == [compared(row) for row in theirs["data"]]


def matrix_of(stored: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(stored["matrix"]), dtype=np.float32)


def compared(row: dict[str, Any]) -> dict[str, Any]:
    """What must not have changed: we order keywords as they come, and part them by a comma and a blank."""
    left_out = ("__write_seq__", "vector", "__created_at__")
    fields = {name: value for name, value in row.items() if name not in left_out}
    keywords, tab, text = row["content"].rpartition("\t")
    return {**fields, "content": (sorted(keywords.replace(" ", "").split(",")), tab, text)}


async def test_once_taken_over_nothing_is_left_to_do(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    await (await open_engine(tmp_path)).finalize_storages()
    before = content_of(tmp_path)
    engine = await open_engine(tmp_path)
    assert not engine.context.stores.evidence.outside_changes()  # type: ignore[attr-defined]
    await engine.finalize_storages()
    assert content_of(tmp_path) == before


async def test_taking_over_that_broke_off_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_of_peer_folder(tmp_path)
    from lightrag.ingest import take_over

    calls = []
    real = take_over.take_over_objects

    async def break_off(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise StorageError("breaks off")
        await real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(take_over, "_OBJECTS", 4)
        patched.setattr(take_over, "take_over_objects", break_off)
        with pytest.raises(StorageError, match="breaks off"):
            await open_engine(tmp_path)
    engine = await open_engine(tmp_path)
    assert await graph_consistency(engine.context) == []
    assert await engine.context.stores.evidence.count() == 22
    assert not engine.context.stores.evidence.outside_changes()  # type: ignore[attr-defined]
    await engine.finalize_storages()


async def test_an_entity_that_somebody_rewrote_keeps_its_new_text(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    await (await open_engine(tmp_path)).finalize_storages()
    graph = nx.read_graphml(tmp_path / GRAPHML)
    graph.nodes["Output"]["description"] = "Rewritten."
    graph.edges["Output", "Paris"]["weight"] = 7.5
    graph.remove_node("Berlin")
    graph.add_node("New", entity_id="New", description="Stands alone.", entity_type="thing", source_id="", created_at=5)
    nx.write_graphml(graph, tmp_path / GRAPHML)
    engine = await open_engine(tmp_path)
    stores = engine.context.stores
    nodes = await stores.graph.get_nodes_batch(["Output", "Berlin", "New"])
    assert "Berlin" not in nodes
    assert (nodes["Output"]["description"], nodes["Output"]["evidence_count"]) == ("Rewritten.", 2)
    assert await stores.evidence.of_objects(ObjectKind.ENTITY, ["Berlin"]) == {}
    edge = await stores.graph.get_edge("Paris", "Output")
    assert edge is not None
    assert edge["weight"] == 7.5
    # Nobody says where it comes from, so it is what a person said.
    (row,) = (await stores.evidence.of_objects(ObjectKind.ENTITY, ["New"]))["New"]
    assert (row.document_id, row.description) == ("manual_creation", "Stands alone.")
    await engine.finalize_storages()


def delete_like_the_peer(folder: Path, doc_id: str) -> None:
    """Take a document out of every file; no vector is changed, since nothing here asks for one."""
    chunk = f"{doc_id}-chunk-000"
    for name in ("doc_status", "full_docs", "full_entities", "full_relations"):
        edit_json(folder, f"kv_store_{name}.json", lambda rows: rows.pop(doc_id))
    edit_json(folder, "kv_store_text_chunks.json", lambda rows: rows.pop(chunk))
    graph = nx.read_graphml(folder / GRAPHML)
    for row in [*graph.nodes.values(), *(row for *_, row in graph.edges.data())]:
        row["source_id"] = "<SEP>".join(part for part in row["source_id"].split("<SEP>") if part != chunk)
    graph.remove_edges_from([pair for *pair, row in graph.edges.data() if not row["source_id"]])
    graph.remove_nodes_from([node for node, row in list(graph.nodes.items()) if not row["source_id"]])
    nx.write_graphml(graph, folder / GRAPHML)

    def forget(rows: dict[str, Any]) -> None:
        for key in list(rows):
            rows[key]["chunk_ids"] = [part for part in rows[key]["chunk_ids"] if part != chunk]
            if not rows[key]["chunk_ids"]:
                del rows[key]

    for name in ("entity_chunks", "relation_chunks"):
        edit_json(folder, f"kv_store_{name}.json", forget)


async def test_a_document_that_somebody_deleted_takes_its_evidence_along(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    await (await open_engine(tmp_path)).finalize_storages()
    delete_like_the_peer(tmp_path, FIRST)
    engine = await open_engine(tmp_path)
    assert await engine.context.stores.evidence.of_documents([FIRST]) == []
    assert [row.document_id for row in await evidence_of(engine, "Output")] == [SECOND]
    node = await engine.context.stores.graph.get_node("Output")
    assert node is not None
    assert node["evidence_count"] == 1
    await engine.finalize_storages()
    engine = await open_engine(tmp_path)
    assert not engine.context.stores.evidence.outside_changes()  # type: ignore[attr-defined]
    await engine.finalize_storages()


async def test_summaries_of_the_peer_stay_until_something_changes(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    graph = nx.read_graphml(tmp_path / GRAPHML)
    graph.nodes["Output"]["description"] = "A summary of all that is said of it."
    nx.write_graphml(graph, tmp_path / GRAPHML)
    engine = await open_engine(tmp_path)
    node = await engine.context.stores.graph.get_node("Output")
    assert node is not None
    assert node["description"] == "A summary of all that is said of it."
    await engine.aupdate_document_metadata(SECOND, {"tags": ["b"]})
    param = QueryParam(
        mode="local",
        ll_keywords=["Output, a summary of all that is said of it"],
        required_tags=["b"],
        enable_rerank=False,
    )
    found = await engine.aquery_data("Output", param)
    texts = {item["entity_name"]: item["description"] for item in found["data"]["entities"]}
    assert texts["Output"] == "Output is described in the text."
    await engine.finalize_storages()


async def test_our_evidence_alone_was_lost(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    engine = await open_engine(tmp_path)
    await engine.ainsert("Paris -> Rome: a road", ids="ours")
    await engine.finalize_storages()
    (tmp_path / "lightrag_evidence.jsonl").unlink()
    engine = await open_engine(tmp_path)
    assert await graph_consistency(engine.context) == []
    rows = await engine.context.stores.evidence.of_documents(["ours"])
    assert {row.object_id for row in rows} == {"Paris", "Rome", "Paris\x1eRome"}
    assert {row.document_id for row in (await evidence_of(engine, "Paris"))} == {FIRST, "ours"}
    await engine.finalize_storages()


async def evidence_of(engine: LightRAG, name: str) -> list[Any]:
    return (await engine.context.stores.evidence.of_objects(ObjectKind.ENTITY, [name]))[name]


async def test_the_default_refuses_the_folder_and_names_both_ways_out(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    before = content_of(tmp_path)
    sqlite = {name: value.replace("Json", "SQLite") for name, value in STORAGES.items()} | {
        "graph_storage": "SQLiteGraphStorage",
        "vector_storage": "SQLiteVectorDBStorage",
    }
    with pytest.raises(StorageError) as caught:
        await open_engine(tmp_path, **sqlite)
    for word in ("JsonKVStorage", "kv_storage", "lightrag migrate", str(tmp_path)):
        assert word in str(caught.value)
    assert content_of(tmp_path) == before
    # In a workspace of its own there are no such files.
    engine = await open_engine(tmp_path, **sqlite, workspace="other")
    await engine.finalize_storages()


async def test_a_custom_graph_gets_the_document_that_the_package_does_not_keep(tmp_path: Path) -> None:
    copy_of_peer_folder(tmp_path)
    text = "By hand: Eve keeps the lighthouse."
    chunk_id = compute_mdhash_id(text, "chunk-")
    row = {"tokens": 9, "content": text, "chunk_order_index": 0, "full_doc_id": "s", "file_path": "custom.txt"}
    edit_json(tmp_path, "kv_store_text_chunks.json", lambda rows: rows.update({chunk_id: row}))
    graph = nx.read_graphml(tmp_path / GRAPHML)
    graph.add_node("Eve", entity_id="Eve", description="Keeper.", entity_type="person", source_id=chunk_id)
    nx.write_graphml(graph, tmp_path / GRAPHML)
    engine = await open_engine(tmp_path)
    # Its vector is missing because this test writes none; nothing else is to be mended, and nothing goes.
    assert await engine.acheck(repair=True) == [f"chunk {chunk_id!r} has no vector of its text"]
    assert await engine.acheck() == []
    assert "Eve" in await engine.get_graph_labels()
    await engine.aupdate_document_metadata("s", {"tags": ["by-hand"]})
    param = QueryParam(mode="local", ll_keywords=["Eve"], required_tags=["by-hand"])
    data = (await engine.aquery_data("Who is Eve?", param))["data"]
    assert [entity["entity_name"] for entity in data["entities"]] == ["Eve"]
    assert [chunk["file_path"] for chunk in data["chunks"]] == ["custom.txt"]
    assert (await engine.adelete_by_doc_id("s")).status == "success"
    assert "Eve" not in await engine.get_graph_labels()
    await engine.finalize_storages()
