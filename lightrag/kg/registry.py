"""Storage classes by name: where each lives and which extra its driver comes with."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from lightrag.exceptions import InputError, MissingDependencyError


@dataclass(frozen=True)
class Backend:
    """Where a storage class is found.

    Attributes:
        kind: Which store it implements: ``kv``, ``vector``, ``graph``, ``doc_status`` or ``evidence``.
        module: Module that defines the class; imported on first use.
        extra: Extra of the distribution that installs its driver; ``""`` when the core install has it.
    """

    kind: str
    module: str
    extra: str = ""


KINDS = ("kv", "vector", "graph", "doc_status", "evidence")

BACKENDS: dict[str, Backend] = {
    "SQLiteKVStorage": Backend("kv", "lightrag.kg.sqlite.kv"),
    "SQLiteVectorDBStorage": Backend("vector", "lightrag.kg.sqlite.vector"),
    "SQLiteGraphStorage": Backend("graph", "lightrag.kg.sqlite.graph"),
    "SQLiteDocStatusStorage": Backend("doc_status", "lightrag.kg.sqlite.doc_status"),
    "SQLiteEvidenceStorage": Backend("evidence", "lightrag.kg.sqlite.evidence"),
    "JsonKVStorage": Backend("kv", "lightrag.kg.files.kv"),
    "NanoVectorDBStorage": Backend("vector", "lightrag.kg.files.vector"),
    "NetworkXStorage": Backend("graph", "lightrag.kg.files.graph"),
    "JsonDocStatusStorage": Backend("doc_status", "lightrag.kg.files.doc_status"),
    "JsonEvidenceStorage": Backend("evidence", "lightrag.kg.files.evidence"),
    "FaissVectorDBStorage": Backend("vector", "lightrag.kg.faiss.vector", "faiss"),
}

# The evidence store follows the family of the document status store unless chosen, else that of the graph.
_EVIDENCE_BESIDE: dict[str, str] = {
    "SQLiteDocStatusStorage": "SQLiteEvidenceStorage",
    "JsonDocStatusStorage": "JsonEvidenceStorage",
    "SQLiteGraphStorage": "SQLiteEvidenceStorage",
    "NetworkXStorage": "JsonEvidenceStorage",
}
_EVIDENCE_ELSE = "SQLiteEvidenceStorage"


def evidence_beside(doc_status: str, graph: str) -> str:
    """Return the evidence storage of a set in which none was chosen.

    The published package knows no such store, so its users name four classes. Families without one of their own, such
    as those of key-value servers, keep evidence beside the graph, else in the working directory.

    Args:
        doc_status: Class name of the document status store.
        graph: Class name of the graph store.
    """
    return _EVIDENCE_BESIDE.get(doc_status) or _EVIDENCE_BESIDE.get(graph) or _EVIDENCE_ELSE


def check_storage(name: str, kind: str) -> Backend:
    """Return where a storage class is found, without importing it.

    Raises:
        InputError: No such class, or it implements another kind of store.
    """
    backend = BACKENDS.get(name)
    if backend is None or backend.kind != kind:
        allowed = sorted(known for known, entry in BACKENDS.items() if entry.kind == kind)
        raise InputError(f"{name!r} is not a {kind} storage; choose one of {', '.join(allowed)}")
    return backend


def storage_class(name: str, kind: str) -> type[Any]:
    """Import and return a storage class.

    Args:
        name: Class name as given to the engine's constructor.
        kind: The store it is wanted for.

    Raises:
        InputError: No such class, or it implements another kind of store.
        MissingDependencyError: Its driver is not installed; the message names the extra.
    """
    backend = check_storage(name, kind)
    try:
        module = import_module(backend.module)
    except ModuleNotFoundError as error:
        if not backend.extra or (error.name or "").startswith("lightrag"):
            raise
        raise MissingDependencyError(error.name or backend.module, backend.extra, f"Storage {name!r}") from error
    found: type[Any] = getattr(module, name)
    return found
