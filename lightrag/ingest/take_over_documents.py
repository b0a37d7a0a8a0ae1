"""Evidence of documents that another tool took in, from the model's replies that it kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus
from lightrag.contracts.evidence import Evidence, ObjectKind, split_relation_key
from lightrag.contracts.kv import Record
from lightrag.ingest.extract import Mentions, evidence_rows
from lightrag.ingest.replies import parse_extraction_reply
from lightrag.ingest.work import Chunk, DocumentWork
from lightrag.runtime.llm_cache import EXTRACT


async def evidence_from_replies(context: EngineContext, rows: Mapping[str, Mapping[str, Any]]) -> list[Evidence]:
    """Return what the kept replies say, as far as the graph has the objects.

    The graph is what the other tool made of the replies; what it left out or renamed does not come back.

    Args:
        context: The workspace.
        rows: Status rows of the documents, by id.
    """
    found: list[Evidence] = []
    for doc_id, row in rows.items():
        found += await _of_document(context, doc_id, DocProcessingStatus.from_row(row))
    return await _in_graph(context, found)


async def _of_document(context: EngineContext, doc_id: str, row: DocProcessingStatus) -> list[Evidence]:
    stored = await context.stores.text_chunks.get_by_ids(row.chunks_list)
    known = {chunk_id: chunk for chunk_id, chunk in zip(row.chunks_list, stored, strict=True) if chunk is not None}
    work = DocumentWork(doc_id, row, chunks=[_chunk(chunk_id, chunk) for chunk_id, chunk in known.items()])
    mentions = [await _mentions(context, chunk) for chunk in work.chunks]
    extracted_at = _time_of(row)
    return [replace(item, created_at=extracted_at) for item in evidence_rows(work, mentions)]


def _time_of(row: DocProcessingStatus) -> int:
    """Return when a document was extracted, epoch seconds; 0 when its row does not tell."""
    noted = row.metadata.get("process_start_time")
    if isinstance(noted, int):
        return noted
    try:
        return int(datetime.fromisoformat(row.updated_at).timestamp())
    except ValueError:
        return 0


def _chunk(chunk_id: str, row: Record) -> Chunk:
    return Chunk(
        chunk_id=chunk_id,
        content=str(row.get("content") or ""),
        tokens=int(row.get("tokens") or 0),
        order=int(row.get("chunk_order_index") or 0),
        cache_ids=[str(key) for key in row.get("llm_cache_list") or ()],
    )


async def _mentions(context: EngineContext, chunk: Chunk) -> Mentions:
    found = Mentions()
    for reply in await context.stores.llm_response_cache.get_by_ids(chunk.cache_ids):
        text = reply.get("return") if reply is not None and reply.get("cache_type") == EXTRACT else None
        if isinstance(text, str):
            found.add(parse_extraction_reply(text))
    return found


async def _in_graph(context: EngineContext, rows: Sequence[Evidence]) -> list[Evidence]:
    graph = context.stores.graph
    entities = list(dict.fromkeys(row.object_id for row in rows if row.kind is ObjectKind.ENTITY))
    relations = dict.fromkeys(row.object_id for row in rows if row.kind is ObjectKind.RELATION)
    pairs = {split_relation_key(key): key for key in relations}
    nodes = await graph.has_nodes_batch(entities) if entities else set()
    edges = await graph.get_edges_batch([{"src": pair[0], "tgt": pair[1]} for pair in pairs]) if pairs else {}
    known = {pairs[pair] for pair in edges}
    return [row for row in rows if row.object_id in (nodes if row.kind is ObjectKind.ENTITY else known)]
