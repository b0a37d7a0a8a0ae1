"""Documents whose chunks the caller has cut: only extraction is left to do."""

from __future__ import annotations

from collections.abc import Sequence

from lightrag.context import EngineContext
from lightrag.exceptions import InputError, ModelError
from lightrag.ingest.custom_documents import (
    CUSTOM_CHUNKS_METHOD,
    CustomDocument,
    CustomOptions,
    check_document_id,
    open_work,
    store_custom_document,
    stored_metadata,
)
from lightrag.ingest.documents import normalize_source_path
from lightrag.ingest.extract import extract_document
from lightrag.ingest.state import PipelineState
from lightrag.ingest.work import Chunk
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
    """Add a document with given chunks.

    A document that was added in this way under the same id is replaced. When anything fails nothing of it is stored;
    the model's replies are kept, so another attempt pays only for what is missing.

    Args:
        context: The workspace.
        state: Its pipeline.
        full_text: The whole text.
        text_chunks: Its pieces in order; pieces without text are skipped, equal ones count once.
        options: Id, source path, metadata and scope.

    Returns:
        The id of the document.

    Raises:
        InputError: There is no text, or an argument cannot be used.
        DuplicateError: Another document has this id or this text.
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
    work.chunks = [
        Chunk(
            # Two documents may hold the same chunk, and each must be able to go alone.
            chunk_id=compute_mdhash_id(f"{doc_id}\n{content}", "chunk-"),
            content=content,
            tokens=count_tokens(context.models.tokenizer, content),
            order=order,
        )
        for order, content in enumerate(contents)
    ]
    work.vectors = await context.models.embedder.embed(contents)
    try:
        await extract_document(context, work)
    except ModelError:
        await context.cache.flush()
        raise
    await store_custom_document(context, state, document, work)
    return doc_id


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
