"""Documents whose chunks the caller has cut: only extraction is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lightrag.context import EngineContext
from lightrag.exceptions import DuplicateError, InputError, ModelError
from lightrag.graph.rebuild import without_documents
from lightrag.graph.unfinished import graph_held
from lightrag.ingest.announce import announce_document
from lightrag.ingest.custom_documents import (
    CUSTOM_CHUNKS_METHOD,
    CustomDocument,
    CustomOptions,
    check_document_id,
    open_work,
    store_custom_document,
    stored_metadata,
)
from lightrag.ingest.documents import normalize_source_path, timestamp
from lightrag.ingest.extract import extract_document
from lightrag.ingest.persist import chunks_touched, in_all_partitions, write_chunks
from lightrag.ingest.state import PipelineState
from lightrag.ingest.work import Chunk, DocumentWork
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.text import is_readable, sanitize_text
from lightrag.runtime.tokens import count_tokens


async def insert_custom_chunks(
    context: EngineContext,
    state: PipelineState,
    full_text: str,
    text_chunks: Sequence[str],
    options: CustomOptions | None = None,
) -> str:
    """Add a document with given chunks, or further chunks to one that is there.

    When anything fails nothing is stored; the replies of the model are kept, so another attempt pays only for what is
    missing.

    Args:
        context: The workspace.
        state: Its pipeline.
        full_text: The whole text; that of a document that is there stays as it is.
        text_chunks: Its pieces in order; pieces without text are skipped, equal ones count once, and those that the
            document has already are left as they are.
        options: Id, source path, metadata and scope.

    Returns:
        The id of the document.

    Raises:
        InputError: There is no text, or an argument cannot be used.
        DuplicateError: The document of this id is not processed.
        PipelineBusyError: Documents are being deleted.
        ModelError: A chunk could not be extracted or embedded.
    """
    options = options or CustomOptions()
    text, contents = _read(full_text, text_chunks)
    doc_id = check_document_id(options.doc_id) if options.doc_id is not None else compute_mdhash_id(text, "doc-")
    document = CustomDocument(
        doc_id=doc_id,
        method=CUSTOM_CHUNKS_METHOD,
        text=text,
        summary="",
        file_path=normalize_source_path(options.file_path) if options.file_path else "",
        content_hash=compute_mdhash_id(text),
        metadata=stored_metadata(context, options),
    )
    work = await open_work(context, state, document)
    known = set(work.row.chunks_list)
    chunks = [_chunk(context, doc_id, content) for content in contents]
    work.chunks = [chunk for chunk in chunks if chunk.chunk_id not in known]
    if not work.chunks:
        return doc_id
    for order, chunk in enumerate(work.chunks, start=len(known)):
        chunk.order = order
    work.vectors = await context.models.embedder.embed([chunk.content for chunk in work.chunks])
    try:
        await extract_document(context, work)
    except ModelError:
        await context.cache.flush()
        raise
    if known:
        await _add_to_document(context, state, document, work)
    else:
        await store_custom_document(context, state, document, work)
    return doc_id


def _chunk(context: EngineContext, doc_id: str, content: str) -> Chunk:
    # Two documents may hold the same chunk, and each must be able to go alone.
    chunk_id = compute_mdhash_id(f"{doc_id}\n{content}", "chunk-")
    return Chunk(chunk_id, content, tokens=count_tokens(context.models.tokenizer, content), order=0)


async def _add_to_document(
    context: EngineContext, state: PipelineState, document: CustomDocument, work: DocumentWork
) -> None:
    """Write further chunks of a document with their evidence.

    Raises:
        DuplicateError: The document has been deleted or changed meanwhile.
        ModelError: The embedding model failed; nothing was written.
        StorageError: Nothing was written.
    """
    stores = context.stores
    async with graph_held(context):
        row = (await open_work(context, state, document)).row
        if row.chunks_list != work.row.chunks_list:
            raise DuplicateError(f"document {document.doc_id!r} has changed meanwhile; add the chunks again")
        work.row = replace(row, chunks_list=[])
        known = await stores.evidence.of_documents([document.doc_id])
        rows = [*known, *in_all_partitions(context, work)]
        change = await without_documents(context, [document.doc_id], keeping=rows)
        chunk_ids = [*row.chunks_list, *(chunk.chunk_id for chunk in work.chunks)]
        changed = replace(row, chunks_list=chunk_ids, chunks_count=len(chunk_ids), updated_at=timestamp())
        await context.cache.flush()
        intent = change.intent(documents=chunks_touched([work]), evidence=rows)
        async with stores.unit_of_work(intent) as unit:
            await write_chunks(context, [work])
            await stores.evidence.drop_documents([document.doc_id])
            await change.write(stores)
            unit.last(stores.doc_status.upsert, {document.doc_id: changed.to_row()})
            unit.corpus_changed()
    announce_document(context, document.doc_id, changed)


def _read(full_text: object, text_chunks: object) -> tuple[str, list[str]]:
    """Return the sanitised text and chunks.

    Raises:
        InputError: There is no text, or something is none.
    """
    text = sanitize_text(full_text) if isinstance(full_text, str) else ""
    if not is_readable(text):
        raise InputError("full_text is empty: it holds no text but white space or characters that cannot be seen")
    pieces = [text_chunks] if isinstance(text_chunks, str) else text_chunks
    if not isinstance(pieces, Sequence):
        raise InputError(f"text_chunks is {type(text_chunks).__name__}; it must be a list of texts")
    for position, piece in enumerate(pieces):
        if not isinstance(piece, str):
            raise InputError(f"text_chunks[{position}] is {piece!r}; a chunk is text")
    contents = list(dict.fromkeys(content for piece in pieces if (content := sanitize_text(piece))))
    if not contents:
        raise InputError("text_chunks hold no text; give at least one chunk")
    return text, contents
