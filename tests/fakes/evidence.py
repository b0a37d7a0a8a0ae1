"""An evidence store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from lightrag.contracts.evidence import BaseEvidenceStorage, Evidence, EvidenceSource, ObjectKind
from tests.fakes.base import InMemory

Key = tuple[ObjectKind, str, str]


@dataclass(kw_only=True, eq=False)
class FakeEvidenceStorage(InMemory, BaseEvidenceStorage):
    """Rows by ``(kind, object, chunk)``, each with its place in the order."""

    def __post_init__(self) -> None:
        self._numbers = count(1)
        self.by_object: dict[tuple[ObjectKind, str], dict[Key, None]] = {}

    def forget(self) -> None:
        self.rows.clear()
        self.by_object.clear()

    async def add(self, rows: Sequence[Evidence]) -> None:
        added = list(rows)

        def write() -> None:
            for row in added:
                key = (row.kind, row.object_id, row.chunk_id)
                known = self.rows.get(key)
                self._put(key, replace(row, sequence=known.sequence if known else next(self._numbers)))

        self.fake.write(write)

    def _put(self, key: Key, row: Evidence) -> None:
        self.rows[key] = row
        self.by_object.setdefault(key[:2], {})[key] = None

    def _remove(self, key: Key) -> Evidence:
        rest = self.by_object[key[:2]]
        del rest[key]
        if not rest:
            del self.by_object[key[:2]]
        return self.rows.pop(key)

    def _of(self, kind: ObjectKind, object_id: str, document_ids: Collection[str] | None) -> list[Evidence]:
        rows = [self.rows[key] for key in self.by_object.get((kind, object_id), ())]
        if document_ids is not None:
            rows = [row for row in rows if row.document_id in document_ids]
        return sorted(rows, key=lambda row: row.sequence)

    async def of_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], *, document_ids: Collection[str] | None = None
    ) -> dict[str, list[Evidence]]:
        self.note("of_objects")
        found = {object_id: self._of(kind, object_id, document_ids) for object_id in object_ids}
        return {object_id: rows for object_id, rows in found.items() if rows}

    async def sources_of_objects(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        *,
        document_ids: Collection[str] | None = None,
        limit: int | None = None,
    ) -> dict[str, list[EvidenceSource]]:
        self.note("sources_of_objects")
        found = {object_id: self._of(kind, object_id, document_ids)[:limit] for object_id in object_ids}
        return {
            object_id: [EvidenceSource(row.chunk_id, row.document_id, row.file_path) for row in rows]
            for object_id, rows in found.items()
            if rows
        }

    def _in_order(self) -> list[Evidence]:
        return sorted(self.rows.values(), key=lambda row: row.sequence)

    async def of_documents(self, document_ids: Collection[str]) -> list[Evidence]:
        self.note("of_documents")
        return [row for row in self._in_order() if row.document_id in document_ids]

    async def objects_of_documents(self, document_ids: Collection[str]) -> dict[ObjectKind, list[str]]:
        self.note("objects_of_documents")
        found: dict[ObjectKind, dict[str, None]] = {kind: {} for kind in ObjectKind}
        for row in self._in_order():
            if row.document_id in document_ids:
                found[row.kind][row.object_id] = None
        return {kind: list(ids) for kind, ids in found.items()}

    async def drop_documents(self, document_ids: Collection[str]) -> None:
        gone = set(document_ids)
        self._drop_where(lambda row: row.document_id in gone)

    async def drop_of_document(self, document_id: str, tenant_tags: Collection[str]) -> None:
        scopes = set(tenant_tags)
        self._drop_where(lambda row: row.document_id == document_id and row.tenant_tag in scopes)

    async def drop_objects(self, kind: ObjectKind, object_ids: Collection[str]) -> None:
        gone = set(object_ids)
        self._drop_where(lambda row: row.kind == kind and row.object_id in gone)

    def _drop_where(self, matches: Callable[[Evidence], bool]) -> None:
        def write() -> None:
            for key in [key for key, row in self.rows.items() if matches(row)]:
                self._remove(key)

        self.fake.write(write)

    async def reassign(self, kind: ObjectKind, renames: Mapping[str, str]) -> None:
        moves = dict(renames)

        def write() -> None:
            moved = [self._remove(key) for key in list(self.rows) if key[0] == kind and key[1] in moves]
            for row in moved:
                target = replace(row, object_id=moves[row.object_id])
                key = (kind, target.object_id, target.chunk_id)
                there = self.rows.get(key)
                if there is None or (target.description and not there.description):
                    self._put(key, target)

        self.fake.write(write)

    async def scan_objects(
        self, kind: ObjectKind, *, after: str = "", limit: int = 500, tenant_tag: str | None = None
    ) -> list[str]:
        ids = {
            row.object_id
            for row in self.rows.values()
            if row.kind == kind and row.object_id > after and tenant_tag in (None, row.tenant_tag)
        }
        return sorted(ids)[:limit]

    async def count(self) -> int:
        return len(self.rows)
