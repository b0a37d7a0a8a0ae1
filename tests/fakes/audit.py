"""The whole state of an engine as plain values, read through the store contracts; and whether its parts agree."""

from __future__ import annotations

from typing import Any

from lightrag import LightRAG
from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import ObjectKind, relation_key, split_relation_key
from lightrag.graph.change import entity_vector_id, relation_vector_id
from lightrag.graph.manual import is_manual_document

# Times differ between two lives of the same corpus; the token count follows from the rest.
_TIMES = {"created_at", "id", "source", "target"}


def _timeless(properties: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in _TIMES}


async def snapshot(engine: LightRAG) -> dict[str, Any]:
    """Return nodes, edges, evidence, vectors and chunks of an engine, without times and orders of arrival."""
    stores = engine.context.stores
    evidence = []
    for kind in ObjectKind:
        object_ids = await stores.evidence.scan_objects(kind, limit=10**6)
        for rows in (await stores.evidence.of_objects(kind, object_ids)).values():
            evidence.extend(rows)
    return {
        "nodes": {node["id"]: _timeless(node) for node in await stores.graph.get_all_nodes()},
        "edges": {
            relation_key(edge["source"], edge["target"]): _timeless(edge) for edge in await stores.graph.get_all_edges()
        },
        "evidence": {
            (row.kind.value, row.object_id, row.chunk_id): (
                row.document_id,
                row.description,
                row.entity_type,
                row.weight,
            )
            for row in evidence
        },
        "entity vectors": set(await stores.entities.scan_ids(limit=10**6)),
        "relation vectors": set(await stores.relationships.scan_ids(limit=10**6)),
        "chunk vectors": set(await stores.chunks.scan_ids(limit=10**6)),
        "chunks": {key: row["content"] for key, row in await stores.text_chunks.scan(limit=10**6)},
        "texts": {key for key, _ in await stores.full_docs.scan(limit=10**6)},
    }


async def disagreements(engine: LightRAG) -> list[str]:
    """Return what does not agree between status, chunks, evidence, graph and vectors; nothing when all is well."""
    state = await snapshot(engine)
    found: list[str] = []

    def expect(what: str, is_there: set[Any], wanted: set[Any]) -> None:
        if is_there != wanted:
            found.append(f"{what}: missing {sorted(wanted - is_there)}, left over {sorted(is_there - wanted)}")

    entities = {key for kind, key, _ in state["evidence"] if kind == "entity"}
    relations = {key for kind, key, _ in state["evidence"] if kind == "relation"}
    expect("nodes", set(state["nodes"]), entities)
    expect("edges", set(state["edges"]), relations)
    expect("ends of edges", {end for key in relations for end in split_relation_key(key)} - entities, set())
    expect("entity vectors", state["entity vectors"], {entity_vector_id(key) for key in entities})
    expect("relation vectors", state["relation vectors"], {relation_vector_id(key) for key in relations})
    expect("chunk vectors", state["chunk vectors"], set(state["chunks"]))
    processed = await engine.doc_status.get_docs_by_statuses([DocStatus.PROCESSED])
    expect("chunks", set(state["chunks"]), {chunk for row in processed.values() for chunk in row.chunks_list})
    documents = {row[0] for row in state["evidence"].values() if not is_manual_document(row[0])}
    expect("documents with evidence", documents - set(processed), set())
    return found
