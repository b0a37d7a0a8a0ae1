"""Document status in SQLite: what is searched for is a column, the rest of a row is JSON."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from lightrag.constants import UNKNOWN_SOURCE
from lightrag.contracts.doc_status import BaseDocStatusStorage, DocProcessingStatus, DocStatus, StatusPage, is_refused
from lightrag.contracts.kv import Record
from lightrag.contracts.sources import SourceRepair, is_source
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.database import MANY_ROWS
from lightrag.kg.sqlite.dictionary import intern_texts
from lightrag.kg.sqlite.filter_columns import COLUMN_NAMES, split
from lightrag.kg.sqlite.filter_writes import documents_deleted, documents_written
from lightrag.kg.sqlite.filters import Condition, SQLiteCompiler
from lightrag.kg.sqlite.selection import STATUS_TABLE, Selection
from lightrag.kg.sqlite.status_facts import facts_of, processed_facts
from lightrag.kg.sqlite.store import SQLiteStore
from lightrag.kg.sqlite.texts import json_list
from lightrag.kg.sqlite.writer import AfterCommit
from lightrag.kg.texts import check_ids, check_text, decode_object, encode_json
from lightrag.query_filters import VectorQueryFilter, document_facts, document_predicate, facts_to_row

if TYPE_CHECKING:
    from lightrag.kg.sqlite.filter_memory import FilterMemory
    from lightrag.query_filters import DocumentFacts

_TEXT_COLUMNS = ("status", "created_at", "updated_at", "file_path", "track_id", "content_hash")
_READ = f"{', '.join(_TEXT_COLUMNS)}, fields"
_COLUMNS = ("key", *_TEXT_COLUMNS, "refused", *COLUMN_NAMES, "fields", "document")

_SORT_COLUMNS = {"created_at": "created_at", "updated_at": "updated_at", "id": "key", "file_path": "file_path"}


@dataclass(kw_only=True, eq=False)
class SQLiteDocStatusStorage(SQLiteStore, BaseDocStatusStorage):
    """Rows of :class:`~lightrag.contracts.doc_status.DocProcessingStatus`."""

    supports_strict_point_reads: ClassVar[bool] = True
    counts_by_index: ClassVar[bool] = True

    @property
    def _table(self) -> str:
        return schema.table_name("status", self.namespace)

    def _tables(self) -> schema.Statements:
        return schema.doc_status_tables(self._table)

    def _delete_all(self, connection: sqlite3.Connection) -> AfterCommit:
        connection.execute(f"DELETE FROM {self._table}")
        # Rows elsewhere may still name the documents; what is known of them is read again.
        return self.database.forget_filters

    @property
    def _memory(self) -> FilterMemory | None:
        """What is kept in memory of these rows, if there is any yet."""
        return self.database.filters if self._table == STATUS_TABLE else None

    # --- as a key-value store ----------------------------------------------------------------------------------

    async def get_by_id(self, id: str) -> Record | None:
        """Return the row, or ``None`` when there is none."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Record | None]:
        """Return the rows in the order of ``ids``, ``None`` where there is none."""
        found: list[Record | None] = [None] * len(ids)
        if not ids:
            return found
        columns = ", ".join(f"t.{name}" for name in (*_TEXT_COLUMNS, "fields"))
        statement = f"SELECT j.key, {columns} FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.key = j.value"
        for position, *columns_read in await self._rows(statement, (json_list(ids),), rows=len(ids)):
            found[position] = _record(columns_read)
        return found

    async def filter_keys(self, keys: set[str]) -> set[str]:
        """Return those of ``keys`` that are not stored."""
        if not keys:
            return set()
        statement = f"SELECT t.key FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.key = j.value"
        rows = await self._rows(statement, (json_list(list(keys)),), rows=len(keys))
        return keys - {key for (key,) in rows}

    async def upsert(self, data: Mapping[str, Record]) -> None:
        """Insert or replace rows; a row that does not change is not written.

        Raises:
            InputError: A key or value cannot be stored.
            StorageFullError: The disk is full. Nothing of ``data`` was stored.
        """
        if not data:
            return
        check_ids(data)
        rows = [_Stored.of(key, record) for key, record in data.items()]

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            self._store(connection, rows)
            return documents_written(self._memory, [row.seen for row in rows])

        await self.database.write(write)

    async def update_doc_status_fields(self, updates: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace only the given fields of existing rows and set ``updated_at`` unless it is given."""
        if not updates:
            return
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        changes = {key: {"updated_at": now, **fields} for key, fields in updates.items()}
        for key, fields in changes.items():
            encode_json(fields, key)
        select = f"SELECT {_READ} FROM {self._table} WHERE key = ?"

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            found = [(key, connection.execute(select, (key,)).fetchone()) for key in changes]
            rows = [_Stored.of(key, {**_record(row), **changes[key]}) for key, row in found if row is not None]
            self._store(connection, rows)
            return documents_written(self._memory, [row.seen for row in rows])

        await self.database.write(write)

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""
        if not ids:
            return
        statement = f"DELETE FROM {self._table} WHERE key IN (SELECT value FROM json_each(?))"
        deleted = list(ids)

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            connection.execute(statement, (json_list(deleted),))
            return documents_deleted(self._memory, deleted)

        await self.database.write(write)

    async def is_empty(self) -> bool:
        """Tell whether there is no row."""
        return not await self._rows(f"SELECT 1 FROM {self._table} LIMIT 1", ())

    async def scan(self, *, after: str = "", limit: int = 500) -> list[tuple[str, Record]]:
        """Return up to ``limit`` rows whose key sorts after ``after``, by key."""
        statement = f"SELECT key, {_READ} FROM {self._table} WHERE key > ? ORDER BY key LIMIT ?"
        rows = await self._rows(statement, (after, limit), rows=limit)
        return [(key, _record(columns)) for key, *columns in rows]

    # --- by state, call, path and content ----------------------------------------------------------------------

    async def get_status_counts(self) -> dict[str, int]:
        """Return the number of rows per state, states without rows left out."""
        rows = await self._rows(f"SELECT status, count(*) FROM {self._table} GROUP BY status", ())
        return {status: count for status, count in rows if status}

    async def get_docs_by_statuses(
        self, statuses: Sequence[DocStatus], strict: bool = False
    ) -> dict[str, DocProcessingStatus]:
        """Return all rows in any of the states, oldest first; one that cannot be read is always an error."""
        return dict(await self._by_statuses(statuses, limit=-1, after=None))

    async def get_docs_by_statuses_page(
        self, statuses: Sequence[DocStatus], *, limit: int = 500, after: tuple[str, str] | None = None
    ) -> list[tuple[str, DocProcessingStatus]]:
        """Return up to ``limit`` rows, oldest first, after the position ``(created_at, id)``."""
        return await self._by_statuses(statuses, limit=max(limit, 0), after=after)

    async def get_docs_by_track_id(self, track_id: str) -> dict[str, DocProcessingStatus]:
        """Return the rows that one call enqueued."""
        statement = f"SELECT key, {_READ} FROM {self._table} WHERE track_id = ? ORDER BY created_at, key"
        return dict(await self._documents(statement, (track_id,), rows=MANY_ROWS))

    async def get_page(self, wanted: StatusPage) -> tuple[list[tuple[str, DocProcessingStatus]], int]:
        """Return one page and the total; no states at all match nothing."""
        condition = Condition("TRUE")
        if wanted.states is not None:
            condition &= Condition("status IN (SELECT value FROM json_each(?))", (_states(wanted.states),))
        if wanted.metadata_filter is not None:
            compiler = SQLiteCompiler(schema.tags_table(self._table))
            condition &= compiler.compile(document_predicate(wanted.metadata_filter))
        column, direction = _SORT_COLUMNS[wanted.sort_field], "DESC" if wanted.newest else "ASC"
        statement = (
            f"SELECT key, {_READ} FROM {self._table} WHERE {condition.text} "
            f"ORDER BY {column} {direction}, key {direction} LIMIT ? OFFSET ?"
        )
        documents = await self._documents(statement, (*condition.values, wanted.count, wanted.start), rows=MANY_ROWS)
        count = f"SELECT count(*) FROM {self._table} WHERE {condition.text}"
        total = await self._rows(count, condition.values, rows=1 if wanted.metadata_filter is None else 1000)
        return documents, int(total[0][0])

    async def get_doc_by_file_path(self, file_path: str) -> tuple[str, DocProcessingStatus] | None:
        """Return the document of a source path, the oldest if there are several; never a refused attempt."""
        return await self._first("file_path = ?", (file_path,)) if file_path else None

    async def get_doc_by_content_hash(
        self, content_hash: str, *, exclude_doc_id: str | None = None
    ) -> tuple[str, DocProcessingStatus] | None:
        """Return a document with that content, the oldest if there are several; never a refused attempt."""
        if not content_hash:
            return None
        return await self._first("content_hash = ? AND key IS NOT ?", (content_hash, exclude_doc_id))

    async def get_docs_by_content_hash(self, content_hash: str) -> dict[str, DocProcessingStatus]:
        """Return all documents with that content, oldest first; never a refused attempt."""
        if not content_hash:
            return {}
        statement = (
            f"SELECT key, {_READ} FROM {self._table} WHERE content_hash = ? AND NOT refused ORDER BY created_at, key"
        )
        return dict(await self._documents(statement, (content_hash,)))

    async def get_doc_by_file_basename(self, basename: str) -> tuple[str, DocProcessingStatus] | None:
        """Return the document whose source path is this name, else the oldest whose path ends in it."""
        if not is_source(basename):
            return None
        end = "/" + basename
        # Another program's paths may end in any text, so no pattern is matched.
        ending = ("substr(file_path, ?) = ?", (-len(end), end))
        return await self._first("file_path = ?", (basename,)) or await self._first(*ending)

    async def _documents_of_source(self, file_path: str) -> list[str]:
        wanted = file_path if is_source(file_path) else ""
        return await self.database.read(lambda c: self._of_source(c, wanted))

    def _of_source(self, connection: sqlite3.Connection, file_path: str) -> list[str]:
        condition = "file_path = ? AND file_path <> '' AND NOT refused"
        statement = f"SELECT key FROM {self._table} WHERE {condition} ORDER BY created_at, key"
        return [key for (key,) in connection.execute(statement, (file_path,))]

    async def _conflicts(self, after: str, limit: int) -> list[tuple[str, list[str]]]:
        statement = (
            f"SELECT file_path FROM {self._table} WHERE file_path > ? AND file_path <> ? AND NOT refused "
            "GROUP BY file_path HAVING count(*) > 1 ORDER BY file_path LIMIT ?"
        )

        def read(connection: sqlite3.Connection) -> list[tuple[str, list[str]]]:
            paths = connection.execute(statement, (after, UNKNOWN_SOURCE, limit)).fetchall()
            return [(path, self._of_source(connection, path)) for (path,) in paths]

        return await self.database.read(read, rows=MANY_ROWS)

    async def _demote(self, repair: SourceRepair) -> None:
        select = f"SELECT key, {_READ} FROM {self._table} WHERE key IN (SELECT value FROM json_each(?))"
        now = datetime.now(UTC).isoformat(timespec="microseconds")

        def write(connection: sqlite3.Connection) -> AfterCommit | None:
            demoted = repair.demoted(self._of_source(connection, repair.canonical_source_key))
            found = [(key, _record(row)) for key, *row in connection.execute(select, (json_list(demoted),))]
            rows = [
                _Stored.of(key, {**row, "updated_at": now, "metadata": repair.marks(row.get("metadata") or {})})
                for key, row in found
            ]
            self._store(connection, rows)
            return documents_written(self._memory, [row.seen for row in rows])

        await self.database.write(write)

    # --- for filters -------------------------------------------------------------------------------------------------

    async def get_facts(self, ids: Sequence[str]) -> dict[str, DocumentFacts]:
        """Return what filters see of documents; for one without a row see ``missing_document_metadata``."""
        wanted, table = list(ids), self._table
        memory = self.database.filters_now()
        documents = None if memory is None or self._memory is None else memory.documents
        if documents is None:
            return await self.database.read(lambda c: facts_of(c, table, wanted), rows=len(wanted))
        known, revision = documents.facts(wanted), documents.revision
        unknown = [doc_id for doc_id in wanted if doc_id not in known]
        if unknown:
            read = await self.database.read(lambda c: facts_of(c, table, unknown), rows=len(unknown))
            documents.remember(revision, read)
            known |= read
        return known

    async def all_facts(self, metadata_filter: VectorQueryFilter | None = None) -> dict[str, DocumentFacts]:
        """Return what filters see of every processed document, or of those that a filter accepts; oldest first."""
        if self._table != STATUS_TABLE:
            return await super().all_facts(metadata_filter)
        database, table = self.database, self._table
        wanted = Selection(metadata_filter or VectorQueryFilter())
        while True:
            memory = await database.filtered(wanted)
            with memory.lock:
                documents, remembered = memory.documents, memory.all_facts
                if documents is None or not memory.is_ready(wanted):
                    continue
                revision = documents.revision
                if remembered is not None and remembered[0] == revision:
                    facts = remembered[1]
                    if metadata_filter is None:
                        return dict(facts)
                    accepted = documents.mask(metadata_filter)[documents.ordinals(facts)].tolist()
                    return {doc_id: facts[doc_id] for doc_id, hit in zip(facts, accepted, strict=True) if hit}
            read = await database.read(lambda c: processed_facts(c, table), rows=len(documents))
            with memory.lock:
                # Otherwise a document has changed meanwhile, and what was read may be older or newer than the index.
                if memory.documents is documents and documents.revision == revision:
                    memory.all_facts = (revision, read)

    async def count_eligible(self, metadata_filter: VectorQueryFilter) -> int:
        """Return how many processed documents a filter accepts."""
        if self._table != STATUS_TABLE:
            return await super().count_eligible(metadata_filter)
        wanted = Selection(metadata_filter)
        while True:
            memory = await self.database.filtered(wanted)
            with memory.lock:
                if memory.documents is not None and memory.is_ready(wanted):
                    return memory.documents.count(metadata_filter)

    async def _first(self, condition: str, values: tuple[Any, ...]) -> tuple[str, DocProcessingStatus] | None:
        statement = (
            f"SELECT key, {_READ} FROM {self._table} WHERE {condition} AND NOT refused ORDER BY created_at, key LIMIT 1"
        )
        documents = await self._documents(statement, values)
        return documents[0] if documents else None

    async def _by_statuses(
        self, statuses: Sequence[DocStatus], *, limit: int, after: tuple[str, str] | None
    ) -> list[tuple[str, DocProcessingStatus]]:
        condition = "" if after is None else "AND (created_at, key) > (?, ?) "
        rows = MANY_ROWS if limit < 0 else limit
        statement = (
            f"SELECT key, {_READ} FROM {self._table} WHERE status IN (SELECT value FROM json_each(?)) {condition}"
            "ORDER BY created_at, key LIMIT ?"
        )
        return await self._documents(statement, (_states(statuses), *(after or ()), limit), rows=rows)

    async def _documents(
        self, statement: str, values: tuple[Any, ...], *, rows: int = 1
    ) -> list[tuple[str, DocProcessingStatus]]:
        found = await self._rows(statement, values, rows=rows)
        return [(key, DocProcessingStatus.from_row(_record(columns))) for key, *columns in found]

    async def _rows(self, statement: str, values: tuple[Any, ...], *, rows: int = 1) -> list[tuple[Any, ...]]:
        return await self.database.read(lambda c: c.execute(statement, values).fetchall(), rows=rows)

    def _store(self, connection: sqlite3.Connection, rows: Sequence[_Stored]) -> None:
        numbers = intern_texts(connection, (row.seen[0] for row in rows))
        changed = _COLUMNS[1:-1]
        connection.executemany(
            f"INSERT INTO {self._table} ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
            f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in changed)} "
            f"WHERE ({', '.join(changed)}) IS NOT ({', '.join(f'excluded.{name}' for name in changed)})",
            [(*row.values, numbers[row.seen[0]]) for row in rows],
        )


def _states(statuses: Sequence[DocStatus]) -> str:
    return json_list([DocStatus(status).value for status in statuses])


class _Stored(NamedTuple):
    """A row as it is stored: the values of all columns but the number of the document, and what filters see of it."""

    values: tuple[Any, ...]
    seen: tuple[str, DocumentFacts, bool]

    @classmethod
    def of(cls, key: str, record: Mapping[str, Any]) -> _Stored:
        """Prepare a record; what is no text, or an empty one, stays in the JSON as it is."""
        fields = dict(record)
        texts: list[str] = []
        for name in _TEXT_COLUMNS:
            value = fields.get(name)
            if isinstance(value, str) and value:
                del fields[name]
                check_text(value, key)
                texts.append(str(value))
            else:
                texts.append("")
        metadata = fields.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        refused = is_refused(key, record)
        facts = document_facts(metadata)
        columns, _ = split(facts_to_row(facts, doc_id=key))
        processed = record.get("status") == DocStatus.PROCESSED
        return cls((key, *texts, int(refused), *columns, encode_json(fields, key)), (key, facts, processed))


def _record(columns: Sequence[Any]) -> Record:
    record = decode_object(columns[-1])
    for name, value in zip(_TEXT_COLUMNS, columns, strict=False):
        if value:
            record[name] = value
    return record
