"""Custom graphs that another tool took in: it keeps their chunks and no document, and we know what is by its document.

Without a row of their own they could not be dated, tagged or deleted, and a repair would take them for remains.
"""

from __future__ import annotations

from lightrag.constants import CUSTOM_KG_SOURCE
from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.contracts.kv import Record
from lightrag.ingest.custom_documents import CUSTOM_KG_METHOD
from lightrag.ingest.documents import new_track_id, timestamp
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.text import content_summary

_PAGE = 500


async def adopt_custom_graphs(context: EngineContext) -> list[str]:
    """Give every custom graph that has chunks and no document a processed document of the id that its chunks name.

    Several graphs under one id are one document, as they are for the other tool. Chunks that a document was cut into
    never come back in this way, whatever became of it.

    Returns:
        The ids of the documents that are new, or have more chunks than before.

    Raises:
        StorageError: A store failed; what was written before stays.
    """
    stores = context.stores
    adopted: dict[str, None] = {}
    after = ""
    while page := await stores.text_chunks.scan(after=after, limit=_PAGE):
        after = page[-1][0]
        given: dict[str, dict[str, Record]] = {}
        for chunk_id, chunk in page:
            doc_id = str(chunk.get("full_doc_id") or "")
            if doc_id and chunk_id == compute_mdhash_id(str(chunk.get("content") or ""), "chunk-"):
                given.setdefault(doc_id, {})[chunk_id] = chunk
        rows = await stores.doc_status.get_by_ids(list(given))
        for (doc_id, chunks), row in zip(given.items(), rows, strict=True):
            if await _adopt(context, doc_id, chunks, row):
                adopted[doc_id] = None
    return list(adopted)


async def _adopt(context: EngineContext, doc_id: str, chunks: dict[str, Record], row: Record | None) -> bool:
    """Write the document of some chunks, and tell whether there was anything to write."""
    stores = context.stores
    status = await _new_row(context, chunks) if row is None else DocProcessingStatus.from_row(row)
    known = set(status.chunks_list)
    added = {chunk_id: chunk for chunk_id, chunk in chunks.items() if chunk_id not in known}
    if not added or status.status is not DocStatus.PROCESSED:
        return False
    status.chunks_list = [*status.chunks_list, *added]
    status.chunks_count = len(status.chunks_list)
    full_docs = {}
    if status.metadata.get("chunk_method") == CUSTOM_KG_METHOD:
        before = await stores.full_docs.get_by_id(doc_id) or {}
        texts = [str(row.get("content") or "") for row in (before, *added.values())]
        text = "\n\n".join(filter(None, texts))
        status.content_length = len(text)
        status.content_summary = content_summary(text)
        full_docs[doc_id] = {"content": text, "file_path": status.file_path, "parse_format": "raw"}
    async with stores.unit_of_work():
        await stores.full_docs.upsert(full_docs)
        await stores.doc_status.upsert({doc_id: status.to_row()})
    return True


async def _new_row(context: EngineContext, chunks: dict[str, Record]) -> DocProcessingStatus:
    paths = {str(chunk.get("file_path") or "") for chunk in chunks.values()}
    path = paths.pop() if len(paths) == 1 else ""
    # A source path identifies a document: another one may have it already.
    if not path or await context.stores.doc_status.get_doc_by_file_path(path) is not None:
        path = CUSTOM_KG_SOURCE
    now = timestamp()
    return DocProcessingStatus(
        content_summary="",
        content_length=0,
        file_path=path,
        status=DocStatus.PROCESSED,
        created_at=now,
        updated_at=now,
        track_id=new_track_id(),
        metadata={"chunk_method": CUSTOM_KG_METHOD, "kg_write_state": "graph_mutation_started"},
    )
