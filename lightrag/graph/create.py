"""Entities and relations that a person creates."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.context import EngineContext
from lightrag.contracts.evidence import Evidence, ObjectKind, split_relation_key
from lightrag.exceptions import DuplicateError, InputError, NotFoundError
from lightrag.graph.change import GraphChange, Touched, add_records
from lightrag.graph.editing import Pipeline, Submission, commit, editing, merged_extra, read_submission
from lightrag.graph.info import entity_info, relation_info
from lightrag.graph.manual import ManualFields, statement
from lightrag.graph.merge import load_facts, load_records
from lightrag.graph.partition import Partition, name_of, writable_partition
from lightrag.graph.records import fold
from lightrag.query_filters import document_facts
from lightrag.runtime.text import sanitize_text


async def create_entity(
    context: EngineContext,
    pipeline: Pipeline,
    name: str,
    entity_data: Mapping[str, Any],
    *,
    tenant_tag: str | None = None,
) -> dict[str, Any]:
    """Create an entity.

    Args:
        context: The workspace.
        pipeline: Its pipeline, which must be idle.
        name: Of the entity.
        entity_data: ``description``, ``entity_type`` and properties of its own, all optional. With ``source_id`` naming
            stored chunks the entity belongs to their documents, is filtered as they are and goes when they go.
        tenant_tag: Its scope; ``None`` for the aggregate.

    Returns:
        As :func:`~lightrag.graph.info.entity_info`.

    Raises:
        DuplicateError: There is one already.
        InputError: The name or the data cannot be used.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
        ModelError: The embedding model failed; nothing was written.
    """
    partition = writable_partition(context, tenant_tag)
    object_id = partition.entity_id(name)
    submission = read_submission(
        ObjectKind.ENTITY,
        {**entity_data, "entity_name": None} if isinstance(entity_data, Mapping) else entity_data,
    )
    async with editing(context, pipeline):
        if await context.stores.graph.has_node(object_id):
            raise DuplicateError(f"entity {name_of(object_id)!r} exists already; edit it instead")
        await _create(context, partition, ObjectKind.ENTITY, object_id, submission)
        return await entity_info(context, name, tenant_tag=tenant_tag)


async def create_relation(
    context: EngineContext,
    pipeline: Pipeline,
    ends: tuple[str, str],
    relation_data: Mapping[str, Any],
    *,
    tenant_tag: str | None = None,
) -> dict[str, Any]:
    """Create a relation between two entities. It lives as long as both of them do.

    Args:
        context: The workspace.
        pipeline: Its pipeline, which must be idle.
        ends: Names of both entities.
        relation_data: ``description`` (needed), ``keywords``, ``weight`` (1.0 by default) and properties of its own;
            ``source_id`` as for :func:`create_entity`.
        tenant_tag: Its scope; ``None`` for the aggregate.

    Returns:
        As :func:`~lightrag.graph.info.relation_info`, ends sorted by name.

    Raises:
        NotFoundError: An end does not exist.
        DuplicateError: There is one already.
        InputError: The data cannot be used.
        ScopeError: The scope does not exist.
        PipelineBusyError: The pipeline is running.
        ModelError: The embedding model failed; nothing was written.
    """
    partition = writable_partition(context, tenant_tag)
    key = partition.relation_id(*ends)
    submission = read_submission(ObjectKind.RELATION, relation_data)
    if not submission.fields.description:
        raise InputError("description is missing; say in words what links the two entities")
    graph_ids = split_relation_key(key)
    names = name_of(graph_ids[0]), name_of(graph_ids[1])
    async with editing(context, pipeline):
        existing = await context.stores.graph.has_nodes_batch(graph_ids)
        missing = [name_of(graph_id) for graph_id in graph_ids if graph_id not in existing]
        if missing:
            raise NotFoundError(f"entity {missing[0]!r} does not exist; create it first")
        if await context.stores.graph.has_edge(*graph_ids):
            raise DuplicateError(f"a relation of {names[0]!r} and {names[1]!r} exists already; edit it instead")
        await _create(context, partition, ObjectKind.RELATION, key, submission)
        return await relation_info(context, *names, tenant_tag=tenant_tag)


async def _create(
    context: EngineContext, partition: Partition, kind: ObjectKind, object_id: str, submission: Submission
) -> None:
    made = statement(kind, object_id, partition.tenant_tag, int(time.time()), submission.fields)
    path = submission.derived.get("file_path")
    if isinstance(path, str) and sanitize_text(path):
        made = replace(made, file_path=sanitize_text(path))
    chunks = await linked_chunks(context, partition, submission.derived.get("source_id"))
    rows = [
        # The weight is what the person said, however many chunks bear it out.
        replace(chunk.on(made), weight=made.weight if position == 0 else 0.0)
        for position, chunk in enumerate(chunks)
    ] or [made]
    facts = await load_facts(context, {row.document_id for row in rows})
    touched = [Touched(fold(kind, object_id, rows, facts, merged_extra({}, submission.extra)), None)]
    change = GraphChange(evidence=rows)
    if kind is ObjectKind.RELATION and chunks:
        touched += await _mention_ends(context, change, made, chunks)
    await add_records(context, change, touched)
    await commit(context, change)


async def _mention_ends(
    context: EngineContext, change: GraphChange, relation: Evidence, chunks: Sequence[LinkedChunk]
) -> list[Touched]:
    """Let the documents of a relation mention its ends, as documents do; else an edge could outlive them in a scope."""
    ends = split_relation_key(relation.object_id)
    documents = {chunk.document_id for chunk in chunks}
    known = await context.stores.evidence.sources_of_objects(ObjectKind.ENTITY, ends, document_ids=documents)
    records = await load_records(context, ends, [])
    facts = await load_facts(context, documents)
    touched: list[Touched] = []
    for end in ends:
        silent = documents - {source.document_id for source in known.get(end, ())}
        mention = statement(ObjectKind.ENTITY, end, relation.tenant_tag, relation.created_at, ManualFields())
        first_of = {chunk.document_id: chunk for chunk in reversed(chunks) if chunk.document_id in silent}
        rows = [chunk.on(mention) for chunk in first_of.values()]
        if rows:
            record = records[ObjectKind.ENTITY, end]
            stored = record.vector_content()
            record.extend(rows, facts)
            change.evidence.extend(rows)
            touched.append(Touched(record, stored))
    return touched


@dataclass(frozen=True, slots=True)
class LinkedChunk:
    """A stored chunk that a person names as a source.

    Attributes:
        chunk_id: Its id.
        document_id: Its document.
        file_path: Source path of the document.
    """

    chunk_id: str
    document_id: str
    file_path: str

    def on(self, row: Evidence) -> Evidence:
        """Return a row that comes from this chunk."""
        return replace(row, chunk_id=self.chunk_id, document_id=self.document_id, file_path=self.file_path)


async def linked_chunks(context: EngineContext, partition: Partition, source_id: object) -> list[LinkedChunk]:
    """Return the stored chunks that a ``source_id`` names; any other word in it is passed over.

    In a scope only chunks of its own documents count: else a person could draw the path of another tenant's document
    into it.
    """
    if not isinstance(source_id, str):
        return []
    wanted = list(dict.fromkeys(part for part in source_id.split(GRAPH_FIELD_SEP) if part))
    rows = await context.stores.text_chunks.get_by_ids(wanted)
    found = [
        LinkedChunk(chunk_id, str(row["full_doc_id"]), str(row.get("file_path") or ""))
        for chunk_id, row in zip(wanted, rows, strict=True)
        if row and row.get("full_doc_id")
    ]
    if not partition.tenant_tag or not found:
        return found
    return await _of_scope(context, partition.tenant_tag, found)


async def _of_scope(context: EngineContext, tag: str, chunks: Sequence[LinkedChunk]) -> list[LinkedChunk]:
    ids = list({chunk.document_id for chunk in chunks})
    rows = await context.stores.doc_status.get_by_ids(ids)
    inside = {
        document_id
        for document_id, row in zip(ids, rows, strict=True)
        if row and tag in document_facts(row.get("metadata")).tags
    }
    return [chunk for chunk in chunks if chunk.document_id in inside]
