"""Recompute objects from the evidence that remains: what a delete, an edit or a repair ends in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.merge import load_facts, load_records
from lightrag.graph.records import ObjectRecord, fold
from lightrag.graph.summarise import needs_summary


async def without_documents(context: EngineContext, document_ids: Collection[str]) -> GraphChange:
    """Compute the change that takes documents out of the graph.

    The caller holds the graph lock, writes the change and drops the documents' evidence in one unit of work.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    evidence = context.stores.evidence
    gone = set(document_ids)
    objects = await evidence.objects_of_documents(gone)
    change = GraphChange()
    touched: list[Touched] = []
    for kind, object_ids in objects.items():
        rows = await evidence.of_objects(kind, object_ids)
        remaining = {
            object_id: [row for row in rows.get(object_id, ()) if row.document_id not in gone]
            for object_id in object_ids
        }
        removed = change.removed_entities if kind is ObjectKind.ENTITY else change.removed_relations
        removed.extend(object_id for object_id, kept in remaining.items() if not kept)
        kept_rows = {object_id: kept for object_id, kept in remaining.items() if kept}
        touched.extend(await _refold(context, kind, kept_rows, rows))
    await add_records(context, change, touched)
    return change


async def from_evidence(context: EngineContext, kind: ObjectKind, object_ids: Sequence[str]) -> GraphChange:
    """Compute the change that brings objects back in line with their evidence; those without any are removed."""
    rows = await context.stores.evidence.of_objects(kind, object_ids)
    change = GraphChange()
    removed = change.removed_entities if kind is ObjectKind.ENTITY else change.removed_relations
    removed.extend(object_id for object_id in object_ids if object_id not in rows)
    await add_records(context, change, await _refold(context, kind, rows, {}))
    return change


async def _refold(
    context: EngineContext,
    kind: ObjectKind,
    remaining: Mapping[str, list[Evidence]],
    before: Mapping[str, Sequence[Evidence]],
) -> list[Touched]:
    """Fold the remaining rows of objects, keeping what people added to them and summaries that still hold."""
    ids = list(remaining)
    is_entity = kind is ObjectKind.ENTITY
    current = await load_records(context, ids if is_entity else [], [] if is_entity else ids)
    facts = await load_facts(context, {row.document_id for rows in remaining.values() for row in rows})
    touched = []
    for object_id, rows in remaining.items():
        stored = current.get((kind, object_id))
        record = fold(kind, object_id, rows, facts, stored.extra if stored else None)
        if stored is not None and needs_summary(context, record) and _same_text(rows, before.get(object_id, ())):
            # What went away said nothing that the others do not say, so a summary of all is a summary of the rest.
            record.parts = list(stored.parts)
        touched.append(Touched(record, _stored_content(stored)))
    return touched


def _same_text(remaining: Sequence[Evidence], before: Sequence[Evidence]) -> bool:
    return bool(before) and {row.description for row in remaining if row.description} == {
        row.description for row in before if row.description
    }


def _stored_content(stored: ObjectRecord | None) -> str | None:
    return stored.vector_content() if stored is not None and stored.evidence_count else None
