"""Deletion of entities and relations by name, with the outcome that clients know."""

from __future__ import annotations

from lightrag.context import EngineContext
from lightrag.exceptions import NotFoundError
from lightrag.graph.partition import entity_name
from lightrag.graph.remove import remove_entity, remove_relation
from lightrag.ingest.delete import DeletionResult
from lightrag.ingest.state import PipelineState


async def delete_entity(
    context: EngineContext, state: PipelineState, name: str, *, tenant_tag: str | None = None
) -> DeletionResult:
    """Delete an entity and its relations.

    Args:
        context: The workspace.
        state: Its pipeline, which must be idle.
        name: Of the entity.
        tenant_tag: Its scope; ``None`` for the aggregate.

    Returns:
        ``success`` or ``not_found``; ``doc_id`` is empty, since no document is deleted.

    Raises:
        InputError: The name is empty.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
    """
    try:
        count = await remove_entity(context, state, name, tenant_tag=tenant_tag)
    except NotFoundError as error:
        return DeletionResult("not_found", "", str(error), 404)
    return DeletionResult("success", "", f"entity {entity_name(name)!r} and {count} relations deleted")


async def delete_relation(
    context: EngineContext, state: PipelineState, ends: tuple[str, str], *, tenant_tag: str | None = None
) -> DeletionResult:
    """Delete a relation; both entities stay.

    Args:
        context: The workspace.
        state: Its pipeline, which must be idle.
        ends: Names of both entities.
        tenant_tag: Its scope; ``None`` for the aggregate.

    Returns:
        As :func:`delete_entity`.

    Raises:
        InputError: A name is empty, or both are the same.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
    """
    try:
        await remove_relation(context, state, ends, tenant_tag=tenant_tag)
    except NotFoundError as error:
        return DeletionResult("not_found", "", str(error), 404)
    first, second = (entity_name(end) for end in ends)
    return DeletionResult("success", "", f"relation of {first!r} and {second!r} deleted")
