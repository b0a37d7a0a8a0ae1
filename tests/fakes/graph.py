"""A graph store in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lightrag.contracts.graph import (
    BaseGraphStorage,
    KnowledgeGraph,
    KnowledgeGraphEdge,
    KnowledgeGraphNode,
    NodePair,
    Properties,
)
from tests.fakes.base import InMemory, copied


@dataclass(kw_only=True, eq=False)
class FakeGraphStorage(InMemory, BaseGraphStorage):
    """Nodes in ``rows``, edges in ``edges`` under their sorted ends, neighbours in ``neighbours``."""

    edges: dict[NodePair, Properties] = field(default_factory=dict)
    neighbours: dict[str, dict[str, None]] = field(default_factory=dict)

    def forget(self) -> None:
        self.rows.clear()
        self.edges.clear()
        self.neighbours.clear()

    async def has_node(self, node_id: str) -> bool:
        return node_id in self.rows

    async def has_nodes_batch(self, node_ids: Sequence[str]) -> set[str]:
        return {node_id for node_id in node_ids if node_id in self.rows}

    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        return _pair(source_node_id, target_node_id) in self.edges

    async def node_degree(self, node_id: str) -> int:
        return len(self.neighbours.get(node_id, {}))

    async def node_degrees_batch(self, node_ids: Sequence[str]) -> dict[str, int]:
        self.note("node_degrees_batch")
        return {node_id: len(self.neighbours.get(node_id, {})) for node_id in node_ids}

    async def get_node(self, node_id: str) -> Properties | None:
        self.note("get_node")
        return copied(self.rows.get(node_id))

    async def get_nodes_batch(self, node_ids: Sequence[str]) -> dict[str, Properties]:
        self.note("get_nodes_batch")
        return {node_id: copied(self.rows[node_id]) for node_id in node_ids if node_id in self.rows}

    async def get_edge(self, source_node_id: str, target_node_id: str) -> Properties | None:
        self.note("get_edge")
        return copied(self.edges.get(_pair(source_node_id, target_node_id)))

    async def get_edges_batch(self, pairs: Sequence[Mapping[str, str]]) -> dict[NodePair, Properties]:
        self.note("get_edges_batch")
        asked = [(pair["src"], pair["tgt"]) for pair in pairs]
        return {pair: copied(self.edges[_pair(*pair)]) for pair in asked if _pair(*pair) in self.edges}

    async def get_node_edges(self, source_node_id: str) -> list[NodePair] | None:
        self.note("get_node_edges")
        if source_node_id not in self.rows:
            return None
        return [(source_node_id, neighbour) for neighbour in self.neighbours.get(source_node_id, {})]

    async def get_nodes_edges_batch(self, node_ids: Sequence[str]) -> dict[str, list[NodePair]]:
        self.note("get_nodes_edges_batch")
        return {
            node_id: [(node_id, neighbour) for neighbour in self.neighbours.get(node_id, {})] for node_id in node_ids
        }

    async def upsert_node(self, node_id: str, node_data: Properties) -> None:
        await self.upsert_nodes_batch([(node_id, node_data)])

    async def upsert_nodes_batch(self, nodes: Iterable[tuple[str, Properties]]) -> None:
        rows = copied(dict(nodes))
        self.fake.write(lambda: self.rows.update(rows))

    async def upsert_edge(self, source_node_id: str, target_node_id: str, edge_data: Properties) -> None:
        await self.upsert_edges_batch([(source_node_id, target_node_id, edge_data)])

    async def upsert_edges_batch(self, edges: Iterable[tuple[str, str, Properties]]) -> None:
        rows = copied(list(edges))

        def write() -> None:
            for source, target, properties in rows:
                for end, other in ((source, target), (target, source)):
                    self.rows.setdefault(end, {})
                    self.neighbours.setdefault(end, {})[other] = None
                self.edges[_pair(source, target)] = properties

        self.fake.write(write)

    async def delete_node(self, node_id: str) -> None:
        await self.remove_nodes([node_id])

    async def remove_nodes(self, nodes: Sequence[str]) -> None:
        gone = list(nodes)

        def write() -> None:
            for node_id in gone:
                for neighbour in list(self.neighbours.get(node_id, {})):
                    self._remove_edge(node_id, neighbour)
                self.neighbours.pop(node_id, None)
                self.rows.pop(node_id, None)

        self.fake.write(write)

    async def remove_edges(self, edges: Sequence[NodePair]) -> None:
        gone = list(edges)

        def write() -> None:
            for pair in gone:
                self._remove_edge(*pair)

        self.fake.write(write)

    def _remove_edge(self, source: str, target: str) -> None:
        self.edges.pop(_pair(source, target), None)
        self.neighbours.get(source, {}).pop(target, None)
        self.neighbours.get(target, {}).pop(source, None)

    async def get_all_labels(self) -> list[str]:
        return sorted(self.rows)

    async def get_all_nodes(self) -> list[Properties]:
        return [{**copied(properties), "id": node_id} for node_id, properties in self.rows.items()]

    async def get_all_edges(self) -> list[Properties]:
        return [
            {**copied(properties), "source": source, "target": target}
            for (source, target), properties in self.edges.items()
        ]

    def _by_degree(self, node_ids: Iterable[str]) -> list[str]:
        return sorted(node_ids, key=lambda node_id: (-len(self.neighbours.get(node_id, {})), node_id))

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        return self._by_degree(self.rows)[:limit]

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        wanted = query.lower()

        def score(label: str) -> int:
            name = label.lower()
            base = 1000 if name == wanted else 500 if name.startswith(wanted) else 100 - len(name)
            return base + 50 if f" {wanted}" in name or f"_{wanted}" in name else base

        found = [label for label in self.rows if wanted and wanted in label.lower()]
        return sorted(found, key=lambda label: (-score(label), label))[:limit]

    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int = 1000) -> KnowledgeGraph:
        reached = self._by_degree(self.rows) if node_label == "*" else self._within(node_label, max_depth)
        kept = reached[:max_nodes]
        inside = set(kept)
        return KnowledgeGraph(
            nodes=[KnowledgeGraphNode(id=key, labels=[key], properties=copied(self.rows[key])) for key in kept],
            edges=[
                KnowledgeGraphEdge(
                    id=f"{source}-{target}", type="DIRECTED", source=source, target=target, properties=copied(edge)
                )
                for (source, target), edge in self.edges.items()
                if source in inside and target in inside
            ],
            is_truncated=len(reached) > len(kept),
        )

    def _within(self, start: str, max_depth: int) -> list[str]:
        """Nodes by distance, then by degree."""
        if start not in self.rows:
            return []
        depth = {start: 0}
        queue = deque([start])
        while queue:
            node_id = queue.popleft()
            if depth[node_id] < max_depth:
                for neighbour in self.neighbours.get(node_id, {}):
                    if neighbour not in depth:
                        depth[neighbour] = depth[node_id] + 1
                        queue.append(neighbour)
        return sorted(self._by_degree(depth), key=depth.__getitem__)

    async def count_nodes(self) -> int:
        return len(self.rows)

    async def count_edges(self) -> int:
        return len(self.edges)


def _pair(source: str, target: str) -> NodePair:
    return (source, target) if source <= target else (target, source)
