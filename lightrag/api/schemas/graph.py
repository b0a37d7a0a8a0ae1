"""Bodies of the graph routes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from lightrag.api.schemas.base import ResponseModel
from lightrag.contracts.graph import KnowledgeGraph


class GraphNode(ResponseModel):
    """An entity."""

    id: str = Field(description="Name of the entity.", examples=["Velmouth"])
    labels: list[str] = Field(description="The name again, as clients expect it.", examples=[["Velmouth"]])
    properties: dict[str, Any] = Field(description="entity_type, description and so on.")


class GraphEdge(ResponseModel):
    """A relation. It has no direction, whatever its type says."""

    id: str = Field(description="Names of both ends, joined.", examples=["Orlmark-Velmouth"])
    type: str | None = Field(description="DIRECTED, as clients expect it.", examples=["DIRECTED"])
    source: str = Field(description="One end.", examples=["Orlmark"])
    target: str = Field(description="The other end.", examples=["Velmouth"])
    properties: dict[str, Any] = Field(description="description, keywords, weight and so on.")


class GraphResponse(ResponseModel):
    """A part of the graph."""

    nodes: list[GraphNode] = Field(description="Entities.")
    edges: list[GraphEdge] = Field(description="Relations between them.")
    is_truncated: bool = Field(description="Whether the limit of nodes cut it.", examples=[False])

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> GraphResponse:
        """Return the public form of a part of the graph."""
        return cls(
            nodes=[GraphNode(id=node.id, labels=node.labels, properties=node.properties) for node in graph.nodes],
            edges=[
                GraphEdge(
                    id=edge.id, type=edge.type, source=edge.source, target=edge.target, properties=edge.properties
                )
                for edge in graph.edges
            ],
            is_truncated=graph.is_truncated,
        )


class ExistsResponse(ResponseModel):
    """Whether something exists."""

    exists: bool = Field(description="Whether it exists.", examples=[True])
