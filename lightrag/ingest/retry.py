"""Set failed documents back to pending, so that the next run tries them once more.

Rows are read and written under the lock of those that enqueue: whoever changes tags, deletes or repairs holds it too,
and what they have written must not be replaced by what was read before.
"""

from __future__ import annotations

from collections.abc import Mapping

from lightrag.access import AccessPolicy
from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.exceptions import InputError, NotFoundError, PipelineBusyError
from lightrag.ingest.announce import announce_documents
from lightrag.ingest.pipeline import holding, pending_again
from lightrag.ingest.state import PipelineState


async def retry_failed(context: EngineContext, state: PipelineState) -> int:
    """Set failed documents whose text is stored back to pending; refused duplicates stay as they are.

    Returns:
        How many will be tried again.
    """
    async with state.enqueue_lock:
        failed = await context.stores.doc_status.get_docs_by_statuses([DocStatus.FAILED])
        return len(await _set_back(context, failed))


async def retry_document(
    context: EngineContext, state: PipelineState, doc_id: str, access: AccessPolicy | None = None
) -> DocProcessingStatus:
    """Set one failed document back to pending.

    Args:
        context: The workspace.
        state: Its pipeline.
        doc_id: The document.
        access: What the caller may change; ``None`` for everything.

    Returns:
        Its new status row.

    Raises:
        NotFoundError: There is no such document.
        InputError: It has not failed, or nothing of it is stored that could be tried again.
    """
    async with state.enqueue_lock:
        stored = await context.stores.doc_status.get_by_id(doc_id)
        if stored is None or (access is not None and not access.allows(stored.get("metadata"), doc_id)):
            raise NotFoundError(f"document {doc_id!r} does not exist")
        row = DocProcessingStatus.from_row(stored)
        if row.status != DocStatus.FAILED:
            raise InputError(f"document {doc_id!r} is {row.status.value}; only one that failed can be tried again")
        retried = await _set_back(context, {doc_id: row})
    if not retried:
        raise InputError(f"document {doc_id!r} has no stored text to try again; send it anew")
    return retried[doc_id]


async def _set_back(
    context: EngineContext, failed: Mapping[str, DocProcessingStatus]
) -> dict[str, DocProcessingStatus]:
    doc_status = context.stores.doc_status
    candidates = {doc_id: row for doc_id, row in failed.items() if not row.metadata.get("is_duplicate")}
    missing = await context.stores.full_docs.filter_keys(set(candidates))
    retried = {doc_id: pending_again(row) for doc_id, row in candidates.items() if doc_id not in missing}
    if retried:
        await doc_status.upsert({doc_id: row.to_row() for doc_id, row in retried.items()})
        announce_documents(context, retried, DocStatus.PENDING)
    return retried


async def reset_failed(context: EngineContext, state: PipelineState, request_id: str) -> bool:
    """Set failed documents back to pending while nobody processes any, so that the next run tries each of them once.

    Args:
        context: The workspace.
        state: Its pipeline.
        request_id: Named in the log of the pipeline.

    Returns:
        Whether it was done; not while the pipeline is busy.
    """
    try:
        async with holding(context, state, f"resetting failed documents (request {request_id})"):
            count = await retry_failed(context, state)
            state.say(f"request {request_id}: {count} failed documents are pending again")
    except PipelineBusyError:
        return False
    return True
