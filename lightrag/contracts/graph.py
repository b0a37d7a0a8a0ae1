"""Graph stores: entities as nodes, relations as undirected edges."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightrag.contracts.storage import StorageNameSpace
from lightrag.types import KnowledgeGraph, KnowledgeGraphEdge, KnowledgeGraphNode

__all__ = [
    "BaseGraphStorage",
    "KnowledgeGraph",
    "KnowledgeGraphEdge",
    "KnowledgeGraphNode",
    "NodePair",
    "Properties",
]

Properties = dict[str, Any]
NodePair = tuple[str, str]


@dataclass(kw_only=True, eq=False)
class BaseGraphStorage(StorageNameSpace):
    """Nodes and edges with JSON properties (str, int, float, bool, list of str).

    A node id is a graph id: the entity's name in the aggregate, a scoped identity in a scope. The edge ``a-b`` is the
    edge ``b-a``. Ids round-trip exactly, whatever characters they hold. Upserts replace all properties.
    """

    embedding_func: Any = None

    # Whether nodes and edges must carry ``source_id`` and ``file_path`` themselves, for tools that read the graph
    # without the evidence store. Where this is False both are assembled from evidence when somebody looks.
    stores_sources: bool = field(default=False, init=False)

    @abstractmethod
    async def has_node(self, node_id: str) -> bool:
        """Tell whether the node exists."""

    @abstractmethod
    async def has_nodes_batch(self, node_ids: Sequence[str]) -> set[str]:
        """Return those of ``node_ids`` that exist."""

    @abstractmethod
    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        """Tell whether the edge exists, in either direction."""

    @abstractmethod
    async def node_degree(self, node_id: str) -> int:
        """Return the number of edges at the node; 0 when it does not exist."""

    @abstractmethod
    async def node_degrees_batch(self, node_ids: Sequence[str]) -> dict[str, int]:
        """Return the degree of every given id."""

    async def edge_degree(self, src_id: str, tgt_id: str) -> int:
        """Return the sum of the degrees of both ends."""
        degrees = await self.node_degrees_batch([src_id, tgt_id])
        return degrees[src_id] + degrees[tgt_id]

    async def edge_degrees_batch(self, edge_pairs: Sequence[NodePair]) -> dict[NodePair, int]:
        """Return the sum of the degrees of both ends, for every given pair."""
        degrees = await self.node_degrees_batch(sorted({end for pair in edge_pairs for end in pair}))
        return {pair: degrees[pair[0]] + degrees[pair[1]] for pair in edge_pairs}

    @abstractmethod
    async def get_node(self, node_id: str) -> Properties | None:
        """Return a node's properties, or ``None``."""

    @abstractmethod
    async def get_nodes_batch(self, node_ids: Sequence[str]) -> dict[str, Properties]:
        """Return the properties of those nodes that exist, by id."""

    @abstractmethod
    async def get_edge(self, source_node_id: str, target_node_id: str) -> Properties | None:
        """Return an edge's properties, or ``None``."""

    @abstractmethod
    async def get_edges_batch(self, pairs: Sequence[Mapping[str, str]]) -> dict[NodePair, Properties]:
        """Return the properties of those edges ``{"src": ..., "tgt": ...}`` that exist, by ``(src, tgt)`` as asked."""

    @abstractmethod
    async def get_node_edges(self, source_node_id: str) -> list[NodePair] | None:
        """Return the edges at a node as ``(node, neighbour)``; ``[]`` when isolated, ``None`` when it is unknown."""

    @abstractmethod
    async def get_nodes_edges_batch(self, node_ids: Sequence[str]) -> dict[str, list[NodePair]]:
        """Return the edges of every given node as ``(node, neighbour)``; ``[]`` when isolated or unknown."""

    @abstractmethod
    async def upsert_node(self, node_id: str, node_data: Properties) -> None:
        """Insert or replace a node."""

    @abstractmethod
    async def upsert_nodes_batch(self, nodes: Iterable[tuple[str, Properties]]) -> None:
        """Insert or replace nodes."""

    @abstractmethod
    async def upsert_edge(self, source_node_id: str, target_node_id: str, edge_data: Properties) -> None:
        """Insert or replace an edge. Missing ends are created as nodes without properties."""

    @abstractmethod
    async def upsert_edges_batch(self, edges: Iterable[tuple[str, str, Properties]]) -> None:
        """Insert or replace edges."""

    @abstractmethod
    async def delete_node(self, node_id: str) -> None:
        """Delete a node and its edges; unknown ids are passed over."""

    @abstractmethod
    async def remove_nodes(self, nodes: Sequence[str]) -> None:
        """Delete nodes and their edges."""

    @abstractmethod
    async def remove_edges(self, edges: Sequence[NodePair]) -> None:
        """Delete edges; unknown ones are passed over."""

    @abstractmethod
    async def get_all_labels(self) -> list[str]:
        """Return all node ids, sorted."""

    @abstractmethod
    async def get_all_nodes(self) -> list[Properties]:
        """Return the properties of all nodes, each with ``id``."""

    @abstractmethod
    async def get_all_edges(self) -> list[Properties]:
        """Return the properties of all edges, each with ``source`` and ``target``."""

    @abstractmethod
    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        """Return node ids by degree (highest first), then by id."""

    @abstractmethod
    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """Return node ids that contain ``query`` in any case, best match first.

        Score: 1000 for an equal name, 500 for a prefix, else 100 - length, +50 at the start of a word.
        """

    @abstractmethod
    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int = 1000) -> KnowledgeGraph:
        """Return the part of the graph within ``max_depth`` hops of a node, nearest and best connected first.

        ``"*"`` stands for all nodes, best connected first. An unknown label gives an empty graph. All edges between
        the returned nodes are returned.
        """

    @abstractmethod
    async def count_nodes(self) -> int:
        """Return the number of nodes."""

    @abstractmethod
    async def count_edges(self) -> int:
        """Return the number of edges."""
