"""Write a partition of the graph to a file that people and their tools can read.

Entities and relations are read page by page and written as they come, so memory does not grow with the graph. The file
appears under its name only when it is whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal, get_args

from lightrag.context import EngineContext
from lightrag.contracts.evidence import ObjectKind, relation_key, split_relation_key
from lightrag.exceptions import InputError, StorageError
from lightrag.graph.change import entity_vector_id, relation_vector_id
from lightrag.graph.export_formats import ExportRow, ExportWriter, open_writer
from lightrag.graph.info import public_objects
from lightrag.graph.partition import Partition, name_of, readable_partition

ExportFormat = Literal["csv", "excel", "md", "txt"]

_PAGE = 200
ENTITY_COLUMNS = ("entity_name", "source_id", "graph_data")
RELATION_COLUMNS = ("src_entity", "tgt_entity", "source_id", "graph_data")


async def export_graph(
    context: EngineContext,
    output_path: str,
    file_format: str = "csv",
    *,
    include_vector_data: bool = False,
    tenant_tag: str | None = None,
) -> None:
    """Export all entities and relations of a partition.

    Args:
        context: The workspace.
        output_path: The file; one that exists is replaced.
        file_format: ``csv``, ``excel``, ``md`` or ``txt``.
        include_vector_data: Add the embedded text and the embedding of each.
        tenant_tag: The scope; ``None`` for the aggregate.

    Raises:
        InputError: The format is unknown.
        ScopeError: The scope tag is malformed.
        MissingDependencyError: ``excel`` needs an extra that is not installed.
        StorageError: The file cannot be written.
    """
    if file_format not in get_args(ExportFormat):
        raise InputError(f"file_format is {file_format!r}; allowed are {', '.join(get_args(ExportFormat))}")
    partition = readable_partition(tenant_tag)
    target = Path(output_path)
    partial = target.with_name(f"{target.name}.part")
    vector_columns = ("vector_data",) if include_vector_data else ()
    try:
        writer = await asyncio.to_thread(open_writer, file_format, partial)
        try:
            await _write_all(context, partition, writer, vector_columns)
            await asyncio.to_thread(writer.finish)
            await asyncio.to_thread(partial.replace, target)
        finally:
            await asyncio.to_thread(writer.release)
            await asyncio.to_thread(partial.unlink, missing_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write {output_path!r}: {error.strerror or error}") from error


async def _write_all(
    context: EngineContext, partition: Partition, writer: ExportWriter, vector_columns: tuple[str, ...]
) -> None:
    labels = await context.stores.graph.get_all_labels()
    ids = [graph_id for graph_id in labels if partition.contains(graph_id)]
    with_vectors = bool(vector_columns)
    await asyncio.to_thread(writer.begin_section, "Entities", (*ENTITY_COLUMNS, *vector_columns))
    async for rows in _entity_pages(context, ids, with_vectors=with_vectors):
        await asyncio.to_thread(writer.write, rows)
    await asyncio.to_thread(writer.begin_section, "Relations", (*RELATION_COLUMNS, *vector_columns))
    async for rows in _relation_pages(context, ids, with_vectors=with_vectors):
        await asyncio.to_thread(writer.write, rows)


async def _entity_pages(
    context: EngineContext, ids: list[str], *, with_vectors: bool
) -> AsyncIterator[list[ExportRow]]:
    for start in range(0, len(ids), _PAGE):
        page = ids[start : start + _PAGE]
        found = await public_objects(context, ObjectKind.ENTITY, page)
        rows: list[ExportRow] = [(name_of(key), data["source_id"], data) for key, data in found.items()]
        yield await _with_vectors(context, ObjectKind.ENTITY, list(found), rows) if with_vectors else rows


async def _relation_pages(
    context: EngineContext, ids: list[str], *, with_vectors: bool
) -> AsyncIterator[list[ExportRow]]:
    for start in range(0, len(ids), _PAGE):
        edges_at = await context.stores.graph.get_nodes_edges_batch(ids[start : start + _PAGE])
        # Every edge is met at both ends; it is written at the first.
        keys = sorted({relation_key(*pair) for pairs in edges_at.values() for pair in pairs if pair[0] <= pair[1]})
        found = await public_objects(context, ObjectKind.RELATION, keys)
        rows: list[ExportRow] = []
        for key, data in found.items():
            first, second = split_relation_key(key)
            rows.append((name_of(first), name_of(second), data["source_id"], data))
        yield await _with_vectors(context, ObjectKind.RELATION, list(found), rows) if with_vectors else rows


async def _with_vectors(
    context: EngineContext, kind: ObjectKind, keys: list[str], rows: list[ExportRow]
) -> list[ExportRow]:
    stores = context.stores
    is_entity = kind is ObjectKind.ENTITY
    store = stores.entities if is_entity else stores.relationships
    row_ids = [entity_vector_id(key) if is_entity else relation_vector_id(key) for key in keys]
    stored = await store.get_by_ids(row_ids)
    vectors = await store.get_vectors_by_ids(row_ids)
    extended: list[ExportRow] = []
    for row, row_id, vector_row in zip(rows, row_ids, stored, strict=True):
        data: dict[str, Any] = {}
        if vector_row is not None:
            data = {"content": vector_row.get("content", ""), "vector": vectors.get(row_id, [])}
        extended.append((*row, data))
    return extended
