"""Repair of source paths that stand for several documents, while nobody adds or changes any."""

from __future__ import annotations

from lightrag.context import EngineContext
from lightrag.contracts.sources import SourceConflictRepairResult, SourceRepair
from lightrag.ingest.announce import announce_documents
from lightrag.ingest.pipeline import holding
from lightrag.ingest.state import PipelineState


async def repair_source_conflict(
    context: EngineContext, state: PipelineState, repair: SourceRepair, *, dry_run: bool
) -> SourceConflictRepairResult:
    """Let a path stand for one document, or only tell what that would do.

    Raises:
        InputError: The document that was chosen does not have the path.
        SourceConflictRepairCASError: The documents are others than the caller saw.
        PipelineBusyError: Documents are being processed or deleted; a run writes the rows that it has read.
    """
    if dry_run:
        return await _repair(context, repair, dry_run=True)
    async with holding(context, state, f"repairing the source path {repair.canonical_source_key!r}"):
        async with state.enqueue_lock:
            result = await _repair(context, repair, dry_run=False)
        rows = await context.stores.doc_status.get_full_docs_by_ids(result.demoted_sample_doc_ids)
        announce_documents(context, rows)
    return result


async def _repair(context: EngineContext, repair: SourceRepair, *, dry_run: bool) -> SourceConflictRepairResult:
    return await context.stores.doc_status.repair_source_conflict(
        repair.canonical_source_key,
        primary_doc_id=repair.primary_doc_id,
        expected_candidate_count=repair.expected_candidate_count,
        expected_candidate_fingerprint=repair.expected_candidate_fingerprint,
        dry_run=dry_run,
    )
