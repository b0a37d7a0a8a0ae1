"""Figures for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Response

from lightrag.api.deps import Authenticated, GuardedRoute, MetricsDep, WholeEngineDep
from lightrag.api.openapi import ERROR_RESPONSES

router = APIRouter(
    tags=["health"],
    route_class=GuardedRoute,
    dependencies=[Authenticated],
    responses={status: ERROR_RESPONSES[status] for status in (401, 403)},
)

_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Figures.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(engine: WholeEngineDep, metrics: MetricsDep) -> Response:
    """Return figures of requests, documents, questions, filters and models in the Prometheus text format."""
    metrics.corpus(await engine.doc_status.get_all_status_counts(), busy=engine.pipeline_status()["busy"])
    return Response(metrics.text(), media_type=_TEXT_FORMAT)
