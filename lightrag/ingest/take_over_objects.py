"""Objects that another tool wrote: their evidence made complete, their derived properties added.

What is not known is never guessed. A chunk of which no reply was kept gets a row without a text, unless its document is
the only one that speaks of the object: then everything that the object says comes from it. Otherwise the merged text
becomes a correction, which no filtered query ever sees, because nobody can tell which document it comes from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lightrag.constants import GRAPH_FIELD_SEP, UNKNOWN_ENTITY_TYPE
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, split_relation_key
from lightrag.contracts.graph import Properties
from lightrag.contracts.kv import BaseKVStorage, Record
from lightrag.graph.manual import ManualFields, keeps_alive, statement, with_fields
from lightrag.graph.merge import load_facts
from lightrag.graph.records import ObjectRecord, fold
from lightrag.kg_scopes import make_relation_chunk_key
from lightrag.query_filters import DocumentFacts
from lightrag.runtime.tokens import count_tokens

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
    """
    stores = context.stores
    objects = await _stored(context, kind, object_ids)
    evidence = await stores.evidence.of_objects(kind, list(objects))
    chunk_ids = await lists.of(kind, objects)
    missing = {
        object_id: [chunk_id for chunk_id in chunk_ids[object_id] if chunk_id not in _chunks(evidence, object_id)]
        for object_id in objects
    }
    chunks = await _chunk_rows(context, {chunk_id for listed in missing.values() for chunk_id in listed})
    added: list[Evidence] = []
    complete: dict[str, list[Evidence]] = {}
    for object_id, properties in objects.items():
        rows = evidence.get(object_id, [])
        record = ObjectRecord.from_properties(kind, object_id, properties)
        found = {chunk_id: chunks[chunk_id] for chunk_id in missing[object_id] if chunk_id in chunks}
        more = _missing_rows(record, rows, found)
        added += more
        complete[object_id] = [*rows, *more]
    facts = await load_facts(context, {row.document_id for rows in complete.values() for row in rows})
    written = {
        object_id: _properties(context, kind, object_id, properties, complete[object_id], facts)
        for object_id, properties in objects.items()
    }
    async with stores.unit_of_work():
        await stores.evidence.drop_objects(kind, [key for key in object_ids if key not in objects])
        await stores.evidence.add(added)
        if kind is ObjectKind.ENTITY:
            await stores.graph.upsert_nodes_batch(written.items())
        else:
            await stores.graph.upsert_edges_batch(
                (*split_relation_key(key), properties) for key, properties in written.items()
            )


def _chunks(evidence: Mapping[str, Sequence[Evidence]], object_id: str) -> set[str]:
    return {row.chunk_id for row in evidence.get(object_id, ())}


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


def _missing_rows(record: ObjectRecord, rows: Sequence[Evidence], chunks: Mapping[str, Record]) -> list[Evidence]:
    """Return the rows that an object lacks.

    Args:
        record: The object as it stands in the graph.
        rows: Its rows.
        chunks: Chunks that speak of it and have no row.
    """
    if not chunks:
        return [] if keeps_alive(rows) else [_as_statement(record)]
    bare = [_bare(record, chunk_id, chunk) for chunk_id, chunk in chunks.items()]
    said = _said(record, without={row.description for row in rows})
    if len({row.document_id for row in (*rows, *bare)}) == 1:
        own = replace(said, weight=0.0) if rows else said
        return [own.over(bare[0]), *bare[1:]]
    all_of_it = _said(record)
    if any(row.entity_type == all_of_it.entity_type for row in rows):
        all_of_it = replace(all_of_it, entity_type="")
    correction, _ = with_fields([*rows, *bare], all_of_it, record.created_at)
    return [*bare, correction]


def _said(record: ObjectRecord, without: Collection[str] = ()) -> ManualFields:
    """Return what an object says, except for descriptions that are known already."""
    is_entity = record.kind is ObjectKind.ENTITY
    entity_type = record.entity_type if is_entity and record.entity_type != UNKNOWN_ENTITY_TYPE else ""
    return ManualFields(
        description="\n".join(part for part in record.parts if part not in without),
        entity_type=entity_type,
        keywords=",".join(record.keywords),
        weight=0.0 if is_entity else record.weight,
    )


def _as_statement(record: ObjectRecord) -> Evidence:
    return statement(record.kind, record.object_id, "", record.created_at, _said(record))


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
        created_at=int(chunk.get("create_time") or record.created_at),
    )


def _properties(
    context: EngineContext,
    kind: ObjectKind,
    object_id: str,
    stored: Properties,
    rows: Sequence[Evidence],
    facts: Mapping[str, DocumentFacts],
) -> dict[str, Any]:
    """Return the properties of an object as merging would have left them, with the text that it has."""
    before = ObjectRecord.from_properties(kind, object_id, stored)
    extra = {name: value for name, value in before.extra.items() if name not in _FROM_EVIDENCE}
    record = fold(kind, object_id, rows, facts, extra)
    if before.parts and not record.corrected:
        # The other tool may have summarised what the rows say.
        record.parts = before.parts
    record.keywords = before.keywords or record.keywords
    record.weight = before.weight or record.weight
    record.created_at = before.created_at or record.created_at
    return record.to_properties(
        tokens=count_tokens(context.models.tokenizer, record.context_line()),
        skip_open_bounds=context.settings.kg_union_skip_open_bounds,
    )
