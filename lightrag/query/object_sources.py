"""Where an entity or relation of a result comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightrag.constants import GRAPH_FIELD_SEP, MANUAL_SOURCE_ID, UNKNOWN_SOURCE
from lightrag.contracts.evidence import CORRECTION_DOCUMENT_ID, EvidenceSource
from lightrag.graph.rendering import SourceLimits, source_fields


@dataclass(frozen=True, slots=True)
class ObjectSources:
    """Sources of one object.

    Attributes:
        chunk_ids: Chunks that speak of it, oldest first, what a person said by hand left out.
        source_id: All evidence that it names, joined by ``<SEP>``.
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
            sources: Its evidence; a person's corrections are no source. Without any, what the object says of itself
                counts: graphs that other tools wrote have no evidence rows.
            properties: Of its node or edge.
            limits: How many sources it names.
        """
        own = [source for source in sources if source.document_id != CORRECTION_DOCUMENT_ID]
        if own:
            source_id, file_path = source_fields(own, limits)
            named = [source.chunk_id for source in limits.apply(own) if source.chunk_id != MANUAL_SOURCE_ID]
            return cls(named, source_id, file_path)
        source_id = str(properties.get("source_id") or "")
        file_path = str(properties.get("file_path") or UNKNOWN_SOURCE)
        return cls([part for part in source_id.split(GRAPH_FIELD_SEP) if part], source_id, file_path)
