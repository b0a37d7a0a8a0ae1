"""Routes of the pipeline: what it does, trying again, stopping, the cache."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path

from lightrag.api.deps import (
    Authenticated,
    BackgroundDep,
    EngineDep,
    GuardedRoute,
    ScansDep,
    WholeCorpus,
    WholeEngineDep,
)
from lightrag.api.errors import ApiError
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.documents import ClearCacheRequest, DocStatusResponse, OutcomeResponse, ReprocessResponse
from lightrag.api.schemas.pipeline import ForceResetRequest, ForceResetResponse, PipelineStatusResponse

router = APIRouter(
    prefix="/documents",
    tags=["pipeline"],
    route_class=GuardedRoute,
    dependencies=[Authenticated],
    responses=ERROR_RESPONSES,
)


@router.get("/pipeline_status")
async def get_pipeline_status(engine: EngineDep, scans: ScansDep) -> PipelineStatusResponse:
    """Tell what the pipeline does."""
    return PipelineStatusResponse.of(engine.pipeline_status(), scanning=scans.is_running)


@router.post("/reprocess_failed", dependencies=[WholeCorpus])
async def reprocess_failed_documents(background: BackgroundDep) -> ReprocessResponse:
    """Try documents that failed once more, with the metadata that they were stored with."""
    background.wake(retry_failed=True)
    return ReprocessResponse(
        status="reprocessing_started", message="failed documents are tried again in the background", track_id=""
    )


@router.post("/{doc_id:path}/retry")
async def retry_document(
    doc_id: Annotated[str, Path(description="Id of the document.", examples=["doc-7d1e0a"])],
    engine: EngineDep,
    background: BackgroundDep,
) -> DocStatusResponse:
    """Try one failed document once more, with the metadata that it was stored with."""
    row = await engine.aretry_document(doc_id)
    background.wake()
    return DocStatusResponse.of(doc_id, row)


@router.post("/cancel_pipeline")
async def cancel_pipeline(engine: WholeEngineDep) -> OutcomeResponse:
    """Ask the pipeline to stop; documents that it has not finished fail with that reason and can be tried again."""
    if engine.cancel_pipeline():
        return OutcomeResponse(status="cancellation_requested", message="the pipeline stops at its next step")
    return OutcomeResponse(status="not_busy", message="no document is being processed")


@router.post("/clear_cache")
async def clear_cache(
    engine: WholeEngineDep, _body: Annotated[ClearCacheRequest | None, Body()] = None
) -> OutcomeResponse:
    """Forget all replies of the models: answers, keywords, extractions."""
    await engine.context.cache.clear()
    return OutcomeResponse(status="success", message="the cache of replies is empty")


@router.post("/recovery/force_reset", dependencies=[WholeCorpus])
async def force_reset_recovery(body: ForceResetRequest) -> ForceResetResponse:
    """Answer clients that know of a recovery by hand: an interrupted run resumes by itself, so there is none."""
    if not body.confirm:
        raise ApiError(400, "confirm is false; send true to confirm", "invalid_input")
    return ForceResetResponse(
        status="no_recovery_required", message="nothing waits for a recovery", cancelled_manual_retries=0
    )
