"""Routes that change the graph by hand. All of them answer 409 while documents are being processed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter

from lightrag.api.deps import Authenticated, EngineDep, PipelineDep
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
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.edit_entity import EditOptions, edit_entity
from lightrag.graph.edit_relation import edit_relation
from lightrag.graph.merge_entities import MergeOptions, merge_entities
from lightrag.graph.remove import remove_entity, remove_relation

router = APIRouter(prefix="/graph", tags=["graph"], dependencies=[Authenticated], responses=ERROR_RESPONSES)


@contextmanager
def _bad_request() -> Iterator[None]:
    """Answer 400 where the object exists already or an end is missing, as clients of these routes expect."""
    try:
        yield
    except (DuplicateError, NotFoundError) as error:
        raise ApiError(400, str(error), status_and_code(error)[1]) from error


@router.post("/entity/create")
async def create_graph_entity(
    body: CreateEntityRequest, engine: EngineDep, pipeline: PipelineDep
) -> GraphChangeResponse:
    """Create an entity."""
    with _bad_request():
        data = await create_entity(
            engine.context, pipeline, body.entity_name, body.entity_data, tenant_tag=body.tenant_tag
        )
    return GraphChangeResponse(status="success", message=f"entity {body.entity_name!r} created", data=data)


@router.post("/entity/edit")
async def edit_graph_entity(body: EditEntityRequest, engine: EngineDep, pipeline: PipelineDep) -> EditEntityResponse:
    """Change an entity, and if allowed its name; what a person says replaces what documents said so far."""
    options = EditOptions(body.allow_rename, body.allow_merge, body.tenant_tag)
    with _bad_request():
        data = await edit_entity(engine.context, pipeline, body.entity_name, body.updated_data, options)
    summary = data.pop("operation_summary")
    return EditEntityResponse(
        status="success", message=f"entity {body.entity_name!r} changed", data=data, operation_summary=summary
    )


@router.post("/relation/create")
async def create_graph_relation(
    body: CreateRelationRequest, engine: EngineDep, pipeline: PipelineDep
) -> GraphChangeResponse:
    """Create a relation between two entities that exist."""
    ends = (body.source_entity, body.target_entity)
    with _bad_request():
        data = await create_relation(engine.context, pipeline, ends, body.relation_data, tenant_tag=body.tenant_tag)
    return GraphChangeResponse(status="success", message=f"relation of {ends[0]!r} and {ends[1]!r} created", data=data)


@router.post("/relation/edit")
async def edit_graph_relation(
    body: EditRelationRequest, engine: EngineDep, pipeline: PipelineDep
) -> GraphChangeResponse:
    """Change a relation; what a person says replaces what documents said so far."""
    ends = (body.source_id, body.target_id)
    with _bad_request():
        data = await edit_relation(engine.context, pipeline, ends, body.updated_data, tenant_tag=body.tenant_tag)
    return GraphChangeResponse(status="success", message=f"relation of {ends[0]!r} and {ends[1]!r} changed", data=data)


@router.post("/entities/merge")
async def merge_graph_entities(
    body: MergeEntitiesRequest, engine: EngineDep, pipeline: PipelineDep
) -> GraphChangeResponse:
    """Merge entities, with all their relations, into one."""
    options = MergeOptions(tenant_tag=body.tenant_tag)
    with _bad_request():
        data = await merge_entities(
            engine.context, pipeline, body.entities_to_change, body.entity_to_change_into, options
        )
    count = len(body.entities_to_change)
    message = f"{count} entities merged into {body.entity_to_change_into!r}"
    return GraphChangeResponse(status="success", message=message, data=data)


@router.delete("/entity/delete")
async def delete_graph_entity(body: DeleteEntityRequest, engine: EngineDep, pipeline: PipelineDep) -> DeletionResponse:
    """Delete an entity and its relations. A later document that names it makes it anew."""
    count = await remove_entity(engine.context, pipeline, body.entity_name, tenant_tag=body.tenant_tag)
    return DeletionResponse(status="success", message=f"entity {body.entity_name!r} deleted, and {count} relations")


@router.delete("/relation/delete")
async def delete_graph_relation(
    body: DeleteRelationRequest, engine: EngineDep, pipeline: PipelineDep
) -> DeletionResponse:
    """Delete a relation; both entities stay."""
    ends = (body.source_entity, body.target_entity)
    await remove_relation(engine.context, pipeline, ends, tenant_tag=body.tenant_tag)
    return DeletionResponse(status="success", message=f"relation of {ends[0]!r} and {ends[1]!r} deleted")
