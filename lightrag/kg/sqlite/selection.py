"""What a filtered read is limited to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightrag import constants
from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.vector import Row
from lightrag.kg.sqlite import schema

if TYPE_CHECKING:
    from lightrag.query_filters import VectorQueryFilter

STATUS_TABLE = schema.table_name("status", constants.DOC_STATUS)
EVIDENCE_TABLE = schema.table_name("evidence", constants.EVIDENCE)


@dataclass(frozen=True, slots=True)
class VectorTable:
    """A table of vectors.

    Attributes:
        name: Of the table.
        kind: What a row stands for; ``None`` for a chunk, which stands for its document.
    """

    name: str
    kind: ObjectKind | None

    @classmethod
    def of(cls, name: str, namespace: str) -> VectorTable:
        """Return the table of a namespace."""
        kinds = {constants.VECTOR_ENTITIES: ObjectKind.ENTITY, constants.VECTOR_RELATIONSHIPS: ObjectKind.RELATION}
        return cls(name, kinds.get(namespace))

    def key_of(self, row: Row) -> str:
        """Return the document or object that a row names; ``""`` when it names none."""
        if self.kind is None:
            return str(row.get("full_doc_id") or "")
        if self.kind is ObjectKind.ENTITY:
            return str(row.get("graph_node_id") or row.get("entity_name") or "")
        return relation_key(str(row.get("src_id") or ""), str(row.get("tgt_id") or ""))


@dataclass(frozen=True, slots=True)
class Selection:
    """What is read, and what that takes.

    Attributes:
        metadata_filter: Which documents; ``None`` for all.
        partition: Scope of the rows; ``None`` for all.
        table: Vectors that are searched; ``None`` when evidence or documents are asked.
        evidence: Whether evidence is asked.
    """

    metadata_filter: VectorQueryFilter | None = None
    partition: str | None = None
    table: VectorTable | None = None
    evidence: bool = False

    @property
    def needs_evidence(self) -> bool:
        """Whether objects are chosen by their evidence."""
        of_objects = self.table is not None and self.table.kind is not None
        return self.metadata_filter is not None and (self.evidence or of_objects)
