"""Merge new evidence into the graph: read the touched records, extend, summarise, embed.

Several documents are merged at once where they wait together, so an entity that all of them name is read, embedded and
written once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, split_relation_key
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.records import ObjectRecord
from lightrag.query_filters import DocumentFacts


async def merge_evidence(
    context: EngineContext, rows: Sequence[Evidence], facts: Mapping[str, DocumentFacts]
) -> GraphChange:
    """Compute the change that adds evidence rows of new documents.

    The caller holds the graph lock from here until the change is written.

    Args:
        context: The workspace.
        rows: Evidence in order of arrival, of documents that have none in the store yet.
        facts: Dates and tags of those documents, by id.

    Raises:
        ModelError: The embedding model failed; nothing has been written.
    """
    by_object: dict[tuple[ObjectKind, str], list[Evidence]] = {}
    for row in rows:
        by_object.setdefault((row.kind, row.object_id), []).append(row)
    entity_ids = [object_id for kind, object_id in by_object if kind is ObjectKind.ENTITY]
    relation_ids = [object_id for kind, object_id in by_object if kind is ObjectKind.RELATION]
    records = await load_records(context, entity_ids, relation_ids)
    touched: list[Touched] = []
    for (kind, object_id), new_rows in by_object.items():
        record = records.get((kind, object_id))
        stored = record.vector_content() if record is not None and record.evidence_count else None
        if record is None:
            record = ObjectRecord(kind=kind, object_id=object_id)
        record.extend(new_rows, facts)
        touched.append(Touched(record, stored))
    change = GraphChange(evidence=list(rows))
    await add_records(context, change, touched)
    return change


async def load_records(
    context: EngineContext, entity_ids: Sequence[str], relation_ids: Sequence[str]
) -> dict[tuple[ObjectKind, str], ObjectRecord]:
    """Return the stored records of objects; those that do not exist are left out."""
    graph = context.stores.graph
    nodes = await graph.get_nodes_batch(list(entity_ids)) if entity_ids else {}
    pairs = {split_relation_key(key): key for key in relation_ids}
    edges = await graph.get_edges_batch([{"src": pair[0], "tgt": pair[1]} for pair in pairs]) if pairs else {}
    records = {
        (ObjectKind.ENTITY, node_id): ObjectRecord.from_properties(ObjectKind.ENTITY, node_id, properties)
        for node_id, properties in nodes.items()
    }
    for pair, properties in edges.items():
        key = pairs[pair]
        records[ObjectKind.RELATION, key] = ObjectRecord.from_properties(ObjectKind.RELATION, key, properties)
    return records


async def load_facts(context: EngineContext, document_ids: Collection[str]) -> dict[str, DocumentFacts]:
    """Return dates and tags of documents; one without a status row is undated and untagged.

    What a person said in a scope carries the tag of that scope.
    """
    return await context.stores.doc_status.get_facts(list(document_ids))
