"""Bring the scopes of a corpus in line with its tags and settings, from evidence, without extracting again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.contracts.evidence import Evidence
from lightrag.graph.merge import merge_evidence
from lightrag.graph.rebuild import with_changed_document
from lightrag.graph.unfinished import graph_held
from lightrag.ingest.persist import in_partitions, scope_tags_of
from lightrag.ingest.pipeline import holding
from lightrag.ingest.state import PipelineState
from lightrag.query_filters import document_facts

# Documents whose new scopes are merged at once.
_GROUP = 32


@dataclass(frozen=True)
class ScopeRebuild:
    """Outcome of a rebuild.

    Attributes:
        documents: Processed documents that were looked at.
        changed: Documents that joined or left a scope.
    """

    documents: int
    changed: int


async def rebuild_scopes(
    context: EngineContext, state: PipelineState, progress: Callable[[int, int], None] | None = None
) -> ScopeRebuild:
    """Give every document the scopes that its tags name now, and take it out of all others.

    With scopes switched off that removes every variant that came from documents; what people said by hand in a scope
    stays. Every group of documents is one unit of work, so an interrupted run is continued by the next.

    Args:
        context: The workspace.
        state: Its pipeline, which must be idle.
        progress: Told how many documents are done, and of how many.

    Raises:
        PipelineBusyError: Documents are being processed.
        ModelError: A description or vector could not be computed; groups before stay done.
    """
    async with holding(context, state, "rebuilding scopes", destructive=True):
        return await _rebuild(context, state, progress)


async def _rebuild(
    context: EngineContext, state: PipelineState, progress: Callable[[int, int], None] | None
) -> ScopeRebuild:
    doc_status = context.stores.doc_status
    total = (await doc_status.get_status_counts()).get(DocStatus.PROCESSED, 0)
    done = changed = 0
    after: tuple[str, str] | None = None
    while page := await doc_status.get_docs_by_statuses_page([DocStatus.PROCESSED], limit=_GROUP, after=after):
        async with state.enqueue_lock, graph_held(context):
            changed += await _align(context, [doc_id for doc_id, _ in page])
        done += len(page)
        after = (page[-1][1].created_at, page[-1][0])
        if progress is not None:
            progress(done, total)
    return ScopeRebuild(done, changed)


async def _align(context: EngineContext, doc_ids: list[str]) -> int:
    """Bring a group of documents in line; return how many had to change.

    Their rows are read here, under the locks: a change of tags that had begun before may have ended since, and a
    document must not go back into the graph of a scope that it has left.
    """
    evidence = context.stores.evidence
    stored = zip(doc_ids, await context.stores.doc_status.get_by_ids(doc_ids), strict=True)
    page = [(doc_id, DocProcessingStatus.from_row(row)) for doc_id, row in stored if row is not None]
    rows_of: dict[str, list[Evidence]] = {doc_id: [] for doc_id, _ in page}
    for row in await evidence.of_documents(list(rows_of)):
        rows_of[row.document_id].append(row)
    gained: list[Evidence] = []
    changed: set[str] = set()
    for doc_id, status in page:
        wanted = scope_tags_of(context, status.metadata)
        present = {row.tenant_tag for row in rows_of[doc_id]} - {""}
        missing = [tag for tag in wanted if tag not in present]
        gained.extend(in_partitions([row for row in rows_of[doc_id] if not row.tenant_tag], missing))
        lost = present - set(wanted)
        if lost:
            await _leave(context, doc_id, status, [row for row in rows_of[doc_id] if row.tenant_tag in lost])
        if missing or lost:
            changed.add(doc_id)
    if gained:
        facts = {doc_id: document_facts(status.metadata) for doc_id, status in page}
        change = await merge_evidence(context, gained, facts)
        await context.cache.flush()
        joined = {row.document_id: () for row in gained}
        async with context.stores.unit_of_work(change.intent(documents=joined, evidence=gained)) as unit:
            await change.write(context.stores)
            unit.corpus_changed()
    return len(changed)


async def _leave(context: EngineContext, doc_id: str, status: DocProcessingStatus, rows: list[Evidence]) -> None:
    """Take a document out of the scopes that some of its rows are of."""
    lost = {row.tenant_tag for row in rows}
    change = await with_changed_document(context, doc_id, status.metadata, lost_tags=lost)
    async with context.stores.unit_of_work(change.intent(documents={doc_id: ()}, evidence=rows)) as unit:
        await change.write(context.stores)
        await context.stores.evidence.drop_of_document(doc_id, lost)
        unit.corpus_changed()
