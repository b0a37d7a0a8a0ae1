"""What a query gives back, and the public shapes made of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from lightrag.contracts.query import QueryMode

NO_RESULTS = "no_results"
QUERY_FAILED = "query_failed"


@dataclass(slots=True)
class QueryResult:
    """Outcome of one query.

    Attributes:
        mode: Mode of the query.
        failure: Why there is nothing, such as ``no_results``; ``""`` on success.
        message: One line for people.
        error_type: Class of the error that made it fail; ``""`` otherwise.
        high_keywords: High-level keywords in use.
        low_keywords: Low-level keywords in use.
        entities: Entities in the context, as dicts of the public shape.
        relations: Relations in the context.
        chunks: Chunks in the context.
        references: Reference list.
        processing: Counts of each step; ``None`` when nothing was retrieved.
        filter: What the active filter did; ``None`` when none is active.
        content: Answer, context or prompt as text; ``None`` when it streams or was not asked for.
        stream: Pieces of the answer; ``None`` when it does not stream.
        llm_generated: Whether the text is a model's answer.
        cut_off: Whether it ends at the model's length limit; an answer in pieces raises an error there instead.
    """

    mode: QueryMode
    failure: str = ""
    message: str = "Query executed"
    error_type: str = ""
    high_keywords: list[str] = field(default_factory=list)
    low_keywords: list[str] = field(default_factory=list)
    entities: list[dict[str, Any]] = field(default_factory=list)
    relations: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)
    processing: dict[str, int] | None = None
    filter: dict[str, Any] | None = None
    content: str | None = None
    stream: AsyncIterator[str] | None = None
    llm_generated: bool = False
    cut_off: bool = False


def to_data(result: QueryResult) -> dict[str, Any]:
    """Return the shape of ``aquery_data``: ``status, message, data, metadata``."""
    if result.failure:
        return {
            "status": "failure",
            "message": result.message,
            "data": {},
            "metadata": {
                "failure_reason": result.failure,
                "mode": result.mode,
                **({"error_type": result.error_type} if result.error_type else {}),
                **_filter_report(result),
            },
        }
    metadata: dict[str, Any] = {
        "query_mode": result.mode,
        "keywords": {"high_level": result.high_keywords, "low_level": result.low_keywords},
        **_filter_report(result),
    }
    if result.processing is not None:
        metadata["processing_info"] = result.processing
    return {
        "status": "success",
        "message": result.message,
        "data": {
            "entities": result.entities,
            "relationships": result.relations,
            "chunks": result.chunks,
            "references": result.references,
        },
        "metadata": metadata,
    }


def _filter_report(result: QueryResult) -> dict[str, Any]:
    return {} if result.filter is None else {"filter": result.filter}


def to_llm(result: QueryResult) -> dict[str, Any]:
    """Return the shape of ``aquery_llm``: that of :func:`to_data` and ``llm_response``.

    A text that ends at the model's length limit has ``cut_off`` in it besides.
    """
    return {
        **to_data(result),
        "llm_response": {
            "content": result.content,
            "response_iterator": result.stream,
            "is_streaming": result.stream is not None,
            "llm_generated": result.llm_generated,
            **({"cut_off": True} if result.cut_off else {}),
        },
    }


def to_answer(result: QueryResult) -> str | AsyncIterator[str]:
    """Return what ``aquery`` gives: the text, or the iterator of its pieces when it streams."""
    return result.stream if result.stream is not None else result.content or ""


def no_results(mode: QueryMode) -> QueryResult:
    """Return the outcome of a query that found nothing; the caller adds the words."""
    return QueryResult(mode=mode, failure=NO_RESULTS, message="Query returned no results")


def failed(mode: QueryMode, error: Exception) -> QueryResult:
    """Return the outcome of a query during which a store or a model failed."""
    kind = type(error).__name__
    return QueryResult(mode=mode, failure=QUERY_FAILED, message=f"Query failed: {error}", error_type=kind)
