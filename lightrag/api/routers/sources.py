"""Routes about source paths that several documents have: which there are, and how to repair them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from lightrag.api.deps import Authenticated, GuardedRoute, WholeEngineDep
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.sources import (
    SourceConflictItem,
    SourceConflictRepairRequest,
    SourceConflictRepairResponse,
    SourceConflictsResponse,
)
from lightrag.contracts.sources import CursorAfter

router = APIRouter(
    prefix="/documents",
    tags=["documents"],
    route_class=GuardedRoute,
    dependencies=[Authenticated],
    responses=ERROR_RESPONSES,
)


@router.get("/source_conflicts")
async def list_source_conflicts(
    engine: WholeEngineDep,
    limit: Annotated[int, Query(ge=1, le=500, description="Paths on a page, count.", examples=[50])] = 50,
    cursor: Annotated[
        str | None,
        Query(max_length=4096, description="next_cursor of the page before.", examples=["archive/act-1903.md"]),
    ] = None,
) -> SourceConflictsResponse:
    """List source paths that several documents have; storing refuses such a path, other programs may not."""
    page = await engine.alist_source_conflicts(limit, cursor)
    following = page.next_position
    return SourceConflictsResponse(
        conflicts=[SourceConflictItem.of(summary) for summary in page.conflicts],
        next_cursor=following.opaque if isinstance(following, CursorAfter) else None,
    )


@router.post("/source_conflicts/repair")
async def repair_source_conflict(
    body: SourceConflictRepairRequest, engine: WholeEngineDep
) -> SourceConflictRepairResponse:
    """Let a source path stand for one of the documents that have it; the others are marked as its repetitions.

    A trial tells what would be done, and the count and fingerprint with which it can then be done. It is refused (409)
    when the documents of the path are others by then.
    """
    result = await engine.arepair_source_conflict(body.repair(), dry_run=body.dry_run)
    return SourceConflictRepairResponse(
        **{**vars(result), "demoted_sample_doc_ids": list(result.demoted_sample_doc_ids)}
    )
