"""Take back what calls with given chunks left half done.

This engine stores such a document at once or not at all. The published package notes in the status row what it is
about to do, and leaves the note where it broke off: ``custom_chunk_patch`` with its ``mode`` (``create`` a document,
``patch`` one that is there) and ``chunk_ids``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.exceptions import ModelError, StorageError
from lightrag.graph.rebuild import without_documents
from lightrag.graph.unfinished import graph_held
from lightrag.ingest.announce import DELETED, announce_document
from lightrag.ingest.documents import timestamp
from lightrag.ingest.pipeline import holding
from lightrag.ingest.state import PipelineState
from lightrag.ingest.take_over_documents import evidence_from_replies
from lightrag.runtime.subjects import subject_logger

logger = subject_logger("lightrag.ingest")

JOURNAL = "custom_chunk_patch"
_SAMPLE = 20


async def rollback_custom_chunks(context: EngineContext, state: PipelineState) -> dict[str, Any]:
    """Take back every failed document with such a note; one that cannot be taken back does not keep the others.

    Returns:
        ``rolled_back_count``, ``failed_count``, ``rolled_back_sample`` and ``failed_sample`` (ids, 20 at the most).

    Raises:
        PipelineBusyError: Documents are being processed or deleted.
        StorageError: The documents cannot be listed.
    """
    done: list[str] = []
    failed: list[str] = []
    async with holding(context, state, "taking back custom chunks that broke off", destructive=True):
        rows = await context.stores.doc_status.get_docs_by_statuses([DocStatus.FAILED])
        for doc_id, row in rows.items():
            journal = row.metadata.get(JOURNAL)
            if not isinstance(journal, Mapping):
                continue
            try:
                async with state.enqueue_lock, graph_held(context):
                    await _take_back(context, doc_id, row, journal)
                done.append(doc_id)
            except (ModelError, StorageError) as error:
                logger.warning("custom chunks of document %s were not taken back: %s", doc_id, error)
                failed.append(doc_id)
    return {
        "rolled_back_count": len(done),
        "failed_count": len(failed),
        "rolled_back_sample": done[:_SAMPLE],
        "failed_sample": failed[:_SAMPLE],
    }


async def _take_back(context: EngineContext, doc_id: str, row: DocProcessingStatus, journal: Mapping[str, Any]) -> None:
    stores = context.stores
    patched = {str(chunk_id) for chunk_id in journal.get("chunk_ids") or ()}
    is_new = journal.get("mode") != "patch"
    kept = [] if is_new else [chunk_id for chunk_id in row.chunks_list if chunk_id not in patched]
    before = DocProcessingStatus(
        **{
            **row.__dict__,
            "status": DocStatus.PROCESSED,
            "updated_at": timestamp(),
            "error_msg": None,
            "chunks_list": kept,
            "chunks_count": len(kept),
            "metadata": {name: value for name, value in row.metadata.items() if name != JOURNAL},
        }
    )
    gone = [*patched, *(chunk_id for chunk_id in row.chunks_list if is_new)]
    rows = [] if is_new else await _evidence_of(context, doc_id, before, set(kept))
    change = await without_documents(context, [doc_id], keeping=rows)
    intent = change.intent(documents={doc_id: gone}, gone=[doc_id] if is_new else [], evidence=rows)
    async with stores.unit_of_work(intent) as unit:
        await stores.evidence.drop_documents([doc_id])
        await change.write(stores)
        await stores.chunks.delete(gone)
        await stores.text_chunks.delete(gone)
        if is_new:
            await stores.full_docs.delete([doc_id])
            unit.last(stores.doc_status.delete, [doc_id])
        else:
            unit.last(stores.doc_status.upsert, {doc_id: before.to_row()})
        unit.corpus_changed()
    announce_document(context, doc_id, before, DELETED if is_new else "")


async def _evidence_of(
    context: EngineContext, doc_id: str, row: DocProcessingStatus, chunk_ids: Collection[str]
) -> list[Any]:
    """Return what the chunks that stay say; from the kept replies where the document has no evidence yet."""
    rows = await context.stores.evidence.of_documents([doc_id])
    if not rows:
        rows = await evidence_from_replies(context, {doc_id: row.to_row()})
    return [item for item in rows if item.chunk_id in chunk_ids]
