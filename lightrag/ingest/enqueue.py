"""Admit documents: durable before the call returns, duplicates refused in writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lightrag.access import AccessPolicy
from lightrag.constants import UNKNOWN_SOURCE
from lightrag.context import EngineContext
from lightrag.contracts.doc_status import INTERRUPTED_STATES, DocProcessingStatus, DocStatus
from lightrag.exceptions import PipelineBusyError
from lightrag.graph.unfinished import finish_deletions
from lightrag.ingest.announce import announce_documents
from lightrag.ingest.documents import NewDocument, timestamp
from lightrag.ingest.duplicates import limits_row, same_content
from lightrag.ingest.state import PipelineState
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.subjects import subject_logger

logger = subject_logger("lightrag.ingest")


@dataclass(frozen=True)
class Refusal:
    """Why a document is a duplicate.

    Attributes:
        kind: ``filename`` or ``content_hash``.
        original_id: The document it repeats.
        original: Its status row.
    """

    kind: str
    original_id: str
    original: DocProcessingStatus


def _hidden(kind: str) -> Refusal:
    """Return a refusal that tells nothing about the document that is repeated."""
    return Refusal(kind, "", DocProcessingStatus("", 0, UNKNOWN_SOURCE, DocStatus.PROCESSED, "", ""))


_HIDDEN = {kind: _hidden(kind) for kind in ("filename", "content_hash")}


@dataclass(frozen=True)
class Admission:
    """Who brings documents, and what that allows.

    Attributes:
        token: From :meth:`~lightrag.ingest.state.PipelineState.admit`: room was found when the documents were
            announced, so it is not looked for again.
        from_scan: They lie in the input folder already, so keeping them out would save nothing.
        access: What the caller may see; ``None`` for everything.
    """

    token: str | None = None
    from_scan: bool = False
    access: AccessPolicy | None = None

    def reveals(self, doc_id: str, row: DocProcessingStatus) -> bool:
        """Tell whether the caller may be told about a document that an own one repeats."""
        return self.access is None or self.access.allows(row.metadata, doc_id)


async def enqueue(
    context: EngineContext,
    state: PipelineState,
    documents: Sequence[NewDocument],
    track_id: str,
    admission: Admission = Admission(),
) -> list[str]:
    """Store new documents as pending and every refused one as a failed ``dup-`` row.

    When this returns, everything is durable.

    Args:
        context: The workspace.
        state: Its pipeline.
        documents: What was submitted.
        track_id: Names the call.
        admission: Who brings them.

    Returns:
        Ids of the admitted documents.

    Raises:
        PipelineBusyError: Too many documents wait already; nothing was stored.
        StorageError: Nothing was stored.
    """
    async with state.enqueue_lock:
        await _refuse_when_full(context, state, len(documents), admission)
        await finish_deletions(context, [document.doc_id for document in documents])
        admitted: dict[str, NewDocument] = {}
        rows: dict[str, DocProcessingStatus] = {}
        stored = await context.stores.doc_status.get_by_ids([document.doc_id for document in documents])
        in_batch = _Batch()
        limits = limits_row(admission.access)
        for index, (given, row) in enumerate(zip(documents, stored, strict=True)):
            document, original = _kept_apart(given, row, admission, f"{track_id}-{index}")
            refusal = in_batch.refusal(document)
            if refusal is None and original is not None:
                refusal = Refusal("filename", document.doc_id, original)
            if refusal is None:
                refusal = await _stored_duplicate(context, document, admission.access)
            if refusal is not None:
                dup_id = compute_mdhash_id(f"{document.doc_id}-{track_id}-{index}-{document.file_path}", prefix="dup-")
                is_told = admission.reveals(refusal.original_id, refusal.original)
                rows[dup_id] = _refused_row(document, refusal if is_told else _HIDDEN[refusal.kind], track_id)
                continue
            rows[document.doc_id] = document.status(track_id)
            admitted[document.doc_id] = document
            in_batch.add(document, rows[document.doc_id])
        async with context.stores.unit_of_work() as unit:
            await context.stores.full_docs.upsert(
                {doc_id: document.full_doc() | limits for doc_id, document in admitted.items()}
            )
            unit.last(context.stores.doc_status.upsert, {row_id: row.to_row() for row_id, row in rows.items()})
        announce_documents(context, rows)
    _tell_refused([row for row_id, row in rows.items() if row_id not in admitted], len(documents))
    if state.busy and admitted:
        state.request_pending = True
    return list(admitted)


async def refuse_when_full(context: EngineContext, state: PipelineState, arriving: int) -> None:
    """Refuse documents for which there is no room.

    Raises:
        PipelineBusyError: Too many documents wait already, or have been announced.
    """
    most = context.max_pending_documents
    if not most:
        return
    waiting = state.arriving + await context.stores.doc_status.count_docs_by_statuses(
        (DocStatus.PENDING, *INTERRUPTED_STATES)
    )
    if waiting + arriving > most:
        raise PipelineBusyError(
            f"{waiting} documents wait and {arriving} arrive; max_pending_documents is {most}: come again later"
        )


async def _refuse_when_full(context: EngineContext, state: PipelineState, arriving: int, admission: Admission) -> None:
    if not admission.from_scan and admission.token not in state.admissions:
        await refuse_when_full(context, state, arriving)


class _Batch:
    """Documents admitted by this call, by everything that makes another one a duplicate."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[str, DocProcessingStatus]] = {}

    def add(self, document: NewDocument, row: DocProcessingStatus) -> None:
        for key in _keys(document):
            self._seen[key] = (document.doc_id, row)

    def refusal(self, document: NewDocument) -> Refusal | None:
        for kind, value in _keys(document):
            found = self._seen.get((kind, value))
            if found is not None:
                return Refusal("content_hash" if kind == "hash" else "filename", *found)
        return None


def _keys(document: NewDocument) -> list[tuple[str, str]]:
    keys = [("id", document.doc_id)]
    if document.file_path != UNKNOWN_SOURCE:
        keys.append(("path", document.file_path))
    if document.content:
        keys.append(("hash", document.content_hash))
    return keys


def _kept_apart(
    document: NewDocument, row: Mapping[str, Any] | None, admission: Admission, salt: str
) -> tuple[NewDocument, DocProcessingStatus | None]:
    """Return a document with the stored one of its id.

    Where the id follows from the text alone and is that of a document hidden from the caller, it gets another one.
    """
    original = None if row is None else DocProcessingStatus.from_row(row)
    by_text = document.doc_id == compute_mdhash_id(document.content, prefix="doc-")
    if original is None or not by_text or admission.reveals(document.doc_id, original):
        return document, original
    return replace(document, doc_id=compute_mdhash_id(f"{document.doc_id}-{salt}", prefix="doc-")), None


async def _stored_duplicate(
    context: EngineContext, document: NewDocument, access: AccessPolicy | None
) -> Refusal | None:
    doc_status = context.stores.doc_status
    if document.file_path != UNKNOWN_SOURCE:
        found = await doc_status.get_doc_by_file_path(document.file_path)
        if found is not None:
            return Refusal("filename", *found)
    if document.content:
        found = await same_content(doc_status, document.content_hash, access)
        if found is not None:
            return Refusal("content_hash", *found)
    return None


def _tell_refused(refused: Sequence[DocProcessingStatus], given: int) -> None:
    """Warn once of all documents that were not taken: the call that brought them succeeds all the same."""
    if refused:
        first = refused[0]
        logger.warning(
            "%d of %d documents not taken; %s: %s", len(refused), given, first.file_path, first.error_msg or ""
        )


def _known_as(refusal: Refusal) -> str:
    if not refusal.original_id:
        return ""
    return f" as {refusal.original_id!r} (status {refusal.original.status.value})"


def _refused_row(document: NewDocument, refusal: Refusal, track_id: str) -> DocProcessingStatus:
    now = timestamp()
    what = "content" if refusal.kind == "content_hash" else "source path or id"
    return DocProcessingStatus(
        content_summary=f"[DUPLICATE:{refusal.kind}] Original document: {refusal.original_id}",
        content_length=len(document.content),
        file_path=document.file_path,
        status=DocStatus.FAILED,
        created_at=now,
        updated_at=now,
        track_id=track_id,
        chunks_count=0,
        error_msg=f"the same {what} is already stored{_known_as(refusal)}",
        metadata={
            **document.metadata,
            "is_duplicate": True,
            "duplicate_kind": refusal.kind,
            "original_doc_id": refusal.original_id,
            "original_track_id": refusal.original.track_id or "",
        },
    )
