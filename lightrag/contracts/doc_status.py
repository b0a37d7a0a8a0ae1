"""Document status: one row per document (or refused attempt), through all states of the pipeline."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lightrag.contracts.evidence import missing_document_metadata
from lightrag.contracts.kv import BaseKVStorage
from lightrag.exceptions import InputError

if TYPE_CHECKING:
    from lightrag.query_filters import DocumentFacts, VectorQueryFilter


class DocStatus(StrEnum):
    """State of a document. ``preprocessed`` is only read, from data of older versions."""

    PENDING = "pending"
    PARSING = "parsing"
    ANALYZING = "analyzing"
    PROCESSING = "processing"
    PREPROCESSED = "preprocessed"
    PROCESSED = "processed"
    FAILED = "failed"


_SORT_FIELDS = ("created_at", "updated_at", "id", "file_path")
_DIRECTIONS = ("asc", "desc")
_MAX_PAGE_SIZE = 200

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


@dataclass(frozen=True, slots=True)
class StatusPage:
    """Which rows a person wants to see.

    Attributes:
        states: Only rows in any of these states; ``None`` for all rows.
        start: How many come before the page.
        count: Length of the page.
        sort_field: ``created_at``, ``updated_at``, ``id`` or ``file_path``; equal ones are sorted by id, the same way.
        newest: Whether the highest value comes first.
        metadata_filter: Only documents that it accepts.
    """

    states: Sequence[DocStatus] | None
    start: int
    count: int
    sort_field: str
    newest: bool
    metadata_filter: VectorQueryFilter | None


@dataclass(kw_only=True, eq=False)
class BaseDocStatusStorage(BaseKVStorage):
    """Rows of :class:`DocProcessingStatus` as plain dicts; also a key-value store."""

    @abstractmethod
    async def get_status_counts(self) -> dict[str, int]:
        """Return the number of rows per state, states without rows left out."""

    @abstractmethod
    async def get_docs_by_statuses(self, statuses: Sequence[DocStatus]) -> dict[str, DocProcessingStatus]:
        """Return all rows in any of the states, oldest first (``created_at``, then id)."""

    @abstractmethod
    async def get_docs_by_statuses_page(
        self, statuses: Sequence[DocStatus], *, limit: int = 500, after: tuple[str, str] | None = None
    ) -> list[tuple[str, DocProcessingStatus]]:
        """Return up to ``limit`` rows, oldest first, after the position ``(created_at, id)``."""

    @abstractmethod
    async def get_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        """Return the rows that one call enqueued."""

    @abstractmethod
    async def get_page(self, wanted: StatusPage) -> tuple[list[tuple[str, DocProcessingStatus]], int]:
        """Return one page and the total; no states at all match nothing."""

    async def get_docs_paginated(
        self,
        status_filter: DocStatus | None = None,
        status_filters: Sequence[DocStatus] | None = None,
        page: int = 1,
        page_size: int = 50,
        sort_field: str = "updated_at",
        sort_direction: str = "desc",
        *,
        metadata_filter: VectorQueryFilter | None = None,
    ) -> tuple[list[tuple[str, DocProcessingStatus]], int]:
        """Return one page and the total.

        Args:
            status_filter: Only this state.
            status_filters: Only these states; wins over ``status_filter``.
            page: From 1.
            page_size: 1 to 200.
            sort_field: ``created_at``, ``updated_at``, ``id`` or ``file_path``.
            sort_direction: ``asc`` or ``desc``.
            metadata_filter: Only documents that it accepts, refused attempts by the metadata they came with.

        Raises:
            InputError: An argument is out of range; the message says what was allowed.
        """
        if sort_field not in _SORT_FIELDS:
            raise InputError(f"sort_field {sort_field!r} must be one of {', '.join(_SORT_FIELDS)}")
        if sort_direction not in _DIRECTIONS:
            raise InputError(f"sort_direction {sort_direction!r} must be one of {', '.join(_DIRECTIONS)}")
        if page < 1:
            raise InputError(f"page {page!r} must be 1 or more")
        if not 1 <= page_size <= _MAX_PAGE_SIZE:
            raise InputError(f"page_size {page_size!r} must be 1 to {_MAX_PAGE_SIZE}")
        states = [status_filter] if status_filters is None and status_filter is not None else status_filters
        start, newest = (page - 1) * page_size, sort_direction == "desc"
        return await self.get_page(StatusPage(states, start, page_size, sort_field, newest, metadata_filter))

    @abstractmethod
    async def get_doc_by_file_path(self, file_path: str) -> tuple[str, DocProcessingStatus] | None:
        """Return the document of a source path; refused attempts (``dup-`` rows) are never returned."""

    @abstractmethod
    async def get_doc_by_content_hash(
        self, content_hash: str, *, exclude_doc_id: str | None = None
    ) -> tuple[str, DocProcessingStatus] | None:
        """Return a document with that content; refused attempts are never returned."""

    @abstractmethod
    async def update_doc_status_fields(self, updates: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace only the given fields of existing rows and set ``updated_at``; unknown ids are passed over.

        ``metadata`` is replaced whole, like every other field.
        """

    async def get_facts(self, ids: Sequence[str]) -> dict[str, DocumentFacts]:
        """Return what filters see of documents; for one without a row see ``missing_document_metadata``."""
        from lightrag.query_filters import document_facts

        rows = await self.get_by_ids(ids)
        return {
            doc_id: document_facts(row.get("metadata") if row else missing_document_metadata(doc_id))
            for doc_id, row in zip(ids, rows, strict=True)
        }

    async def all_facts(self, metadata_filter: VectorQueryFilter | None = None) -> dict[str, DocumentFacts]:
        """Return what filters see of every processed document, or of those that a filter accepts; oldest first."""
        from lightrag.query_filters import document_facts, facts_match_filter

        found: dict[str, DocumentFacts] = {}
        after: tuple[str, str] | None = None
        while page := await self.get_docs_by_statuses_page([DocStatus.PROCESSED], limit=1000, after=after):
            for doc_id, row in page:
                facts = document_facts(row.metadata)
                if metadata_filter is None or facts_match_filter(facts, metadata_filter, doc_id=doc_id):
                    found[doc_id] = facts
            after = (page[-1][1].created_at, page[-1][0])
        return found

    async def count_eligible(self, metadata_filter: VectorQueryFilter) -> int:
        """Return how many processed documents a filter accepts."""
        return len(await self.all_facts(metadata_filter))

    async def get_all_status_counts(self) -> dict[str, int]:
        """Return the number of rows of every state, zeros included, and of ``all``."""
        counts = await self.get_status_counts()
        full = {state.value: counts.get(state.value, 0) for state in DocStatus}
        return {**full, "all": sum(full.values())}
