"""Routes that look at the graph: names, and parts of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query

from lightrag.api.deps import Authenticated, CallerDep, EngineDep, GuardedRoute
from lightrag.api.graph_view import exists, names_view
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.filters import preset_examples
from lightrag.api.schemas.graph import ExistsResponse, GraphQuery, GraphRequest, GraphResponse

router = APIRouter(tags=["graph"], route_class=GuardedRoute, dependencies=[Authenticated], responses=ERROR_RESPONSES)

RequiredTags = Annotated[
    list[str] | None,
    Query(description="Tags that documents must carry; a scope tag chooses the graph of that scope.", examples=[[]]),
]
TenantTag = Annotated[
    str | None, Query(description="Scope of the entity; the whole when left out.", examples=["tenant:1"])
]


@router.get("/graph/label/list")
async def get_graph_labels(engine: EngineDep, caller: CallerDep, required_tags: RequiredTags = None) -> list[str]:
    """List the names of all entities, sorted."""
    return await names_view(engine, caller, required_tags or ()).get_graph_labels()


@router.get("/graph/label/popular")
async def get_popular_labels(
    engine: EngineDep,
    caller: CallerDep,
    limit: Annotated[int, Query(ge=1, le=1000, description="Names at the most, count.", examples=[300])] = 300,
    required_tags: RequiredTags = None,
) -> list[str]:
    """List the best connected entities."""
    return await names_view(engine, caller, required_tags or ()).get_popular_labels(limit)


@router.get("/graph/label/search")
async def search_labels(
    engine: EngineDep,
    caller: CallerDep,
    q: Annotated[str, Query(description="Part of a name, in any case.", max_length=512, examples=["velm"])],
    limit: Annotated[int, Query(ge=1, le=100, description="Names at the most, count.", examples=[50])] = 50,
    required_tags: RequiredTags = None,
) -> list[str]:
    """Find entities by a part of their name, best match first."""
    return await names_view(engine, caller, required_tags or ()).search_labels(q, limit)


@router.get("/graph/scope/list")
async def list_scopes(engine: EngineDep) -> list[str]:
    """List the scopes that have a graph of their own, sorted."""
    return sorted(await engine.alist_scopes())


@router.get("/graphs")
async def get_knowledge_graph(engine: EngineDep, part: Annotated[GraphQuery, Query()]) -> GraphResponse:
    """Return the part of the graph around an entity, nearest and best connected first."""
    return GraphResponse.of(
        await engine.aget_filtered_graph(
            part.label, part.filter_param(), max_depth=part.max_depth, max_nodes=part.max_nodes
        )
    )


@router.post("/graphs")
async def get_filtered_graph(
    engine: EngineDep,
    part: Annotated[GraphRequest, Body(openapi_examples=preset_examples({"label": "*"}))],
) -> GraphResponse:
    """Return a part of the graph through a whole filter: nodes and edges by their own evidence, texts from it alone."""
    return GraphResponse.of(
        await engine.aget_filtered_graph(
            part.label, part.filter_param(), max_depth=part.max_depth, max_nodes=part.max_nodes
        )
    )


@router.get("/graph/entity/exists")
async def check_entity_exists(
    engine: EngineDep,
    caller: CallerDep,
    name: Annotated[str, Query(description="Name of an entity.", max_length=512, examples=["Velmouth"])],
    tenant_tag: TenantTag = None,
) -> ExistsResponse:
    """Tell whether there is an entity of that name."""
    return ExistsResponse(exists=await exists(engine, caller, name, tenant_tag or None))
