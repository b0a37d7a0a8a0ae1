"""Change dates, tags and meta of a document that is already there, without extracting it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.context import EngineContext
from lightrag.contracts.doc_status import DocProcessingStatus, DocStatus
from lightrag.contracts.evidence import Evidence
from lightrag.exceptions import FilterSyntaxError, InputError, NotFoundError
from lightrag.graph.change import GraphChange
from lightrag.graph.chunk_rows import restamped_chunks
from lightrag.graph.rebuild import with_changed_document
from lightrag.graph.unfinished import graph_held
from lightrag.ingest.documents import timestamp
from lightrag.ingest.persist import in_partitions, scope_tags_of
from lightrag.ingest.state import PipelineState
from lightrag.kg_scopes import check_scope_tags
from lightrag.query_filters import DocumentMetadata, public_metadata
from lightrag.query_filters.document_metadata import USER_METADATA_KEYS

ChangeCheck = Callable[[Mapping[str, Any], Mapping[str, Any]], None]
"""Raises when a document's metadata may not be changed from the first into the second by the caller."""


async def update_document_metadata(
    context: EngineContext,
    state: PipelineState,
    doc_id: str,
    patch: DocumentMetadata | Mapping[str, Any],
    check: ChangeCheck | None = None,
) -> DocProcessingStatus:
    """Replace the given fields of a document's metadata; fields that are not given stay, ``None`` clears one.

    Summaries on the graph, filter fields on vector rows, scopes, facets and cached answers follow in the same unit of
    work. No model is asked, except where a scope gains or loses the document.

    Args:
        context: The workspace.
        state: Its pipeline, which must be idle.
        doc_id: The document.
        patch: ``start_date``, ``end_date``, ``tags``, ``meta``, ``modified_at``, ``doc_type``, ``source_path``.
        check: Asked with the metadata before and after the change whether the caller may make it.

    Returns:
        The new status row.

    Raises:
        FilterSyntaxError: A field is unknown or not valid; nothing was changed.
        NotFoundError: There is no such document.
        InputError: It is a refused duplicate, which nothing can be filtered by.
        PipelineBusyError: Documents are being processed, here or in another process; a run writes what it has read.
    """
    state.refuse_while_busy("change metadata")
    async with state.enqueue_lock, graph_held(context):
        # It may have begun while this waited for another change.
        state.refuse_while_busy("change metadata")
        async with state.other_processes_kept_out():
            return await _update(context, doc_id, patch, check)


async def _update(
    context: EngineContext, doc_id: str, patch: DocumentMetadata | Mapping[str, Any], check: ChangeCheck | None
) -> DocProcessingStatus:
    row = await context.stores.doc_status.get_by_id(doc_id)
    if row is None:
        raise NotFoundError(f"document {doc_id!r} does not exist")
    status = DocProcessingStatus.from_row(row)
    if status.metadata.get("is_duplicate") and status.status is not DocStatus.PROCESSED:
        raise InputError(f"{doc_id!r} is a refused duplicate; change {status.metadata.get('original_doc_id')!r}")
    updated = patched_metadata(context, status.metadata, patch, status.file_path)
    if check is not None:
        check(status.metadata, updated)
    changed = DocProcessingStatus(**{**status.__dict__, "metadata": updated, "updated_at": timestamp()})
    await _write(context, doc_id, status, changed)
    return changed


def patched_metadata(
    context: EngineContext,
    metadata: Mapping[str, Any],
    patch: DocumentMetadata | Mapping[str, Any],
    file_path: str = UNKNOWN_SOURCE,
) -> dict[str, Any]:
    """Return a status row's metadata with the user's part replaced field by field; of a model, the fields it was given.

    A ``source_path`` that is cleared is the document's own path again, as for a document that is given none.

    Raises:
        FilterSyntaxError: The result is not valid.
        ScopeError: A scope tag is not usable.
    """
    if isinstance(patch, DocumentMetadata):
        check_scope_tags(patch, context.settings.scope_tag_prefixes)
        patch = {name: getattr(patch, name) for name in patch.model_fields_set}
    elif not isinstance(patch, Mapping):
        raise FilterSyntaxError(f"a patch is a DocumentMetadata or a JSON object, not {patch!r}")
    # With the cleared fields in it, or a misspelt one would be ignored.
    model = DocumentMetadata.coerce({**public_metadata(metadata), **patch})
    check_scope_tags(model, context.settings.scope_tag_prefixes)
    own = {name: value for name, value in metadata.items() if name not in USER_METADATA_KEYS}
    stored = model.to_storage()
    if "source_path" in patch and file_path != UNKNOWN_SOURCE:
        stored.setdefault("user_source_path", file_path)
    return {**own, **stored}


async def _write(context: EngineContext, doc_id: str, before: DocProcessingStatus, after: DocProcessingStatus) -> None:
    stores = context.stores
    change = GraphChange()
    vector_rows: dict[str, dict[str, Any]] = {}
    gained: list[Evidence] = []
    lost: set[str] = set()
    left: list[Evidence] = []
    if after.status is DocStatus.PROCESSED:
        evidence = await stores.evidence.of_documents([doc_id])
        aggregate = [row for row in evidence if not row.tenant_tag]
        present = {row.tenant_tag for row in evidence} - {""}
        # By what the document is in, not by the settings: scopes may be switched off now and on again later.
        lost = present.difference(after.metadata.get("user_tags") or ())
        left = [row for row in evidence if row.tenant_tag in lost]
        stays = present.union(scope_tags_of(context, before.metadata))
        new_tags = [tag for tag in scope_tags_of(context, after.metadata) if tag not in stays]
        gained = in_partitions(aggregate, new_tags)
        change = await with_changed_document(context, doc_id, after.metadata, gained=gained, lost_tags=lost)
        if context.settings.enable_vector_metadata_filters:
            vector_rows = await restamped_chunks(context, after)
    async with stores.unit_of_work(change.intent(documents={doc_id: ()}, evidence=[*gained, *left])) as unit:
        await change.write(stores)
        if lost:
            await stores.evidence.drop_of_document(doc_id, lost)
        if vector_rows:
            await stores.chunks.upsert(vector_rows)
        unit.last(stores.doc_status.upsert, {doc_id: after.to_row()})
        unit.corpus_changed()
