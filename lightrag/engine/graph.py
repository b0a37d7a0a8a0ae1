"""Methods about the knowledge graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightrag.engine.base import EngineBase

if TYPE_CHECKING:
    from lightrag.contracts.graph import KnowledgeGraph


class GraphMethods(EngineBase):
    """Look at the graph and edit it."""

    async def get_graph_labels(self) -> list[str]:
        """Return the names of all entities, sorted."""
        return await self.context.stores.graph.get_all_labels()

    async def get_knowledge_graph(
        self, node_label: str, max_depth: int = 3, max_nodes: int | None = None
    ) -> KnowledgeGraph:
        """Return the part of the graph around an entity, or the whole with ``"*"``."""
        limit = min(max_nodes or self.context.settings.max_graph_nodes, self.context.settings.max_graph_nodes)
        return await self.context.stores.graph.get_knowledge_graph(node_label, max_depth, limit)
