"""The graph as a filter leaves it: nodes and edges by their own evidence, descriptions from eligible evidence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.graph import KnowledgeGraph, KnowledgeGraphEdge, KnowledgeGraphNode, NodePair, Properties
from lightrag.exceptions import InputError
from lightrag.graph.explore import EVERYTHING, match_score
from lightrag.graph.info import public_properties
from lightrag.graph.partition import Partition, name_of, readable_partition
from lightrag.graph.rendering import SourceLimits, source_fields
from lightrag.query.filter_gate import FilterGate
from lightrag.query.gate import Gate
from lightrag.query.settle import look_until_settled
from lightrag.query_filters import VectorQueryFilter
from lightrag.runtime.text import normalize_name

T = TypeVar("T")

_PAGE = 1000


class FilteredGraph:
    """One look at the graph through a filter."""

    def __init__(self, context: EngineContext, filter: VectorQueryFilter, tenant_tag: str | None) -> None:
        """Look at a partition.

        Args:
            context: The workspace.
            filter: Active filter.
            tenant_tag: The scope, or ``None`` for the aggregate.

        Raises:
            ScopeError: The scope tag is malformed.
        """
        self._context = context
        self._open = partial(FilterGate, context, filter, tenant_tag)
        self._gate: Gate = self._open()
        self._partition: Partition = readable_partition(tenant_tag)

    async def labels(self) -> list[str]:
        """Return the names of all visible entities, sorted."""
        return await self._settled(self._labels)

    async def _labels(self) -> list[str]:
        ids = [key for key in await self._context.stores.graph.get_all_labels() if self._partition.contains(key)]
        return sorted(name_of(graph_id) for graph_id in await self._visible(ids))

    async def popular_labels(self, limit: int) -> list[str]:
        """Return names of visible entities, those with most relations in the whole graph first."""
        return [name_of(graph_id) for graph_id in await self._settled(lambda: self._best_connected(limit))]

    async def search_labels(self, query: str, limit: int) -> list[str]:
        """Return names of visible entities that contain a text in any case, best match first."""
        wanted = query.strip().lower()
        if not wanted or limit < 1:
            return []
        names = [name for name in await self.labels() if wanted in name.lower()]
        return sorted(names, key=lambda name: (-match_score(name, wanted), name))[:limit]

    async def around(self, label: str, *, max_depth: int, max_nodes: int) -> KnowledgeGraph:
        """Return the visible part of the graph around an entity, or the best connected entities with ``"*"``.

        Args:
            label: Name of the entity.
            max_depth: Hops from it, 0 or more, over visible relations only.
            max_nodes: Nodes at the most, 1 or more.

        Raises:
            InputError: A number is out of range.
        """
        if max_depth < 0 or max_nodes < 1:
            raise InputError(f"max_depth={max_depth} must be 0 or more, and max_nodes={max_nodes} 1 or more")
        limit = min(max_nodes, self._context.settings.max_graph_nodes)
        return await self._settled(lambda: self._around(label, max_depth, limit))

    async def _settled(self, look: Callable[[], Awaitable[T]]) -> T:
        async def look_through(gate: Gate) -> T:
            self._gate = gate
            return await look()

        found, _ = await look_until_settled(self._context, self._open, look_through)
        return found

    async def _around(self, label: str, max_depth: int, limit: int) -> KnowledgeGraph:
        if label == EVERYTHING:
            ids = await self._best_connected(limit + 1)
        else:
            name = normalize_name(label)
            start = [self._partition.entity_id(name)] if name else []
            ids = await self._reach(await self._visible(start), max_depth, limit + 1)
        return await self._present(ids[:limit], is_truncated=len(ids) > limit)

    async def _visible(self, ids: Sequence[str]) -> list[str]:
        admitted: list[str] = []
        for start in range(0, len(ids), _PAGE):
            admitted.extend(await self._gate.admit_entities(list(ids[start : start + _PAGE])))
        return admitted

    async def _best_connected(self, wanted: int) -> list[str]:
        graph = self._context.stores.graph
        reach = max(wanted, 1)
        while True:
            ranked = await graph.get_popular_labels(reach)
            own = await self._visible([key for key in ranked if self._partition.contains(key)])
            if len(own) >= wanted or len(ranked) < reach:
                return own[:wanted]
            reach *= 4

    async def _reach(self, start: list[str], max_depth: int, wanted: int) -> list[str]:
        """Return the ids within so many hops, nearest and best connected first."""
        graph = self._context.stores.graph
        found = dict.fromkeys(start)
        border = start
        for _ in range(max_depth):
            if not border or len(found) >= wanted:
                break
            edges_at = await graph.get_nodes_edges_batch(border)
            pairs = list(dict.fromkeys(_sorted(pair) for pairs in edges_at.values() for pair in pairs))
            visible = await self._gate.admit_relations(pairs)
            fresh = dict.fromkeys(end for pair in visible for end in pair if end not in found)
            degrees = await graph.node_degrees_batch(list(fresh))
            border = sorted(fresh, key=lambda key: (-degrees[key], key))
            found.update(dict.fromkeys(border))
        return list(found)[:wanted]

    async def _present(self, ids: list[str], *, is_truncated: bool) -> KnowledgeGraph:
        graph = self._context.stores.graph
        nodes = await graph.get_nodes_batch(ids)
        edges_at = await graph.get_nodes_edges_batch(ids)
        pairs = list(dict.fromkeys(_sorted(pair) for pairs in edges_at.values() for pair in pairs if pair[1] in nodes))
        visible = await self._gate.admit_relations(pairs)
        edges = await graph.get_edges_batch([{"src": source, "tgt": target} for source, target in visible])
        shown_nodes = await self._described(ObjectKind.ENTITY, {key: nodes[key] for key in ids if key in nodes})
        shown_edges = await self._described(
            ObjectKind.RELATION, {relation_key(*pair): properties for pair, properties in edges.items()}
        )
        return KnowledgeGraph(
            nodes=[
                KnowledgeGraphNode(name_of(key), [name_of(key)], properties) for key, properties in shown_nodes.items()
            ],
            edges=[
                KnowledgeGraphEdge(
                    f"{name_of(pair[0])}-{name_of(pair[1])}",
                    "DIRECTED",
                    name_of(pair[0]),
                    name_of(pair[1]),
                    shown_edges[relation_key(*pair)],
                )
                for pair in visible
                if relation_key(*pair) in shown_edges
            ],
            is_truncated=is_truncated,
        )

    async def _described(self, kind: ObjectKind, objects: dict[str, Properties]) -> dict[str, Properties]:
        """Return public properties with texts and sources from eligible evidence."""
        limits = SourceLimits.of(self._context.settings, kind)
        described = await self._gate.describe(kind, list(objects.items()))
        sources = await self._gate.sources_of_objects(kind, list(objects), limits.read_limit)
        shown: dict[str, Properties] = {}
        for key, properties in described:
            source_id, file_path = source_fields(sources.get(key, ()), limits)
            shown[key] = {**public_properties(properties), "source_id": source_id, "file_path": file_path}
        return shown


def _sorted(pair: NodePair) -> NodePair:
    return (pair[0], pair[1]) if pair[0] <= pair[1] else (pair[1], pair[0])
