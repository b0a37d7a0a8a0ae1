"""Tell listeners what becomes of documents, and the log when they come, are done and go."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.runtime.events import ChunkEvent, DocumentEvent, MergeEvent, PipelineEvent
from lightrag.runtime.subjects import current_subject

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.ingest.state import PipelineState
    from lightrag.ingest.work import Chunk, DocumentWork

DELETED = "deleted"

logger = logging.getLogger("lightrag.documents")

# What the pipeline tells in words of its own, failures above all, is not told twice.
_LOGGED = frozenset({DocStatus.PENDING.value, DocStatus.PROCESSED.value, DELETED})


def announce_pipeline(context: EngineContext, state: PipelineState) -> None:
    """Tell how far the pipeline is."""
    if context.events.wants(PipelineEvent):
        context.events.emit(
            PipelineEvent(busy=state.busy, job=state.job_name, documents=state.docs, finished=state.cur_batch)
        )


def announce_documents(
    context: EngineContext, rows: Mapping[str, DocProcessingStatus], status: DocStatus | None = None, error: str = ""
) -> None:
    """Tell the states of documents.

    Args:
        context: The workspace.
        rows: Their status rows, by id.
        status: The state, where the rows do not hold it yet.
        error: Why they failed, where the rows do not hold it yet.
    """
    if not context.events.wants(DocumentEvent) and not logger.isEnabledFor(logging.INFO):
        return
    for doc_id, row in rows.items():
        announce_document(context, doc_id, row, (status or row.status).value, error)


def announce_document(
    context: EngineContext, doc_id: str, row: DocProcessingStatus, status: str = "", error: str = ""
) -> None:
    """Tell the state of a document, ``status`` or that of its row, to listeners and in the log."""
    status = status or row.status.value
    if context.events.wants(DocumentEvent):
        context.events.emit(
            DocumentEvent(
                document_id=doc_id,
                track_id=row.track_id or "",
                file_path=row.file_path,
                status=status,
                chunks=row.chunks_count,
                error=error or (row.error_msg or "" if status == DocStatus.FAILED.value else ""),
            )
        )
    if status in _LOGGED:
        named = row.file_path if row.file_path != UNKNOWN_SOURCE else doc_id
        logger.info("%s: %s", named, status, extra={"document_id": doc_id, "track_id": row.track_id or ""})


def announce_chunk(context: EngineContext, chunk: Chunk, total: int, entities: int, relations: int) -> None:
    """Tell that a chunk of the document in work has been read.

    Args:
        context: The workspace.
        chunk: The chunk.
        total: Chunks of the document.
        entities: Entities found in it.
        relations: Relations found in it.
    """
    if context.events.wants(ChunkEvent):
        subject = current_subject()
        context.events.emit(
            ChunkEvent(
                document_id=subject.document_id,
                track_id=subject.track_id,
                chunk_id=chunk.chunk_id,
                position=chunk.order + 1,
                total=total,
                entities=entities,
                relations=relations,
            )
        )


def announce_merge(context: EngineContext, group: Sequence[DocumentWork], started: float) -> None:
    """Tell that documents have been merged.

    Args:
        context: The workspace.
        group: The documents.
        started: When that began, by ``time.monotonic``.
    """
    if context.events.wants(MergeEvent):
        context.events.emit(
            MergeEvent(
                document_ids=tuple(work.doc_id for work in group),
                track_ids=tuple(dict.fromkeys(work.row.track_id or "" for work in group)),
                evidence=sum(len(work.evidence) for work in group),
                seconds=time.monotonic() - started,
            )
        )
