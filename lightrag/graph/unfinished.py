"""Bring back in line what a unit of work that broke off may have touched.

Only where stores cannot commit together: elsewhere a unit of work is done or not done. Documents whose status row says
``processed`` are whole afterwards; of others, and of those that were being deleted, nothing is left in graph, vectors,
evidence and chunks. A person's change of the graph is carried to its end. Every step can be repeated.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.contracts.evidence import Evidence, ObjectKind
from lightrag.graph.chunk_rows import restamped_chunks
from lightrag.graph.merge import load_records
from lightrag.graph.rebuild import from_evidence
from lightrag.stores import Intent

logger = logging.getLogger("lightrag.graph")

Documents = Mapping[str, DocProcessingStatus]


@asynccontextmanager
async def graph_held(context: EngineContext) -> AsyncIterator[None]:
    """Hold the graph for a change, in a state that agrees with itself.

    Raises:
        StorageError: A store failed, also while an earlier change was brought to its end.
        ModelError: Likewise, of the embedding model.
    """
    async with context.graph_lock:
        await finish_interrupted(context)
        yield


async def finish_deletions(context: EngineContext, document_ids: Collection[str]) -> None:
    """Bring a deletion that broke off to its end before one of its documents comes anew, which it would delete.

    Raises:
        StorageError: A store failed.
        ModelError: The embedding model failed.
    """
    intent = await context.stores.unfinished()
    if intent is not None and not set(intent.gone).isdisjoint(document_ids):
        async with graph_held(context):
            pass


async def finish_interrupted(context: EngineContext) -> None:
    """Bring back in line what the last unit of work touched, if it broke off. The caller holds the graph lock.

    Raises:
        ModelError: The embedding model failed; the rest is done by the next call.
        StorageError: Likewise, of a store.
    """
    stores = context.stores
    intent = await stores.unfinished()
    if intent is None:
        return
    logger.warning("the last change of the workspace broke off; what it touched is brought back in line")
    if intent.clearing and await _holds_nothing_else(context, intent):
        await stores.drop_all(keep=[stores.llm_response_cache])
        await stores.mark_corpus_changed()
        return
    touched = [*intent.documents, *intent.gone]
    rows = await stores.doc_status.get_full_docs_by_ids(touched)
    leaving = {*intent.gone, *intent.demoted}
    whole = {doc_id: row for doc_id, row in rows.items() if row.status is DocStatus.PROCESSED and doc_id not in leaving}
    rest = [doc_id for doc_id in dict.fromkeys(touched) if doc_id not in whole]
    objects = {kind: dict.fromkeys(intent.objects.get(kind, ())) for kind in ObjectKind}
    await _add_objects(context, objects, touched)
    await _mend_evidence(context, intent, whole, rest)
    await _add_objects(context, objects, touched)
    await _mend_objects(context, intent, objects)
    await _mend_rows(context, intent, whole)


async def _holds_nothing_else(context: EngineContext, intent: Intent) -> bool:
    """Tell whether no document has come since a clearing began that broke off."""
    after, known = "", set(intent.gone)
    while page := await context.stores.doc_status.scan(after=after):
        after = page[-1][0]
        if any(doc_id not in known for doc_id, _ in page):
            return False
    return True


async def _add_objects(
    context: EngineContext, objects: Mapping[ObjectKind, dict[str, None]], document_ids: Sequence[str]
) -> None:
    for kind, found in (await context.stores.evidence.objects_of_documents(document_ids)).items():
        objects[kind].update(dict.fromkeys(found))


async def _mend_evidence(context: EngineContext, intent: Intent, whole: Documents, rest: Sequence[str]) -> None:
    evidence = context.stores.evidence
    for kind, renames in intent.moved.items():
        # Moved twice, objects that swap their ids would be what they were; they have moved or have not.
        if renames and not set(renames) & set(renames.values()):
            await evidence.reassign(kind, renames)
    stale = await _stale_documents(context, intent, whole)
    await evidence.drop_documents([*rest, *stale])
    await _leave_scopes(context, whole)
    added = [row for row in intent.evidence if _shall_be(row, intent, whole)]
    if added:
        await evidence.add(added)
    for kind, object_ids in intent.removed.items():
        await evidence.drop_objects(kind, object_ids)
    await evidence.index_done_callback()


def _shall_be(row: Evidence, intent: Intent, whole: Documents) -> bool:
    status = whole.get(row.document_id)
    if status is None:
        return row.document_id not in intent.documents
    return _is_listed(row, intent, status) and _is_in_scope(row, status)


def _is_listed(row: Evidence, intent: Intent, status: DocProcessingStatus) -> bool:
    # Evidence that was given, not read from a text, names chunks that no status row lists.
    return row.chunk_id in status.chunks_list or row.chunk_id not in intent.documents.get(row.document_id, ())


def _is_in_scope(row: Evidence, status: DocProcessingStatus) -> bool:
    return not row.tenant_tag or row.tenant_tag in (status.metadata.get("user_tags") or ())


async def _stale_documents(context: EngineContext, intent: Intent, whole: Documents) -> list[str]:
    """Return documents that have evidence of chunks which are not theirs; then the intent tells all their rows."""
    documents = [doc_id for doc_id in whole if intent.documents.get(doc_id)]
    rows = await context.stores.evidence.of_documents(documents) if intent.evidence else []
    return sorted({row.document_id for row in rows if not _is_listed(row, intent, whole[row.document_id])})


async def _leave_scopes(context: EngineContext, whole: Documents) -> None:
    """Take documents out of scopes that their tags do not name."""
    lost: dict[str, set[str]] = {}
    for row in await context.stores.evidence.of_documents(list(whole)):
        if not _is_in_scope(row, whole[row.document_id]):
            lost.setdefault(row.document_id, set()).add(row.tenant_tag)
    for doc_id, tags in lost.items():
        await context.stores.evidence.drop_of_document(doc_id, tags)


async def _mend_objects(
    context: EngineContext, intent: Intent, objects: Mapping[ObjectKind, Mapping[str, None]]
) -> None:
    for kind, found in objects.items():
        foreign = await _of_other_tools(context, kind, list(found))
        wanted = [object_id for object_id in found if object_id not in foreign]
        if wanted:
            change = await from_evidence(context, kind, wanted, embed_all=True, extras=intent.extras)
            async with context.stores.unit_of_work():
                await change.write(context.stores)


async def _of_other_tools(context: EngineContext, kind: ObjectKind, object_ids: Sequence[str]) -> set[str]:
    """Return objects that never had evidence: the change that was to give them some had not begun."""
    is_entity = kind is ObjectKind.ENTITY
    records = await load_records(context, object_ids if is_entity else [], [] if is_entity else object_ids)
    bare = [object_id for (_, object_id), record in records.items() if not record.evidence_count]
    return set(bare) - set(await context.stores.evidence.sources_of_objects(kind, bare, limit=1)) if bare else set()


async def _mend_rows(context: EngineContext, intent: Intent, whole: Documents) -> None:
    stores = context.stores
    unlisted = [
        chunk_id
        for doc_id, chunk_ids in intent.documents.items()
        for chunk_id in chunk_ids
        if doc_id not in whole or chunk_id not in whole[doc_id].chunks_list
    ]
    async with stores.unit_of_work() as unit:
        await stores.chunks.delete(unlisted)
        await stores.text_chunks.delete(unlisted)
        if context.settings.enable_vector_metadata_filters:
            for row in whole.values():
                await stores.chunks.upsert(await restamped_chunks(context, row))
        unit.last(stores.doc_status.update_doc_status_fields, intent.demoted)
        if intent.gone:
            await stores.full_docs.delete(list(intent.gone))
            unit.last(stores.doc_status.delete, list(intent.gone))
        if intent.replies:
            await stores.llm_response_cache.delete(list(intent.replies))
    await stores.forget_unfinished()
