"""Take a document out: its chunks, its share of the graph, its text and its status, in one unit of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus
from lightrag.exceptions import PipelineBusyError
from lightrag.graph.rebuild import without_documents
from lightrag.graph.unfinished import graph_held
from lightrag.ingest.announce import DELETED, announce_document
from lightrag.ingest.pipeline import holding
from lightrag.ingest.state import PipelineState

Check = Callable[[Mapping[str, Any]], None]
"""Raises when a document with such metadata may not be deleted by the caller."""


@dataclass
class DeletionResult:
    """Outcome of a deletion.

    Attributes:
        status: What happened.
        doc_id: The document, or the object's name.
        message: In words.
        status_code: HTTP code that says the same.
        file_path: Source path of the document.
    """

    status: Literal["success", "not_found", "not_allowed", "fail"]
    doc_id: str
    message: str
    status_code: int = 200
    file_path: str | None = None


async def delete_document(
    context: EngineContext,
    state: PipelineState,
    doc_id: str,
    *,
    delete_llm_cache: bool = False,
    check: Check | None = None,
) -> DeletionResult:
    """Delete a document and everything that came from it alone.

    Entities and relations that other documents also speak of are recomputed from what those say. A refused duplicate
    (``dup-`` row) has nothing but its row; the document that it repeats is not touched.

    Args:
        context: The workspace.
        state: Its pipeline, which must be idle.
        doc_id: The document.
        delete_llm_cache: Also forget the model's replies about its chunks.
        check: Asked with the metadata of the document whether it may be deleted.

    Raises:
        ModelError: A description or vector could not be recomputed; nothing was deleted.
        StorageError: Nothing was deleted.
    """
    stores = context.stores
    if not state.busy and await stores.doc_status.get_by_id(doc_id) is None:
        return _not_found(doc_id)
    try:
        async with (
            holding(context, state, f"deleting document {doc_id}", destructive=True),
            state.enqueue_lock,
            graph_held(context),
        ):
            # Read under the locks: whoever had them before may have added chunks, or changed who may do this.
            row = await stores.doc_status.get_by_id(doc_id)
            if row is None:
                return _not_found(doc_id)
            if check is not None:
                check(row.get("metadata") or {})
            await _delete(context, doc_id, row, delete_llm_cache=delete_llm_cache)
    except PipelineBusyError as error:
        return DeletionResult("not_allowed", doc_id, str(error), 403)
    announce_document(context, doc_id, DocProcessingStatus.from_row(row), DELETED)
    path = str(row.get("file_path") or "")
    return DeletionResult("success", doc_id, f"document {doc_id!r} deleted", 200, path)


def _not_found(doc_id: str) -> DeletionResult:
    return DeletionResult("not_found", doc_id, f"document {doc_id!r} does not exist", 404)


async def _delete(context: EngineContext, doc_id: str, row: dict[str, Any], *, delete_llm_cache: bool) -> None:
    stores = context.stores
    chunk_ids = list(row.get("chunks_list") or ())
    cache_ids: list[str] = []
    if delete_llm_cache and chunk_ids:
        chunks = await stores.text_chunks.get_by_ids(chunk_ids)
        cache_ids = [key for chunk in chunks if chunk for key in chunk.get("llm_cache_list") or ()]
    change = await without_documents(context, [doc_id])
    intent = change.intent(documents={doc_id: chunk_ids}, gone=[doc_id], replies=cache_ids)
    async with stores.unit_of_work(intent) as unit:
        await change.write(stores)
        await stores.evidence.drop_documents([doc_id])
        await stores.chunks.delete(chunk_ids)
        await stores.text_chunks.delete(chunk_ids)
        await stores.full_docs.delete([doc_id])
        if cache_ids:
            await stores.llm_response_cache.delete(cache_ids)
        unit.last(stores.doc_status.delete, [doc_id])
        unit.corpus_changed()
