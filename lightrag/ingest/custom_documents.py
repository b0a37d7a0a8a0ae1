"""Documents whose chunks or graph are given, not made: identity, admission and storage.

They are written in one unit of work when everything is ready, so they are never pending: a crash or an error before
that leaves nothing but, at the most, a stored text that no row points to and that the next attempt replaces.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.exceptions import DuplicateError, InputError, PipelineBusyError, ScopeError
from lightrag.graph.manual import is_manual_document
from lightrag.graph.partition import writable_partition
from lightrag.graph.unfinished import finish_deletions
from lightrag.ingest.documents import new_track_id, timestamp
from lightrag.ingest.persist import merge_and_persist
from lightrag.ingest.state import PipelineState
from lightrag.ingest.work import DocumentWork
from lightrag.kg_scopes import check_scope_tags
from lightrag.query_filters import DocumentMetadata
from lightrag.runtime.text import content_summary, sanitize_text
from lightrag.stores import Intent

CUSTOM_KG_METHOD = "custom_kg"
CUSTOM_CHUNKS_METHOD = "custom_chunks"


@dataclass(frozen=True)
class CustomOptions:
    """What a caller says about a custom document.

    Attributes:
        doc_id: Its id; derived from what is given when ``None``.
        file_path: Its source path.
        metadata: Dates, tags and free metadata, as for any document.
        tenant_tag: Scope that it belongs to; the same as the tag in ``metadata``.
    """

    doc_id: str | None = None
    file_path: str | None = None
    metadata: DocumentMetadata | Mapping[str, Any] | None = None
    tenant_tag: str | None = None


def check_document_id(doc_id: str) -> str:
    """Return an id that a document may have.

    Raises:
        InputError: It is empty, holds control characters, or stands for what people say by hand.
    """
    if not isinstance(doc_id, str) or not doc_id.strip() or doc_id != sanitize_text(doc_id):
        raise InputError(f"document id {doc_id!r} is not text without control characters or outer white space")
    if is_manual_document(doc_id):
        raise InputError(f"document id {doc_id!r} stands for what people say by hand; choose another")
    return doc_id


def stored_metadata(context: EngineContext, options: CustomOptions) -> dict[str, Any]:
    """Return the ``user_*`` keys of a custom document.

    Raises:
        FilterSyntaxError: The metadata are not valid.
        ScopeError: A scope tag is malformed, or ``tenant_tag`` contradicts the tags.
    """
    partition = writable_partition(context, options.tenant_tag)
    metadata = DocumentMetadata.coerce(options.metadata if options.metadata is not None else {})
    scopes = check_scope_tags(metadata, context.settings.scope_tag_prefixes)
    tag = partition.tenant_tag
    if tag and any(scope != tag for scope in scopes):
        raise ScopeError(f"tenant_tag is {tag!r} and the tags name the scopes {', '.join(scopes)}; give one of them")
    stored = metadata.to_storage() if options.metadata is not None or tag else {}
    if tag and tag not in metadata.tags:
        stored["user_tags"] = [*metadata.tags, tag]
    return stored


@dataclass(frozen=True)
class CustomDocument:
    """A custom document as it will be stored.

    Attributes:
        doc_id: Its id.
        method: ``custom_kg`` or ``custom_chunks``; a document made in another way is never replaced.
        text: Its text.
        summary: What lists of documents show; ``""`` for the beginning of the text.
        file_path: Source path, ``""`` when there is none.
        content_hash: MD5 of the text, or of the graph.
        metadata: ``user_*`` keys.
    """

    doc_id: str
    method: str
    text: str
    summary: str
    file_path: str
    content_hash: str
    metadata: dict[str, Any]

    def status(self) -> DocProcessingStatus:
        """Return its first status row, which is never stored as it is."""
        now = timestamp()
        return DocProcessingStatus(
            content_summary=content_summary(self.summary or self.text),
            content_length=len(self.text),
            file_path=self.file_path or UNKNOWN_SOURCE,
            status=DocStatus.PROCESSING,
            created_at=now,
            updated_at=now,
            track_id=new_track_id(),
            content_hash=self.content_hash,
            metadata={**self.metadata, "chunk_method": self.method},
        )


async def open_work(context: EngineContext, state: PipelineState, document: CustomDocument) -> DocumentWork:
    """Return the work of a document that may be stored.

    A custom graph of the same id is replaced: its chunks are known to the work, so that those it has no more go. Custom
    chunks are added to the document of that id, whatever it was made from: the work has its row.

    Raises:
        DuplicateError: Another document has this id.
        InputError: Other metadata are given for a document that is there.
        PipelineBusyError: Documents are being deleted.
    """
    if state.destructive_busy:
        raise PipelineBusyError(f"the pipeline is busy ({state.job_name!r}); add documents when it has finished")
    row = document.status()
    stored = await context.stores.doc_status.get_by_id(document.doc_id)
    if stored is not None:
        known = DocProcessingStatus.from_row(stored)
        if document.method == CUSTOM_CHUNKS_METHOD:
            row = _extended(document, known)
        else:
            _check_replaced(document, known)
            row.created_at = known.created_at
            row.chunks_list = known.chunks_list
    return DocumentWork(document.doc_id, row, text=document.text, notes={"process_start_time": int(time.time())})


def _check_replaced(document: CustomDocument, known: DocProcessingStatus) -> None:
    if known.metadata.get("chunk_method") != document.method or known.status is not DocStatus.PROCESSED:
        raise DuplicateError(
            f"document {document.doc_id!r} exists already (status {known.status.value}) and was not made by "
            f"{document.method}; delete it first, or give another id"
        )


def _extended(document: CustomDocument, known: DocProcessingStatus) -> DocProcessingStatus:
    """Return the row of a document that gets further chunks."""
    if known.status is not DocStatus.PROCESSED:
        raise DuplicateError(
            f"document {document.doc_id!r} exists already (status {known.status.value}); chunks can be added to it "
            "when it is processed"
        )
    differing = [name for name, value in document.metadata.items() if known.metadata.get(name) != value]
    if differing:
        raise InputError(
            f"document {document.doc_id!r} has other metadata ({', '.join(differing)}); change them with "
            "aupdate_document_metadata"
        )
    return known


async def is_stored(context: EngineContext, document: CustomDocument) -> bool:
    """Tell whether this very document, with the same metadata, is there already."""
    row = await context.stores.doc_status.get_by_id(document.doc_id)
    if row is None:
        return False
    known = DocProcessingStatus.from_row(row)
    return (
        known.status is DocStatus.PROCESSED
        and known.content_hash == document.content_hash
        and known.metadata.get("chunk_method") == document.method
        and {name: value for name, value in known.metadata.items() if name.startswith("user_")} == document.metadata
    )


async def store_custom_document(
    context: EngineContext, state: PipelineState, document: CustomDocument, work: DocumentWork
) -> None:
    """Write a custom document with its chunks, evidence and status.

    What it replaces is taken out of the graph first; when the rest then fails, the document is gone.

    Raises:
        DuplicateError: A document with this id or text has been added meanwhile.
        ModelError: The embedding model failed; nothing was written.
        StorageError: Nothing was written.
    """
    full_docs = context.stores.full_docs
    # Uploads look for duplicates under the same lock.
    async with state.enqueue_lock:
        await finish_deletions(context, [document.doc_id])
        current = await open_work(context, state, document)
        work.row.chunks_list, work.row.created_at = current.row.chunks_list, current.row.created_at
        if document.file_path:
            work.row.file_path = await _free_path(context, document)
        before = await full_docs.get_by_id(document.doc_id)
        in_graph = await _is_in_graph(context, document.doc_id)
        await full_docs.upsert({document.doc_id: _full_doc(document, work)})
        work.notes |= {"process_end_time": int(time.time()), "kg_write_state": "graph_mutation_started"}
        stored = False
        try:
            await merge_and_persist(context, [work])
            stored = True
        finally:
            # A caller that leaves during the commit is told so only when all of it is there.
            if not stored and not await _is_whole(context, work):
                taken_out = in_graph and not await _is_in_graph(context, document.doc_id)
                await _undo(context, document.doc_id, None if taken_out else before)


async def _free_path(context: EngineContext, document: CustomDocument) -> str:
    """Return the source path, which identifies a document, unless another one has it."""
    found = await context.stores.doc_status.get_doc_by_file_path(document.file_path)
    return document.file_path if found is None or found[0] == document.doc_id else document.method


def _full_doc(document: CustomDocument, work: DocumentWork) -> dict[str, Any]:
    return {
        "content": document.text,
        "file_path": work.row.file_path,
        "parse_format": "raw",
        "content_hash": document.content_hash,
    }


async def _is_in_graph(context: EngineContext, doc_id: str) -> bool:
    return any((await context.stores.evidence.objects_of_documents([doc_id])).values())


async def _is_whole(context: EngineContext, work: DocumentWork) -> bool:
    row = await context.stores.doc_status.get_by_id(work.doc_id) or {}
    return (
        row.get("status") == DocStatus.PROCESSED
        and row.get("content_hash") == work.row.content_hash
        and row.get("chunks_list") == [chunk.chunk_id for chunk in work.chunks]
    )


async def _undo(context: EngineContext, doc_id: str, before: dict[str, Any] | None) -> None:
    """Put back the text that was there before, or take out what is left of a document that could not be replaced."""
    stores = context.stores
    if before is not None:
        await stores.full_docs.upsert({doc_id: before})
        return
    row = await stores.doc_status.get_by_id(doc_id) or {}
    chunk_ids = list(row.get("chunks_list") or ())
    async with stores.unit_of_work(Intent(documents={doc_id: chunk_ids}, gone=[doc_id])) as unit:
        await stores.chunks.delete(chunk_ids)
        await stores.text_chunks.delete(chunk_ids)
        await stores.full_docs.delete([doc_id])
        unit.last(stores.doc_status.delete, [doc_id])
        unit.corpus_changed()
