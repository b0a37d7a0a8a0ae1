"""What people say about entities and relations by hand, kept as evidence beside that of documents.

There are two kinds of rows, told apart by the document they name; neither document has a status row:

* A *statement* (``manual_creation``) comes with an object that a person creates. It is evidence like any other: it
  keeps the object alive without a document, and later documents add to it. To a filter it is undated and untagged; a
  statement of a scope (``manual_creation:<scope tag>``) carries that tag.
* A *correction* (``manual_edit``) changes an object that documents speak of. It replaces what the rows before it say,
  and rows after it add to it again; an entity type that a person chose stays. A correction may repeat words of any
  document, so it cannot be attributed: a filtered query never sees it, and it goes when the last other row of its
  object goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lightrag.constants import MANUAL_SOURCE_ID, UNKNOWN_ENTITY_TYPE
from lightrag.contracts.evidence import (
    CORRECTION_DOCUMENT_ID,
    Evidence,
    EvidenceSource,
    ObjectKind,
    is_correction_document,
    is_statement_document,
    statement_document,
)


@dataclass(frozen=True, slots=True)
class ManualFields:
    """What a person says about an object; ``""`` and 0.0 leave a field as it is.

    Attributes:
        description: Text.
        entity_type: Type of an entity.
        keywords: Comma-separated keywords of a relation.
        weight: Strength of a relation.
    """

    description: str = ""
    entity_type: str = ""
    keywords: str = ""
    weight: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return self == ManualFields()

    def over(self, row: Evidence) -> Evidence:
        """Return a row with the given fields replaced."""
        return replace(
            row,
            description=self.description or row.description,
            entity_type=self.entity_type or row.entity_type,
            keywords=self.keywords or row.keywords,
            weight=self.weight or row.weight,
        )


def is_statement(row: Evidence | EvidenceSource) -> bool:
    """Tell whether a row is a statement."""
    return is_statement_document(row.document_id)


def is_correction(row: Evidence | EvidenceSource) -> bool:
    """Tell whether a row is a correction."""
    return is_correction_document(row.document_id)


def is_manual_document(document_id: str) -> bool:
    """Tell whether an id stands for a person and not for a document; documents may not be given such an id."""
    return is_statement_document(document_id) or is_correction_document(document_id)


def keeps_alive(rows: Iterable[Evidence | EvidenceSource]) -> bool:
    """Tell whether an object with these rows exists: one of them is no correction."""
    return any(not is_correction(row) for row in rows)


def statement(kind: ObjectKind, object_id: str, tenant_tag: str, now: int, fields: ManualFields) -> Evidence:
    """Return the row that creates an object.

    Args:
        kind: Entity or relation.
        object_id: Graph id or relation key.
        tenant_tag: Scope of the object; ``""`` for the aggregate.
        now: Epoch seconds.
        fields: What the person says.
    """
    row = Evidence(
        kind=kind,
        object_id=object_id,
        chunk_id=MANUAL_SOURCE_ID,
        document_id=statement_document(tenant_tag),
        entity_type=UNKNOWN_ENTITY_TYPE if kind is ObjectKind.ENTITY else "",
        weight=0.0 if kind is ObjectKind.ENTITY else 1.0,
        file_path=MANUAL_SOURCE_ID,
        created_at=now,
        tenant_tag=tenant_tag,
    )
    return fields.over(row)


def with_fields(rows: Sequence[Evidence], fields: ManualFields, now: int) -> tuple[Evidence, list[Evidence]]:
    """Return the row that makes a person's change to an object, new or replaced, and all rows with it in its place.

    What a person said last is changed where it stands, so that edits in a row do not pile up.

    Args:
        rows: The object's rows, in order; at least one.
        fields: The change.
        now: Epoch seconds.
    """
    if all(is_statement(row) for row in rows):
        changed = fields.over(rows[0])
        return changed, [changed, *rows[1:]]
    if is_correction(rows[-1]):
        changed = fields.over(rows[-1])
        return changed, [*rows[:-1], changed]
    added = _correction(rows, fields, now)
    return added, [*rows, added]


def _correction(rows: Sequence[Evidence], fields: ManualFields, now: int) -> Evidence:
    # Rows are keyed by object and chunk, so every correction of an object has a number of its own.
    numbers = [int(row.chunk_id.rpartition("-")[2]) for row in rows if is_correction(row)]
    row = Evidence(
        kind=rows[0].kind,
        object_id=rows[0].object_id,
        chunk_id=f"{CORRECTION_DOCUMENT_ID}-{max(numbers, default=0) + 1:06d}",
        document_id=CORRECTION_DOCUMENT_ID,
        file_path=MANUAL_SOURCE_ID,
        created_at=now,
        tenant_tag=rows[0].tenant_tag,
    )
    return fields.over(row)
