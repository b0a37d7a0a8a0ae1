"""Whether documents, their chunks and the vectors of those agree."""

from __future__ import annotations

from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocStatus
from lightrag.graph.check_report import PAGE, Report
from lightrag.stores import Intent


async def check_chunks(context: EngineContext, report: Report) -> None:
    """Compare chunks with the status rows of their documents, and chunk vectors with chunks.

    A chunk that is missing cannot be mended: its document must be processed again.

    Raises:
        ModelError: The embedding model failed while mending.
    """
    await _check_documents(context, report)
    await _check_stored_chunks(context, report)
    await _check_vectors(context, report)


async def _check_documents(context: EngineContext, report: Report) -> None:
    """Find chunks that a document says it has and that are not stored."""
    after: tuple[str, str] | None = None
    statuses = [DocStatus.PROCESSED]
    while page := await context.stores.doc_status.get_docs_by_statuses_page(statuses, limit=PAGE, after=after):
        after = (page[-1][1].created_at, page[-1][0])
        listed = {chunk_id: doc_id for doc_id, row in page for chunk_id in row.chunks_list}
        missing = await context.stores.text_chunks.filter_keys(set(listed))
        for chunk_id in sorted(missing):
            report.add(f"document {listed[chunk_id]!r} has lost its chunk {chunk_id!r}; process it again")


async def _check_stored_chunks(context: EngineContext, report: Report) -> None:
    """Find chunks that no processed document lists, and chunks whose vector is missing or of another text."""
    stores = context.stores
    after = ""
    while page := await stores.text_chunks.scan(after=after, limit=PAGE):
        after = page[-1][0]
        doc_ids = list({str(row.get("full_doc_id") or "") for _, row in page})
        documents = dict(zip(doc_ids, await stores.doc_status.get_by_ids(doc_ids), strict=True))
        vectors = await stores.chunks.get_by_ids([chunk_id for chunk_id, _ in page])
        orphans: list[str] = []
        unembedded: dict[str, dict[str, Any]] = {}
        for (chunk_id, row), vector in zip(page, vectors, strict=True):
            document = documents[str(row.get("full_doc_id") or "")] or {}
            if document.get("status") != DocStatus.PROCESSED or chunk_id not in (document.get("chunks_list") or ()):
                orphans.append(chunk_id)
                report.add(f"chunk {chunk_id!r} belongs to no processed document")
            elif vector is None or vector.get("content") != row.get("content"):
                unembedded[chunk_id] = {**(vector or {}), **_vector_row(row)}
                report.add(f"chunk {chunk_id!r} has no vector of its text")
        if report.repair and (orphans or unembedded):
            async with stores.unit_of_work(Intent()) as unit:
                await stores.text_chunks.delete(orphans)
                await stores.chunks.delete(orphans)
                await stores.chunks.upsert(unembedded)
                unit.corpus_changed()


def _vector_row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(name, "") for name in ("content", "full_doc_id", "file_path")}


async def _check_vectors(context: EngineContext, report: Report) -> None:
    stores = context.stores
    after = ""
    while page := await stores.chunks.scan_ids(after=after, limit=PAGE):
        after = page[-1]
        orphans = sorted(await stores.text_chunks.filter_keys(set(page)))
        for chunk_id in orphans:
            report.add(f"chunk vector {chunk_id!r} belongs to no chunk")
        if report.repair and orphans:
            async with stores.unit_of_work(Intent()) as unit:
                await stores.chunks.delete(orphans)
                unit.corpus_changed()
