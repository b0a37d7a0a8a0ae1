"""An entity or relation as users see it: canonical names, public properties, sources from the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind, relation_key, split_relation_key
from lightrag.contracts.graph import Properties
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS, BaseVectorStorage
from lightrag.graph.change import entity_vector_id, relation_vector_id
from lightrag.graph.manual import is_correction
from lightrag.graph.partition import entity_name, name_of, readable_partition
from lightrag.graph.records import INTERNAL_PROPERTIES
from lightrag.graph.rendering import SourceLimits, source_fields

_HIDDEN_PROPERTIES = INTERNAL_PROPERTIES | frozenset(FILTER_FIELD_DEFAULTS)


async def entity_info(
    context: EngineContext, name: str, *, tenant_tag: str | None = None, include_vector_data: bool = False
) -> dict[str, Any]:
    """Return an entity.

    Args:
        context: The workspace.
        name: Of the entity.
        tenant_tag: Its scope; ``None`` for the aggregate.
        include_vector_data: Add the row of the vector store, without its numbers, as ``vector_data``.

    Returns:
        ``entity_name``, ``source_id`` and ``graph_data``; the last two are ``None`` when there is no such entity.

    Raises:
        InputError: The name is empty.
    """
    object_id = readable_partition(tenant_tag).entity_id(name)
    found = await public_objects(context, ObjectKind.ENTITY, [object_id])
    graph_data = found.get(object_id)
    info: dict[str, Any] = {
        "entity_name": name_of(object_id),
        "source_id": graph_data["source_id"] if graph_data else None,
        "graph_data": graph_data,
    }
    if include_vector_data:
        info["vector_data"] = await _vector_data(context.stores.entities, entity_vector_id(object_id))
    return info


async def relation_info(
    context: EngineContext,
    source: str,
    target: str,
    *,
    tenant_tag: str | None = None,
    include_vector_data: bool = False,
) -> dict[str, Any]:
    """Return a relation, whichever way round its ends are given.

    Args:
        context: The workspace.
        source: Name of one end.
        target: Name of the other.
        tenant_tag: Its scope; ``None`` for the aggregate.
        include_vector_data: As for :func:`entity_info`.

    Returns:
        ``src_entity`` and ``tgt_entity`` as given, ``source_id`` and ``graph_data``; the last two are ``None`` when
        there is no such relation.

    Raises:
        InputError: A name is empty, or both are the same.
    """
    key = readable_partition(tenant_tag).relation_id(source, target)
    found = await public_objects(context, ObjectKind.RELATION, [key])
    graph_data = found.get(key)
    info: dict[str, Any] = {
        "src_entity": entity_name(source, "source_entity"),
        "tgt_entity": entity_name(target, "target_entity"),
        "source_id": graph_data["source_id"] if graph_data else None,
        "graph_data": graph_data,
    }
    if include_vector_data:
        info["vector_data"] = await _vector_data(context.stores.relationships, relation_vector_id(key))
    return info


async def _vector_data(store: BaseVectorStorage, row_id: str) -> dict[str, Any] | None:
    row = await store.get_by_id(row_id)
    if row is None:
        return None
    public = {name: value for name, value in row.items() if name not in _HIDDEN_PROPERTIES and name != "vector"}
    return {name: name_of(value) if name in ("src_id", "tgt_id") else value for name, value in public.items()}


async def public_objects(context: EngineContext, kind: ObjectKind, object_ids: list[str]) -> dict[str, Properties]:
    """Return the public properties of those objects that exist.

    Args:
        context: The workspace.
        kind: Entities or relations.
        object_ids: Graph ids or relation keys.
    """
    graph = context.stores.graph
    if kind is ObjectKind.ENTITY:
        return await with_sources(context, kind, await graph.get_nodes_batch(object_ids))
    pairs = [{"src": first, "tgt": second} for first, second in map(split_relation_key, object_ids)]
    edges = await graph.get_edges_batch(pairs)
    return await with_sources(context, kind, {relation_key(*pair): edge for pair, edge in edges.items()})


async def with_sources(
    context: EngineContext, kind: ObjectKind, objects: Mapping[str, Properties]
) -> dict[str, Properties]:
    """Return the public properties of objects: nothing internal, ``source_id`` and ``file_path`` from their evidence.

    What a graph that another tool wrote says of its sources counts where there is no evidence.

    Args:
        context: The workspace.
        kind: Entities or relations.
        objects: Stored properties by object id.
    """
    limits = SourceLimits.of(context.settings, kind)
    # The store knows no corrections, so it may give a few rows less than the limit allows.
    sources = await context.stores.evidence.sources_of_objects(kind, list(objects), limit=limits.read_limit)
    public: dict[str, Properties] = {}
    for object_id, properties in objects.items():
        shown = public_properties(properties)
        own = [source for source in sources.get(object_id, ()) if not is_correction(source)]
        if own:
            shown["source_id"], shown["file_path"] = source_fields(own, limits)
        else:
            shown.setdefault("source_id", "")
            shown.setdefault("file_path", "")
        public[object_id] = shown
    return public


def public_properties(properties: Properties) -> Properties:
    """Return a node's or edge's properties without what serves merging and filtering.

    ``tenant_tag`` is shown of objects in a scope only, so that a graph without scopes looks as it always did.
    """
    shown = {name: value for name, value in properties.items() if name not in _HIDDEN_PROPERTIES}
    if properties.get("tenant_tag"):
        shown["tenant_tag"] = properties["tenant_tag"]
    return shown
