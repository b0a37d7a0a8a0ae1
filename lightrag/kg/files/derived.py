"""Files that the peer keeps and we do not: which chunks speak of what, and what each document speaks of.

All of them follow from the evidence. What the peer wrote about objects and documents that were not taken over yet is
kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightrag.constants import (
    DOC_STATUS,
    GRAPH_CHUNK_ENTITY_RELATION,
    KV_ENTITY_CHUNKS,
    KV_FULL_ENTITIES,
    KV_FULL_RELATIONS,
    KV_RELATION_CHUNKS,
)
from lightrag.contracts.doc_status import DocStatus
from lightrag.contracts.evidence import (
    Evidence,
    ObjectKind,
    is_correction_document,
    is_statement_document,
    split_relation_key,
)
from lightrag.kg.files.evidence_table import EvidenceTable
from lightrag.kg.files.graph_table import GraphTable
from lightrag.kg.files.json_file import encode, object_pieces, read_rows
from lightrag.kg.files.kinds import GRAPH, KEY_VALUE, STATUS, table_name
from lightrag.kg.files.row_table import RowTable
from lightrag.kg.files.status_table import StatusTable
from lightrag.kg.files.table import NewFile, Table
from lightrag.kg.files.xml_text import can_be_id
from lightrag.kg_scopes import make_relation_chunk_key


@dataclass(slots=True)
class Outside:
    """What somebody else changed in the folder, and nobody has taken over yet.

    Attributes:
        new_documents: Processed documents whose evidence is not there, or is that of an earlier life.
        gone_documents: Documents that are no more and still have evidence.
        nodes: Entities that are new or say something else.
        edges: Relations likewise, as sorted pairs.
        gone_nodes: Entities that are no more.
        gone_edges: Relations likewise.
    """

    new_documents: list[str] = field(default_factory=list)
    gone_documents: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    gone_nodes: list[str] = field(default_factory=list)
    gone_edges: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any((self.new_documents, self.gone_documents, self.nodes, self.edges, self.gone_nodes, self.gone_edges))


def outside_changes(evidence: EvidenceTable, tables: Mapping[str, Table]) -> Outside:
    """Return what was changed in a folder since evidence was last complete.

    Args:
        evidence: The evidence of the folder.
        tables: All tables that are in memory; documents and objects are compared only if theirs are among them.
    """
    found = Outside()
    status = tables.get(table_name(STATUS, DOC_STATUS))
    if isinstance(status, StatusTable):
        processed = status.in_states([DocStatus.PROCESSED], None, None)
        found.new_documents = [
            key for key in processed if key not in status.own and evidence.stamps.get(key) != status.keys[key].stamp
        ]
        found.gone_documents = [key for key in evidence.stamps if key not in status.keys and key not in status.own]
    graph = tables.get(table_name(GRAPH, GRAPH_CHUNK_ENTITY_RELATION))
    if isinstance(graph, GraphTable):
        found.nodes, found.edges = list(graph.foreign_nodes), list(graph.foreign_edges)
        found.gone_nodes, found.gone_edges = list(graph.gone_nodes), list(graph.gone_edges)
    return found


def stamps_now(evidence: EvidenceTable, tables: Mapping[str, Table]) -> dict[str, str]:
    """Return the documents whose evidence is complete, each with its stamp."""
    status = tables.get(table_name(STATUS, DOC_STATUS))
    if not isinstance(status, StatusTable):
        return dict(evidence.stamps)
    outside = outside_changes(evidence, tables)
    unknown = set(outside.new_documents)
    processed = status.in_states([DocStatus.PROCESSED], None, None)
    stamps = {key: status.keys[key].stamp for key in processed if key not in unknown}
    kept = (*outside.gone_documents, *outside.new_documents)
    return {**stamps, **{key: evidence.stamps[key] for key in kept if key in evidence.stamps}}


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
