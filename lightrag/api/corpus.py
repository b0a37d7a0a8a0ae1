"""Listing, deleting and clearing documents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightrag.api.schemas.documents import DeleteDocumentsRequest, PaginatedRequest
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.exceptions import LightRAGError
from lightrag.ingest.pipeline import holding
from lightrag.ingest.state import pipeline_state
from lightrag.lightrag import LightRAG
from lightrag.query.plan import effective_filter
from lightrag.query_filters import document_matches_filter, public_metadata

if TYPE_CHECKING:
    from lightrag.access import AccessPolicy
    from lightrag.api.files import InputFolder
    from lightrag.engine.restricted import RestrictedEngine

logger = logging.getLogger("lightrag.api")

_PAUSE_SECONDS = 0.5

Listed = tuple[list[tuple[str, DocProcessingStatus]], int]


async def status_counts(engine: LightRAG | RestrictedEngine) -> dict[str, int]:
    """Return the number of documents of every state, zeros included, and of ``all``."""
    counts = await engine.get_processing_status()
    full = {state.value: counts.get(state.value, 0) for state in DocStatus}
    return {**full, "all": sum(full.values())}


async def list_documents(
    engine: LightRAG | RestrictedEngine, request: PaginatedRequest, access: AccessPolicy | None = None
) -> Listed:
    """Return a page of documents, and how many there are on all pages.

    Without a filter and a text to look for the store does all of it. Otherwise every row is read, as the number of
    pages depends on each.

    Args:
        engine: The engine.
        request: Which documents.
        access: What the caller may see.

    Raises:
        AccessDeniedError: The request asks for what the caller may not see.
    """
    limit = effective_filter(engine.context.settings, request.filter_param(), access)
    doc_status = engine.context.stores.doc_status
    wanted = request.search.strip().casefold()
    if limit is None and not wanted:
        found: Listed = await doc_status.get_docs_paginated(
            status_filter=request.status_filter,
            status_filters=request.status_filters,
            page=request.page,
            page_size=request.page_size,
            sort_field=request.sort_field,
            sort_direction=request.sort_direction,
        )
        return found
    single = [request.status_filter] if request.status_filter else list(DocStatus)
    rows = await doc_status.get_docs_by_statuses(request.status_filters or single)
    matching = [
        (doc_id, row)
        for doc_id, row in rows.items()
        if (limit is None or document_matches_filter(row.metadata, limit, doc_id=doc_id)) and _mentions(row, wanted)
    ]

    def place(item: tuple[str, DocProcessingStatus]) -> tuple[str, str]:
        return ("" if request.sort_field == "id" else str(getattr(item[1], request.sort_field)), item[0])

    matching.sort(key=place, reverse=request.sort_direction == "desc")
    first = (request.page - 1) * request.page_size
    return matching[first : first + request.page_size], len(matching)


def _mentions(row: DocProcessingStatus, wanted: str) -> bool:
    """Tell whether what the list shows of a document holds a casefolded text."""
    if not wanted:
        return True
    told = public_metadata(row.metadata)
    title = (told.get("meta") or {}).get("title")
    shown = (row.file_path, row.content_summary, title if isinstance(title, str) else "", *(told.get("tags") or ()))
    return any(wanted in text.casefold() for text in shown)


async def delete_documents(
    engine: LightRAG | RestrictedEngine, inputs: InputFolder, doc_ids: Sequence[str], request: DeleteDocumentsRequest
) -> None:
    """Delete documents one after another; one that cannot be deleted does not keep the others.

    Documents that began to be processed meanwhile are waited for. A file stays while another document is of its path: a
    refused repetition has the path of the document that it repeats. With limited access only files go that the
    documents came as: a text may have been given the path of somebody else's file that no scan has read yet.
    """
    rows = await engine.aget_docs_by_ids(list(doc_ids))
    for doc_id in doc_ids:
        try:
            result = await engine.adelete_by_doc_id(doc_id, delete_llm_cache=request.delete_llm_cache)
            while result.status == "not_allowed":
                await asyncio.sleep(_PAUSE_SECONDS)
                result = await engine.adelete_by_doc_id(doc_id, delete_llm_cache=request.delete_llm_cache)
        except LightRAGError as error:
            logger.warning("document %r was not deleted: %s", doc_id, error)
            continue
        if result.status != "success":
            logger.warning("document %r was not deleted: %s", doc_id, result.message)
        elif (
            request.delete_file
            and result.file_path
            and (isinstance(engine, LightRAG) or _came_as_file(rows.get(doc_id)))
            # In this order: what arrives now may be stored before the store has answered.
            and not inputs.is_arriving(result.file_path)
            and await engine.context.stores.doc_status.get_doc_by_file_path(result.file_path) is None
            and not inputs.is_arriving(result.file_path)
        ):
            inputs.remove(result.file_path)


def _came_as_file(row: DocProcessingStatus | None) -> bool:
    return row is not None and bool(row.metadata.get("source_file"))


async def clear_corpus(engine: LightRAG, inputs: InputFolder) -> tuple[dict[str, str], int]:
    """Delete all documents, the graph, and the files waiting in the input folder. The cache of replies stays.

    In folders below only the files of documents are deleted; what else lies there was not put there by an upload.

    Returns:
        Message of each store that failed, and the number of files deleted.

    Raises:
        PipelineBusyError: Documents are being stored, processed or deleted.
    """
    state = pipeline_state(engine.working_dir, engine.workspace)
    async with holding(engine.context, state, "clearing all documents", destructive=True, alone=True):
        stores = engine.context.stores
        waiting = await stores.doc_status.get_docs_by_statuses([one for one in DocStatus if one != DocStatus.PROCESSED])
        # What is enqueued without announcement waits, and is stored afterwards.
        async with state.enqueue_lock, engine.context.graph_lock:
            # Before as well: a query during it must know that documents may go between its looks.
            await stores.mark_corpus_changed()
            failures = await stores.drop_all(keep=[stores.llm_response_cache])
            # Answers given about the old corpus must not be found in the next one.
            await stores.mark_corpus_changed()
        in_folders = sum(inputs.remove(row.file_path, finished=False) for row in waiting.values())
        return failures, in_folders + inputs.clear()
