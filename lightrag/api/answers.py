"""Questions: from a request to a response, whole or line by line."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lightrag.api.errors import ApiError, internal_error
from lightrag.api.schemas.query import QueryRequest, QueryResponse, Reference
from lightrag.exceptions import LightRAGError
from lightrag.query_filters import has_active_filters
from lightrag.runtime.model_errors import TruncatedReplyError

if TYPE_CHECKING:
    from lightrag.api.metrics import Metrics
    from lightrag.contracts.query import QueryParam
    from lightrag.engine.restricted import RestrictedEngine
    from lightrag.lightrag import LightRAG

logger = logging.getLogger("lightrag.api")

Lines = AsyncGenerator[dict[str, Any], None]
_END = object()
# Code of the error that follows the last piece of an answer that was cut off at the model's length limit.
CUT_OFF = "reply_cut_off"


async def ask(
    engine: LightRAG | RestrictedEngine, metrics: Metrics, query: str, param: QueryParam, **options: Any
) -> dict[str, Any]:
    """Ask the engine, and count the question.

    Args:
        engine: The engine.
        metrics: Counts it.
        query: The question.
        param: Its parameters.
        options: For :meth:`LightRAG.aquery_llm`.

    Raises:
        ApiError: A model or a store failed (502).
        InputError: The question cannot be asked so.
    """
    begin = time.perf_counter()
    outcome = "failed"
    try:
        result = await engine.aquery_llm(query, param, **options)
        reason = result["metadata"].get("failure_reason")
        outcome = reason or "success"
        if reason == "query_failed":
            outcome = "failed"
            raise ApiError(502, result["message"], "query_failed")
        return result
    finally:
        metrics.query(
            param.mode, filtered=has_active_filters(param), outcome=outcome, seconds=time.perf_counter() - begin
        )


async def whole_answer(engine: LightRAG | RestrictedEngine, metrics: Metrics, request: QueryRequest) -> QueryResponse:
    """Return an answer as one object."""
    begin = time.perf_counter()
    result = await ask(engine, metrics, request.query, request.to_param())
    answer = result["llm_response"]
    return QueryResponse(
        response=answer["content"] or "",
        references=references_of(result, request),
        response_time=round(time.perf_counter() - begin, 3),
        llm_generated=answer["llm_generated"],
        **_marks(answer),
    )


def _marks(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what an answer carries only when it stops at the model's length limit."""
    return {"cut_off": True} if answer.get("cut_off") else {}


def references_of(result: dict[str, Any], request: QueryRequest) -> list[Reference] | None:
    """Return the sources of an answer as the request wants them; ``None`` if it wants none."""
    if not request.with_references:
        return None
    data = result.get("data") or {}
    texts: dict[str, list[str]] = {}
    if request.include_chunk_content:
        for chunk in data.get("chunks") or ():
            texts.setdefault(chunk["reference_id"], []).append(chunk["content"])
    return [
        Reference(**{**reference, "content": texts.get(reference["reference_id"])})
        for reference in data.get("references") or ()
    ]


async def answer_lines(engine: LightRAG | RestrictedEngine, metrics: Metrics, request: QueryRequest) -> Lines:
    """Yield an answer line by line: steps if wanted, references, pieces; or all in one line when it does not stream.

    An error of the request itself is raised before the first line; one of a model or store is a line of its own.
    """
    begin = time.perf_counter()
    param = request.to_param(stream=request.stream is not False)
    try:
        if request.include_progress:
            result: dict[str, Any] = {}
            async for step in _with_progress(engine, metrics, request.query, param, result):
                yield {"progress": step}
        else:
            result = await ask(engine, metrics, request.query, param)
        async for line in _result_lines(result, request):
            yield line
        if request.include_progress:
            yield {"response_time": round(time.perf_counter() - begin, 3)}
    except ApiError as error:
        yield {"error": error.detail, "code": error.code}


async def _result_lines(result: dict[str, Any], request: QueryRequest) -> Lines:
    answer = result["llm_response"]
    found = references_of(result, request)
    references = None if found is None else [one.model_dump() for one in found]
    if not answer["is_streaming"]:
        line = {"response": answer["content"] or "", "llm_generated": answer["llm_generated"], **_marks(answer)}
        yield line if references is None else {**line, "references": references}
        return
    if references is not None:
        yield {"references": references}
    async for piece in pieces_of(answer["response_iterator"]):
        if isinstance(piece, str):
            yield {"response": piece}
        else:
            yield {"error": piece.detail, "code": piece.code}


async def pieces_of(stream: AsyncIterator[str]) -> AsyncGenerator[str | ApiError, None]:
    """Yield the pieces of an answer, and as the last one an error if the model breaks off; closes the stream."""
    try:
        async for piece in stream:
            if piece:
                yield piece
    except LightRAGError as error:
        logger.warning("an answer broke off: %s", error)
        yield ApiError(502, str(error), CUT_OFF if isinstance(error, TruncatedReplyError) else "model_error")
    except Exception:
        # The request's boundary: the status is long sent, and model functions of users raise what they like.
        error_id, text = internal_error()
        logger.exception("an answer broke off, error_id %s", error_id)
        yield ApiError(500, text, "internal_error")
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


async def _with_progress(
    engine: LightRAG | RestrictedEngine, metrics: Metrics, query: str, param: QueryParam, result: dict[str, Any]
) -> AsyncGenerator[str, None]:
    """Yield the steps of a query as they begin; what it returns is put into ``result``."""
    steps: asyncio.Queue[Any] = asyncio.Queue()

    async def work() -> None:
        try:
            result.update(await ask(engine, metrics, query, param, progress_callback=steps.put_nowait))
        finally:
            steps.put_nowait(_END)

    task = asyncio.create_task(work())
    try:
        while (step := await steps.get()) is not _END:
            yield step
        await task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, LightRAGError, ApiError):
            await task
