"""Whether graph, vectors, evidence, chunks and document status agree; and the way back when they do not.

Evidence is the record. What the graph and its vectors say must follow from it, and it must come from documents that are
processed, or from people. Everything is read page by page, so memory does not grow with the corpus.
"""

from __future__ import annotations

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import ObjectKind
from lightrag.graph.check_chunks import check_chunks
from lightrag.graph.check_objects import check_objects, check_orphans
from lightrag.graph.check_report import PAGE, Report
from lightrag.graph.manual import is_manual_document
from lightrag.graph.rebuild import without_documents
from lightrag.graph.unfinished import graph_held


async def graph_consistency(context: EngineContext, *, repair: bool = False) -> list[str]:
    """Find what does not agree.

    The graph is held meanwhile, so documents that finish wait.

    Args:
        context: The workspace.
        repair: Mend what can be mended; the rest is told again by the next call.

    Returns:
        A sentence for everything that was found, mended or not; nothing when all agree.

    Raises:
        ModelError: The embedding model failed while mending; what was mended before stays so.
    """
    report = Report(repair)
    async with graph_held(context):
        stores = context.stores
        if await stores.graph.count_nodes() and not await stores.evidence.count():
            # Mending would empty a graph that another tool wrote.
            report.add("the graph has nodes and there is no evidence at all; evidence must be rebuilt first")
            report = Report(repair=False, found=report.found)
        else:
            await _check_documents(context, report)
            for kind in ObjectKind:
                await check_objects(context, report, kind)
            await check_orphans(context, report)
        await check_chunks(context, report)
    return report.found


async def _check_documents(context: EngineContext, report: Report) -> None:
    """Find documents that have evidence and are not processed, and take them out of the graph."""
    known: dict[str, bool] = {}
    for kind in ObjectKind:
        after = ""
        while page := await context.stores.evidence.scan_objects(kind, after=after, limit=PAGE):
            after = page[-1]
            sources = await context.stores.evidence.sources_of_objects(kind, page)
            ids = {source.document_id for found in sources.values() for source in found}
            unseen = [document_id for document_id in ids if document_id not in known]
            rows = await context.stores.doc_status.get_by_ids(unseen)
            for document_id, row in zip(unseen, rows, strict=True):
                processed = row is not None and row.get("status") == DocStatus.PROCESSED
                known[document_id] = processed or is_manual_document(document_id)
    lost = sorted(document_id for document_id, is_right in known.items() if not is_right)
    for document_id in lost:
        report.add(f"document {document_id!r} has evidence and is not processed")
    if lost and report.repair:
        change = await without_documents(context, lost)
        async with context.stores.unit_of_work(change.intent()) as unit:
            await change.write(context.stores)
            await context.stores.evidence.drop_documents(lost)
            unit.corpus_changed()
