"""A document on its way through the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.contracts.doc_status import DocProcessingStatus
from lightrag.contracts.evidence import Evidence

if TYPE_CHECKING:
    import numpy as np


@dataclass(slots=True)
class Chunk:
    """A piece of a document.

    Attributes:
        chunk_id: ``<document id>-chunk-NNN``.
        content: Text.
        tokens: Its token count.
        order: Position in the document, from 0.
        extra: Further fields of the chunker, such as headings.
        cache_ids: Keys of the cached model replies about it.
    """

    chunk_id: str
    content: str
    tokens: int
    order: int
    extra: dict[str, Any] = field(default_factory=dict)
    cache_ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class DocumentWork:
    """What the steps read and write.

    Attributes:
        doc_id: The document.
        row: Its status row, kept up to date.
        full_doc: Its row of the text store.
        text: Sanitised text once parsed.
        chunks: Once cut.
        vectors: Embeddings of the chunks, shape ``(len(chunks), dim)``.
        evidence: Rows of the aggregate once extracted, in order.
        notes: Further metadata for the status row.
    """

    doc_id: str
    row: DocProcessingStatus
    full_doc: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    chunks: list[Chunk] = field(default_factory=list)
    vectors: np.ndarray | None = None
    evidence: list[Evidence] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
