"""Key-value and document status stores in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lightrag.contracts.doc_status import BaseDocStatusStorage, DocProcessingStatus, DocStatus, StatusPage
from lightrag.contracts.kv import BaseKVStorage, Record
from tests.fakes.base import InMemory, copied


@dataclass(kw_only=True, eq=False)
class FakeKVStorage(InMemory, BaseKVStorage):
    """Rows in a dict."""

    timestamps: bool = True

    async def get_by_id(self, id: str) -> Record | None:
        self.note("get_by_id")
        return copied(self.rows.get(id))

    async def get_by_ids(self, ids: Sequence[str]) -> list[Record | None]:
        self.note("get_by_ids")
        return [copied(self.rows.get(key)) for key in ids]

    async def filter_keys(self, keys: set[str]) -> set[str]:
        self.note("filter_keys")
        return {key for key in keys if key not in self.rows}

    async def upsert(self, data: Mapping[str, Record]) -> None:
        rows = copied(dict(data))
        self.fake.write(lambda: self._store(rows))

    def _store(self, rows: dict[str, Record]) -> None:
        now = int(time.time())
        for key, row in rows.items():
            if self.timestamps:
                created = self.rows.get(key, {}).get("create_time", now)
                row = {**row, "create_time": created, "update_time": now, "_id": key}
            self.rows[key] = row

    async def delete(self, ids: Sequence[str]) -> None:
        gone = list(ids)

        def write() -> None:
            for key in gone:
                self.rows.pop(key, None)

        self.fake.write(write)

    async def is_empty(self) -> bool:
        return not self.rows

    async def scan(self, *, after: str = "", limit: int = 500) -> list[tuple[str, Record]]:
        self.note("scan")
        keys = sorted(key for key in self.rows if key > after)[:limit]
        return [(key, copied(self.rows[key])) for key in keys]


@dataclass(kw_only=True, eq=False)
class FakeDocStatusStorage(FakeKVStorage, BaseDocStatusStorage):
    """Document rows in a dict."""

    timestamps: bool = False

    def _sorted(self, statuses: Sequence[DocStatus]) -> list[tuple[str, DocProcessingStatus]]:
        wanted = {DocStatus(status).value for status in statuses}
        rows = [(key, row) for key, row in self.rows.items() if row["status"] in wanted]
        rows.sort(key=lambda item: (item[1]["created_at"], item[0]))
        return [(key, DocProcessingStatus.from_row(copied(row))) for key, row in rows]

    async def get_status_counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for row in self.rows.values():
            counts[row["status"]] = counts.get(row["status"], 0) + 1
        return counts

    async def get_docs_by_statuses(
        self, statuses: Sequence[DocStatus], strict: bool = False
    ) -> dict[str, DocProcessingStatus]:
        self.note("get_docs_by_statuses")
        return dict(self._sorted(statuses))

    async def get_docs_by_statuses_page(
        self, statuses: Sequence[DocStatus], *, limit: int = 500, after: tuple[str, str] | None = None
    ) -> list[tuple[str, DocProcessingStatus]]:
        self.note("get_docs_by_statuses_page")
        rows = self._sorted(statuses)
        if after is not None:
            rows = [(key, row) for key, row in rows if (row.created_at, key) > after]
        return rows[:limit]

    async def get_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        self.note("get_docs_by_track_id")
        return {key: row for key, row in self._sorted(list(DocStatus)) if row.track_id == track_id}

    async def get_page(self, wanted: StatusPage) -> tuple[list[tuple[str, DocProcessingStatus]], int]:
        self.note("get_page")
        rows = self._sorted(list(DocStatus) if wanted.states is None else wanted.states)

        def sort_key(item: tuple[str, DocProcessingStatus]) -> tuple[Any, str]:
            return (item[0] if wanted.sort_field == "id" else getattr(item[1], wanted.sort_field), item[0])

        rows.sort(key=sort_key, reverse=wanted.newest)
        return rows[wanted.start : wanted.start + wanted.count], len(rows)

    async def get_doc_by_file_path(self, file_path: str) -> tuple[str, DocProcessingStatus] | None:
        self.note("get_doc_by_file_path")
        return next((item for item in self._documents() if item[1].file_path == file_path), None)

    async def get_doc_by_content_hash(
        self, content_hash: str, *, exclude_doc_id: str | None = None
    ) -> tuple[str, DocProcessingStatus] | None:
        self.note("get_doc_by_content_hash")
        found = (item for item in self._documents() if item[1].content_hash == content_hash)
        return next((item for item in found if item[0] != exclude_doc_id), None)

    def _documents(self) -> list[tuple[str, DocProcessingStatus]]:
        """Rows that stand for documents: refused attempts are left out."""
        return [
            (key, row)
            for key, row in self._sorted(list(DocStatus))
            if not key.startswith("dup-") and not row.metadata.get("is_duplicate")
        ]

    async def update_doc_status_fields(self, updates: Mapping[str, Mapping[str, Any]]) -> None:
        changes = copied({key: dict(fields) for key, fields in updates.items()})

        def write() -> None:
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            for key, fields in changes.items():
                if key in self.rows:
                    self.rows[key] = {**self.rows[key], **fields, "updated_at": now}

        self.fake.write(write)
