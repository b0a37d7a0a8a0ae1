"""The graph in the GraphML file of NetworkX, and what GraphML cannot hold in a file of our own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from lightrag.contracts.graph import (
    BaseGraphStorage,
    KnowledgeGraph,
    KnowledgeGraphEdge,
    KnowledgeGraphNode,
    NodePair,
    Properties,
)
from lightrag.kg.files.graph_table import GraphTable, sorted_pair
from lightrag.kg.files.kinds import GRAPH
from lightrag.kg.files.store import FileStore
from lightrag.kg.files.table import Change
from lightrag.kg.labels import ALL_NODES, best_labels
from lightrag.kg.texts import check_ids, encode_json


@dataclass(kw_only=True, eq=False)
class NetworkXStorage(FileStore[GraphTable], BaseGraphStorage):
    """Nodes and undirected edges, in ``graph_<namespace>.graphml``.

    The file names the sources of nodes and edges; they are filled in from the evidence when it is written.
    """

    kind: ClassVar[str] = GRAPH

    stores_sources: bool = field(default=True, init=False)

    # --- nodes -------------------------------------------------------------------------------------------------

    async def has_node(self, node_id: str) -> bool:
        """Tell whether the node exists."""
        return node_id in self.table.nodes

    async def has_nodes_batch(self, node_ids: Sequence[str]) -> set[str]:
        """Return those of ``node_ids`` that exist."""
        return {node_id for node_id in node_ids if node_id in self.table.nodes}

    async def node_degree(self, node_id: str) -> int:
        """Return the number of edges at the node; 0 when it does not exist."""
        return self.table.degree(node_id)

    async def node_degrees_batch(self, node_ids: Sequence[str]) -> dict[str, int]:
        """Return the degree of every given id."""
        with self.folder.lock:
            return {node_id: self.table.degree(node_id) for node_id in node_ids}

    async def get_node(self, node_id: str) -> Properties | None:
        """Return a node's properties, or ``None``."""
        return (await self.get_nodes_batch([node_id])).get(node_id)

    async def get_nodes_batch(self, node_ids: Sequence[str]) -> dict[str, Properties]:
        """Return the properties of those nodes that exist, by id."""
        with self.folder.lock:
            table = self.table
            return {node_id: table.node(node_id) for node_id in node_ids if node_id in table.nodes}

    async def get_all_labels(self) -> list[str]:
        """Return all node ids, sorted."""
        with self.folder.lock:
            return sorted(self.table.nodes)

    async def get_all_nodes(self) -> list[Properties]:
        """Return the properties of all nodes, each with ``id``."""
        with self.folder.lock:
            table = self.table
            return [{**table.node(node_id), "id": node_id} for node_id in table.nodes]

    async def count_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.table.nodes)

    # --- edges -------------------------------------------------------------------------------------------------

    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        """Tell whether the edge exists, in either direction."""
        return sorted_pair(source_node_id, target_node_id) in self.table.edges

    async def get_edge(self, source_node_id: str, target_node_id: str) -> Properties | None:
        """Return an edge's properties, or ``None``."""
        found = await self.get_edges_batch([{"src": source_node_id, "tgt": target_node_id}])
        return found.get((source_node_id, target_node_id))

    async def get_edges_batch(self, pairs: Sequence[Mapping[str, str]]) -> dict[NodePair, Properties]:
        """Return the properties of those edges ``{"src": ..., "tgt": ...}`` that exist, by ``(src, tgt)`` as asked."""
        asked = [(pair["src"], pair["tgt"]) for pair in pairs]
        with self.folder.lock:
            table = self.table
            return {pair: table.edge(ends) for pair in asked if (ends := sorted_pair(*pair)) in table.edges}

    async def get_node_edges(self, source_node_id: str) -> list[NodePair] | None:
        """Return the edges at a node as ``(node, neighbour)``; ``[]`` when isolated, ``None`` when it is unknown."""
        if source_node_id not in self.table.nodes:
            return None
        return (await self.get_nodes_edges_batch([source_node_id]))[source_node_id]

    async def get_nodes_edges_batch(self, node_ids: Sequence[str]) -> dict[str, list[NodePair]]:
        """Return the edges of every given node as ``(node, neighbour)``; ``[]`` when isolated or unknown."""
        with self.folder.lock:
            neighbours = self.table.neighbours
            return {node_id: [(node_id, other) for other in neighbours.get(node_id, ())] for node_id in node_ids}

    async def get_all_edges(self) -> list[Properties]:
        """Return the properties of all edges, each with ``source`` and ``target``, sorted as texts."""
        with self.folder.lock:
            table = self.table
            return [{**table.edge(pair), "source": pair[0], "target": pair[1]} for pair in table.edges]

    async def count_edges(self) -> int:
        """Return the number of edges."""
        return len(self.table.edges)

    # --- writing -----------------------------------------------------------------------------------------------

    async def upsert_node(self, node_id: str, node_data: Properties) -> None:
        """Insert or replace a node."""
        await self.upsert_nodes_batch([(node_id, node_data)])

    async def upsert_nodes_batch(self, nodes: Iterable[tuple[str, Properties]]) -> None:
        """Insert or replace nodes; one that does not change is not written.

        Raises:
            InputError: An id or property cannot be stored.
        """
        texts = {node_id: encode_json(properties, node_id) for node_id, properties in nodes}
        if not texts:
            return
        check_ids(texts)
        table = self.table

        def write(change: Change) -> None:
            changed = {node_id: text for node_id, text in texts.items() if table.nodes.get(node_id) != text}
            if changed:
                change.apply(table, ["nodes", changed])

        await self.folder.write(write)

    async def upsert_edge(self, source_node_id: str, target_node_id: str, edge_data: Properties) -> None:
        """Insert or replace an edge. Missing ends are created as nodes without properties."""
        await self.upsert_edges_batch([(source_node_id, target_node_id, edge_data)])

    async def upsert_edges_batch(self, edges: Iterable[tuple[str, str, Properties]]) -> None:
        """Insert or replace edges; one that does not change is not written.

        Raises:
            InputError: An id or property cannot be stored.
        """
        given = list(edges)
        if not given:
            return
        check_ids(end for source, target, _ in given for end in (source, target))
        texts = {
            sorted_pair(source, target): encode_json(properties, (source, target))
            for source, target, properties in given
        }
        table = self.table

        def write(change: Change) -> None:
            missing = {end: "{}" for pair in texts for end in pair if end not in table.nodes}
            if missing:
                change.apply(table, ["nodes", missing])
            changed = [[*pair, text] for pair, text in texts.items() if table.edges.get(pair) != text]
            if changed:
                change.apply(table, ["edges", changed])

        await self.folder.write(write)

    async def delete_node(self, node_id: str) -> None:
        """Delete a node and its edges; unknown ids are passed over."""
        await self.remove_nodes([node_id])

    async def remove_nodes(self, nodes: Sequence[str]) -> None:
        """Delete nodes and their edges."""
        if not nodes:
            return
        table, gone = self.table, list(dict.fromkeys(nodes))

        def write(change: Change) -> None:
            present = [node_id for node_id in gone if node_id in table.nodes]
            pairs = {sorted_pair(node_id, other): None for node_id in present for other in table.neighbours[node_id]}
            if pairs:
                change.apply(table, ["edges", [[*pair, None] for pair in pairs]])
            if present:
                change.apply(table, ["nodes", dict.fromkeys(present)])

        await self.folder.write(write)

    async def remove_edges(self, edges: Sequence[NodePair]) -> None:
        """Delete edges; unknown ones are passed over."""
        if not edges:
            return
        table, gone = self.table, {sorted_pair(*pair): None for pair in edges}

        def write(change: Change) -> None:
            pairs = [[*pair, None] for pair in gone if pair in table.edges]
            if pairs:
                change.apply(table, ["edges", pairs])

        await self.folder.write(write)

    # --- looking around ----------------------------------------------------------------------------------------

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        """Return node ids by degree (highest first), then by id."""
        with self.folder.lock:
            return self.table.best_connected(self.table.nodes)[: max(limit, 0)]

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """Return node ids that contain ``query`` in any case, best match first, then by id."""
        return best_labels(await self.get_all_labels(), query, limit)

    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int = 1000) -> KnowledgeGraph:
        """Return the part of the graph within ``max_depth`` hops of a node, nearest and best connected first."""
        with self.folder.lock:
            chosen, truncated = _around(self.table, node_label, max_depth, max(max_nodes, 0))
            return _view(self.table, chosen, truncated)


def _around(table: GraphTable, node_label: str, max_depth: int, max_nodes: int) -> tuple[dict[str, None], bool]:
    """Return the nodes to be shown, in order, and whether others were left out."""
    if node_label == ALL_NODES:
        ranked = table.best_connected(table.nodes)
        return dict.fromkeys(ranked[:max_nodes]), len(ranked) > max_nodes
    chosen: dict[str, None] = {}
    level = [node_label] if node_label in table.nodes else []
    for depth in range(max_depth + 1):
        room = max_nodes - len(chosen)
        chosen.update(dict.fromkeys(level[:room]))
        if len(level) > room:
            return chosen, True
        if depth < max_depth:
            around = {other for node_id in level for other in table.neighbours[node_id] if other not in chosen}
            level = table.best_connected(around)
    return chosen, False


def _view(table: GraphTable, chosen: dict[str, None], truncated: bool) -> KnowledgeGraph:
    graph = KnowledgeGraph(is_truncated=truncated)
    shown: dict[NodePair, None] = {}
    for node_id in chosen:
        graph.nodes.append(KnowledgeGraphNode(node_id, [node_id], table.node(node_id)))
        for other in table.neighbours[node_id]:
            if other in chosen:
                shown[sorted_pair(node_id, other)] = None
    for source, target in shown:
        properties = table.edge((source, target))
        graph.edges.append(KnowledgeGraphEdge(f"{source}-{target}", "DIRECTED", source, target, properties))
    return graph
