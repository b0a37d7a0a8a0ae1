"""Files that the peer keeps and we do not: which chunks speak of what, and what each document speaks of.

All of them follow from the evidence. What the peer wrote about objects and documents that were not taken over yet is
kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lightrag.constants import (
    KV_ENTITY_CHUNKS,
    KV_FULL_ENTITIES,
    KV_FULL_RELATIONS,
    KV_RELATION_CHUNKS,
)
from lightrag.contracts.evidence import (
    Evidence,
    ObjectKind,
    is_correction_document,
    is_statement_document,
    split_relation_key,
)
from lightrag.kg.files.evidence_table import EvidenceTable
from lightrag.kg.files.json_file import encode, object_pieces, read_rows
from lightrag.kg.files.kinds import KEY_VALUE, table_name
from lightrag.kg.files.outside import outside_changes
from lightrag.kg.files.row_table import RowTable
from lightrag.kg.files.table import NewFile, Table
from lightrag.kg.files.xml_text import can_be_id
from lightrag.kg_scopes import make_relation_chunk_key


def derived_files(evidence: EvidenceTable, tables: Mapping[str, Table]) -> Iterator[NewFile]:
    """Return the files, complete."""
    outside = outside_changes(evidence, tables)
    for namespace, rows, foreign in (
        (KV_FULL_ENTITIES, _of_documents(evidence, ObjectKind.ENTITY), outside.new_documents),
        (KV_FULL_RELATIONS, _of_documents(evidence, ObjectKind.RELATION), outside.new_documents),
        (KV_ENTITY_CHUNKS, _of_objects(evidence, ObjectKind.ENTITY), outside.nodes),
        (
            KV_RELATION_CHUNKS,
            _of_objects(evidence, ObjectKind.RELATION),
            [make_relation_chunk_key(*pair) for pair in outside.edges],
        ),
    ):
        table = RowTable(table_name(KEY_VALUE, namespace), evidence.folder)
        texts = {key: encode(row) for key, row in rows}
        if foreign:
            kept = set(foreign)
            texts.update((key, text) for key, _, text in read_rows(table.path) if key in kept)
        opened = tables.get(table.name)
        if isinstance(opened, RowTable):
            opened.take_over(texts)
        yield NewFile(table.path, object_pieces(texts))


def _of_documents(evidence: EvidenceTable, kind: ObjectKind) -> Iterator[tuple[str, dict[str, Any]]]:
    for document_id in evidence.documents():
        if is_correction_document(document_id) or is_statement_document(document_id):
            continue
        rows = [row for row in evidence.of_documents([document_id]) if row.kind is kind and _is_shown(row)]
        if not rows:
            continue
        ids = sorted({row.object_id for row in rows})
        named: dict[str, Any] = (
            {"entity_names": ids}
            if kind is ObjectKind.ENTITY
            else {"relation_pairs": [list(split_relation_key(key)) for key in ids]}
        )
        yield document_id, {**named, "count": len(ids), **_times(document_id, rows)}


def _of_objects(evidence: EvidenceTable, kind: ObjectKind) -> Iterator[tuple[str, dict[str, Any]]]:
    for (own_kind, object_id), found in evidence.objects.items():
        if own_kind is not kind:
            continue
        rows = [row for row in found.values() if _is_shown(row) and not is_correction_document(row.document_id)]
        if rows:
            key = object_id if kind is ObjectKind.ENTITY else make_relation_chunk_key(*split_relation_key(object_id))
            chunk_ids = [row.chunk_id for row in rows]
            yield key, {"chunk_ids": chunk_ids, "count": len(chunk_ids), **_times(key, rows)}


def _is_shown(row: Evidence) -> bool:
    """Tell whether the peer sees the object of a row: it is in the aggregate, and GraphML can hold its name."""
    if row.tenant_tag:
        return False
    ends: Iterable[str] = (row.object_id,) if row.kind is ObjectKind.ENTITY else split_relation_key(row.object_id)
    return all(map(can_be_id, ends))


def _times(key: str, rows: Sequence[Evidence]) -> dict[str, Any]:
    times = [row.created_at for row in rows]
    return {"create_time": min(times), "update_time": max(times), "_id": key}
