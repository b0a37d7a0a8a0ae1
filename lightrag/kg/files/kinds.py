"""Tables by the kind of their store; each module is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lightrag.kg.files.table import Table

KEY_VALUE = "kv"
STATUS = "status"
VECTOR = "vector"
FAISS = "faiss"
GRAPH = "graph"
EVIDENCE = "evidence"

_CLASSES = {
    KEY_VALUE: ("files.row_table", "RowTable"),
    STATUS: ("files.status_table", "StatusTable"),
    VECTOR: ("files.vector_table", "VectorTable"),
    FAISS: ("faiss.table", "FaissTable"),
    GRAPH: ("files.graph_table", "GraphTable"),
    EVIDENCE: ("files.evidence_table", "EvidenceTable"),
}


def table_name(kind: str, namespace: str) -> str:
    """Return the name of a table."""
    return f"{kind}/{namespace}"


def kind_of(name: str) -> str:
    """Return the kind of a table."""
    return name.partition("/")[0]


def new_table(name: str, folder: Path) -> Table:
    """Return an empty table.

    Args:
        name: As :func:`table_name` gives it.
        folder: Where its files are.
    """
    module, class_name = _CLASSES[kind_of(name)]
    table: Table = getattr(import_module(f"lightrag.kg.{module}"), class_name)(name, folder)
    return table
