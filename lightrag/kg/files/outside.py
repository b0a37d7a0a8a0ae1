"""What somebody else changed in a folder: the peer works on the same files while we are away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lightrag.constants import DOC_STATUS, GRAPH_CHUNK_ENTITY_RELATION
from lightrag.contracts.doc_status import DocStatus
from lightrag.kg.files.evidence_table import EvidenceTable
from lightrag.kg.files.graph_table import GraphTable
from lightrag.kg.files.kinds import GRAPH, STATUS, table_name
from lightrag.kg.files.status_table import StatusTable
from lightrag.kg.files.table import Table


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
