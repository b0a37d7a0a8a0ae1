"""Put chunks into a better order by the rerank model, where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from lightrag.exceptions import ModelError, ModelReplyError
from lightrag.runtime.subjects import subject_logger

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.query.retrieve_chunks import FoundChunk

logger = subject_logger("lightrag.query")

# Engines that have been told that reranking is on without a reranker, and engines whose reranker is failing: a fact
# about the set-up is worth one line in the log, not one per query.
_told_missing: WeakSet[EngineContext] = WeakSet()
_told_failing: WeakSet[EngineContext] = WeakSet()


def can_rerank(context: EngineContext, enabled: bool) -> bool:
    """Tell whether chunks of a query will be reranked; warns once when that is wanted and no model is set."""
    if not enabled:
        return False
    if context.models.rerank is not None:
        return True
    if context not in _told_missing:
        _told_missing.add(context)
        logger.info("no rerank model is set: chunks keep the order of the search")
    return False


async def rerank_chunks(context: EngineContext, query: str, chunks: list[FoundChunk], top_n: int) -> list[FoundChunk]:
    """Return the best chunks in the order of the rerank model; those below ``min_rerank_score`` are left out.

    A model that fails, or whose reply cannot be used, leaves the order as it is. That is logged once until it works
    again.

    Args:
        context: The workspace; its models include a rerank model.
        query: The question.
        chunks: Candidates, in the order of the search.
        top_n: How many the model is asked for.
    """
    rerank = context.models.rerank
    if rerank is None or not chunks:
        return chunks
    documents = [chunk.content for chunk in chunks]
    try:
        reply = await rerank(query=query, documents=documents, top_n=min(top_n, len(documents)))
        ranking = read_ranking(reply, len(documents))
    except ModelError as error:
        if context not in _told_failing:
            _told_failing.add(context)
            logger.warning("rerank model failed, chunks keep the order of the search: %s", error)
        return chunks
    _told_failing.discard(context)
    lowest = context.settings.min_rerank_score
    return [chunks[index] for index, score in ranking if score >= lowest]


def read_ranking(reply: Any, count: int) -> list[tuple[int, float]]:
    """Return ``(index, score)`` of a rerank reply, best first, each index once.

    Args:
        reply: ``[{"index": int, "relevance_score": float}, ...]``.
        count: Number of documents that were sent.

    Raises:
        ModelReplyError: The reply has another form, or names a document that was not sent.
    """
    if not isinstance(reply, Sequence) or isinstance(reply, str) or not reply:
        raise ModelReplyError(f"rerank model returned {reply!r}; expected [{{'index': 0, 'relevance_score': 0.5}}]")
    scores: dict[int, float] = {}
    for item in reply:
        try:
            index, score = int(item["index"]), float(item["relevance_score"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelReplyError(
                f"rerank model returned {item!r}; expected {{'index': 0, 'relevance_score': 0.5}}"
            ) from error
        if not 0 <= index < count:
            raise ModelReplyError(f"rerank model returned index {index}; {count} documents were sent")
        scores.setdefault(index, score)
    return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)
