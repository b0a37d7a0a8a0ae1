"""Vector rows of chunks whose document has other dates or tags now."""

from __future__ import annotations

from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus
from lightrag.query_filters import stamp_chunk_filter_metadata


async def restamped_chunks(context: EngineContext, row: DocProcessingStatus) -> dict[str, dict[str, Any]]:
    """Return the vector rows of a document's chunks with new filter fields and the vectors they have."""
    chunks = context.stores.chunks
    rows = await chunks.get_by_ids(row.chunks_list)
    vectors = await chunks.get_vectors_by_ids(row.chunks_list)
    found = {
        chunk_id: {**stored, "vector": vectors[chunk_id]}
        for chunk_id, stored in zip(row.chunks_list, rows, strict=True)
        if stored is not None and chunk_id in vectors
    }
    stamp_chunk_filter_metadata(found, row.metadata)
    return found
