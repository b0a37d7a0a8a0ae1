"""Keywords of a question: given by the caller, remembered, or asked from the model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lightrag.llm.replies import parse_keywords_reply
from lightrag.prompts.building import keywords_prompt
from lightrag.query.cache import keep
from lightrag.query.plan import Keywords, QueryPlan
from lightrag.runtime.llm_cache import INGEST_MODE, KEYWORDS
from lightrag.runtime.model_set import PRIORITY_QUERY

if TYPE_CHECKING:
    from lightrag.context import EngineContext

# A question shorter than this is searched for as it is when it has no keywords; a longer one is no search term.
MAX_KEYWORD_QUERY_CHARS = 50


async def keywords_of_query(context: EngineContext, plan: QueryPlan) -> Keywords:
    """Return the keywords to search for; empty when a long question has none.

    Raises:
        ModelError: The keyword model failed.
    """
    keywords = plan.given
    if keywords.empty:
        keywords = await _extracted(context, plan.query)
    if keywords.empty and len(plan.query) < MAX_KEYWORD_QUERY_CHARS:
        return Keywords(low=(plan.query,))
    return keywords


async def _extracted(context: EngineContext, query: str) -> Keywords:
    """Return the model's keywords.

    They depend on the prompt alone, so the cache knows nothing of filters, scopes or the corpus.
    """
    model = context.models.keyword
    language = context.addon.get("language") or context.settings.summary_language
    prompt = keywords_prompt(query, language)
    key = context.cache.key(INGEST_MODE, KEYWORDS, prompt, model.identity)
    cached = await context.cache.get(key)
    if cached is not None:
        return _read(cached)
    reply = await model.text(prompt, priority=PRIORITY_QUERY, response_format={"type": "json_object"})
    high, low = parse_keywords_reply(reply)
    keywords = Keywords(tuple(high), tuple(low))
    if not keywords.empty:
        await keep(context, key, _written(keywords), prompt=query)
    return keywords


def _written(keywords: Keywords) -> str:
    return json.dumps({"high_level_keywords": keywords.high, "low_level_keywords": keywords.low}, ensure_ascii=False)


def _read(text: str) -> Keywords:
    stored = json.loads(text)
    return Keywords(tuple(stored["high_level_keywords"]), tuple(stored["low_level_keywords"]))
