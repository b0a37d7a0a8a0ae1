"""Evidence in a file of our own, beside those of the peer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from lightrag.constants import DOC_STATUS, GRAPH_CHUNK_ENTITY_RELATION
from lightrag.contracts.evidence import (
    RELATION_KEY_SEPARATOR,
    BaseEvidenceStorage,
    Evidence,
    EvidenceSource,
    ObjectKind,
    split_relation_key,
)
from lightrag.exceptions import InputError
from lightrag.kg.files.eligibility import Eligibility
from lightrag.kg.files.evidence_table import EvidenceTable, RowKey, key_of, packed
from lightrag.kg.files.kinds import EVIDENCE, GRAPH, STATUS, table_name
from lightrag.kg.files.outside import Outside, outside_changes
from lightrag.kg.files.status_table import StatusTable
from lightrag.kg.files.store import FileStore
from lightrag.kg.files.table import Change
from lightrag.kg.texts import check_ids, check_text

if TYPE_CHECKING:
    from lightrag.query_filters import VectorQueryFilter

Chosen = Callable[[EvidenceTable], Iterable[RowKey]]


@dataclass(kw_only=True, eq=False)
class JsonEvidenceStorage(FileStore[EvidenceTable], BaseEvidenceStorage):
    """Which chunk of which document says what about an entity or a relation, in ``lightrag_evidence.jsonl``.

    From it follow the files in which the peer keeps the chunks of objects and the objects of documents.
    """

    kind: ClassVar[str] = EVIDENCE

    @property
    def filters_by_documents(self) -> bool:
        """Whether the store that knows documents is open in the same folder."""
        return self._folder is not None and Eligibility.is_possible(self._folder, evidence=False)

    # --- what others changed -----------------------------------------------------------------------------------

    def outside_changes(self) -> Outside:
        """Return what somebody else changed in the folder since our evidence was complete.

        Only documents and objects whose stores are open here are looked at.
        """
        names = (table_name(STATUS, DOC_STATUS), table_name(GRAPH, GRAPH_CHUNK_ENTITY_RELATION))
        with self.folder.lock:
            tables = {name: self.folder.tables[name] for name in names if self.folder.is_open(name)}
            return outside_changes(self.table, tables)

    async def mark_complete(self, document_ids: Collection[str]) -> None:
        """Note that the evidence of documents is that of what they are now, or that they and it are no more."""
        table = self.table

        def write(change: Change) -> None:
            status = self.folder.tables[table_name(STATUS, DOC_STATUS)]
            assert isinstance(status, StatusTable)
            stamps = {key: keys.stamp if (keys := status.keys.get(key)) else None for key in document_ids}
            change.apply(table, ["stamp", stamps])

        if document_ids:
            await self.folder.write(write)

    # --- writing -----------------------------------------------------------------------------------------------

    async def add(self, rows: Sequence[Evidence]) -> None:
        """Insert rows; a row with the same kind, object and chunk is replaced and keeps its place in the order.

        Raises:
            InputError: An id cannot be stored, or the object of a relation is not a relation key.
        """
        if not rows:
            return
        added = list(rows)
        check_ids(text for row in added for text in (row.object_id, row.chunk_id, row.document_id))
        for row in added:
            if row.kind is ObjectKind.RELATION:
                _check_relation_key(row.object_id)
            together = f"{row.description}{row.keywords}{row.entity_type}{row.file_path}{row.tenant_tag}"
            check_text(together, row.object_id)
        table = self.table

        def write(change: Change) -> None:
            numbered: dict[RowKey, Evidence] = {}
            following = table.last_sequence
            for row in added:
                key = key_of(row)
                known = numbered.get(key) or table.get(key)
                if known is None:
                    following += 1
                numbered[key] = replace(row, sequence=following if known is None else known.sequence)
            change.apply(table, ["put", [packed(row) for row in numbered.values()]])

        await self.folder.write(write)

    async def drop_documents(self, document_ids: Collection[str]) -> None:
        """Delete all rows of documents."""
        wanted = list(document_ids)
        if wanted:
            await self._drop(lambda table: map(key_of, table.of_documents(wanted)))

    async def drop_of_document(self, document_id: str, tenant_tags: Collection[str]) -> None:
        """Delete the rows that a document has in the given scopes; ``""`` is the aggregate."""
        tags = set(tenant_tags)
        if tags:
            await self._drop(
                lambda table: [key_of(row) for row in table.of_documents([document_id]) if row.tenant_tag in tags]
            )

    async def drop_objects(self, kind: ObjectKind, object_ids: Collection[str]) -> None:
        """Delete all rows of objects."""
        wanted = list(dict.fromkeys(object_ids))
        if wanted:
            await self._drop(lambda table: [key_of(row) for key in wanted for row in table.of_object(kind, key)])

    async def _drop(self, chosen: Chosen) -> None:
        table = self.table

        def write(change: Change) -> None:
            keys = [[kind.value, object_id, chunk_id] for kind, object_id, chunk_id in chosen(table)]
            if keys:
                change.apply(table, ["delete", keys])

        await self.folder.write(write)

    async def reassign(self, kind: ObjectKind, renames: Mapping[str, str]) -> None:
        """Move rows from old to new object ids, all renames at once, so that two objects can swap their rows.

        Where both have a row of one chunk, the moved one is kept only if the other has no description.
        """
        moves = {old: new for old, new in renames.items() if old != new}
        if not moves:
            return
        check_ids(moves.values())
        if kind is ObjectKind.RELATION:
            for new in moves.values():
                _check_relation_key(new)
        table = self.table

        def write(change: Change) -> None:
            gone, moved = _moved(table, kind, moves)
            if gone:
                change.apply(table, ["delete", [[key[0].value, *key[1:]] for key in gone]])
            if moved:
                change.apply(table, ["put", [packed(row) for row in moved]])

        await self.folder.write(write)

    # --- reading -----------------------------------------------------------------------------------------------

    async def of_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], *, document_ids: Collection[str] | None = None
    ) -> dict[str, list[Evidence]]:
        """Return the rows of objects in order of arrival; objects without rows are left out."""
        documents = None if document_ids is None else set(document_ids)
        found = self._of_objects(kind, object_ids)
        if documents is None:
            return found
        own = {key: [row for row in rows if row.document_id in documents] for key, rows in found.items()}
        return {key: rows for key, rows in own.items() if rows}

    def _of_objects(self, kind: ObjectKind, object_ids: Sequence[str]) -> dict[str, list[Evidence]]:
        with self.folder.lock:
            found = {object_id: list(self.table.of_object(kind, object_id)) for object_id in object_ids}
        return {object_id: rows for object_id, rows in found.items() if rows}

    async def sources_of_objects(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        *,
        document_ids: Collection[str] | None = None,
        limit: int | None = None,
    ) -> dict[str, list[EvidenceSource]]:
        """As :meth:`of_objects`, without texts; ``limit`` keeps the oldest rows of each object."""
        found = await self.of_objects(kind, object_ids, document_ids=document_ids)
        return _sources(found, limit)

    async def eligible_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], metadata_filter: VectorQueryFilter
    ) -> set[str]:
        """Return those objects that have a row of a document which the filter accepts.

        Raises:
            UnsupportedFilterError: The store that knows documents is not open in the same folder.
        """
        if not self.filters_by_documents:
            return await super().eligible_objects(kind, object_ids, metadata_filter)
        with self.folder.lock:
            return Eligibility.of(self.folder).objects(kind, object_ids, metadata_filter)

    async def excluded_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], metadata_filter: VectorQueryFilter
    ) -> set[str]:
        """Return those objects that have a row of a document which the filter does not accept, corrections aside.

        Raises:
            UnsupportedFilterError: As above.
        """
        if not self.filters_by_documents:
            return await super().excluded_objects(kind, object_ids, metadata_filter)
        with self.folder.lock:
            return Eligibility.of(self.folder).objects(kind, object_ids, metadata_filter, excluded=True)

    async def eligible_of_objects(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        metadata_filter: VectorQueryFilter,
        *,
        newest: int | None = None,
    ) -> dict[str, list[Evidence]]:
        """As :meth:`of_objects`, only rows of documents which the filter accepts; ``newest`` keeps the newest of each.

        Raises:
            UnsupportedFilterError: The store that knows documents is not open in the same folder.
        """
        if not self.filters_by_documents:
            return await super().eligible_of_objects(kind, object_ids, metadata_filter, newest=newest)
        with self.folder.lock:
            found = self._of_objects(kind, object_ids)
            documents = (row.document_id for rows in found.values() for row in rows)
            accepted = Eligibility.of(self.folder).mask(metadata_filter, documents)
        own = {key: [row for row in rows if accepted[row.document_id]] for key, rows in found.items()}
        return {key: rows[-newest:] if newest else rows for key, rows in own.items() if rows and newest != 0}

    async def eligible_sources(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        metadata_filter: VectorQueryFilter,
        *,
        limit: int | None = None,
    ) -> dict[str, list[EvidenceSource]]:
        """As :meth:`sources_of_objects`, only of documents which the filter accepts."""
        return _sources(await self.eligible_of_objects(kind, object_ids, metadata_filter), limit)

    async def of_documents(self, document_ids: Collection[str]) -> list[Evidence]:
        """Return all rows of documents, in order of arrival."""
        with self.folder.lock:
            return self.table.of_documents(document_ids)

    async def objects_of_documents(self, document_ids: Collection[str]) -> dict[ObjectKind, list[str]]:
        """Return the ids of all objects that have a row of these documents, in order of first arrival."""
        rows = await self.of_documents(document_ids)
        return {kind: list(dict.fromkeys(row.object_id for row in rows if row.kind is kind)) for kind in ObjectKind}

    async def scan_objects(
        self, kind: ObjectKind, *, after: str = "", limit: int = 500, tenant_tag: str | None = None
    ) -> list[str]:
        """Return up to ``limit`` distinct object ids that sort after ``after``, sorted; of one scope if given."""
        with self.folder.lock:
            return self.table.page(kind, after, limit, tenant_tag)

    async def count(self) -> int:
        """Return the number of rows."""
        return self.table.count


def _sources(found: Mapping[str, Sequence[Evidence]], limit: int | None) -> dict[str, list[EvidenceSource]]:
    if limit is not None and limit <= 0:
        return {}
    return {
        key: [EvidenceSource(row.chunk_id, row.document_id, row.file_path) for row in rows[:limit]]
        for key, rows in found.items()
    }


def _check_relation_key(key: str) -> None:
    first, second = split_relation_key(key)
    if RELATION_KEY_SEPARATOR not in key or first > second:
        raise InputError(f"object {key!r} of a relation must be relation_key() of its two ends")


def _moved(table: EvidenceTable, kind: ObjectKind, moves: Mapping[str, str]) -> tuple[list[RowKey], list[Evidence]]:
    """Return the keys that go and the rows that come when rows move to other objects."""
    # Set aside first: what one move brings must not be taken along by another.
    aside = {old: list(table.of_object(kind, old)) for old in moves}
    gone = [key_of(row) for rows in aside.values() for row in rows]
    olds = {old for old, rows in aside.items() if rows}
    targets: dict[str, dict[str, Evidence]] = {}
    for old, new in moves.items():
        if new not in targets:
            targets[new] = {} if new in olds else {row.chunk_id: row for row in table.of_object(kind, new)}
        own = targets[new]
        for row in aside[old]:
            known = own.get(row.chunk_id)
            if known is None or not known.description:
                own[row.chunk_id] = replace(row, object_id=new)
    rows = [row for own in targets.values() for row in own.values()]
    return gone, [row for row in rows if row is not table.get(key_of(row))]
