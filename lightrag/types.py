"""Types shared by every layer. Hardly any code, so importing it costs nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias, Union

JsonScalar: TypeAlias = str | int | float | bool | None
"""A JSON value without structure."""

JsonValue: TypeAlias = Union[JsonScalar, list["JsonValue"], dict[str, "JsonValue"]]  # noqa: UP007
"""Any value that survives ``json.dumps`` and ``json.loads`` unchanged."""

JsonObject: TypeAlias = dict[str, JsonValue]
"""A JSON object."""

Metadata: TypeAlias = dict[str, Any]
"""The ``metadata`` of a doc_status row: our ``user_*`` keys beside the pipeline's own."""

Row: TypeAlias = dict[str, Any]
"""One stored record as its store returns it; values at a driver's boundary are not typed further."""

DocumentId: TypeAlias = str
"""Key of a document in doc_status, ``doc-...``."""

ChunkId: TypeAlias = str
"""Key of a chunk in text_chunks and chunks_vdb, ``chunk-...``."""


class _View:
    def model_dump(self) -> dict[str, Any]:
        """Return it as plain JSON values, under the name by which programs ask for that."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclass
class KnowledgeGraphNode(_View):
    """A node as the graph view shows it."""

    id: str
    labels: list[str]
    properties: dict[str, Any]


@dataclass
class KnowledgeGraphEdge(_View):
    """An edge as the graph view shows it; ``type`` is ``"DIRECTED"`` for compatibility, edges have no direction."""

    id: str
    type: str | None
    source: str
    target: str
    properties: dict[str, Any]


@dataclass
class KnowledgeGraph(_View):
    """A part of the graph. ``is_truncated`` tells that ``max_nodes`` cut it."""

    nodes: list[KnowledgeGraphNode] = field(default_factory=list)
    edges: list[KnowledgeGraphEdge] = field(default_factory=list)
    is_truncated: bool = False
