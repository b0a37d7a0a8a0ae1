"""Rows of the document status store, and the states of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class DocStatus(StrEnum):
    """State of a document. ``preprocessed`` is only read, from data of older versions."""

    PENDING = "pending"
    PARSING = "parsing"
    ANALYZING = "analyzing"
    PROCESSING = "processing"
    PREPROCESSED = "preprocessed"
    PROCESSED = "processed"
    FAILED = "failed"


# States from which a document is taken up again after a crash or restart.
INTERRUPTED_STATES = (DocStatus.PARSING, DocStatus.ANALYZING, DocStatus.PROCESSING)


@dataclass
class DocProcessingStatus:
    """A row of the document status store.

    Attributes:
        content_summary: First 250 characters at the most.
        content_length: Characters of the whole text.
        file_path: Normalised relative source path, or ``unknown_source``.
        status: State.
        created_at: ISO-8601 UTC with microseconds.
        updated_at: As above, of the last change.
        track_id: Names the call that enqueued the document.
        chunks_count: Number of chunks once known.
        chunks_list: Their ids.
        error_msg: Why the document failed.
        content_hash: MD5 of the sanitised text, hex; ``None`` while unknown.
        metadata: Process notes and the user's ``user_*`` keys.
    """

    content_summary: str
    content_length: int
    file_path: str
    status: DocStatus
    created_at: str
    updated_at: str
    track_id: str | None = None
    chunks_count: int | None = None
    chunks_list: list[str] = field(default_factory=list)
    error_msg: str | None = None
    content_hash: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> DocProcessingStatus:
        """Build from a stored row; keys that are not fields are left out."""
        known = {name: row[name] for name in cls.__dataclass_fields__ if row.get(name) is not None}
        known["status"] = DocStatus(row["status"])
        return cls(**known)

    def to_row(self) -> dict[str, Any]:
        """Return the plain JSON row; ``None`` values are left out."""
        row = {name: value for name, value in asdict(self).items() if value is not None}
        row["status"] = self.status.value
        return row


@dataclass(frozen=True)
class DocSchedulingRecord:
    """What a scheduler needs to know of a document.

    Attributes:
        id: The document.
        status: State.
        created_at: ISO-8601 UTC.
        updated_at: ISO-8601 UTC.
        file_path: Source path.
        track_id: Call that enqueued it.
        has_custom_chunk_journal: Whether chunks that a caller gave were only half stored; see
            ``arollback_failed_custom_chunk_patches``.
    """

    id: str
    status: DocStatus
    created_at: str
    updated_at: str
    file_path: str | None
    track_id: str | None
    has_custom_chunk_journal: bool

    @classmethod
    def of(cls, doc_id: str, row: DocProcessingStatus) -> DocSchedulingRecord:
        """Return what is needed of a status row."""
        return cls(
            id=doc_id,
            status=row.status,
            created_at=row.created_at,
            updated_at=row.updated_at,
            file_path=row.file_path or None,
            track_id=row.track_id,
            has_custom_chunk_journal=bool(row.metadata.get("custom_chunk_patch")),
        )


def is_refused(doc_id: str, row: Mapping[str, Any]) -> bool:
    """Tell whether a status row stands for an attempt that was refused, or for a repetition of another document."""
    metadata = row.get("metadata")
    return doc_id.startswith("dup-") or (isinstance(metadata, dict) and bool(metadata.get("is_duplicate")))
