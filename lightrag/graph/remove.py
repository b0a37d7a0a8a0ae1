"""Entities and relations that a person takes out of the graph, whatever documents say of them."""

from __future__ import annotations

from lightrag.context import EngineContext
from lightrag.contracts.evidence import relation_key, split_relation_key
from lightrag.exceptions import NotFoundError
from lightrag.graph.change import GraphChange
from lightrag.graph.editing import Pipeline, commit, editing
from lightrag.graph.partition import name_of, writable_partition


async def remove_entity(context: EngineContext, pipeline: Pipeline, name: str, *, tenant_tag: str | None = None) -> int:
    """Delete an entity, its relations and all evidence of both. A later document that names it makes it anew.

    Args:
        context: The workspace.
        pipeline: Its pipeline, which must be idle.
        name: Of the entity.
        tenant_tag: Its scope; ``None`` for the aggregate.

    Returns:
        How many relations went with it.

    Raises:
        NotFoundError: There is no such entity.
        InputError: The name is empty.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
    """
    object_id = writable_partition(context, tenant_tag).entity_id(name)
    async with editing(context, pipeline):
        pairs = await context.stores.graph.get_node_edges(object_id)
        if pairs is None:
            raise NotFoundError(f"entity {name_of(object_id)!r} does not exist")
        keys = list(dict.fromkeys(relation_key(*pair) for pair in pairs))
        await commit(context, GraphChange(removed_entities=[object_id], removed_relations=keys))
        return len(keys)


async def remove_relation(
    context: EngineContext, pipeline: Pipeline, ends: tuple[str, str], *, tenant_tag: str | None = None
) -> None:
    """Delete a relation and its evidence; both entities stay.

    Args:
        context: The workspace.
        pipeline: Its pipeline, which must be idle.
        ends: Names of both entities.
        tenant_tag: Its scope; ``None`` for the aggregate.

    Raises:
        NotFoundError: There is no such relation.
        InputError: A name is empty, or both are the same.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
    """
    key = writable_partition(context, tenant_tag).relation_id(*ends)
    first, second = split_relation_key(key)
    async with editing(context, pipeline):
        if not await context.stores.graph.has_edge(first, second):
            raise NotFoundError(f"there is no relation of {name_of(first)!r} and {name_of(second)!r}")
        await commit(context, GraphChange(removed_relations=[key]))
