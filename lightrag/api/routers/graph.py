"""Routes that look at the graph: names, and parts of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from lightrag.api.deps import Authenticated, EngineDep
from lightrag.api.graph_view import scope_of_request
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.graph import ExistsResponse, GraphResponse
from lightrag.graph import explore
from lightrag.query_filters import RequiredTagsMode

router = APIRouter(tags=["graph"], dependencies=[Authenticated], responses=ERROR_RESPONSES)

Name = Annotated[str, Query(description="Name of an entity.", max_length=512, examples=["Velmouth"])]
RequiredTags = Annotated[
    list[str],
    Query(description="A scope tag chooses the graph of that scope; without one it is the whole.", examples=[[]]),
]
TenantTag = Annotated[
    str | None, Query(description="Scope of the entities; the whole when left out.", examples=["tenant:1"])
]


@router.get("/graph/label/list")
async def get_graph_labels(engine: EngineDep, required_tags: RequiredTags = []) -> list[str]:  # noqa: B006
    """List the names of all entities, sorted."""
    scope = scope_of_request(engine.context.settings, required_tags)
    return await explore.entity_labels(engine.context, tenant_tag=scope)


@router.get("/graph/label/popular")
async def get_popular_labels(
    engine: EngineDep,
    limit: Annotated[int, Query(ge=1, le=1000, description="Names at the most, count.", examples=[300])] = 300,
    required_tags: RequiredTags = [],  # noqa: B006
) -> list[str]:
    """List the best connected entities."""
    scope = scope_of_request(engine.context.settings, required_tags)
    return await explore.popular_labels(engine.context, limit, tenant_tag=scope)


@router.get("/graph/label/search")
async def search_labels(
    engine: EngineDep,
    q: Annotated[str, Query(description="Part of a name, in any case.", max_length=512, examples=["velm"])],
    limit: Annotated[int, Query(ge=1, le=100, description="Names at the most, count.", examples=[50])] = 50,
    required_tags: RequiredTags = [],  # noqa: B006
) -> list[str]:
    """Find entities by a part of their name, best match first."""
    scope = scope_of_request(engine.context.settings, required_tags)
    return await explore.search_labels(engine.context, q, limit, tenant_tag=scope)


@router.get("/graph/scope/list")
async def list_scopes(engine: EngineDep) -> list[str]:
    """List the scopes that have a graph of their own, sorted."""
    return list(await explore.scope_counts(engine.context))


@router.get("/graphs")
async def get_knowledge_graph(
    engine: EngineDep,
    label: Annotated[str, Query(description="Name of an entity; * for all.", max_length=512, examples=["Velmouth"])],
    max_depth: Annotated[int, Query(ge=1, le=64, description="Hops from it, count.", examples=[3])] = 3,
    max_nodes: Annotated[int, Query(ge=1, le=1_000_000, description="Entities, count.", examples=[1000])] = 1000,
    required_tags: RequiredTags = [],  # noqa: B006
    required_tags_mode: Annotated[
        RequiredTagsMode, Query(description="Without effect: one scope at the most can be chosen.", examples=["and"])
    ] = RequiredTagsMode.AND,
) -> GraphResponse:
    """Return the part of the graph around an entity, nearest and best connected first."""
    scope = scope_of_request(engine.context.settings, required_tags)
    return GraphResponse.of(
        await explore.knowledge_graph(engine.context, label, max_depth=max_depth, max_nodes=max_nodes, tenant_tag=scope)
    )


@router.get("/graph/entity/exists")
async def check_entity_exists(engine: EngineDep, name: Name, tenant_tag: TenantTag = None) -> ExistsResponse:
    """Tell whether there is an entity of that name."""
    return ExistsResponse(exists=await explore.entity_exists(engine.context, name, tenant_tag=tenant_tag or None))
