"""Objects that another tool wrote: their evidence made complete, properties and vectors brought in line with it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, split_relation_key
from lightrag.contracts.graph import Properties
from lightrag.contracts.kv import BaseKVStorage, Record
from lightrag.graph.change import GraphChange, Touched, add_records, add_vector, entity_vector_id, relation_vector_id
from lightrag.graph.merge import load_facts
from lightrag.graph.records import ObjectRecord, fold
from lightrag.graph.summarise import needs_summary
from lightrag.ingest.take_over_rows import Completed, complete, unaccounted
from lightrag.kg_scopes import make_relation_chunk_key
from lightrag.query_filters import DocumentFacts

# What other tools keep on an object and we take from its evidence.
_FROM_EVIDENCE = ("source_id", "file_path", "truncate")


@dataclass(frozen=True)
class ChunkLists:
    """Where another tool keeps the chunks of objects; what is missing is read from the objects themselves.

    Attributes:
        entities: Chunk ids of entities, by name.
        relations: Chunk ids of relations, by both names.
    """

    entities: BaseKVStorage | None = None
    relations: BaseKVStorage | None = None

    async def of(self, kind: ObjectKind, objects: Mapping[str, Properties]) -> dict[str, list[str]]:
        """Return the chunk ids of objects, oldest first."""
        store = self.entities if kind is ObjectKind.ENTITY else self.relations
        keys = [
            key if kind is ObjectKind.ENTITY else make_relation_chunk_key(*split_relation_key(key)) for key in objects
        ]
        rows: Sequence[Record | None] = await store.get_by_ids(keys) if store is not None else [None] * len(keys)
        return {
            object_id: _distinct([*((row or {}).get("chunk_ids") or ()), *_named_sources(properties)])
            for (object_id, properties), row in zip(objects.items(), rows, strict=True)
        }


def _named_sources(properties: Properties) -> list[str]:
    return [part for part in str(properties.get("source_id") or "").split(GRAPH_FIELD_SEP) if part]


def _distinct(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


async def take_over_objects(
    context: EngineContext, kind: ObjectKind, object_ids: Sequence[str], lists: ChunkLists
) -> None:
    """Bring objects and their evidence together; evidence of objects that are no more is dropped.

    The caller holds the graph lock.

    Args:
        context: The workspace.
        kind: Entities or relations.
        object_ids: Graph ids or relation keys of the aggregate.
        lists: The chunks of objects.

    Raises:
        ModelError: A vector is missing, or is that of another text, and the embedding model failed.
    """
    stores = context.stores
    objects = await _stored(context, kind, object_ids)
    records = {
        object_id: ObjectRecord.from_properties(kind, object_id, properties)
        for object_id, properties in objects.items()
    }
    evidence = await _completed(context, kind, records, await lists.of(kind, objects))
    facts = await load_facts(context, {row.document_id for found in evidence.values() for row in found.rows})
    folded: list[ObjectRecord] = []
    added: list[Evidence] = []
    for object_id, record in records.items():
        result, rows = _folded(context, record, evidence[object_id], facts)
        folded.append(result)
        added += rows
    change = await _change(context, kind, folded)
    change.evidence = added
    async with stores.unit_of_work():
        await stores.evidence.drop_objects(kind, [key for key in object_ids if key not in objects])
        await change.write(stores)


async def _completed(
    context: EngineContext,
    kind: ObjectKind,
    records: Mapping[str, ObjectRecord],
    chunk_ids: Mapping[str, Sequence[str]],
) -> dict[str, Completed]:
    """Return the evidence of objects with what is missing for their chunks."""
    evidence = await context.stores.evidence.of_objects(kind, list(records))
    missing: dict[str, list[str]] = {}
    for object_id in records:
        known = {row.chunk_id for row in evidence.get(object_id, ())}
        missing[object_id] = [chunk_id for chunk_id in chunk_ids[object_id] if chunk_id not in known]
    chunks = await _chunk_rows(context, {chunk_id for listed in missing.values() for chunk_id in listed})
    return {
        object_id: complete(
            record,
            evidence.get(object_id, []),
            {chunk_id: chunks[chunk_id] for chunk_id in missing[object_id] if chunk_id in chunks},
        )
        for object_id, record in records.items()
    }


def _folded(
    context: EngineContext, stored: ObjectRecord, evidence: Completed, facts: Mapping[str, DocumentFacts]
) -> tuple[ObjectRecord, list[Evidence]]:
    """Return an object as its evidence has it, and the rows to be added so that nothing of what it says is lost."""
    extra = {name: value for name, value in stored.extra.items() if name not in _FROM_EVIDENCE}
    expected = fold(stored.kind, stored.object_id, evidence.rows, facts, extra)
    is_summarised = needs_summary(context, expected) and not evidence.added
    fields = unaccounted(stored, expected, is_summarised=is_summarised)
    corrected = evidence.with_correction(fields, int(time.time()))
    record = fold(stored.kind, stored.object_id, corrected.rows, facts, extra)
    if is_summarised and stored.parts and not record.corrected:
        record.parts = stored.parts
    return record, corrected.added


# --- vectors -------------------------------------------------------------------------------------------------------


async def _change(context: EngineContext, kind: ObjectKind, records: Sequence[ObjectRecord]) -> GraphChange:
    """Return the change that writes records, with vectors embedded anew only where theirs are of other words."""
    is_entity = kind is ObjectKind.ENTITY
    store = context.stores.entities if is_entity else context.stores.relationships
    ids = [entity_vector_id(item.object_id) if is_entity else relation_vector_id(item.object_id) for item in records]
    rows, vectors = await store.get_by_ids(ids), await store.get_vectors_by_ids(ids)
    change = GraphChange()
    embedded: list[Touched] = []
    for row_id, row, record in zip(ids, rows, records, strict=True):
        content = record.vector_content()
        known = str(row["content"]) if row is not None and row_id in vectors else None
        if known is None or not _same_words(known, content):
            embedded.append(Touched(record, None))
        else:
            embedded.append(Touched(record, content))
            if known != content:
                add_vector(context, change, record, {"content": content, "vector": vectors[row_id]})
    await add_records(context, change, embedded, summarise=False)
    return change


def _same_words(first: str, second: str) -> bool:
    """Tell whether two texts differ in nothing but order and in what stands between their words."""
    return _words(first) == _words(second)


def _words(text: str) -> list[str]:
    return sorted(re.findall(r"\w+", text.replace(GRAPH_FIELD_SEP, " ")))


# --- reading -------------------------------------------------------------------------------------------------------


async def _stored(context: EngineContext, kind: ObjectKind, object_ids: Sequence[str]) -> dict[str, Properties]:
    graph = context.stores.graph
    if kind is ObjectKind.ENTITY:
        return await graph.get_nodes_batch(object_ids)
    pairs = {split_relation_key(key): key for key in object_ids}
    edges = await graph.get_edges_batch([{"src": pair[0], "tgt": pair[1]} for pair in pairs])
    return {pairs[pair]: properties for pair, properties in edges.items()}


async def _chunk_rows(context: EngineContext, chunk_ids: Iterable[str]) -> dict[str, Record]:
    ids = sorted(chunk_ids)
    rows = await context.stores.text_chunks.get_by_ids(ids)
    return {
        chunk_id: row for chunk_id, row in zip(ids, rows, strict=True) if row is not None and row.get("full_doc_id")
    }
