"""Routes that answer questions."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Body, Request

from lightrag.api.answers import answer_lines, whole_answer
from lightrag.api.deps import Authenticated, EngineDep, GuardedRoute, MetricsDep
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.filters import FilterFields, preset_examples
from lightrag.api.schemas.query import PreviewResponse, QueryDataResponse, QueryRequest, QueryResponse
from lightrag.api.streaming import NDJSONResponse, first_then_rest, unless_gone
from lightrag.query_filters import has_active_filters

_QUESTION = {"query": "Which acts were in force in Velmouth in 1931?", "mode": "mix"}
_EXAMPLES = {
    "plain": {"summary": "A question without limits", "value": _QUESTION},
    "tags": {
        "summary": "Only documents with these tags",
        "value": {**_QUESTION, "required_tags": ["type:act"], "forbidden_tags": ["status:repealed"]},
    },
    **preset_examples(_QUESTION),
}
_LINES = {
    200: {
        "description": "One JSON object per line: progress, references, response, error, response_time.",
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string"},
                "example": '{"references": [{"reference_id": "1", "file_path": "a.md", "content": null}]}\n'
                '{"response": "The Harbour Act "}\n{"response": "of 1928 [1]."}\n',
            }
        },
    }
}

Question = Annotated[QueryRequest, Body(openapi_examples=_EXAMPLES)]

router = APIRouter(tags=["query"], route_class=GuardedRoute, dependencies=[Authenticated], responses=ERROR_RESPONSES)


@router.post("/query", response_model_exclude_unset=True)
async def query_text(request: Request, body: Question, engine: EngineDep, metrics: MetricsDep) -> QueryResponse:
    """Answer a question from the documents. The work stops when the client goes away."""
    return await unless_gone(request, whole_answer(engine, metrics, body))


@router.post("/query/stream", response_class=NDJSONResponse, responses=_LINES)  # type: ignore[arg-type]
async def query_text_stream(request: Request, body: Question, engine: EngineDep, metrics: MetricsDep) -> NDJSONResponse:
    """Answer a question piece by piece. The work stops when the client goes away."""
    return NDJSONResponse(await first_then_rest(request, answer_lines(engine, metrics, body)))


@router.post("/query/data", response_model_exclude_unset=True)
async def query_data(request: Request, body: Question, engine: EngineDep, metrics: MetricsDep) -> QueryDataResponse:
    """Return what an answer would be based on: entities, relations, chunks and references. No model answers."""
    begin = time.perf_counter()
    param = body.to_param()
    outcome = "failed"
    try:
        found = await unless_gone(request, engine.aquery_data(body.query, param))
        outcome = found["metadata"].get("failure_reason", "success")
        return QueryDataResponse(**found)
    finally:
        seconds = time.perf_counter() - begin
        metrics.query(param.mode, filtered=has_active_filters(param), outcome=outcome, seconds=seconds)


@router.post("/query/preview")
async def preview_filter(
    body: Annotated[FilterFields, Body(openapi_examples=preset_examples({}))], engine: EngineDep
) -> PreviewResponse:
    """Tell how many documents a filter would leave, and name some, without asking anything."""
    return PreviewResponse(**asdict(await engine.afilter_preview(body.filter_param())))
