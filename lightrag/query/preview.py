"""What a filter would match, without asking a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lightrag.context import EngineContext
from lightrag.query_filters import VectorQueryFilter, document_matches_filter

# Documents that a preview names.
MAX_EXAMPLES = 10


@dataclass(frozen=True)
class FilterPreview:
    """How much of a corpus a filter leaves.

    Attributes:
        active: Whether there is a filter at all.
        eligible_documents: Processed documents that it accepts.
        total_documents: All processed documents that the caller may see.
        eligible_chunks: Chunks of the eligible documents.
        examples: A few of them, newest first: ``doc_id``, ``file_path``, ``start_date``, ``end_date``, ``tags``.
    """

    active: bool
    eligible_documents: int
    total_documents: int
    eligible_chunks: int
    examples: list[dict[str, Any]] = field(default_factory=list)


async def preview(
    context: EngineContext, filter: VectorQueryFilter | None, limit: VectorQueryFilter | None = None
) -> FilterPreview:
    """Count the documents and chunks that a filter accepts, and name a few.

    Args:
        context: The workspace.
        filter: The effective filter; ``None`` for none.
        limit: What the caller may see at all, itself part of the filter; documents outside are not even counted.
    """
    doc_status = context.stores.doc_status
    facts = await doc_status.all_facts(limit)
    eligible = list(facts if filter is None else await doc_status.all_facts(filter))
    rows = await doc_status.get_by_ids(eligible)
    chunks = sum(int((row or {}).get("chunks_count") or 0) for row in rows)
    newest = [
        (doc_id, row)
        for doc_id, row in list(zip(eligible, rows, strict=True))[-MAX_EXAMPLES:][::-1]
        # It may have been changed or deleted since it was counted, and only what is eligible now may be named.
        if row is not None and (filter is None or document_matches_filter(row.get("metadata"), filter, doc_id=doc_id))
    ]
    return FilterPreview(
        active=filter is not None,
        eligible_documents=len(eligible),
        total_documents=len(facts),
        eligible_chunks=chunks,
        examples=[_example(doc_id, row) for doc_id, row in newest],
    )


def _example(doc_id: str, row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = row.get("metadata") or {}
    return {
        "doc_id": doc_id,
        "file_path": row.get("file_path") or "",
        "start_date": metadata.get("user_start_date"),
        "end_date": metadata.get("user_end_date"),
        "tags": list(metadata.get("user_tags") or []),
    }
