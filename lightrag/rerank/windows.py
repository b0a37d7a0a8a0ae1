"""Documents longer than a reranker reads: cut into windows, the best of which speaks for its document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lightrag.contracts.models import RerankFunc, Tokenizer
from lightrag.exceptions import InputError
from lightrag.runtime.long_texts import Windows

OVERLAP = 32
"""Tokens that neighbouring windows share."""


def by_windows(rerank: RerankFunc, tokenizer: Callable[[], Tokenizer], max_tokens: int) -> RerankFunc:
    """Return a reranker that cuts long documents for another one.

    Args:
        rerank: Ranks what it is given, and answers with indices that it was given.
        tokenizer: Returns what counts tokens; called with the first documents.
        max_tokens: Tokens of a window at the most.

    Raises:
        InputError: The size is not positive.
    """
    if max_tokens < 1:
        raise InputError(f"max_tokens_per_doc {max_tokens!r} must be at least 1")

    async def ranked(
        query: str, documents: Sequence[str], top_n: int | None = None, **keywords: Any
    ) -> list[dict[str, Any]]:
        cut = Windows(tokenizer(), max_tokens, OVERLAP).cut(documents)
        if cut is None:
            return list(await rerank(query=query, documents=list(documents), top_n=top_n, **keywords))
        # Every window is asked for: the best ones could all be of one document.
        reply = await rerank(query=query, documents=cut.pieces, top_n=None, **keywords)
        best: dict[int, float] = {}
        for item in reply:
            owner, score = cut.owners[item["index"]], float(item["relevance_score"])
            best[owner] = max(score, best.get(owner, score))
        order = sorted(best.items(), key=lambda pair: pair[1], reverse=True)
        return [{"index": index, "relevance_score": score} for index, score in order[:top_n]]

    return ranked
