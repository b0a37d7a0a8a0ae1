"""Write what a document has become: states on the way, everything at once at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.contracts.evidence import Evidence, ObjectKind, relation_key, split_relation_key
from lightrag.graph.change import GraphChange
from lightrag.graph.merge import merge_evidence
from lightrag.graph.rebuild import without_documents
from lightrag.graph.unfinished import graph_held
from lightrag.ingest.announce import announce_document
from lightrag.ingest.documents import timestamp
from lightrag.ingest.status_metadata import doc_status_transition_metadata
from lightrag.ingest.work import DocumentWork
from lightrag.kg_scopes import make_scoped_entity_id, parse_scope_tag
from lightrag.query_filters import document_facts, stamp_chunk_filter_metadata

# Longest reason kept in a status row; a model can return pages of it.
MAX_ERROR_CHARS = 2000


def transition(work: DocumentWork, status: DocStatus, **changes: Any) -> DocProcessingStatus:
    """Return the status row of the next state; notes are carried over."""
    metadata = doc_status_transition_metadata({"metadata": work.row.metadata}, work.notes)
    fields = {**work.row.__dict__, **changes}
    fields |= {"status": status, "updated_at": timestamp(), "metadata": metadata}
    return DocProcessingStatus(**fields)


async def set_status(context: EngineContext, work: DocumentWork, status: DocStatus, **changes: Any) -> None:
    """Make a change of state durable."""
    work.row = transition(work, status, **changes)
    await context.stores.doc_status.upsert({work.doc_id: work.row.to_row()})
    announce_document(context, work.doc_id, work.row)


async def fail(context: EngineContext, work: DocumentWork, reason: str) -> None:
    """Record why a document failed; replies already paid for are kept for the retry."""
    await context.cache.flush()
    await set_status(context, work, DocStatus.FAILED, error_msg=reason[:MAX_ERROR_CHARS])


async def merge_and_persist(context: EngineContext, group: Sequence[DocumentWork]) -> None:
    """Merge documents into the graph and make all of them ``processed`` in one unit of work.

    Raises:
        ModelError: The embedding model failed; nothing was written.
        StorageError: Nothing was written.
    """
    async with graph_held(context):
        await _purge_earlier_attempt(context, [work.doc_id for work in group])
        facts = {work.doc_id: document_facts(work.row.metadata) for work in group}
        rows = [row for work in group for row in in_all_partitions(context, work)]
        change = await merge_evidence(context, rows, facts)
        await _write(context, group, change)


def in_all_partitions(context: EngineContext, work: DocumentWork) -> list[Evidence]:
    """Return the evidence of a document for the aggregate and for each scope that its tags name."""
    return [*work.evidence, *in_partitions(work.evidence, scope_tags_of(context, work.row.metadata))]


def scope_tags_of(context: EngineContext, metadata: Mapping[str, Any]) -> list[str]:
    """Return the scopes that a document belongs to; none where scopes are not kept."""
    settings = context.settings
    if not settings.enable_kg_scope_materialization or not settings.scope_tag_prefixes:
        return []
    return parse_scope_tag(metadata.get("user_tags") or [], settings.scope_tag_prefixes)


def in_partitions(aggregate: Sequence[Evidence], scope_tags: Sequence[str]) -> list[Evidence]:
    """Return evidence of the aggregate as evidence of scopes."""
    return [scoped(row, tag) for tag in scope_tags for row in aggregate]


def scoped(row: Evidence, tag: str) -> Evidence:
    """Return a row of the aggregate as the row of a scope; ends of relations stay in the same scope."""
    if row.kind is ObjectKind.ENTITY:
        object_id = make_scoped_entity_id(row.object_id, tag)
    else:
        source, target = split_relation_key(row.object_id)
        object_id = relation_key(make_scoped_entity_id(source, tag), make_scoped_entity_id(target, tag))
    return replace(row, object_id=object_id, tenant_tag=tag)


async def _purge_earlier_attempt(context: EngineContext, doc_ids: Sequence[str]) -> None:
    """Take out what an interrupted attempt left, or what is replaced.

    A document that is replaced says so from here on: a process that dies before the rest leaves none that is said to be
    processed and has nothing in the graph.
    """
    evidence = context.stores.evidence
    if not any((await evidence.objects_of_documents(doc_ids)).values()):
        return
    change = await without_documents(context, doc_ids)
    doc_status = context.stores.doc_status
    failed = {
        "status": DocStatus.FAILED.value,
        "error_msg": "it was about to be replaced; add it again",
        "chunks_list": [],
        "chunks_count": 0,
    }
    rows = await doc_status.get_full_docs_by_ids(doc_ids)
    replaced = {doc_id: failed for doc_id, row in rows.items() if row.status is DocStatus.PROCESSED}
    chunks_of = {doc_id: rows[doc_id].chunks_list if doc_id in replaced else [] for doc_id in doc_ids}
    gone = [chunk_id for chunk_ids in chunks_of.values() for chunk_id in chunk_ids]
    async with context.stores.unit_of_work(change.intent(documents=chunks_of, demoted=replaced)) as unit:
        await change.write(context.stores)
        await evidence.drop_documents(doc_ids)
        await context.stores.chunks.delete(gone)
        await context.stores.text_chunks.delete(gone)
        unit.last(doc_status.update_doc_status_fields, replaced)
        unit.corpus_changed()


async def _write(context: EngineContext, group: Sequence[DocumentWork], change: GraphChange) -> None:
    stores = context.stores
    rows = {
        work.doc_id: transition(
            work,
            DocStatus.PROCESSED,
            chunks_count=len(work.chunks),
            chunks_list=[chunk.chunk_id for chunk in work.chunks],
            error_msg=None,
        )
        for work in group
    }
    # Before the unit of work: replies that were paid for outlive its failure.
    await context.cache.flush()
    async with stores.unit_of_work(change.intent(documents=chunks_touched(group))) as unit:
        await write_chunks(context, group)
        await change.write(stores)
        unit.last(stores.doc_status.upsert, {doc_id: row.to_row() for doc_id, row in rows.items()})
        unit.corpus_changed()
    for work in group:
        work.row = rows[work.doc_id]
        announce_document(context, work.doc_id, work.row)


def chunks_touched(group: Sequence[DocumentWork]) -> dict[str, list[str]]:
    """Return the ids of the chunks that :func:`write_chunks` writes or deletes, by document."""
    return {work.doc_id: [*(chunk.chunk_id for chunk in work.chunks), *work.row.chunks_list] for work in group}


async def write_chunks(context: EngineContext, group: Sequence[DocumentWork]) -> None:
    """Write the chunks of documents with their vectors, and delete those that their rows name besides.

    Raises:
        StorageError: Nothing of it is stored.
    """
    stores = context.stores
    chunk_rows: dict[str, dict[str, Any]] = {}
    vector_rows: dict[str, dict[str, Any]] = {}
    outdated: list[str] = []
    for work in group:
        for index, chunk in enumerate(work.chunks):
            chunk_rows[chunk.chunk_id] = {
                **chunk.extra,
                "tokens": chunk.tokens,
                "content": chunk.content,
                "chunk_order_index": chunk.order,
                "full_doc_id": work.doc_id,
                "file_path": chunk.extra.get("file_path") or work.row.file_path,
                "llm_cache_list": chunk.cache_ids,
            }
            vector_rows[chunk.chunk_id] = {
                "content": chunk.content,
                "full_doc_id": work.doc_id,
                "file_path": chunk.extra.get("file_path") or work.row.file_path,
                "vector": None if work.vectors is None else work.vectors[index],
            }
        current = {chunk.chunk_id for chunk in work.chunks}
        outdated.extend(chunk_id for chunk_id in work.row.chunks_list if chunk_id not in current)
        if context.settings.enable_vector_metadata_filters:
            own_rows = [vector_rows[chunk.chunk_id] for chunk in work.chunks]
            stamp_chunk_filter_metadata(own_rows, work.row.metadata)
    if outdated:
        await stores.chunks.delete(outdated)
        await stores.text_chunks.delete(outdated)
    await stores.text_chunks.upsert(chunk_rows)
    await stores.chunks.upsert(vector_rows)
