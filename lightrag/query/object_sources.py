"""Where an entity or relation of a result comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightrag.constants import GRAPH_FIELD_SEP, UNKNOWN_SOURCE
from lightrag.contracts.evidence import EvidenceSource
from lightrag.graph.rendering import SourceLimits, source_fields


@dataclass(frozen=True, slots=True)
class ObjectSources:
    """Sources of one object.

    Attributes:
        chunk_ids: Chunks that speak of it, oldest first.
        source_id: Those of them that it names, joined by ``<SEP>``.
        file_path: Its distinct source paths, joined by ``<SEP>``.
    """

    chunk_ids: list[str]
    source_id: str
    file_path: str

    @classmethod
    def of(
        cls, sources: Sequence[EvidenceSource], properties: Mapping[str, Any], limits: SourceLimits
    ) -> ObjectSources:
        """Read the sources of an object.

        Args:
            sources: Its evidence. Without any, what the object says of itself counts: objects made by hand, and
                graphs that other tools wrote, have no evidence rows.
            properties: Of its node or edge.
            limits: How many sources it names.
        """
        if sources:
            source_id, file_path = source_fields(sources, limits)
            return cls([source.chunk_id for source in limits.apply(sources)], source_id, file_path)
        source_id = str(properties.get("source_id") or "")
        file_path = str(properties.get("file_path") or UNKNOWN_SOURCE)
        return cls([part for part in source_id.split(GRAPH_FIELD_SEP) if part], source_id, file_path)
