"""Whether the derived filter fields of a workspace say what its documents say, computed from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightrag import LightRAG
from lightrag.contracts.evidence import (
    Evidence,
    ObjectKind,
    is_correction_document,
    missing_document_metadata,
    relation_key,
    split_relation_key,
)
from lightrag.graph.change import entity_vector_id, relation_vector_id
from lightrag.query_filters import STAMPED_FIELDS, SUMMARY_FIELDS, normal_form, summarise

_ALL = 10**6


async def stale_summaries(engine: LightRAG) -> list[str]:
    """Return every node, edge and vector row whose filter fields are not those of its contributors."""
    stores = engine.context.stores
    pushdown = engine.context.settings.enable_vector_metadata_filters
    nodes = {node["id"]: node for node in await stores.graph.get_all_nodes()}
    edges = {relation_key(edge["source"], edge["target"]): edge for edge in await stores.graph.get_all_edges()}
    found: list[str] = []
    for kind, objects, vectors, vector_id in (
        (ObjectKind.ENTITY, nodes, stores.entities, entity_vector_id),
        (ObjectKind.RELATION, edges, stores.relationships, relation_vector_id),
    ):
        ids = await stores.evidence.scan_objects(kind, limit=_ALL)
        evidence = await stores.evidence.of_objects(kind, ids)
        if set(ids) != set(objects):
            found.append(f"{kind.value}: evidence of {sorted(ids)}, stored {sorted(objects)}")
        for object_id in sorted(set(ids) & set(objects)):
            wanted = await expected_fields(engine, evidence[object_id])
            row = await vectors.get_by_id(vector_id(object_id)) or {}
            found += _differences(f"{kind.value} {object_id!r}", objects[object_id], wanted)
            found += _differences(f"vector of {kind.value} {object_id!r}", row, wanted if pushdown else {})
    return found + await _stale_chunks(engine, pushdown=pushdown)


async def expected_fields(engine: LightRAG, rows: list[Evidence]) -> dict[str, Any]:
    """Return the summary fields of an object with this evidence."""
    documents = list({row.document_id for row in rows if not is_correction_document(row.document_id)})
    status = await engine.doc_status.get_by_ids(documents)
    metadata = [
        row["metadata"] if row else missing_document_metadata(doc_id)
        for doc_id, row in zip(documents, status, strict=True)
    ]
    skip_open_bounds = engine.context.settings.kg_union_skip_open_bounds
    return summarise(metadata).to_fields(skip_open_bounds=skip_open_bounds)


async def _stale_chunks(engine: LightRAG, *, pushdown: bool) -> list[str]:
    stores = engine.context.stores
    ids = await stores.chunks.scan_ids(limit=_ALL)
    rows = dict(zip(ids, await stores.chunks.get_by_ids(ids), strict=True))
    documents = list({row["full_doc_id"] for row in rows.values() if row})
    status = dict(zip(documents, await engine.doc_status.get_by_ids(documents), strict=True))
    found: list[str] = []
    for chunk_id, row in rows.items():
        assert row is not None
        document = status[row["full_doc_id"]]
        wanted = normal_form(document["metadata"] if document else None)
        expected = {name: wanted[name] for name in STAMPED_FIELDS} if pushdown else {}
        found += _differences(f"vector of chunk {chunk_id!r}", row, expected, STAMPED_FIELDS)
    return found


def _differences(
    what: str, stored: Mapping[str, Any], wanted: Mapping[str, Any], names: tuple[str, ...] = SUMMARY_FIELDS
) -> list[str]:
    there = {name: stored[name] for name in names if name in stored}
    return [
        f"{what}: {name} is {there.get(name)!r}, should be {wanted.get(name)!r}"
        for name in names
        if there.get(name) != wanted.get(name)
    ]


async def summary_of(engine: LightRAG, *ends: str) -> dict[str, Any]:
    """Return the summary fields of the entity of that name, or of the relation between two."""
    graph = engine.chunk_entity_relation_graph
    stored = (
        await graph.get_node(ends[0])
        if len(ends) == 1
        else await graph.get_edge(*split_relation_key(relation_key(*ends)))
    )
    assert stored is not None
    return {name: stored[name] for name in SUMMARY_FIELDS}
