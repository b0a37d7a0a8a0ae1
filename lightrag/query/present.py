"""The rows of a result in their public shapes. Users see canonical names only, never graph ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightrag.constants import UNKNOWN_ENTITY_TYPE
from lightrag.graph.partition import name_of
from lightrag.query.result import QueryResult

if TYPE_CHECKING:
    from lightrag.query.object_sources import ObjectSources
    from lightrag.query.retrieve_chunks import FoundChunk
    from lightrag.query.retrieve_graph import FoundEntity, FoundRelation
    from lightrag.query.state import QueryState


def present(state: QueryState) -> QueryResult:
    """Return everything that a query retrieved; the answer is still missing."""
    return QueryResult(
        mode=state.plan.mode,
        high_keywords=list(state.keywords.high),
        low_keywords=list(state.keywords.low),
        entities=[
            entity_row(entity, sources) for entity, sources in zip(state.entities, state.entity_sources, strict=True)
        ],
        relations=[
            relation_row(relation, sources)
            for relation, sources in zip(state.relations, state.relation_sources, strict=True)
        ],
        chunks=[chunk_row(chunk) for chunk in state.chunks],
        references=state.references,
        processing=_processing(state),
    )


def entity_row(entity: FoundEntity, sources: ObjectSources) -> dict[str, Any]:
    """Return an entity as ``/query/data`` shows it."""
    properties = entity.properties
    return {
        "entity_name": name_of(entity.graph_id),
        "entity_type": properties.get("entity_type") or UNKNOWN_ENTITY_TYPE,
        "description": properties.get("description") or "",
        "source_id": sources.source_id,
        "file_path": sources.file_path,
        "created_at": properties.get("created_at") or 0,
    }


def relation_row(relation: FoundRelation, sources: ObjectSources) -> dict[str, Any]:
    """Return a relation as ``/query/data`` shows it."""
    source, target = relation.pair
    properties = relation.properties
    return {
        "src_id": name_of(source),
        "tgt_id": name_of(target),
        "description": properties.get("description") or "",
        "keywords": properties.get("keywords") or "",
        "weight": properties.get("weight") or 0.0,
        "source_id": sources.source_id,
        "file_path": sources.file_path,
        "created_at": properties.get("created_at") or 0,
    }


def chunk_row(chunk: FoundChunk) -> dict[str, Any]:
    """Return a chunk as ``/query/data`` shows it."""
    return {
        "reference_id": chunk.reference_id,
        "content": chunk.content,
        "file_path": chunk.file_path,
        "chunk_id": chunk.chunk_id,
    }


def _processing(state: QueryState) -> dict[str, int]:
    if state.plan.mode == "naive":
        return {"total_chunks_found": len(state.chunk_ids), "final_chunks_count": len(state.chunks)}
    return {
        "total_entities_found": state.findings.entities_found,
        "total_relations_found": state.findings.relations_found,
        "entities_after_truncation": len(state.entities),
        "relations_after_truncation": len(state.relations),
        "merged_chunks_count": len(state.chunk_ids),
        "final_chunks_count": len(state.chunks),
    }
