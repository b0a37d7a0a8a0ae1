"""Recompute objects from the evidence that remains: what a delete, an edit or a repair ends in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.manual import keeps_alive
from lightrag.graph.merge import load_facts, load_records
from lightrag.graph.records import ObjectRecord, fold
from lightrag.graph.summarise import needs_summary
from lightrag.query_filters import DocumentFacts, document_facts


async def without_documents(
    context: EngineContext, document_ids: Collection[str], *, keeping: Sequence[Evidence] = ()
) -> GraphChange:
    """Compute the change that takes documents, or parts of them, out of the graph.

    The caller holds the graph lock, drops the documents' evidence and writes the change in one unit of work.

    Args:
        context: The workspace.
        document_ids: The documents.
        keeping: Evidence that they have afterwards; it is written anew, so the caller drops first.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    evidence = context.stores.evidence
    gone = set(document_ids)
    objects = {
        kind: dict.fromkeys(object_ids) for kind, object_ids in (await evidence.objects_of_documents(gone)).items()
    }
    for row in keeping:
        objects.setdefault(row.kind, {})[row.object_id] = None
    before = {kind: await evidence.of_objects(kind, list(object_ids)) for kind, object_ids in objects.items()}
    remaining = {
        kind: {key: [row for row in before[kind].get(key, ()) if row.document_id not in gone] for key in object_ids}
        for kind, object_ids in objects.items()
    }
    for row in keeping:
        remaining[row.kind][row.object_id].append(row)
    change = await _refolded(context, remaining, before)
    change.evidence = list(keeping)
    return change


async def from_evidence(
    context: EngineContext,
    kind: ObjectKind,
    object_ids: Sequence[str],
    *,
    embed_all: bool = False,
    extras: Mapping[str, Mapping[str, Any]] | None = None,
) -> GraphChange:
    """Compute the change that brings objects back in line with their evidence; those without any are removed.

    The caller holds the graph lock and writes the change.

    Args:
        context: The workspace.
        kind: Entities or relations.
        object_ids: Graph ids or relation keys.
        embed_all: Embed also what has not changed, because its vector may be missing.
        extras: Properties of people and other tools that objects shall have; others keep what is stored.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    found = await context.stores.evidence.of_objects(kind, object_ids)
    remaining = {kind: {key: found.get(key, []) for key in object_ids}}
    return await _refolded(context, remaining, {}, embed_all=embed_all, extras=extras)


async def with_changed_document(
    context: EngineContext,
    document_id: str,
    metadata: Mapping[str, Any],
    *,
    gained: Sequence[Evidence] = (),
    lost_tags: Collection[str] = (),
) -> GraphChange:
    """Compute the change that follows from new metadata of a document: new summaries, and scopes it joins or leaves.

    The caller holds the graph lock, writes the change, and drops the document's evidence in the lost scopes, in one
    unit of work.

    Args:
        context: The workspace.
        document_id: The document.
        metadata: Its new metadata, as stored.
        gained: Its evidence in scopes that it joins.
        lost_tags: Scopes that it leaves.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    evidence = context.stores.evidence
    wanted = {
        kind: dict.fromkeys(object_ids)
        for kind, object_ids in (await evidence.objects_of_documents([document_id])).items()
    }
    for row in gained:
        wanted.setdefault(row.kind, {})[row.object_id] = None
    before = {kind: await evidence.of_objects(kind, list(object_ids)) for kind, object_ids in wanted.items()}
    remaining = {
        kind: {
            object_id: [
                row
                for row in before[kind].get(object_id, ())
                if row.document_id != document_id or row.tenant_tag not in lost_tags
            ]
            for object_id in object_ids
        }
        for kind, object_ids in wanted.items()
    }
    for row in gained:
        remaining[row.kind][row.object_id].append(row)
    change = await _refolded(context, remaining, before, facts={document_id: document_facts(metadata)})
    change.evidence = list(gained)
    return change


async def _refolded(
    context: EngineContext,
    remaining: Mapping[ObjectKind, Mapping[str, list[Evidence]]],
    before: Mapping[ObjectKind, Mapping[str, Sequence[Evidence]]],
    *,
    embed_all: bool = False,
    facts: Mapping[str, DocumentFacts] | None = None,
    extras: Mapping[str, Mapping[str, Any]] | None = None,
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
        touched.extend(await _refold(context, kind, kept, before.get(kind, {}), facts or {}))
    for item in touched:
        item.record.extra = dict((extras or {}).get(item.record.object_id, item.record.extra))
        item.stored_content = None if embed_all else item.stored_content
    await add_records(context, change, touched)
    return change


async def _refold(
    context: EngineContext,
    kind: ObjectKind,
    remaining: Mapping[str, list[Evidence]],
    before: Mapping[str, Sequence[Evidence]],
    new_facts: Mapping[str, DocumentFacts],
) -> list[Touched]:
    """Fold the remaining rows of objects, keeping what people added to them and summaries that still hold."""
    ids = list(remaining)
    is_entity = kind is ObjectKind.ENTITY
    current = await load_records(context, ids if is_entity else [], [] if is_entity else ids)
    documents = {row.document_id for rows in remaining.values() for row in rows}
    facts = {**await load_facts(context, documents), **new_facts}
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
