"""What a query asks for, checked once and then fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from lightrag.access import AccessPolicy
from lightrag.contracts.query import QueryMode, QueryParam
from lightrag.exceptions import QueryValidationError
from lightrag.kg_scopes import resolve_kg_scope_from_required_tags
from lightrag.query_filters import VectorQueryFilter, build_vector_query_filter, combine_filters
from lightrag.settings import Settings

QUERY_MODES: tuple[QueryMode, ...] = get_args(QueryMode)
MAX_RESULTS = 1_000
MAX_BUDGET_TOKENS = 1_000_000
DEFAULT_RESPONSE_TYPE = QueryParam.response_type


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
class Keywords:
    """What to search for.

    Attributes:
        high: Themes; relations are searched by them.
        low: Names and terms; entities are searched by them.
    """

    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to search for."""
        return not self.high and not self.low


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A checked query.

    Attributes:
        query: The question, without surrounding white space.
        mode: Retrieval mode.
        param: The parameters as given; fields that are checked or derived are read from the plan instead.
        budgets: Limits.
        given: Keywords that the caller gave.
        response_type: Form of the answer, in words.
        user_prompt: Instruction for the answer, the configured prefix included.
        system_prompt: System prompt that the caller gave, or ``None`` for our own.
        filter: Active filter, or ``None``: then nothing about filters happens at all.
        scope: Scope that is asked, or ``None`` for the aggregate.
        partition: ``scope``, ``""`` for the aggregate; ``None`` where no scopes are kept.
    """

    query: str
    mode: QueryMode
    param: QueryParam
    budgets: Budgets
    given: Keywords
    response_type: str
    user_prompt: str
    system_prompt: str | None = None
    filter: VectorQueryFilter | None = None
    scope: str | None = None
    partition: str | None = None


def make_plan(
    settings: Settings,
    query: str,
    param: QueryParam,
    system_prompt: str | None = None,
    access: AccessPolicy | None = None,
) -> QueryPlan:
    """Check a query and its parameters.

    Args:
        settings: Give the value of every limit that is ``None`` in ``param``.
        query: The question.
        param: Its parameters.
        system_prompt: System prompt of the caller.
        access: What the caller may see; the query can only narrow it.

    Raises:
        AccessDeniedError: The query asks for what the caller may not see.
        QueryValidationError: The text is empty, the mode unknown, or a parameter out of its range.
        FilterSyntaxError: A filter is malformed.
        ScopeError: More than one scope is asked for, or a scope tag is not usable.
    """
    if not isinstance(query, str) or not query.strip():
        raise QueryValidationError(f"query is {query!r}; expected a text that is not empty")
    if param.mode not in QUERY_MODES:
        raise QueryValidationError(f"mode is {param.mode!r}; expected one of {', '.join(QUERY_MODES)}")
    if system_prompt is not None and not isinstance(system_prompt, str):
        raise QueryValidationError(f"system_prompt is {type(system_prompt).__name__}; expected a text or None")
    _check_history(param.conversation_history)
    # Half a surrogate pair has no place in any model, key or store.
    clean = query.encode("utf-8", "ignore").decode("utf-8").strip()
    if not clean:
        raise QueryValidationError(f"query is {query!r}; expected a text that is not empty")
    scope = _scope(settings, param, access)
    return QueryPlan(
        query=clean,
        mode=param.mode,
        param=param,
        budgets=_budgets(settings, param),
        given=Keywords(
            high=_keywords("hl_keywords", param.hl_keywords), low=_keywords("ll_keywords", param.ll_keywords)
        ),
        response_type=param.response_type or DEFAULT_RESPONSE_TYPE,
        user_prompt=_user_prompt(settings, param),
        system_prompt=system_prompt,
        filter=_filter(param, scope, access),
        scope=scope,
        partition=scope or "" if settings.enable_kg_scope_materialization else None,
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


def _scope(settings: Settings, param: QueryParam, access: AccessPolicy | None) -> str | None:
    """Return the scope that the required tags name, or that of the policy, where scopes are kept."""
    if not settings.enable_kg_scope_materialization or not settings.scope_tag_prefixes:
        return None
    asked = None
    if param.required_tags or param.forbidden_tags:
        asked = resolve_kg_scope_from_required_tags(
            param.required_tags or (), settings.scope_tag_prefixes, forbidden_tags=param.forbidden_tags or ()
        ).kg_scope_tag
    return asked if access is None else access.narrowed_scope(asked)


def _filter(param: QueryParam, scope: str | None, access: AccessPolicy | None) -> VectorQueryFilter | None:
    own = build_vector_query_filter(param, scope_tag=scope)
    if access is None:
        return own
    asked = [*own.required_tags, *([own.scope_tag] if own.scope_tag else [])] if own is not None else []
    access.check_request(asked, param.kg_evidence_policy)
    return combine_filters(own, access.filter)


def effective_filter(
    settings: Settings, param: QueryParam, access: AccessPolicy | None = None
) -> VectorQueryFilter | None:
    """Return the filter that a query with these parameters has; ``None`` when none is active.

    Raises:
        FilterSyntaxError: A filter is malformed.
        ScopeError: More than one scope is asked for, or a scope tag is not usable.
        AccessDeniedError: It asks for what the caller may not see.
    """
    return _filter(param, _scope(settings, param, access), access)


def effective_scope(settings: Settings, param: QueryParam, access: AccessPolicy | None = None) -> str | None:
    """Return the scope that a query with these parameters is asked in; ``None`` for the aggregate.

    Raises:
        ScopeError: More than one scope is asked for, or a scope tag is not usable.
        AccessDeniedError: Another scope than the caller's is asked for.
    """
    return _scope(settings, param, access)
