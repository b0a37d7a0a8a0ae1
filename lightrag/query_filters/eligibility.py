"""Which documents and chunks of a corpus a filter accepts, by reading the status store.

This reads every row. Queries use the gate, whose cost grows with the candidates; previews, facets and exports
ask here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from lightrag.query_filters.documents import document_matches_filter
from lightrag.query_filters.query_filter import VectorQueryFilter, as_filter


class _AnyStatus(StrEnum):
    """Every state of a document; a status store compares states by value."""

    PENDING = "pending"
    PARSING = "parsing"
    ANALYZING = "analyzing"
    PROCESSING = "processing"
    PREPROCESSED = "preprocessed"
    PROCESSED = "processed"
    FAILED = "failed"


class DocumentStatusReader(Protocol):
    """What a document status store must offer. Rows are mappings, or objects with the same attributes."""

    async def get_docs_by_statuses(self, statuses: Sequence[Any]) -> Mapping[str, Any]:
        """Return the rows in any of the states, by document id, each with ``metadata``."""
        ...

    async def get_by_ids(self, ids: list[str]) -> Sequence[Any]:
        """Return rows in the order of ``ids``, ``None`` where there is none, each with ``chunks_list``."""
        ...


def _field(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


async def resolve_eligible_doc_ids(
    doc_status: DocumentStatusReader, vector_filter: VectorQueryFilter | Mapping[str, Any]
) -> set[str]:
    """Return the ids of all documents that a filter accepts.

    Rows of refused duplicates stand for no document and are left out; a repetition that has been processed is one.

    Args:
        doc_status: The status store.
        vector_filter: As a model or in API form.

    Raises:
        FilterSyntaxError: A filter in API form is not valid.
    """
    filter = as_filter(vector_filter)
    rows = await doc_status.get_docs_by_statuses(list(_AnyStatus))
    eligible: set[str] = set()
    for doc_id, row in rows.items():
        metadata = _field(row, "metadata") or {}
        refused = metadata.get("is_duplicate") and _field(row, "status") != _AnyStatus.PROCESSED
        if not refused and document_matches_filter(metadata, filter, doc_id=doc_id):
            eligible.add(doc_id)
    return eligible


async def build_eligible_chunk_ids(doc_status: DocumentStatusReader, eligible_doc_ids: Collection[str]) -> set[str]:
    """Return the ids of all chunks of the given documents; none for no documents.

    Args:
        doc_status: The status store, whose rows list the chunks of their documents.
        eligible_doc_ids: What :func:`resolve_eligible_doc_ids` returned.
    """
    if not eligible_doc_ids:
        return set()
    rows = await doc_status.get_by_ids(sorted(eligible_doc_ids))
    return {chunk_id for row in rows if row is not None for chunk_id in _field(row, "chunks_list") or []}
