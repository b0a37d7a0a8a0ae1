"""The graph as people look at it: names, and the part around an entity. One partition at a time, never internal ids."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.graph import KnowledgeGraph, KnowledgeGraphEdge, KnowledgeGraphNode, NodePair, Properties
from lightrag.exceptions import InputError
from lightrag.graph.info import with_sources
from lightrag.graph.partition import Partition, name_of, readable_partition, scope_of
from lightrag.runtime.text import normalize_name

EVERYTHING = "*"


async def knowledge_graph(
    context: EngineContext,
    label: str,
    *,
    max_depth: int = 3,
    max_nodes: int = 1000,
    tenant_tag: str | None = None,
) -> KnowledgeGraph:
    """Return the part of the graph around an entity, or the best connected entities with ``"*"``.

    Args:
        context: The workspace.
        label: Name of the entity.
        max_depth: Hops from it, 0 or more.
        max_nodes: Nodes at the most, 1 or more; the setting ``max_graph_nodes`` is the limit.
        tenant_tag: The scope; ``None`` for the aggregate.

    Returns:
        Nodes and all edges between them with public properties. An unknown name gives an empty graph.

    Raises:
        InputError: A number is out of range.
        ScopeError: The scope tag is malformed.
    """
    if not all(isinstance(number, int) for number in (max_depth, max_nodes)) or max_depth < 0 or max_nodes < 1:
        raise InputError(f"max_depth={max_depth!r} must be 0 or more, and max_nodes={max_nodes!r} 1 or more")
    partition = readable_partition(tenant_tag)
    limit = min(max_nodes, context.settings.max_graph_nodes)
    graph = context.stores.graph
    if label == EVERYTHING:
        found = await _best_connected(context, partition, limit)
    else:
        name = normalize_name(label)
        if not name:
            return KnowledgeGraph()
        # An edge never leaves its partition, so nothing of another one can be reached from here.
        found = await graph.get_knowledge_graph(partition.entity_id(name), max_depth, limit)
    return await _presented(context, found)


async def _best_connected(context: EngineContext, partition: Partition, limit: int) -> KnowledgeGraph:
    graph = context.stores.graph
    # One more than is shown tells whether there are more.
    ids = await _of_partition(graph.get_popular_labels, partition, limit + 1)
    kept = ids[:limit]
    nodes = await graph.get_nodes_batch(kept)
    inside = set(nodes)
    edges_at = await graph.get_nodes_edges_batch(kept)
    pairs = dict.fromkeys(_sorted(pair) for pairs in edges_at.values() for pair in pairs if pair[1] in inside)
    edges = await graph.get_edges_batch([{"src": source, "tgt": target} for source, target in pairs])
    return KnowledgeGraph(
        nodes=[KnowledgeGraphNode(key, [key], nodes[key]) for key in kept if key in nodes],
        edges=[
            KnowledgeGraphEdge(f"{source}-{target}", "DIRECTED", source, target, properties)
            for (source, target), properties in edges.items()
        ],
        is_truncated=len(ids) > limit,
    )


def _sorted(pair: NodePair) -> NodePair:
    return (pair[0], pair[1]) if pair[0] <= pair[1] else (pair[1], pair[0])


async def _presented(context: EngineContext, graph: KnowledgeGraph) -> KnowledgeGraph:
    """Return a part of the graph with canonical names for ids and public properties."""
    stored_nodes: dict[str, Properties] = {node.id: node.properties for node in graph.nodes}
    stored_edges = {relation_key(edge.source, edge.target): edge.properties for edge in graph.edges}
    nodes = await with_sources(context, ObjectKind.ENTITY, stored_nodes)
    edges = await with_sources(context, ObjectKind.RELATION, stored_edges)
    return KnowledgeGraph(
        nodes=[
            KnowledgeGraphNode(id=name_of(node.id), labels=[name_of(node.id)], properties=nodes[node.id])
            for node in graph.nodes
        ],
        edges=[_presented_edge(edge, edges[relation_key(edge.source, edge.target)]) for edge in graph.edges],
        is_truncated=graph.is_truncated,
    )


def _presented_edge(edge: KnowledgeGraphEdge, properties: Properties) -> KnowledgeGraphEdge:
    source, target = name_of(edge.source), name_of(edge.target)
    return KnowledgeGraphEdge(f"{source}-{target}", edge.type, source, target, properties)


async def entity_exists(context: EngineContext, name: str, *, tenant_tag: str | None = None) -> bool:
    """Tell whether there is an entity of that name.

    Raises:
        InputError: The name is empty.
        ScopeError: The scope tag is malformed.
    """
    return await context.stores.graph.has_node(readable_partition(tenant_tag).entity_id(name))


async def entity_labels(context: EngineContext, *, tenant_tag: str | None = None) -> list[str]:
    """Return the names of all entities of a partition, sorted.

    Raises:
        ScopeError: The scope tag is malformed.
    """
    partition = readable_partition(tenant_tag)
    ids = await context.stores.graph.get_all_labels()
    return sorted(name_of(graph_id) for graph_id in ids if partition.contains(graph_id))


async def popular_labels(context: EngineContext, limit: int = 300, *, tenant_tag: str | None = None) -> list[str]:
    """Return names of entities of a partition by number of relations, most first, then by name.

    Raises:
        ScopeError: The scope tag is malformed.
    """
    partition = readable_partition(tenant_tag)
    ids = await _of_partition(context.stores.graph.get_popular_labels, partition, limit)
    return [name_of(graph_id) for graph_id in ids]


async def search_labels(
    context: EngineContext, query: str, limit: int = 50, *, tenant_tag: str | None = None
) -> list[str]:
    """Return names of entities of a partition that contain a text in any case, best match first.

    Raises:
        ScopeError: The scope tag is malformed.
    """
    partition = readable_partition(tenant_tag)
    wanted = query.strip().lower()
    if not wanted or limit < 1:
        return []

    async def fetch(count: int) -> list[str]:
        return await context.stores.graph.search_labels(wanted, count)

    # The store sees ids, where a scope tag may match too and makes the name look longer: what it finds is ranked anew.
    ids = await _of_partition(fetch, partition, limit, lambda graph_id: wanted in name_of(graph_id).lower())
    names = [name_of(graph_id) for graph_id in ids]
    return sorted(names, key=lambda name: (-match_score(name, wanted), name))[:limit]


def match_score(name: str, wanted: str) -> int:
    """Return how well a name matches a text: equal 1000, beginning 500, else less the longer it is.

    Args:
        name: Of an entity that holds the text.
        wanted: Text in lower case.
    """
    lower = name.lower()
    if lower == wanted:
        return 1000
    if lower.startswith(wanted):
        return 500
    at_word = f" {wanted}" in lower or f"_{wanted}" in lower
    return 100 - len(name) + (50 if at_word else 0)


async def scope_counts(context: EngineContext) -> dict[str, int]:
    """Return the number of entities of each scope that has any, by scope tag, sorted."""
    counts: dict[str, int] = {}
    for graph_id in await context.stores.graph.get_all_labels():
        tag = scope_of(graph_id)
        if tag:
            counts[tag] = counts.get(tag, 0) + 1
    return dict(sorted(counts.items()))


async def _of_partition(
    fetch: Callable[[int], Awaitable[list[str]]],
    partition: Partition,
    wanted: int,
    matches: Callable[[str], bool] | None = None,
) -> list[str]:
    """Return the first ids of a ranked list that belong to a partition, reading on until there are enough.

    Args:
        fetch: ``await fetch(n)`` gives the first ``n`` ids of all partitions, fewer when there are no more.
        partition: Whose ids are wanted.
        wanted: How many at the most.
        matches: Further condition.
    """
    count = wanted
    while True:
        ranked: Sequence[str] = await fetch(count)
        own = [key for key in ranked if partition.contains(key) and (matches is None or matches(key))]
        if len(own) >= wanted or len(ranked) < count:
            return own[:wanted]
        count *= 4
