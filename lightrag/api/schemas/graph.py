"""Bodies of the graph routes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from lightrag.api.schemas.base import RequestModel, ResponseModel
from lightrag.api.schemas.filters import FilterFields
from lightrag.contracts.graph import KnowledgeGraph
from lightrag.contracts.query import QueryParam
from lightrag.query_filters import RequiredTagsMode


class GraphNode(ResponseModel):
    """An entity."""

    id: str = Field(description="Name of the entity.", examples=["Velmouth"])
    labels: list[str] = Field(description="The name again, as clients expect it.", examples=[["Velmouth"]])
    properties: dict[str, Any] = Field(
        description="entity_type, description and so on.",
        examples=[{"entity_type": "place", "description": "A harbour town."}],
    )


class GraphEdge(ResponseModel):
    """A relation. It has no direction, whatever its type says."""

    id: str = Field(description="Names of both ends, joined.", examples=["Orlmark-Velmouth"])
    type: str | None = Field(description="DIRECTED, as clients expect it.", examples=["DIRECTED"])
    source: str = Field(description="One end.", examples=["Orlmark"])
    target: str = Field(description="The other end.", examples=["Velmouth"])
    properties: dict[str, Any] = Field(
        description="description, keywords, weight and so on.",
        examples=[{"description": "The ferry crosses the river.", "keywords": "crossing", "weight": 2.0}],
    )


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


_TENANT_TAG = Field(None, description="Scope of the object; the whole when left out.", examples=["tenant:1"])
_NAME_CHARS = 512


class CreateEntityRequest(RequestModel):
    """An entity to create."""

    entity_name: str = Field(
        min_length=1, max_length=_NAME_CHARS, description="Name of the entity.", examples=["Velmouth"]
    )
    entity_data: dict[str, Any] = Field(
        default_factory=dict,
        description="description, entity_type and properties of its own.",
        examples=[{"description": "A harbour town.", "entity_type": "place"}],
    )
    tenant_tag: str | None = _TENANT_TAG


class EditEntityRequest(RequestModel):
    """A change of an entity."""

    entity_name: str = Field(
        min_length=1, max_length=_NAME_CHARS, description="Name of the entity.", examples=["Velmouth"]
    )
    updated_data: dict[str, Any] = Field(
        description="What shall be otherwise; entity_name gives it another name.",
        examples=[{"description": "A harbour town on the coast."}],
    )
    allow_rename: bool = Field(False, description="Allow another name.", examples=[False])
    allow_merge: bool = Field(False, description="Merge with the entity that has that name already.", examples=[False])
    tenant_tag: str | None = _TENANT_TAG


class CreateRelationRequest(RequestModel):
    """A relation to create."""

    source_entity: str = Field(min_length=1, max_length=_NAME_CHARS, description="One end.", examples=["Velmouth"])
    target_entity: str = Field(min_length=1, max_length=_NAME_CHARS, description="The other end.", examples=["Orlmark"])
    relation_data: dict[str, Any] = Field(
        description="description (needed), keywords, weight, source_id.",
        examples=[{"description": "Velmouth lies in Orlmark.", "keywords": "place", "weight": 1.0}],
    )
    tenant_tag: str | None = _TENANT_TAG


class EditRelationRequest(RequestModel):
    """A change of a relation."""

    source_id: str = Field(min_length=1, max_length=_NAME_CHARS, description="One end.", examples=["Velmouth"])
    target_id: str = Field(min_length=1, max_length=_NAME_CHARS, description="The other end.", examples=["Orlmark"])
    updated_data: dict[str, Any] = Field(
        description="What shall be otherwise.", examples=[{"keywords": "place, duchy"}]
    )
    tenant_tag: str | None = _TENANT_TAG


class MergeEntitiesRequest(RequestModel):
    """Entities to merge into one."""

    entities_to_change: list[str] = Field(
        min_length=1, max_length=1000, description="Names that shall go.", examples=[["Velmouthe", "Vellmouth"]]
    )
    entity_to_change_into: str = Field(
        min_length=1, max_length=_NAME_CHARS, description="Name that shall stay.", examples=["Velmouth"]
    )
    tenant_tag: str | None = _TENANT_TAG


class DeleteEntityRequest(RequestModel):
    """An entity to delete, with its relations."""

    entity_name: str = Field(
        min_length=1, max_length=_NAME_CHARS, description="Name of the entity.", examples=["Velmouth"]
    )
    tenant_tag: str | None = _TENANT_TAG


class DeleteRelationRequest(RequestModel):
    """A relation to delete."""

    source_entity: str = Field(min_length=1, max_length=_NAME_CHARS, description="One end.", examples=["Velmouth"])
    target_entity: str = Field(min_length=1, max_length=_NAME_CHARS, description="The other end.", examples=["Orlmark"])
    tenant_tag: str | None = _TENANT_TAG


class GraphChangeResponse(ResponseModel):
    """An object as it is after the change."""

    status: Literal["success"] = Field(description="Always success.")
    message: str = Field(description="In words.", examples=["entity 'Velmouth' created"])
    data: dict[str, Any] = Field(
        description="entity_name, or src_entity and tgt_entity; source_id; graph_data with all properties.",
        examples=[{"entity_name": "Velmouth", "source_id": "manual_creation"}],
    )


class EditEntityResponse(GraphChangeResponse):
    """An entity as it is after the change, and what was done."""

    operation_summary: dict[str, Any] = Field(
        description="merged, merge_status, merge_error, operation_status, target_entity, final_entity, renamed.",
        examples=[{"merged": False, "merge_status": "not_attempted", "operation_status": "success", "renamed": False}],
    )


class DeletionResponse(ResponseModel):
    """Something was deleted."""

    status: Literal["success"] = Field(description="Always success.")
    doc_id: str = Field(default="", description="Always empty.", examples=[""])
    message: str = Field(description="In words.", examples=["entity 'Velmouth' deleted, and 3 relations"])
    status_code: int = Field(default=200, description="HTTP status of the response, a number.", examples=[200])
    file_path: str | None = Field(default=None, description="Always null.", examples=[None])


_LABEL = "Name of an entity; * for the best connected ones."
_DEPTH = "Hops from it, count."
_NODES = "Entities at the most, count; the server's MAX_GRAPH_NODES is the limit."


class GraphQuery(RequestModel):
    """A part of the graph, as it fits into an address."""

    label: str = Field(max_length=_NAME_CHARS, description=_LABEL, examples=["Velmouth"])
    max_depth: int = Field(3, ge=0, le=64, description=_DEPTH, examples=[3])
    max_nodes: int = Field(1000, ge=1, le=1_000_000, description=_NODES, examples=[1000])
    required_tags: list[str] = Field(
        default_factory=list,
        description="Tags that documents must carry; a scope tag chooses the graph of that scope.",
        examples=[["tenant:1"]],
    )
    required_tags_mode: RequiredTagsMode = Field(
        RequiredTagsMode.AND, description="'and': all required tags; 'or': at least one.", examples=["and"]
    )

    def filter_param(self) -> QueryParam:
        """Return the limits as parameters of a question."""
        return QueryParam(required_tags=self.required_tags, required_tags_mode=self.required_tags_mode)


class GraphRequest(FilterFields):
    """A part of the graph, seen through a filter."""

    label: str = Field(max_length=_NAME_CHARS, description=_LABEL, examples=["Velmouth"])
    max_depth: int = Field(3, ge=0, le=64, description=_DEPTH, examples=[3])
    max_nodes: int = Field(1000, ge=1, le=1_000_000, description=_NODES, examples=[1000])
