"""Step ``chunk``: cut the text and embed the pieces."""

from __future__ import annotations

import inspect
from typing import Any

from lightrag.chunker.defaults import strategy_defaults
from lightrag.chunker.registry import CUSTOM, chunk_text_async
from lightrag.context import EngineContext
from lightrag.exceptions import InputError
from lightrag.ingest.options import ProcessOptions
from lightrag.ingest.work import Chunk, DocumentWork
from lightrag.runtime.text import is_readable
from lightrag.runtime.tokens import count_tokens

_OWN_FIELDS = frozenset({"tokens", "content", "chunk_order_index", "full_doc_id", "file_path", "chunk_id"})


async def chunk_document(context: EngineContext, work: DocumentWork) -> None:
    """Cut a document into chunks with token counts, and embed them.

    Raises:
        InputError: The document has no text, or the options do not fit together.
        ModelError: The embedding model failed.
    """
    if not is_readable(work.text):
        raise InputError("the document is empty: it holds no text but white space or characters that cannot be seen")
    options = ProcessOptions.from_row(work.full_doc)
    rows = await _cut(context, work.text, options, work)
    work.chunks = [_chunk(context, work.doc_id, order, row) for order, row in enumerate(rows)]
    work.chunks = [chunk for chunk in work.chunks if is_readable(chunk.content)]
    if not work.chunks:
        raise InputError("the chunker returned no chunk for a document that has text")
    work.vectors = await context.models.embedder.embed([chunk.content for chunk in work.chunks])


async def _cut(context: EngineContext, text: str, options: ProcessOptions, work: DocumentWork) -> list[dict[str, Any]]:
    settings = context.settings
    params = dict((options.chunking or {}).get("params") or {})
    custom = context.chunking_func
    if custom is not None and (options.chunking or {}).get("strategy", "custom") == "custom":
        work.notes["chunk_method"] = "legacy_chunking_func"
        # Positional, as chunking functions of users are written.
        outcome = custom(
            context.models.tokenizer,
            text,
            options.split_by_character,
            options.split_by_character_only,
            params.get("chunk_overlap_token_size", settings.chunk_overlap_token_size),
            params.get("chunk_token_size", settings.chunk_token_size),
        )
        return list(await outcome if inspect.isawaitable(outcome) else outcome)
    strategy = str((options.chunking or {}).get("strategy") or "fixed_token")
    if strategy == CUSTOM:
        strategy = "fixed_token"  # what the engine's own function would do, where the user gave none
    if options.split_by_character is not None:
        params["split_by_character"] = options.split_by_character
        params["split_by_character_only"] = options.split_by_character_only
    defaults = strategy_defaults(settings, strategy)
    work.notes["chunk_method"] = strategy
    work.notes["chunk_opts"] = ", ".join(f"{name}={value}" for name, value in sorted({**defaults, **params}.items()))
    return await chunk_text_async(
        context.models.tokenizer, text, strategy, params, defaults, context.models.embedder.embed
    )


def _chunk(context: EngineContext, doc_id: str, order: int, row: dict[str, Any]) -> Chunk:
    content = str(row.get("content") or "").strip()
    tokens = row.get("tokens")
    return Chunk(
        chunk_id=f"{doc_id}-chunk-{order:03d}",
        content=content,
        tokens=int(tokens) if tokens else count_tokens(context.models.tokenizer, content),
        order=order,
        extra={name: value for name, value in row.items() if name not in _OWN_FIELDS},
    )
