"""Routes that change the graph by hand. All of them answer 409 while documents are being processed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter

from lightrag.api.deps import Authenticated, GuardedRoute, WholeEngineDep
from lightrag.api.errors import ApiError, status_and_code
from lightrag.api.openapi import ERROR_RESPONSES
from lightrag.api.schemas.graph import (
    CreateEntityRequest,
    CreateRelationRequest,
    DeleteEntityRequest,
    DeleteRelationRequest,
    DeletionResponse,
    EditEntityRequest,
    EditEntityResponse,
    EditRelationRequest,
    GraphChangeResponse,
    MergeEntitiesRequest,
)
from lightrag.exceptions import DuplicateError, NotFoundError
from lightrag.ingest.delete import DeletionResult

router = APIRouter(
    prefix="/graph", tags=["graph"], route_class=GuardedRoute, dependencies=[Authenticated], responses=ERROR_RESPONSES
)


@contextmanager
def _bad_request() -> Iterator[None]:
    """Answer 400 where the object exists already or an end is missing, as clients of these routes expect."""
    try:
        yield
    except (DuplicateError, NotFoundError) as error:
        raise ApiError(400, str(error), status_and_code(error)[1]) from error


def _deleted(result: DeletionResult) -> DeletionResponse:
    if result.status != "success":
        raise ApiError(result.status_code, result.message)
    return DeletionResponse(status="success", message=result.message)


@router.post("/entity/create")
async def create_graph_entity(body: CreateEntityRequest, engine: WholeEngineDep) -> GraphChangeResponse:
    """Create an entity."""
    with _bad_request():
        data = await engine.acreate_entity(body.entity_name, body.entity_data, tenant_tag=body.tenant_tag)
    return GraphChangeResponse(status="success", message=f"entity {body.entity_name!r} created", data=data)


@router.post("/entity/edit")
async def edit_graph_entity(body: EditEntityRequest, engine: WholeEngineDep) -> EditEntityResponse:
    """Change an entity, and if allowed its name; what a person says replaces what documents said so far."""
    with _bad_request():
        data = await engine.aedit_entity(
            body.entity_name, body.updated_data, body.allow_rename, body.allow_merge, tenant_tag=body.tenant_tag
        )
    summary = data.pop("operation_summary")
    return EditEntityResponse(
        status="success", message=f"entity {body.entity_name!r} changed", data=data, operation_summary=summary
    )


@router.post("/relation/create")
async def create_graph_relation(body: CreateRelationRequest, engine: WholeEngineDep) -> GraphChangeResponse:
    """Create a relation between two entities that exist."""
    ends = (body.source_entity, body.target_entity)
    with _bad_request():
        data = await engine.acreate_relation(*ends, body.relation_data, tenant_tag=body.tenant_tag)
    return GraphChangeResponse(status="success", message=f"relation of {ends[0]!r} and {ends[1]!r} created", data=data)


@router.post("/relation/edit")
async def edit_graph_relation(body: EditRelationRequest, engine: WholeEngineDep) -> GraphChangeResponse:
    """Change a relation; what a person says replaces what documents said so far."""
    ends = (body.source_id, body.target_id)
    with _bad_request():
        data = await engine.aedit_relation(*ends, body.updated_data, tenant_tag=body.tenant_tag)
    return GraphChangeResponse(status="success", message=f"relation of {ends[0]!r} and {ends[1]!r} changed", data=data)


@router.post("/entities/merge")
async def merge_graph_entities(body: MergeEntitiesRequest, engine: WholeEngineDep) -> GraphChangeResponse:
    """Merge entities, with all their relations, into one."""
    with _bad_request():
        data = await engine.amerge_entities(
            body.entities_to_change, body.entity_to_change_into, tenant_tag=body.tenant_tag
        )
    count = len(body.entities_to_change)
    message = f"{count} entities merged into {body.entity_to_change_into!r}"
    return GraphChangeResponse(status="success", message=message, data=data)


@router.delete("/entity/delete")
async def delete_graph_entity(body: DeleteEntityRequest, engine: WholeEngineDep) -> DeletionResponse:
    """Delete an entity and its relations. A later document that names it makes it anew."""
    return _deleted(await engine.adelete_by_entity(body.entity_name, tenant_tag=body.tenant_tag))


@router.delete("/relation/delete")
async def delete_graph_relation(body: DeleteRelationRequest, engine: WholeEngineDep) -> DeletionResponse:
    """Delete a relation; both entities stay."""
    return _deleted(
        await engine.adelete_by_relation(body.source_entity, body.target_entity, tenant_tag=body.tenant_tag)
    )
