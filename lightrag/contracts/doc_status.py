"""Document status: one row per document (or refused attempt), through all states of the pipeline."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from lightrag.contracts.document_rows import (
    INTERRUPTED_STATES,
    DocProcessingStatus,
    DocSchedulingRecord,
    DocStatus,
    is_refused,
)
from lightrag.contracts.evidence import missing_document_metadata
from lightrag.contracts.kv import BaseKVStorage
from lightrag.contracts.sources import (
    CURSOR_END,
    CURSOR_START,
    SAMPLE_SIZE,
    CursorAfter,
    CursorPosition,
    SourceAbsent,
    SourceConflict,
    SourceConflictPage,
    SourceConflictRepairResult,
    SourceConflictSummary,
    SourceRepair,
    SourceResolution,
    SourceUnique,
    is_source,
    page_after,
)
from lightrag.exceptions import InputError

if TYPE_CHECKING:
    from lightrag.query_filters import DocumentFacts, VectorQueryFilter

_SORT_FIELDS = ("created_at", "updated_at", "id", "file_path")
_DIRECTIONS = ("asc", "desc")
_MAX_PAGE_SIZE = 200

__all__ = [
    "INTERRUPTED_STATES",
    "BaseDocStatusStorage",
    "DocProcessingStatus",
    "DocSchedulingRecord",
    "DocStatus",
    "StatusPage",
    "is_refused",
]


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
    """Rows of :class:`DocProcessingStatus` as plain dicts; also a key-value store.

    Attributes:
        counts_by_index: Whether :meth:`count_eligible` costs less than reading all rows. Where it does not, a filtered
            query remembers what was counted until the corpus changes.
    """

    counts_by_index: ClassVar[bool] = False

    @abstractmethod
    async def get_status_counts(self) -> dict[str, int]:
        """Return the number of rows per state, states without rows left out."""

    @abstractmethod
    async def get_docs_by_statuses(
        self, statuses: Sequence[DocStatus], strict: bool = False
    ) -> dict[str, DocProcessingStatus]:
        """Return all rows in any of the states, oldest first (``created_at``, then id).

        Args:
            statuses: The states.
            strict: Accepted; a row that cannot be read is always an error.
        """

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

    async def get_docs_by_content_hash(self, content_hash: str) -> dict[str, DocProcessingStatus]:
        """Return all documents with that content, oldest first; refused attempts are never returned."""
        rows = await self._documents_where(lambda row: row.content_hash == content_hash) if content_hash else []
        return dict(sorted(rows, key=lambda item: (item[1].created_at, item[0])))

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

    # --- by id -------------------------------------------------------------------------------------------------------

    async def get_docs_by_ids(self, doc_ids: Sequence[str], *, strict: bool = False) -> dict[str, DocSchedulingRecord]:
        """Return what a scheduler needs of documents; unknown ids are left out.

        Args:
            doc_ids: The documents.
            strict: Accepted; a row that cannot be read is always an error.
        """
        rows = await self.get_full_docs_by_ids(doc_ids, strict=strict)
        return {doc_id: DocSchedulingRecord.of(doc_id, row) for doc_id, row in rows.items()}

    async def get_full_docs_by_ids(
        self, doc_ids: Sequence[str], *, strict: bool = False
    ) -> dict[str, DocProcessingStatus]:
        """Return the whole rows of documents; unknown ids are left out. ``strict`` as above."""
        wanted = list(dict.fromkeys(doc_ids))
        rows = await self.get_by_ids(wanted)
        return {
            doc_id: DocProcessingStatus.from_row(row)
            for doc_id, row in zip(wanted, rows, strict=True)
            if row is not None
        }

    async def count_docs_by_statuses(self, statuses: Sequence[DocStatus], *, strict: bool = True) -> int:
        """Return the number of rows in any of the states. ``strict`` as above."""
        counts = await self.get_status_counts()
        return sum(counts.get(DocStatus(status).value, 0) for status in set(statuses))

    # --- source paths ------------------------------------------------------------------------------------------------

    async def get_doc_by_file_basename(self, basename: str) -> tuple[str, DocProcessingStatus] | None:
        """Return the document whose source path is this name, else the oldest whose path ends in it.

        Refused attempts and documents without a source path are never returned.
        """
        if not is_source(basename):
            return None
        whole = await self.get_doc_by_file_path(basename)
        if whole is not None:
            return whole
        found = [
            (row.created_at, doc_id, row)
            for doc_id, row in await self._primary_documents()
            if row.file_path.rpartition("/")[2] == basename
        ]
        first = min(found, key=lambda item: item[:2], default=None)
        return None if first is None else (first[1], first[2])

    async def resolve_doc_source_strict(self, canonical_source_key: str) -> SourceResolution:
        """Tell which document a source path stands for: none, one, or several that contradict each other."""
        candidates = await self._documents_of_source(canonical_source_key)
        if not candidates:
            return SourceAbsent()
        if len(candidates) > 1:
            return SourceConflict(len(candidates), tuple(candidates[:SAMPLE_SIZE]))
        rows = await self.get_docs_by_ids(candidates)
        return SourceUnique(candidates[0], rows[candidates[0]]) if rows else SourceAbsent()

    async def list_source_conflicts_page(
        self, *, limit: int, position: CursorPosition = CURSOR_START
    ) -> SourceConflictPage:
        """Return some of the source paths that several documents have, by path.

        Args:
            limit: How many at the most.
            position: ``CURSOR_START``, or what the page before gave.

        Raises:
            InputError: The limit is not positive, or the position is none.
        """
        after = page_after(position, limit)
        if after is None:
            return SourceConflictPage((), CURSOR_END)
        found = await self._conflicts(after, limit + 1)
        page = tuple(
            SourceConflictSummary(path, len(doc_ids), tuple(doc_ids[:SAMPLE_SIZE])) for path, doc_ids in found[:limit]
        )
        more = len(found) > limit
        return SourceConflictPage(page, CursorAfter(page[-1].canonical_source_key) if more else CURSOR_END)

    async def repair_source_conflict(
        self,
        canonical_source_key: str,
        *,
        primary_doc_id: str,
        expected_candidate_count: int,
        expected_candidate_fingerprint: str,
        dry_run: bool = True,
    ) -> SourceConflictRepairResult:
        """Let a source path stand for one of the documents that have it; the others are marked as its repetitions.

        They lose nothing else: what was read from them stays until they are deleted.

        Args:
            canonical_source_key: The path.
            primary_doc_id: The document that it shall stand for.
            expected_candidate_count: How many documents the caller saw; only looked at when something is changed.
            expected_candidate_fingerprint: Fingerprint that the caller saw; as above.
            dry_run: Only tell what would be done.

        Raises:
            InputError: The document that was chosen does not have the path.
            SourceConflictRepairCASError: The documents that have the path are others than the caller saw.
        """
        repair = SourceRepair(
            canonical_source_key, primary_doc_id, expected_candidate_count, expected_candidate_fingerprint
        )
        planned = repair.plan(await self._documents_of_source(canonical_source_key))
        if dry_run:
            return planned
        await self._demote(repair)
        return replace(planned, committed=True)

    async def _documents_of_source(self, file_path: str) -> list[str]:
        """Return the documents of a source path that are no refused attempts, oldest first."""
        if not is_source(file_path):
            return []
        found = [(row.created_at, key) for key, row in await self._primary_documents() if row.file_path == file_path]
        return [doc_id for _, doc_id in sorted(found)]

    async def _conflicts(self, after: str, limit: int) -> list[tuple[str, list[str]]]:
        """Return source paths behind ``after`` that several documents have, each with those, oldest first."""
        by_path: dict[str, list[tuple[str, str]]] = {}
        for doc_id, row in await self._primary_documents():
            by_path.setdefault(row.file_path, []).append((row.created_at, doc_id))
        several = sorted(path for path, found in by_path.items() if len(found) > 1 and path > after)
        return [(path, [doc_id for _, doc_id in sorted(by_path[path])]) for path in several[:limit]]

    async def _demote(self, repair: SourceRepair) -> None:
        """Mark repetitions. A store that can do it in one step with the check does it there."""
        demoted = repair.demoted(await self._documents_of_source(repair.canonical_source_key))
        rows = await self.get_full_docs_by_ids(demoted)
        await self.update_doc_status_fields(
            {doc_id: {"metadata": repair.marks(row.metadata)} for doc_id, row in rows.items()}
        )

    async def _primary_documents(self) -> list[tuple[str, DocProcessingStatus]]:
        """Return every document with a source path that is no refused attempt."""
        return await self._documents_where(lambda row: is_source(row.file_path))

    async def _documents_where(
        self, wanted: Callable[[DocProcessingStatus], bool]
    ) -> list[tuple[str, DocProcessingStatus]]:
        found: list[tuple[str, DocProcessingStatus]] = []
        after = ""
        while page := await self.scan(after=after):
            after = page[-1][0]
            rows = ((key, DocProcessingStatus.from_row(row)) for key, row in page if not is_refused(key, row))
            found.extend((key, row) for key, row in rows if wanted(row))
        return found
