"""What a query asks for, checked once and then fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from lightrag.contracts.query import QueryMode, QueryParam
from lightrag.exceptions import QueryValidationError, UnsupportedFilterError
from lightrag.query_filters import VectorQueryFilter, build_vector_query_filter
from lightrag.settings import Settings

QUERY_MODES: tuple[QueryMode, ...] = get_args(QueryMode)
MAX_RESULTS = 1_000
MAX_BUDGET_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Budgets:
    """How much of what reaches the context.

    Attributes:
        top_k: Entities or relations taken from a vector search.
        chunk_top_k: Chunks at the most.
        entity_tokens: Tokens of all entity lines.
        relation_tokens: Tokens of all relation lines.
        total_tokens: Tokens of the whole prompt.
    """

    top_k: int
    chunk_top_k: int
    entity_tokens: int
    relation_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A checked query.

    Attributes:
        query: The question, without surrounding white space.
        mode: Retrieval mode.
        param: The parameters as given; fields that are checked or derived are read from the plan instead.
        budgets: Limits.
        given_high: High-level keywords that the caller gave.
        given_low: Low-level keywords that the caller gave.
        user_prompt: Instruction for the answer, the configured prefix included.
        system_prompt: System prompt that the caller gave, or ``None`` for our own.
        filter: Active filter, or ``None``: then nothing about filters happens at all.
        scope: Partition of the graph; ``""`` is the aggregate.
    """

    query: str
    mode: QueryMode
    param: QueryParam
    budgets: Budgets
    given_high: tuple[str, ...]
    given_low: tuple[str, ...]
    user_prompt: str
    system_prompt: str | None = None
    filter: VectorQueryFilter | None = None
    scope: str = ""


def make_plan(settings: Settings, query: str, param: QueryParam, system_prompt: str | None = None) -> QueryPlan:
    """Check a query and its parameters.

    Args:
        settings: Give the value of every limit that is ``None`` in ``param``.
        query: The question.
        param: Its parameters.
        system_prompt: System prompt of the caller.

    Raises:
        QueryValidationError: The text is empty, the mode unknown, or a parameter out of its range.
        FilterSyntaxError: A filter is malformed.
        UnsupportedFilterError: A filter is active.
    """
    if not isinstance(query, str) or not query.strip():
        raise QueryValidationError(f"query is {query!r}; expected a text that is not empty")
    if param.mode not in QUERY_MODES:
        raise QueryValidationError(f"mode is {param.mode!r}; expected one of {', '.join(QUERY_MODES)}")
    if system_prompt is not None and not isinstance(system_prompt, str):
        raise QueryValidationError(f"system_prompt is {type(system_prompt).__name__}; expected a text or None")
    _check_history(param.conversation_history)
    return QueryPlan(
        query=query.strip(),
        mode=param.mode,
        param=param,
        budgets=_budgets(settings, param),
        given_high=_keywords("hl_keywords", param.hl_keywords),
        given_low=_keywords("ll_keywords", param.ll_keywords),
        user_prompt=_user_prompt(settings, param),
        system_prompt=system_prompt,
        filter=_active_filter(param),
    )


def _budgets(settings: Settings, param: QueryParam) -> Budgets:
    def limit(name: str, highest: int) -> int:
        value = getattr(param, name)
        if value is None:
            return int(getattr(settings, name))
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= highest:
            raise QueryValidationError(f"{name} is {value!r}; expected a whole number from 1 to {highest}")
        return value

    return Budgets(
        top_k=limit("top_k", MAX_RESULTS),
        chunk_top_k=limit("chunk_top_k", MAX_RESULTS),
        entity_tokens=limit("max_entity_tokens", MAX_BUDGET_TOKENS),
        relation_tokens=limit("max_relation_tokens", MAX_BUDGET_TOKENS),
        total_tokens=limit("max_total_tokens", MAX_BUDGET_TOKENS),
    )


def _keywords(name: str, words: Sequence[str] | None) -> tuple[str, ...]:
    """Return given keywords without blanks and repeats, in order."""
    if words is None:
        return ()
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise QueryValidationError(f"{name} is {words!r}; expected a list of texts")
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def _check_history(history: Sequence[Mapping[str, Any]] | None) -> None:
    for message in history or ():
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise QueryValidationError(
                f"conversation_history holds {message!r}; expected {{'role': text, 'content': text}}"
            )


def _user_prompt(settings: Settings, param: QueryParam) -> str:
    prefix = "" if param.disable_user_prompt_prefix else settings.user_prompt_prefix.strip()
    return "\n".join(part for part in (prefix, (param.user_prompt or "").strip()) if part)


def _active_filter(param: QueryParam) -> VectorQueryFilter | None:
    """Return the filter of a query. Until the gate judges candidates an active one is refused, never ignored."""
    if build_vector_query_filter(param) is None:
        return None
    raise UnsupportedFilterError("queries cannot be filtered yet; leave the filter parameters at their defaults")
