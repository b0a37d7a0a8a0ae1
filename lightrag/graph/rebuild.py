"""Recompute objects from the evidence that remains: what a delete, an edit or a repair ends in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.manual import keeps_alive
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
    before = {kind: await evidence.of_objects(kind, object_ids) for kind, object_ids in objects.items()}
    remaining = {
        kind: {key: [row for row in rows if row.document_id not in gone] for key, rows in found.items()}
        for kind, found in before.items()
    }
    return await _refolded(context, remaining, before)


async def from_evidence(
    context: EngineContext, kind: ObjectKind, object_ids: Sequence[str], *, embed_all: bool = False
) -> GraphChange:
    """Compute the change that brings objects back in line with their evidence; those without any are removed.

    The caller holds the graph lock and writes the change.

    Args:
        context: The workspace.
        kind: Entities or relations.
        object_ids: Graph ids or relation keys.
        embed_all: Embed also what has not changed, because its vector may be missing.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    found = await context.stores.evidence.of_objects(kind, object_ids)
    remaining = {kind: {key: found.get(key, []) for key in object_ids}}
    return await _refolded(context, remaining, {}, embed_all=embed_all)


async def _refolded(
    context: EngineContext,
    remaining: Mapping[ObjectKind, Mapping[str, list[Evidence]]],
    before: Mapping[ObjectKind, Mapping[str, Sequence[Evidence]]],
    *,
    embed_all: bool = False,
) -> GraphChange:
    """Compute the change that leaves objects with the given rows; those without any are removed.

    An entity takes its relations along, also those that a person made and that therefore still have a row.
    """
    change = GraphChange()
    alive: dict[ObjectKind, dict[str, list[Evidence]]] = {}
    for kind, found in remaining.items():
        alive[kind] = {object_id: rows for object_id, rows in found.items() if keeps_alive(rows)}
        removed = change.removed_entities if kind is ObjectKind.ENTITY else change.removed_relations
        removed.extend(object_id for object_id in found if object_id not in alive[kind])
    edges = await context.stores.graph.get_nodes_edges_batch(change.removed_entities) if change.removed_entities else {}
    severed = {relation_key(*pair) for pairs in edges.values() for pair in pairs} - set(change.removed_relations)
    change.removed_relations.extend(sorted(severed))
    touched: list[Touched] = []
    for kind, found in alive.items():
        kept = {object_id: rows for object_id, rows in found.items() if object_id not in severed}
        touched.extend(await _refold(context, kind, kept, before.get(kind, {})))
    if embed_all:
        touched = [Touched(item.record, None) for item in touched]
    await add_records(context, change, touched)
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
