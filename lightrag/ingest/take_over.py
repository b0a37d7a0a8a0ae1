"""Take over what another tool wrote into the stores of a workspace: the peer keeps no evidence, and we live by it.

Whoever opens files that the peer has written, or changed since, runs this before anything else. Each step can be
repeated, so a process that dies meanwhile takes up the rest at its next start.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from lightrag.constants import KV_ENTITY_CHUNKS, KV_RELATION_CHUNKS, SCOPE_ID_SEPARATOR
from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import ObjectKind, relation_key
from lightrag.contracts.kv import BaseKVStorage
from lightrag.graph.change import GraphChange, entity_vector_id, relation_vector_id
from lightrag.graph.rebuild import without_documents
from lightrag.ingest.take_over_custom import adopt_custom_graphs
from lightrag.ingest.take_over_documents import evidence_from_replies
from lightrag.ingest.take_over_objects import ChunkLists, take_over_objects
from lightrag.kg.files.outside import Outside

logger = logging.getLogger("lightrag.ingest")

T = TypeVar("T")

_DOCUMENTS = 20
_OBJECTS = 200


async def take_over_outside_changes(context: EngineContext, lists: ChunkLists | None = None) -> Outside:
    """Make evidence, and what follows from it, agree with documents and objects that another tool wrote.

    Args:
        context: The workspace.
        lists: The chunks of objects, if they are not kept in the stores of the workspace themselves.

    Returns:
        What was taken over; falsy when there was nothing.

    Raises:
        StorageError: A store failed; what was taken over before stays.
        ModelError: A scope had to be recomputed, and the embedding model failed.
    """
    found = await _outside(context)
    if not found:
        return found
    logger.info(
        "taking over what another tool wrote: %d documents, %d entities, %d relations",
        len(found.new_documents),
        len(found.nodes),
        len(found.edges),
    )
    async with context.graph_lock:
        await adopt_custom_graphs(context)
        touched = _Touched(found)
        await _leave_scopes(context, [*found.gone_documents, *found.new_documents])
        await touched.add_objects_of(context, found.gone_documents)
        await context.stores.evidence.drop_documents(found.gone_documents)
        for page in _pages(found.new_documents, _DOCUMENTS):
            await touched.add_objects_of(context, page)
            await _read_in(context, page)
            await touched.add_objects_of(context, page)
        async with _chunk_lists(context, lists) as known:
            for kind in ObjectKind:
                for objects in _pages(list(touched.objects[kind]), _OBJECTS):
                    await take_over_objects(context, kind, objects, known)
        async with context.stores.unit_of_work() as unit:
            await _mark_complete(context, [*found.gone_documents, *found.new_documents])
            unit.corpus_changed()
    return found


class _Touched:
    """Objects of the aggregate that have to be looked at."""

    def __init__(self, found: Outside) -> None:
        self.objects: dict[ObjectKind, dict[str, None]] = {
            ObjectKind.ENTITY: dict.fromkeys((*found.nodes, *found.gone_nodes)),
            ObjectKind.RELATION: dict.fromkeys(relation_key(*pair) for pair in (*found.edges, *found.gone_edges)),
        }

    async def add_objects_of(self, context: EngineContext, document_ids: Sequence[str]) -> None:
        found = await context.stores.evidence.objects_of_documents(document_ids)
        for kind, object_ids in found.items():
            self.objects[kind].update(dict.fromkeys(key for key in object_ids if SCOPE_ID_SEPARATOR not in key))


async def _outside(context: EngineContext) -> Outside:
    """Return what is to be taken over: everything if there is no evidence, else what the store says others changed."""
    stores = context.stores
    if await stores.evidence.scan_objects(ObjectKind.ENTITY, limit=1):
        outside_changes = getattr(stores.evidence, "outside_changes", None)
        found: Outside = outside_changes() if outside_changes is not None else Outside()
        return found
    if not await stores.graph.count_nodes():
        return Outside()
    documents = await stores.doc_status.get_docs_by_statuses([DocStatus.PROCESSED])
    nodes = [label for label in await stores.graph.get_all_labels() if SCOPE_ID_SEPARATOR not in label]
    edges = [(edge["source"], edge["target"]) for edge in await stores.graph.get_all_edges()]
    return Outside(
        new_documents=list(documents),
        nodes=nodes,
        edges=[pair for pair in edges if SCOPE_ID_SEPARATOR not in pair[0]],
    )


async def _read_in(context: EngineContext, document_ids: Sequence[str]) -> None:
    """Replace the evidence of documents by what the kept replies say."""
    stores = context.stores
    stored = await stores.doc_status.get_by_ids(document_ids)
    rows = {doc_id: row for doc_id, row in zip(document_ids, stored, strict=True) if row is not None}
    evidence = await evidence_from_replies(context, rows)
    async with stores.unit_of_work():
        await stores.evidence.drop_documents(document_ids)
        await stores.evidence.add(evidence)


async def _leave_scopes(context: EngineContext, document_ids: Sequence[str]) -> None:
    """Take documents out of all scopes: whoever changed or deleted them knows of the aggregate only."""
    stores = context.stores
    rows = await stores.evidence.of_documents(document_ids)
    tags = {row.tenant_tag for row in rows if row.tenant_tag}
    if not tags:
        return
    change = _of_scopes(await without_documents(context, document_ids))
    async with stores.unit_of_work():
        for document_id in document_ids:
            await stores.evidence.drop_of_document(document_id, tags)
        await change.write(stores)


def _of_scopes(change: GraphChange) -> GraphChange:
    """Return the part of a change that is about scopes."""

    def scoped(object_id: str) -> bool:
        return SCOPE_ID_SEPARATOR in object_id

    nodes = [(node_id, properties) for node_id, properties in change.nodes if scoped(node_id)]
    edges = [(source, target, properties) for source, target, properties in change.edges if scoped(source)]
    entity_vectors = {entity_vector_id(node_id) for node_id, _ in nodes}
    relation_vectors = {relation_vector_id(relation_key(source, target)) for source, target, _ in edges}
    return GraphChange(
        nodes=nodes,
        edges=edges,
        entity_vectors={key: row for key, row in change.entity_vectors.items() if key in entity_vectors},
        relation_vectors={key: row for key, row in change.relation_vectors.items() if key in relation_vectors},
        removed_entities=[key for key in change.removed_entities if scoped(key)],
        removed_relations=[key for key in change.removed_relations if scoped(key)],
    )


async def _mark_complete(context: EngineContext, document_ids: Sequence[str]) -> None:
    mark_complete = getattr(context.stores.evidence, "mark_complete", None)
    if mark_complete is not None:
        await mark_complete(document_ids)


@asynccontextmanager
async def _chunk_lists(context: EngineContext, lists: ChunkLists | None) -> AsyncIterator[ChunkLists]:
    """Open the stores in which another tool of the same family keeps the chunks of objects."""
    if lists is not None:
        yield lists
        return
    beside = context.stores.text_chunks
    opened: list[BaseKVStorage] = []
    try:
        for namespace in (KV_ENTITY_CHUNKS, KV_RELATION_CHUNKS):
            store = type(beside)(namespace=namespace, workspace=beside.workspace, global_config=beside.global_config)
            await store.initialize()
            opened.append(store)
        yield ChunkLists(*opened)
        if not hasattr(context.stores.evidence, "mark_complete"):
            # They were copied here to be read once. In the files of the peer they stay, and follow from the evidence.
            for store in opened:
                await store.drop()
    finally:
        for store in opened:
            await store.finalize()


def _pages(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
