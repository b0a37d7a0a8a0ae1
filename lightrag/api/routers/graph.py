"""Routes of the graph: names, and parts of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from lightrag.api.deps import Authenticated, EngineDep
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.graph import ExistsResponse, GraphResponse
from lightrag.constants import SCOPE_ID_SEPARATOR

router = APIRouter(tags=["graph"], dependencies=[Authenticated], responses=ERROR_RESPONSES)


def _canonical(names: list[str]) -> list[str]:
    """Return the names of the aggregate; graph ids of scopes are nothing that users see."""
    return [name for name in names if SCOPE_ID_SEPARATOR not in name]


@router.get("/graph/label/list")
async def get_graph_labels(engine: EngineDep) -> list[str]:
    """List the names of all entities, sorted."""
    return _canonical(await engine.get_graph_labels())


@router.get("/graph/label/popular")
async def get_popular_labels(
    engine: EngineDep,
    limit: Annotated[int, Query(ge=1, le=1000, description="Names at the most, count.", examples=[300])] = 300,
) -> list[str]:
    """List the best connected entities."""
    return _canonical(await engine.chunk_entity_relation_graph.get_popular_labels(limit))


@router.get("/graph/label/search")
async def search_labels(
    engine: EngineDep,
    q: Annotated[str, Query(description="Part of a name, in any case.", max_length=512, examples=["velm"])],
    limit: Annotated[int, Query(ge=1, le=100, description="Names at the most, count.", examples=[50])] = 50,
) -> list[str]:
    """Find entities by a part of their name, best match first."""
    return _canonical(await engine.chunk_entity_relation_graph.search_labels(q, limit))


@router.get("/graphs")
async def get_knowledge_graph(
    engine: EngineDep,
    label: Annotated[str, Query(description="Name of an entity; * for all.", max_length=512, examples=["Velmouth"])],
    max_depth: Annotated[int, Query(ge=1, le=64, description="Hops from it, count.", examples=[3])] = 3,
    max_nodes: Annotated[int, Query(ge=1, le=1_000_000, description="Entities at the most, count.", examples=[1000])] = 1000,
) -> GraphResponse:
    """Return the part of the graph around an entity, nearest and best connected first."""
    return GraphResponse.of(await engine.get_knowledge_graph(label, max_depth, max_nodes))


@router.get("/graph/entity/exists")
async def check_entity_exists(
    engine: EngineDep,
    name: Annotated[str, Query(description="Name of an entity.", max_length=512, examples=["Velmouth"])],
) -> ExistsResponse:
    """Tell whether there is an entity of that name."""
    return ExistsResponse(exists=await engine.chunk_entity_relation_graph.has_node(name))
