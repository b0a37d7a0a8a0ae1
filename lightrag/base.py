"""Import path that users already have; the names live elsewhere."""

from lightrag.contracts.doc_status import BaseDocStatusStorage as DocStatusStorage
from lightrag.contracts.doc_status import DocProcessingStatus, DocSchedulingRecord, DocStatus
from lightrag.contracts.graph import BaseGraphStorage
from lightrag.contracts.kv import BaseKVStorage
from lightrag.contracts.query import QueryParam
from lightrag.contracts.sources import (
    CURSOR_END,
    CURSOR_START,
    CursorAfter,
    CursorPosition,
    SourceAbsent,
    SourceConflict,
    SourceConflictPage,
    SourceConflictRepairResult,
    SourceConflictSummary,
    SourceUnique,
)
from lightrag.contracts.storage import StorageNameSpace
from lightrag.contracts.vector import BaseVectorStorage
from lightrag.engine.fields import OllamaServerInfos
from lightrag.ingest.delete import DeletionResult

__all__ = [
    "CURSOR_END",
    "CURSOR_START",
    "BaseGraphStorage",
    "BaseKVStorage",
    "BaseVectorStorage",
    "CursorAfter",
    "CursorPosition",
    "DeletionResult",
    "DocProcessingStatus",
    "DocSchedulingRecord",
    "DocStatus",
    "DocStatusStorage",
    "OllamaServerInfos",
    "QueryParam",
    "SourceAbsent",
    "SourceConflict",
    "SourceConflictPage",
    "SourceConflictRepairResult",
    "SourceConflictSummary",
    "SourceUnique",
    "StorageNameSpace",
]
