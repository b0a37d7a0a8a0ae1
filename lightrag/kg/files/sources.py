"""Where objects come from, as the files of the peer name it: chunk ids and source paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightrag.constants import EVIDENCE, GRAPH_FIELD_SEP, UNKNOWN_SOURCE
from lightrag.contracts.evidence import Evidence, ObjectKind, is_correction_document
from lightrag.kg.files.kinds import EVIDENCE as EVIDENCE_KIND
from lightrag.kg.files.kinds import table_name

if TYPE_CHECKING:
    from lightrag.kg.files.evidence_table import EvidenceTable
    from lightrag.kg.files.table import Table


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """How many sources an object names.

    Attributes:
        chunk_ids: Chunk ids at the most, by kind.
        newest: Keep the newest instead of the oldest.
        file_paths: Source paths at the most.
        placeholder: Stands for the paths left out.
    """

    entity_chunk_ids: int = 200
    relation_chunk_ids: int = 200
    newest: bool = False
    file_paths: int = 75
    placeholder: str = "truncated"

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> SourceLimits:
        """Return the limits that the settings of an engine give."""
        usual = cls()
        return cls(
            entity_chunk_ids=int(config.get("max_source_ids_per_entity", usual.entity_chunk_ids)),
            relation_chunk_ids=int(config.get("max_source_ids_per_relation", usual.relation_chunk_ids)),
            newest=config.get("source_ids_limit_method") == "FIFO",
            file_paths=int(config.get("max_file_paths", usual.file_paths)),
            placeholder=str(config.get("file_path_more_placeholder", usual.placeholder)),
        )


class Sources:
    """Sources of objects, taken from the evidence of the folder if it has any."""

    def __init__(self, tables: Mapping[str, Table], limits: SourceLimits) -> None:
        """Look for the evidence among the tables of a folder."""
        self._evidence: EvidenceTable | None = tables.get(table_name(EVIDENCE_KIND, EVIDENCE))  # type: ignore[assignment]
        self._limits = limits

    def of(self, kind: ObjectKind, object_id: str, properties: Mapping[str, Any]) -> tuple[str, str]:
        """Return ``source_id`` and ``file_path`` of an object, each joined by ``<SEP>``.

        Args:
            kind: Entity or relation.
            object_id: Its graph id or relation key.
            properties: Of its node, edge or vector row: what they say counts where there is no evidence.
        """
        rows = self._rows(kind, object_id)
        if not rows:
            return str(properties.get("source_id") or ""), str(properties.get("file_path") or UNKNOWN_SOURCE)
        limits = self._limits
        count = limits.entity_chunk_ids if kind is ObjectKind.ENTITY else limits.relation_chunk_ids
        if len(rows) > count:
            rows = rows[-count:] if limits.newest else rows[:count]
        paths = [path for path in dict.fromkeys(row.file_path for row in rows) if path] or [UNKNOWN_SOURCE]
        if len(paths) > limits.file_paths:
            paths = [*paths[: limits.file_paths], limits.placeholder]
        return GRAPH_FIELD_SEP.join(row.chunk_id for row in rows), GRAPH_FIELD_SEP.join(paths)

    def _rows(self, kind: ObjectKind, object_id: str) -> list[Evidence]:
        if self._evidence is None:
            return []
        rows = self._evidence.of_object(kind, object_id)
        # What a person changed by hand is no source.
        return [row for row in rows if not is_correction_document(row.document_id)]
