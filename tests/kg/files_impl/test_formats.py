"""The files are those of the published package, read here with nothing but general tools."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.exceptions import SchemaVersionError, StorageError
from lightrag.kg_scopes import make_entity_vdb_id, make_relation_vdb_id
from tests.conformance.conftest import HOSTILE_IDS
from tests.conformance.families import DIMENSION, Workspace, text_vector
from tests.kg.files_impl.workspace import workspace_in

GRAPHML = "graph_chunk_entity_relation.graphml"
TAG = "tenant:1"
ANN = {
    "entity_id": "Ann",
    "entity_type": "person",
    "description": "one<SEP>two",
    "created_at": 1_700_000_000,
    "evidence_count": 2,
    "type_votes": {"person": 2},
    "filter_tags": ["a"],
    "tenant_tag": "",
    "color": "red",
    "rank": 3,
}


def said(kind: ObjectKind, object_id: str, document: str, tag: str = "") -> Evidence:
    return Evidence(
        kind, object_id, f"{document}-chunk-000", document, "text", "person", "k", 1.0, f"{document}.md", 7, tag
    )


async def write(workspace: Workspace) -> None:
    """Two documents about Ann and Bob, one of them also in a scope."""
    graph, evidence = await workspace.graph(), await workspace.evidence()
    entities, relations = await workspace.vectors("entities"), await workspace.vectors("relationships")
    chunks, status = await workspace.vectors("chunks"), await workspace.doc_status()
    key = relation_key("Ann", "Bob")
    scoped = {name: f"{name}\x1f{TAG}" for name in ("Ann", "Bob")}
    await evidence.add([said(ObjectKind.ENTITY, name, doc) for doc in ("d1", "d2") for name in ("Ann", "Bob")])
    await evidence.add([said(ObjectKind.RELATION, key, "d1"), said(ObjectKind.ENTITY, scoped["Ann"], "d1", TAG)])
    await evidence.add([Evidence(ObjectKind.ENTITY, "Bob", "manual_edit-000001", "manual_edit", "by hand")])
    await graph.upsert_nodes_batch([("Ann", ANN), ("Bob", {}), (scoped["Ann"], {**ANN, "tenant_tag": TAG})])
    await graph.upsert_edge("Bob", "Ann", {"description": "know", "keywords": "k", "weight": 2.0, "evidence_count": 1})
    await graph.upsert_edge(scoped["Bob"], scoped["Ann"], {"description": "know"})
    await entities.upsert(
        {
            make_entity_vdb_id("Ann"): row("Ann\none", entity_name="Ann", tenant_tag="", filter_tags=["a"]),
            make_entity_vdb_id("Ann", TAG): row("Ann\none", entity_name="Ann", tenant_tag=TAG),
        }
    )
    await relations.upsert({make_relation_vdb_id("Ann", "Bob"): row("k\tAnn\nBob\nknow", src_id="Ann", tgt_id="Bob")})
    await chunks.upsert({"d1-chunk-000": row("text", full_doc_id="d1", file_path="d1.md", filter_tags=["a"])})
    await status.upsert({"d1": {"status": "processed", "created_at": "2024", "metadata": {"user_tags": ["a"]}}})


def row(content: str, **fields: Any) -> dict[str, Any]:
    return {"content": content, "vector": text_vector(content), **fields}


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


async def open_all(workspace: Workspace) -> None:
    await workspace.kv()
    await workspace.doc_status()
    await workspace.graph()
    await workspace.vectors()
    await workspace.evidence()


async def test_the_graph(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    await write(workspace)
    await workspace.close()
    graph = nx.read_graphml(tmp_path / GRAPHML)
    assert not graph.is_directed()
    assert sorted(graph) == ["Ann", "Bob"]
    assert graph.nodes["Ann"] == {
        "entity_id": "Ann",
        "entity_type": "person",
        "description": "one<SEP>two",
        "source_id": "d1-chunk-000<SEP>d2-chunk-000",
        "file_path": "d1.md<SEP>d2.md",
        "created_at": 1_700_000_000,
        "truncate": "",
        "color": "red",
        "rank": 3,
    }
    assert graph.nodes["Bob"]["entity_id"] == "Bob"
    assert graph.nodes["Bob"]["entity_type"] == "UNKNOWN"
    # What a person changed by hand is no source.
    assert graph.nodes["Bob"]["source_id"] == "d1-chunk-000<SEP>d2-chunk-000"
    assert graph.edges["Ann", "Bob"] == {
        "weight": 2.0,
        "description": "know",
        "keywords": "k",
        "source_id": "d1-chunk-000",
        "file_path": "d1.md",
        "created_at": 0,
        "truncate": "",
    }
    text = (tmp_path / GRAPHML).read_text()
    assert 'attr.name="weight" attr.type="double"' in text
    assert 'for="node" attr.name="created_at" attr.type="long"' in text
    assert 'edgedefault="undirected"' in text


async def test_the_vectors(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    await write(workspace)
    await workspace.close()
    stored = read(tmp_path, "vdb_entities.json")
    assert stored["embedding_dim"] == DIMENSION
    assert [item["__id__"] for item in stored["data"]] == [make_entity_vdb_id("Ann")]
    (item,) = stored["data"]
    assert {name: item[name] for name in ("entity_name", "content", "source_id", "file_path")} == {
        "entity_name": "Ann",
        "content": "Ann\none",
        "source_id": "d1-chunk-000<SEP>d2-chunk-000",
        "file_path": "d1.md<SEP>d2.md",
    }
    assert not {"filter_tags", "tenant_tag", "graph_node_id"} & item.keys()
    assert isinstance(item["__created_at__"], int)
    matrix = np.frombuffer(base64.b64decode(stored["matrix"]), dtype=np.float32).reshape(-1, DIMENSION)
    wanted = text_vector("Ann\none")
    assert matrix[0] == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-6)
    halves = np.frombuffer(zlib.decompress(base64.b64decode(item["vector"])), dtype=np.float16)
    assert halves == pytest.approx(matrix[0], abs=1e-3)
    (relation,) = read(tmp_path, "vdb_relationships.json")["data"]
    assert (relation["src_id"], relation["tgt_id"], relation["source_id"]) == ("Ann", "Bob", "d1-chunk-000")
    (chunk,) = read(tmp_path, "vdb_chunks.json")["data"]
    assert (chunk["full_doc_id"], chunk["file_path"]) == ("d1", "d1.md")
    assert "source_id" not in chunk


async def test_what_the_peer_derives_from_documents(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    await write(workspace)
    await workspace.close()

    def without_times(name: str) -> Any:
        return {
            key: {field: value for field, value in item.items() if field not in ("create_time", "update_time")}
            for key, item in read(tmp_path, name).items()
        }

    both = ["d1-chunk-000", "d2-chunk-000"]
    assert without_times("kv_store_entity_chunks.json") == {
        name: {"chunk_ids": both, "count": 2, "_id": name} for name in ("Ann", "Bob")
    }
    assert without_times("kv_store_relation_chunks.json") == {
        "Ann<SEP>Bob": {"chunk_ids": ["d1-chunk-000"], "count": 1, "_id": "Ann<SEP>Bob"}
    }
    assert without_times("kv_store_full_entities.json") == {
        doc: {"entity_names": ["Ann", "Bob"], "count": 2, "_id": doc} for doc in ("d1", "d2")
    }
    assert without_times("kv_store_full_relations.json") == {
        "d1": {"relation_pairs": [["Ann", "Bob"]], "count": 1, "_id": "d1"}
    }


async def test_everything_comes_back_exactly(tmp_path: Path) -> None:
    first = workspace_in(tmp_path)
    await write(first)
    await first.close()
    workspace = workspace_in(tmp_path)
    graph, entities = await workspace.graph(), await workspace.vectors("entities")
    assert await graph.get_node("Ann") == ANN
    assert await graph.get_node("Bob") == {}
    assert await graph.get_node(f"Ann\x1f{TAG}") == {**ANN, "tenant_tag": TAG}
    assert await graph.get_edge("Ann", "Bob") == {
        "description": "know",
        "keywords": "k",
        "weight": 2.0,
        "evidence_count": 1,
    }
    assert await graph.get_edge(f"Ann\x1f{TAG}", f"Bob\x1f{TAG}") == {"description": "know"}
    found = await entities.query("", 5, text_vector("Ann\none"), tenant_tag=TAG)
    assert [hit["id"] for hit in found] == [make_entity_vdb_id("Ann", TAG)]
    found = await entities.query("", 5, text_vector("Ann\none"), tenant_tag="")
    assert [hit["id"] for hit in found] == [make_entity_vdb_id("Ann")]
    assert found[0]["filter_tags"] == ["a"]
    assert len(await entities.query("", 5, text_vector("Ann\none"))) == 2
    await workspace.close()


VALUES = [
    *HOSTILE_IDS,
    "",
    " x ",
    True,
    False,
    0,
    -(2**63),
    2**63,
    10**30,
    1.0,
    -0.0,
    1e300,
    0.1,
    None,
    [],
    ["a", 1, None],
    {"nested": {"list": [1.5, "x"]}},
]


async def test_values_of_any_kind_come_back_with_their_type(tmp_path: Path) -> None:
    properties = {
        **{f"value_{number}": value for number, value in enumerate(VALUES)},
        **{key: key for key in HOSTILE_IDS},
    }
    named = {name: value for name in ("description", "entity_type", "keywords") for value in HOSTILE_IDS}
    for given in (properties, {**named, "weight": 3, "created_at": "a text"}, {"weight": "2", "created_at": 1.5}):
        first = workspace_in(tmp_path)
        graph = await first.graph()
        await graph.upsert_node("a", given)
        await graph.upsert_edge("a", "b", given)
        await first.close()
        second = workspace_in(tmp_path)
        graph = await second.graph()
        for found in (await graph.get_node("a"), await graph.get_edge("b", "a")):
            assert found == given
            assert {name: type(value) for name, value in (found or {}).items()} == {
                name: type(value) for name, value in given.items()
            }
        await second.close()
        nx.read_graphml(tmp_path / GRAPHML)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("kv_store_full_docs.json", b'{"a": '),
        ("kv_store_full_docs.json", b"[1, 2]"),
        ("kv_store_full_docs.json", b'{"a": 5}'),
        ("kv_store_full_docs.json", b"\xff\xfe{}"),
        ("kv_store_doc_status.json", b'{"a": {}} x {'),
        (GRAPHML, b"<graphml>"),
        (GRAPHML, b"not XML"),
        ("vdb_chunks.json", b"{}"),
        ("vdb_chunks.json", b'{"embedding_dim": 8, "data": [{"__id__": "a"}], "matrix": "AAAA"}'),
        ("lightrag_evidence.jsonl", b"5\n"),
        ("lightrag_evidence.jsonl", b'{"format": 1, "documents": {}}\n["entity"]\n'),
        ("lightrag_graph_chunk_entity_relation.jsonl", b'{"format": 1}\n["other"]\n'),
        ("lightrag_vdb_chunks.jsonl", b'{"format": 1, "dimension": 8, "model": ""}\n{}\n'),
    ],
)
async def test_damaged_files_are_named_and_left_alone(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    workspace = workspace_in(tmp_path)
    with pytest.raises(StorageError, match=name.replace(".", r"\.")):
        await open_all(workspace)
    await workspace.close()
    assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize(
    "name",
    ["lightrag_evidence.jsonl", "lightrag_graph_chunk_entity_relation.jsonl", "lightrag_vdb_chunks.jsonl"],
)
async def test_files_of_a_newer_version_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"format": 2}\n')
    workspace = workspace_in(tmp_path)
    with pytest.raises(SchemaVersionError, match="newer version"):
        await open_all(workspace)
    await workspace.close()


def test_reading_the_format_leaves_the_logging_of_the_process_alone() -> None:
    probe = (
        "import logging; from lightrag.kg.files.vector_files import _nano_vectordb; _nano_vectordb(); "
        "print(logging.getLogger().handlers, logging.getLogger().level)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"[] {30}"
