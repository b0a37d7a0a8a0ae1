"""LightRAG-compatible graph-RAG engine whose queries can be limited by dates, tags and sources."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightrag.contracts.query import QueryParam
    from lightrag.contracts.roles import ROLES, RoleLLMConfig, RoleSpec
    from lightrag.lightrag import LightRAG
    from lightrag.query_filters import DateFilter, DocumentMetadata, SearchFilters

__version__ = "1.6.0+filters.1"

# Loaded on first use, so that `import lightrag` costs nothing.
_EXPORTS = {
    "LightRAG": "lightrag.lightrag",
    "QueryParam": "lightrag.contracts.query",
    "RoleLLMConfig": "lightrag.contracts.roles",
    "RoleSpec": "lightrag.contracts.roles",
    "ROLES": "lightrag.contracts.roles",
    "DateFilter": "lightrag.query_filters",
    "DocumentMetadata": "lightrag.query_filters",
    "SearchFilters": "lightrag.query_filters",
}

__all__ = [
    "DateFilter",
    "DocumentMetadata",
    "LightRAG",
    "QueryParam",
    "ROLES",
    "RoleLLMConfig",
    "RoleSpec",
    "SearchFilters",
    "__version__",
]


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'lightrag' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value
