"""The answer cache: an answer is found again only by the very same question over the very same corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightrag.exceptions import StorageError
from lightrag.query_filters import build_filter_cache_hash
from lightrag.runtime.hashing import compute_mdhash_id
from lightrag.runtime.llm_cache import QUERY, AnswerIdentity
from lightrag.runtime.subjects import subject_logger
from lightrag.types import JsonScalar

if TYPE_CHECKING:
    from lightrag.context import EngineContext
    from lightrag.query.state import QueryState

logger = subject_logger("lightrag.query")


def answer_key(state: QueryState, prompt: str) -> str:
    """Return the cache key of an answer; ``""`` when it must not be cached because it depends on a conversation.

    It holds every parameter that shapes the result, the canonical filter, the scope, the caller's system prompt, the
    identity of the model and the corpus version read before the first retrieval. The hash of the whole prompt is in it
    too: what could still differ (a reranker that failed once, other keywords from the model) is another prompt.

    Args:
        state: The query.
        prompt: System prompt with the context, as the model would receive it.
    """
    plan = state.plan
    if plan.param.conversation_history or not state.context.cache.is_enabled(QUERY):
        return ""
    budgets = plan.budgets
    parameters: dict[str, JsonScalar] = {
        "response type": plan.response_type,
        "top k": budgets.top_k,
        "chunk top k": budgets.chunk_top_k,
        "entity tokens": budgets.entity_tokens,
        "relation tokens": budgets.relation_tokens,
        "total tokens": budgets.total_tokens,
        "high keywords": _joined(state.keywords.high),
        "low keywords": _joined(state.keywords.low),
        "rerank": plan.param.enable_rerank,
        "document metadata": plan.param.include_document_metadata,
        "prompt": compute_mdhash_id(prompt),
    }
    return AnswerIdentity(
        mode=plan.mode,
        query=plan.query,
        model=state.context.models.query.identity,
        corpus_version=state.corpus_version,
        filter_key=(build_filter_cache_hash(plan.filter) or "") if plan.filter is not None else "",
        scope=plan.scope or "",
        system_prompt=plan.system_prompt,
        user_prompt=plan.user_prompt,
        parameters=parameters,
    ).cache_key()


def _joined(words: tuple[str, ...]) -> str:
    """Join keywords with their lengths, so that no two lists give one text."""
    return "".join(f"{len(word)}:{word}" for word in words)


async def keep(context: EngineContext, key: str, text: str, *, prompt: str) -> None:
    """Keep a reply of a model.

    The reply is there and paid for, so a store that cannot keep it is no reason to fail the query.

    Args:
        context: The workspace.
        key: Its key; ``""`` keeps nothing.
        text: The reply; an empty one is not kept.
        prompt: The question, for people who look into the store.
    """
    if not key or not text.strip():
        return
    try:
        await context.cache.put(key, text, prompt=prompt)
    except StorageError as error:
        logger.warning("a model's reply could not be cached: %s", error)
