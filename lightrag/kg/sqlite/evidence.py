"""Evidence in SQLite: rows by object and by document, every text key as a number."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from lightrag.contracts.evidence import (
    BaseEvidenceStorage,
    Evidence,
    EvidenceSource,
    ObjectKind,
)
from lightrag.exceptions import UnsupportedFilterError
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.database import snapshot
from lightrag.kg.sqlite.dictionary import text_ids, texts_of
from lightrag.kg.sqlite.eligible_evidence import EligibleRows, visible_objects
from lightrag.kg.sqlite.evidence_rows import (
    COLUMNS,
    KIND_CODES,
    KINDS,
    NAMES,
    READ,
    check_relation_key,
    evidence_of,
    intern_objects,
    move_rows,
    numbered,
    object_ids_of,
    object_numbers,
    scan_entities,
    scan_relations,
)
from lightrag.kg.sqlite.filter_writes import evidence_deleted, evidence_moved, evidence_written
from lightrag.kg.sqlite.selection import EVIDENCE_TABLE, STATUS_TABLE
from lightrag.kg.sqlite.store import SQLiteStore
from lightrag.kg.sqlite.texts import int_list
from lightrag.kg.sqlite.writer import AfterCommit
from lightrag.kg.texts import check_ids, check_text

if TYPE_CHECKING:
    from lightrag.kg.sqlite.filter_memory import FilterMemory
    from lightrag.query_filters import VectorQueryFilter

# About how many rows an object has, to tell long reads from short ones.
_ROWS_PER_OBJECT = 4
_ROWS_PER_DOCUMENT = 64


@dataclass(kw_only=True, eq=False)
class SQLiteEvidenceStorage(SQLiteStore, BaseEvidenceStorage):
    """Which chunk of which document says what about an entity or a relation."""

    @property
    def _table(self) -> str:
        return schema.table_name("evidence", self.namespace)

    def _tables(self) -> schema.Statements:
        return schema.evidence_tables(self._table)

    @property
    def filters_by_documents(self) -> bool:
        """Whether the status of the documents is kept in the same database."""
        return self._table == EVIDENCE_TABLE and self._shares(STATUS_TABLE)

    @property
    def _memory(self) -> FilterMemory | None:
        """What is kept in memory of these rows, if there is any yet."""
        return self.database.filters if self._table == EVIDENCE_TABLE else None

    def _delete_all(self, connection: sqlite3.Connection) -> AfterCommit | None:
        return self._delete_rows(connection, "TRUE", ())

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
                check_relation_key(row.object_id)
            together = f"{row.description}{row.keywords}{row.entity_type}{row.file_path}{row.tenant_tag}"
            if not together.isascii():
                check_text(together, row.object_id)
        updated = ", ".join(f"{name} = excluded.{name}" for name in NAMES[3:])
        statement = (
            f"INSERT INTO {self._table} ({COLUMNS}) VALUES ({', '.join('?' * len(NAMES))}) "
            f"ON CONFLICT (kind, object, chunk) DO UPDATE SET {updated}"
        )

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            values = numbered(connection, added)
            connection.executemany(statement, values)
            places = [(row, number, chunk) for row, (_, number, chunk, *_) in zip(added, values, strict=True)]
            return evidence_written(self._memory, connection, places)

        await self.database.write(write)

    async def drop_documents(self, document_ids: Collection[str]) -> None:
        """Delete all rows of documents."""
        if not document_ids:
            return
        wanted = list(document_ids)

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            numbers = int_list(text_ids(connection, wanted).values())
            return self._delete_rows(connection, "document IN (SELECT value FROM json_each(?))", (numbers,))

        await self.database.write(write)
        self.database.left_holes()

    async def drop_of_document(self, document_id: str, tenant_tags: Collection[str]) -> None:
        """Delete the rows that a document has in the given scopes; ``""`` is the aggregate."""
        if not tenant_tags:
            return
        tags = list(tenant_tags)

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            documents = int_list(text_ids(connection, [document_id]).values())
            tenants = [number for tag, number in text_ids(connection, tags).items() if tag]
            condition = "document IN (SELECT value FROM json_each(?)) AND tenant IN (SELECT value FROM json_each(?))"
            scopes = int_list([*tenants, 0] if "" in tags else tenants)
            return self._delete_rows(connection, condition, (documents, scopes))

        await self.database.write(write)
        self.database.left_holes()

    async def drop_objects(self, kind: ObjectKind, object_ids: Collection[str]) -> None:
        """Delete all rows of objects."""
        if not object_ids:
            return
        wanted = list(object_ids)

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            numbers = int_list(object_numbers(connection, kind, wanted).values())
            condition = f"kind = {KIND_CODES[kind]} AND object IN (SELECT value FROM json_each(?))"
            return self._delete_rows(connection, condition, (numbers,))

        await self.database.write(write)
        self.database.left_holes()

    def _delete_rows(
        self, connection: sqlite3.Connection, condition: str, values: Sequence[object]
    ) -> AfterCommit | None:
        follow = evidence_deleted(self._memory, connection, condition, values)
        connection.execute(f"DELETE FROM {self._table} WHERE {condition}", tuple(values))
        return follow

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
                check_relation_key(new)

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            olds = object_numbers(connection, kind, list(moves))
            news = intern_objects(connection, kind, [moves[old] for old in olds])
            move_rows(
                connection, self._table, KIND_CODES[kind], [(number, news[moves[old]]) for old, number in olds.items()]
            )
            return evidence_moved(self._memory, connection, kind, {**olds, **news})

        await self.database.write(write)
        self.database.left_holes()

    # --- reading -----------------------------------------------------------------------------------------------

    async def of_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], *, document_ids: Collection[str] | None = None
    ) -> dict[str, list[Evidence]]:
        """Return the rows of objects in order of arrival; objects without rows are left out."""
        if not object_ids or (document_ids is not None and not document_ids):
            return {}
        wanted, documents = list(dict.fromkeys(object_ids)), None if document_ids is None else list(document_ids)

        def query(connection: sqlite3.Connection) -> list[Evidence]:
            with snapshot(connection):
                numbers, within = self._scope(connection, kind, wanted, documents)
                rows = connection.execute(
                    f"SELECT {READ} FROM json_each(?1) AS j CROSS JOIN {self._table} AS e "
                    f"ON e.kind = {KIND_CODES[kind]} AND e.object = j.value {within.condition} ORDER BY e.sequence",
                    (int_list(numbers.values()), *within.values),
                ).fetchall()
                return evidence_of(connection, rows)

        found: dict[str, list[Evidence]] = {}
        for row in await self.database.read(query, rows=_ROWS_PER_OBJECT * len(wanted)):
            found.setdefault(row.object_id, []).append(row)
        return {object_id: found[object_id] for object_id in wanted if object_id in found}

    async def sources_of_objects(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        *,
        document_ids: Collection[str] | None = None,
        limit: int | None = None,
    ) -> dict[str, list[EvidenceSource]]:
        """As :meth:`of_objects`, without texts; ``limit`` keeps the oldest rows of each object."""
        if not object_ids or (document_ids is not None and not document_ids):
            return {}
        wanted, documents = list(dict.fromkeys(object_ids)), None if document_ids is None else list(document_ids)

        def query(connection: sqlite3.Connection) -> dict[str, list[EvidenceSource]]:
            with snapshot(connection):
                numbers, within = self._scope(connection, kind, wanted, documents)
                # The inner query reads the index alone unless documents are asked for.
                oldest = (
                    f"SELECT e.sequence FROM {self._table} AS e WHERE e.kind = {KIND_CODES[kind]} "
                    f"AND e.object = j.value {within.condition} ORDER BY e.sequence LIMIT {within.next}"
                )
                # One text for each object: most chunks speak of many objects, and are then taken apart once.
                rows = connection.execute(
                    "SELECT j.value, (SELECT group_concat(s.source) FROM (SELECT "
                    f"s.chunk || ' ' || s.document || ' ' || s.path AS source FROM {self._table} AS s "
                    f"WHERE s.sequence IN ({oldest}) ORDER BY s.sequence) AS s) FROM json_each(?1) AS j",
                    (int_list(numbers.values()), *within.values, -1 if limit is None else max(limit, 0)),
                ).fetchall()
                named = {number: text.split(",") for number, text in rows if text}
                parts = {source: tuple(map(int, source.split())) for source in set(chain.from_iterable(named.values()))}
                texts = texts_of(connection, chain.from_iterable(parts.values()))
            sources = {source: EvidenceSource(*(texts[part] for part in three)) for source, three in parts.items()}
            return {
                key: [sources[source] for source in named[number]] for key, number in numbers.items() if number in named
            }

        return await self.database.read(query, rows=_ROWS_PER_OBJECT * len(wanted))

    async def eligible_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], metadata_filter: VectorQueryFilter
    ) -> set[str]:
        """Return those objects that have a row of a document which the filter accepts."""
        self._check_filters()
        return await visible_objects(self.database, kind, object_ids, metadata_filter)

    async def excluded_objects(
        self, kind: ObjectKind, object_ids: Sequence[str], metadata_filter: VectorQueryFilter
    ) -> set[str]:
        """Return those objects that have a row of a document which the filter does not accept, corrections aside."""
        self._check_filters()
        return await visible_objects(self.database, kind, object_ids, metadata_filter, excluded=True)

    async def eligible_of_objects(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        metadata_filter: VectorQueryFilter,
        *,
        newest: int | None = None,
    ) -> dict[str, list[Evidence]]:
        """As :meth:`of_objects`, of documents which the filter accepts; ``newest`` keeps the newest rows of each."""
        self._check_filters()
        rows = EligibleRows(kind, object_ids, metadata_filter, newest, of_newest=True)
        return await rows.evidence(self.database)

    async def eligible_sources(
        self,
        kind: ObjectKind,
        object_ids: Sequence[str],
        metadata_filter: VectorQueryFilter,
        *,
        limit: int | None = None,
    ) -> dict[str, list[EvidenceSource]]:
        """As :meth:`sources_of_objects`, only of documents which the filter accepts."""
        self._check_filters()
        return await EligibleRows(kind, object_ids, metadata_filter, limit, of_newest=False).sources(self.database)

    def _check_filters(self) -> None:
        if not self.filters_by_documents:
            raise UnsupportedFilterError(
                f"evidence {self.namespace!r} cannot be filtered: its database does not hold the status of documents"
            )

    def _scope(
        self, connection: sqlite3.Connection, kind: ObjectKind, object_ids: list[str], documents: list[str] | None
    ) -> tuple[dict[str, int], _Within]:
        numbers = object_numbers(connection, kind, object_ids)
        if documents is None:
            return numbers, _Within("", (), "?2")
        allowed = int_list(text_ids(connection, documents).values())
        return numbers, _Within("AND e.document IN (SELECT value FROM json_each(?2))", (allowed,), "?3")

    async def of_documents(self, document_ids: Collection[str]) -> list[Evidence]:
        """Return all rows of documents, in order of arrival."""
        if not document_ids:
            return []
        wanted = list(document_ids)

        def query(connection: sqlite3.Connection) -> list[Evidence]:
            with snapshot(connection):
                numbers = int_list(text_ids(connection, wanted).values())
                rows = connection.execute(
                    f"SELECT {READ} FROM {self._table} AS e "
                    "WHERE e.document IN (SELECT value FROM json_each(?)) ORDER BY e.sequence",
                    (numbers,),
                ).fetchall()
                return evidence_of(connection, rows)

        return await self.database.read(query, rows=_ROWS_PER_DOCUMENT * len(wanted))

    async def objects_of_documents(self, document_ids: Collection[str]) -> dict[ObjectKind, list[str]]:
        """Return the ids of all objects that have a row of these documents, in order of first arrival."""
        found: dict[ObjectKind, list[str]] = {kind: [] for kind in KINDS}
        if not document_ids:
            return found
        wanted = list(document_ids)

        def query(connection: sqlite3.Connection) -> None:
            with snapshot(connection):
                numbers = int_list(text_ids(connection, wanted).values())
                rows = connection.execute(
                    f"SELECT kind, object FROM {self._table} WHERE document IN (SELECT value FROM json_each(?)) "
                    "GROUP BY kind, object ORDER BY min(sequence)",
                    (numbers,),
                ).fetchall()
                names = object_ids_of(connection, rows)
            for kind, number in rows:
                found[KINDS[kind]].append(names[kind, number])

        await self.database.read(query, rows=_ROWS_PER_DOCUMENT * len(wanted))
        return found

    async def scan_objects(
        self, kind: ObjectKind, *, after: str = "", limit: int = 500, tenant_tag: str | None = None
    ) -> list[str]:
        """Return up to ``limit`` distinct object ids that sort after ``after``, sorted; of one scope if given.

        Relations are sorted by their first end, then by their second.
        """

        def query(connection: sqlite3.Connection) -> list[str]:
            with snapshot(connection):
                scope = ""
                if tenant_tag is not None:
                    known = {"": 0} if not tenant_tag else text_ids(connection, [tenant_tag])
                    scope = f"AND e.tenant = {known.get(tenant_tag, -1)}"
                has_rows = (
                    f"EXISTS (SELECT 1 FROM {self._table} AS e WHERE e.kind = {KIND_CODES[kind]} {scope} AND e.object ="
                )
                if kind is ObjectKind.ENTITY:
                    return scan_entities(connection, has_rows, after, limit)
                return scan_relations(connection, has_rows, after, limit)

        return await self.database.read(query, rows=limit)

    async def count(self) -> int:
        """Return the number of rows."""
        statement = f"SELECT count(*) FROM {self._table}"
        return int((await self.database.read(lambda c: c.execute(statement).fetchone()))[0])


@dataclass(frozen=True, slots=True)
class _Within:
    """The documents that a query is limited to: a condition, its parameters, and the parameter that comes next."""

    condition: str
    values: tuple[str, ...]
    next: str
