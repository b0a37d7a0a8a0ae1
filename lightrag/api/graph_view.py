"""The graph, and documents, as a caller may see them and as a request limits them further."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightrag.access import AccessPolicy
from lightrag.contracts.query import QueryParam
from lightrag.graph.explore import entity_exists
from lightrag.query.plan import effective_filter

if TYPE_CHECKING:
    from lightrag.api.auth import Caller
    from lightrag.engine.restricted import RestrictedEngine
    from lightrag.lightrag import LightRAG


def access_of(engine: LightRAG | RestrictedEngine, caller: Caller) -> AccessPolicy | None:
    """Return the limit on documents that a caller has; ``None`` for none."""
    policy = caller.policy
    if policy is None or not policy.limits_documents:
        return None
    prefixes = engine.context.settings.scope_tag_prefixes
    return AccessPolicy.of(policy.required_tags, policy.forbidden_tags, scope_prefixes=prefixes)


def names_view(
    engine: LightRAG | RestrictedEngine, caller: Caller, required_tags: Sequence[str]
) -> LightRAG | RestrictedEngine:
    """Return the engine whose names of entities a request wants, limited by the tags that it requires.

    Raises:
        AccessDeniedError: The tags lead out of what the caller may see.
        ScopeError: A scope tag cannot be used, or there are two.
        FilterSyntaxError: A tag is malformed.
    """
    if not required_tags:
        return engine
    param = QueryParam(required_tags=list(required_tags))
    effective_filter(engine.context.settings, param, access_of(engine, caller))
    return engine.restricted(required_tags)


async def exists(engine: LightRAG | RestrictedEngine, caller: Caller, name: str, tenant_tag: str | None) -> bool:
    """Tell whether there is an entity of a name that the caller may see.

    Raises:
        AccessDeniedError: The scope lies outside of what the caller may see.
    """
    if access_of(engine, caller) is None:
        return await entity_exists(engine.context, name, tenant_tag=tenant_tag)
    param = QueryParam(required_tags=[tenant_tag] if tenant_tag else [])
    return bool((await engine.aget_filtered_graph(name, param, max_depth=0, max_nodes=1)).nodes)
