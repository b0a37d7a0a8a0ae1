"""Evidence that is missing for an object which another tool wrote.

What is not known is never guessed. A chunk of which no reply was kept gets a row without a text, unless its document is
the only one that speaks of the object: then everything that the object says comes from it. Whatever the rows do not
account for, such as an edit by a person, becomes a correction, which no filtered query ever sees, because nobody can
tell which document it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lightrag.constants import UNKNOWN_ENTITY_TYPE
from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.contracts.kv import Record
from lightrag.graph.manual import ManualFields, keeps_alive, statement, with_fields
from lightrag.graph.records import ObjectRecord


@dataclass(frozen=True)
class Completed:
    """The evidence of an object, with nothing missing.

    Attributes:
        rows: All of it, in order.
        added: Rows that the store does not have yet.
    """

    rows: list[Evidence]
    added: list[Evidence]

    def with_correction(self, fields: ManualFields, now: int) -> Completed:
        """Return the evidence after a change by hand."""
        if fields.is_empty:
            return self
        changed, rows = with_fields(self.rows, fields, now)
        kept = [row for row in self.added if row.chunk_id != changed.chunk_id]
        return Completed(rows, [*kept, changed])


def complete(record: ObjectRecord, rows: Sequence[Evidence], chunks: Mapping[str, Record]) -> Completed:
    """Add the rows that an object lacks.

    Args:
        record: The object as it stands in the graph.
        rows: Its rows.
        chunks: Chunks that speak of it and have no row.
    """
    bare = [_bare(record, chunk_id, chunk) for chunk_id, chunk in chunks.items()]
    if bare and len({row.document_id for row in (*rows, *bare)}) == 1:
        said = _said(record, without={row.description for row in rows})
        bare[0] = (replace(said, weight=0.0) if rows else said).over(bare[0])
    if not bare and not keeps_alive(rows):
        bare = [statement(record.kind, record.object_id, "", record.created_at, _said(record))]
    return Completed([*rows, *bare], bare)


def unaccounted(stored: ObjectRecord, expected: ObjectRecord, *, is_summarised: bool) -> ManualFields:
    """Return what an object says that does not follow from its evidence.

    Args:
        stored: As it stands in the graph.
        expected: As its evidence has it.
        is_summarised: A model may have put the descriptions into other words.
    """
    same_text = not stored.parts or set(stored.parts) == set(expected.parts)
    fields = ManualFields(description="" if same_text or is_summarised else _text(stored))
    if stored.kind is ObjectKind.ENTITY:
        return replace(fields, entity_type="" if stored.entity_type == expected.entity_type else _type(stored))
    same_weight = not stored.weight or math.isclose(stored.weight, expected.weight, rel_tol=1e-9)
    same_keywords = not stored.keywords or set(stored.keywords) == set(expected.keywords)
    return replace(
        fields,
        keywords="" if same_keywords else ",".join(stored.keywords),
        weight=0.0 if same_weight else stored.weight,
    )


def _said(record: ObjectRecord, without: Collection[str] = ()) -> ManualFields:
    """Return what an object says, except for descriptions that are known already."""
    is_entity = record.kind is ObjectKind.ENTITY
    return ManualFields(
        description=_text(record, without),
        entity_type=_type(record) if is_entity else "",
        keywords="" if is_entity else ",".join(record.keywords),
        weight=0.0 if is_entity else record.weight,
    )


def _text(record: ObjectRecord, without: Collection[str] = ()) -> str:
    return "\n".join(part for part in record.parts if part not in without)


def _type(record: ObjectRecord) -> str:
    return record.entity_type if record.entity_type != UNKNOWN_ENTITY_TYPE else ""


def _bare(record: ObjectRecord, chunk_id: str, chunk: Record) -> Evidence:
    is_entity = record.kind is ObjectKind.ENTITY
    return Evidence(
        kind=record.kind,
        object_id=record.object_id,
        chunk_id=chunk_id,
        document_id=str(chunk["full_doc_id"]),
        entity_type=UNKNOWN_ENTITY_TYPE if is_entity else "",
        weight=0.0 if is_entity else 1.0,
        file_path=str(chunk.get("file_path") or ""),
        created_at=record.created_at,
    )
