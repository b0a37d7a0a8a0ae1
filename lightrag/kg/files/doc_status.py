"""Document status in a JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from lightrag.contracts.doc_status import BaseDocStatusStorage, DocProcessingStatus, DocStatus, StatusPage
from lightrag.contracts.kv import Record
from lightrag.contracts.sources import SourceRepair, is_source
from lightrag.kg.files.eligibility import Eligibility
from lightrag.kg.files.kinds import STATUS
from lightrag.kg.files.status_table import StatusTable
from lightrag.kg.files.store import FileStore
from lightrag.kg.files.table import Change
from lightrag.kg.texts import check_ids, encode_json

if TYPE_CHECKING:
    from lightrag.query_filters import DocumentFacts, VectorQueryFilter


@dataclass(kw_only=True, eq=False)
class JsonDocStatusStorage(FileStore[StatusTable], BaseDocStatusStorage):
    """Rows of :class:`~lightrag.contracts.doc_status.DocProcessingStatus`, in ``kv_store_doc_status.json``."""

    kind: ClassVar[str] = STATUS
    supports_strict_point_reads: ClassVar[bool] = True
    counts_by_index: ClassVar[bool] = True

    # --- as a key-value store ----------------------------------------------------------------------------------

    async def get_by_id(self, id: str) -> Record | None:
        """Return the row, or ``None`` when there is none."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Record | None]:
        """Return the rows in the order of ``ids``, ``None`` where there is none."""
        rows = self.table.rows
        return [None if (text := rows.get(key)) is None else json.loads(text) for key in ids]

    async def filter_keys(self, keys: set[str]) -> set[str]:
        """Return those of ``keys`` that are not stored."""
        return keys - self.table.rows.keys()

    async def upsert(self, data: Mapping[str, Record]) -> None:
        """Insert or replace rows; a row that does not change is not written.

        Raises:
            InputError: A key or value cannot be stored.
            StorageFullError: The disk is full. Nothing of ``data`` was stored.
        """
        if not data:
            return
        check_ids(data)
        texts = {key: encode_json(dict(record), key) for key, record in data.items()}
        table = self.table

        def write(change: Change) -> None:
            changed = {key: text for key, text in texts.items() if table.rows.get(key) != text}
            if changed:
                change.apply(table, ["put", changed])

        await self.folder.write(write)

    async def update_doc_status_fields(self, updates: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace only the given fields of existing rows and set ``updated_at`` unless it is given."""
        if not updates:
            return
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        changes = {key: {"updated_at": now, **fields} for key, fields in updates.items()}
        for key, fields in changes.items():
            encode_json(fields, key)
        table = self.table

        def write(change: Change) -> None:
            rows = {
                key: encode_json({**json.loads(table.rows[key]), **fields}, key)
                for key, fields in changes.items()
                if key in table.rows
            }
            if rows:
                change.apply(table, ["put", rows])

        await self.folder.write(write)

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""
        if not ids:
            return
        table, wanted = self.table, list(ids)

        def write(change: Change) -> None:
            gone = [key for key in dict.fromkeys(wanted) if key in table.rows]
            if gone:
                change.apply(table, ["delete", gone])

        await self.folder.write(write)

    async def is_empty(self) -> bool:
        """Tell whether there is no row."""
        return not self.table.rows

    async def scan(self, *, after: str = "", limit: int = 500) -> list[tuple[str, Record]]:
        """Return up to ``limit`` rows whose key sorts after ``after``, by key."""
        with self.folder.lock:
            page = self.table.page(after, limit)
        return [(key, json.loads(text)) for key, text in page]

    # --- by state, call, path and content ----------------------------------------------------------------------

    async def get_status_counts(self) -> dict[str, int]:
        """Return the number of rows per state, states without rows left out."""
        with self.folder.lock:
            return self.table.counts()

    async def get_docs_by_statuses(
        self, statuses: Sequence[DocStatus], strict: bool = False
    ) -> dict[str, DocProcessingStatus]:
        """Return all rows in any of the states, oldest first; one that cannot be read is always an error."""
        with self.folder.lock:
            return dict(self._documents(self.table.in_states(statuses, None, None)))

    async def get_docs_by_statuses_page(
        self, statuses: Sequence[DocStatus], *, limit: int = 500, after: tuple[str, str] | None = None
    ) -> list[tuple[str, DocProcessingStatus]]:
        """Return up to ``limit`` rows, oldest first, after the position ``(created_at, id)``."""
        with self.folder.lock:
            return self._documents(self.table.in_states(statuses, after, max(limit, 0)))

    async def get_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        """Return the rows that one call enqueued."""
        with self.folder.lock:
            return dict(self._documents(self.table.with_track(track_id)))

    async def get_page(self, wanted: StatusPage) -> tuple[list[tuple[str, DocProcessingStatus]], int]:
        """Return one page and the total; no states at all match nothing."""
        with self.folder.lock:
            table = self.table
            ids = table.keys if wanted.states is None else table.in_states(wanted.states, None, None)
            if wanted.metadata_filter is not None:
                accepted = Eligibility.of(self.folder).mask(wanted.metadata_filter, ids)
                ids = [key for key in ids if accepted[key]]
            return self._documents(table.sorted_page(ids, wanted)), len(ids)

    async def get_doc_by_file_path(self, file_path: str) -> tuple[str, DocProcessingStatus] | None:
        """Return the document of a source path, the oldest if there are several; never a refused attempt."""
        return self._first("file_path", file_path, None)

    async def get_doc_by_content_hash(
        self, content_hash: str, *, exclude_doc_id: str | None = None
    ) -> tuple[str, DocProcessingStatus] | None:
        """Return a document with that content, the oldest if there are several; never a refused attempt."""
        return self._first("content_hash", content_hash, exclude_doc_id)

    async def get_docs_by_content_hash(self, content_hash: str) -> dict[str, DocProcessingStatus]:
        """Return all documents with that content, oldest first; never a refused attempt."""
        with self.folder.lock:
            return dict(self._documents(self.table.of_content(content_hash) if content_hash else []))

    async def get_doc_by_file_basename(self, basename: str) -> tuple[str, DocProcessingStatus] | None:
        """Return the document whose source path is this name, else the oldest whose path ends in it."""
        if not is_source(basename):
            return None
        with self.folder.lock:
            key = self.table.first_with("file_path", basename) or self.table.first_ending_in("/" + basename)
            return None if key is None else self._documents([key])[0]

    async def _documents_of_source(self, file_path: str) -> list[str]:
        with self.folder.lock:
            return self.table.of_source(file_path) if is_source(file_path) else []

    async def _conflicts(self, after: str, limit: int) -> list[tuple[str, list[str]]]:
        with self.folder.lock:
            return self.table.conflicts(after, limit)

    async def _demote(self, repair: SourceRepair) -> None:
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        table = self.table

        def write(change: Change) -> None:
            rows = {
                key: json.loads(table.rows[key]) for key in repair.demoted(table.of_source(repair.canonical_source_key))
            }
            marked = {
                key: encode_json({**row, "updated_at": now, "metadata": repair.marks(row.get("metadata") or {})}, key)
                for key, row in rows.items()
            }
            if marked:
                change.apply(table, ["put", marked])

        await self.folder.write(write)

    def _first(self, field: str, value: str, besides: str | None) -> tuple[str, DocProcessingStatus] | None:
        if not value:
            return None
        with self.folder.lock:
            key = self.table.first_with(field, value, besides=besides)
            return None if key is None else self._documents([key])[0]

    # --- what filters see --------------------------------------------------------------------------------------

    async def get_facts(self, ids: Sequence[str]) -> dict[str, DocumentFacts]:
        """Return what filters see of documents."""
        with self.folder.lock:
            # Without a filtered query so far there is no index, and a few rows are not worth making one.
            documents = Eligibility.of(self.folder).documents_if_read()
            known = documents.facts(ids) if documents is not None else {}
        missing = [doc_id for doc_id in ids if doc_id not in known]
        return {**known, **await super().get_facts(missing)} if missing else known

    async def count_eligible(self, metadata_filter: VectorQueryFilter) -> int:
        """Return how many processed documents a filter accepts."""
        with self.folder.lock:
            return Eligibility.of(self.folder).documents().count(metadata_filter)

    def _documents(self, ids: Iterable[str]) -> list[tuple[str, DocProcessingStatus]]:
        rows = self.table.rows
        return [(key, DocProcessingStatus.from_row(json.loads(rows[key]))) for key in ids]
