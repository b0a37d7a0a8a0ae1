"""Vectors in SQLite: searched in memory, stored row by row."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lightrag.contracts.vector import BaseVectorStorage, Row
from lightrag.exceptions import InputError, UnsupportedFilterError
from lightrag.kg.row_vectors import normalised, vectors_of_rows
from lightrag.kg.sqlite import schema
from lightrag.kg.sqlite.database import Database
from lightrag.kg.sqlite.dictionary import intern_texts
from lightrag.kg.sqlite.filter_columns import COLUMN_LIST, COLUMN_NAMES, FILTER_NAMES, joined, split
from lightrag.kg.sqlite.filter_writes import vectors_cleared, vectors_written
from lightrag.kg.sqlite.matrix import Hit, MatrixState, VectorMatrix, exact_similarities, search
from lightrag.kg.sqlite.selection import EVIDENCE_TABLE, STATUS_TABLE, Selection, VectorTable
from lightrag.kg.sqlite.store import SQLiteStore
from lightrag.kg.sqlite.texts import int_list, json_list
from lightrag.kg.sqlite.vector_space import VectorSpace
from lightrag.kg.sqlite.writer import AfterCommit
from lightrag.kg.texts import check_ids, check_text, decode_object, encode_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightrag.query_filters import VectorQueryFilter

T = TypeVar("T")

# Multiplications from which a search is worth the way to a thread and back.
_THREAD_FROM = 8_000_000

# How often a search starts again because rows it had found were deleted before it could read them.
_ATTEMPTS = 3

_COLUMNS = ("document", "key", "created_at", *COLUMN_NAMES, "meta", "vector", "content")
_READ = f"key, created_at, content, meta, {COLUMN_LIST}"


@dataclass(kw_only=True, eq=False)
class SQLiteVectorDBStorage(SQLiteStore, BaseVectorStorage):
    """Embedded rows; the vectors of the namespace are loaded at the first search."""

    @property
    def filters_by_documents(self) -> bool:
        """Whether the status of the documents, and for objects their evidence, is kept in the same database."""
        return self._shares(STATUS_TABLE) and (self._rows_of.kind is None or self._shares(EVIDENCE_TABLE))

    @property
    def _table(self) -> str:
        return schema.table_name("vectors", self.namespace)

    @property
    def _rows_of(self) -> VectorTable:
        return VectorTable.of(self._table, self.namespace)

    @property
    def _space(self) -> VectorSpace:
        return VectorSpace(self.namespace, self.embedding_func.embedding_dim, self.embedding_func.model_name or "")

    def _tables(self) -> schema.Statements:
        return schema.vector_tables(self._table)

    def _delete_all(self, connection: sqlite3.Connection) -> AfterCommit:
        connection.execute(f"DELETE FROM {self._table}")
        self._space.remove(connection)
        matrix, database = self._matrix, self.database

        def follow() -> None:
            matrix.clear()
            vectors_cleared(database.filters, matrix.table)

        return follow

    async def _check(self, database: Database) -> None:
        await database.read(lambda connection: self._space.check(connection, self._table, database.path))

    @property
    def _matrix(self) -> VectorMatrix:
        return self.database.matrix(self._table, self.embedding_func.embedding_dim)

    async def _state(self) -> MatrixState:
        database = self.database
        while True:
            state = (await database.loaded(self._matrix)).state
            if state is not None:
                return state

    # --- searching ---------------------------------------------------------------------------------------------

    async def query(
        self,
        query: str,
        top_k: int,
        query_embedding: np.ndarray | Sequence[float] | None = None,
        *,
        metadata_filter: VectorQueryFilter | None = None,
        tenant_tag: str | None = None,
    ) -> list[Row]:
        """Return the ``top_k`` most similar rows at or above the similarity floor, best first."""
        selection = self._selection(metadata_filter, tenant_tag)
        state = await self._state()
        if query_embedding is None and state.live and top_k > 0:
            query_embedding = (await self.embedding_func([query], context="query"))[0]
        if query_embedding is None:
            return []
        target = self._target(query_embedding)
        for _ in range(_ATTEMPTS):
            if selection is None:
                hits = await self._run(state, len(target), search, state, target, top_k, self._floor)
            else:
                hits = await self._selected(selection, target, top_k)
            rows, complete = await self._page(hits, top_k)
            if complete:
                break
            state = await self._state()
        return rows

    @property
    def _floor(self) -> float:
        return self.cosine_better_than_threshold

    def _selection(self, metadata_filter: VectorQueryFilter | None, tenant_tag: str | None) -> Selection | None:
        """Return what a search is limited to, ``None`` when it is not."""
        if metadata_filter is not None and not self.filters_by_documents:
            raise UnsupportedFilterError(
                f"vectors {self.namespace!r} cannot be filtered: their database does not hold the status of documents "
                "and what they say"
            )
        if metadata_filter is None and tenant_tag is None:
            return None
        return Selection(metadata_filter, tenant_tag, self._rows_of)

    async def _selected(self, selection: Selection, target: NDArray[np.float32], top_k: int) -> list[Hit]:
        """Search the rows of a selection."""
        database, matrix, table = self.database, self._matrix, self._rows_of

        def find() -> list[Hit] | None:
            with database.lock:
                state = matrix.state
                if state is None or not memory.is_ready(selection):
                    return None
                eligible = memory.rows(selection, table, state)
            return search(state, target, top_k, self._floor, eligible)

        while True:
            state = await self._state()
            memory = await database.filtered(selection)
            hits = await self._run(state, len(target), find)
            if hits is not None:
                return hits

    async def _run(self, state: MatrixState, width: int, function: Callable[..., T], *arguments: object) -> T:
        """Call a search, in a thread when it takes long."""
        if state.used * width > _THREAD_FROM:
            return await self.database.in_thread(function, *arguments)
        return function(*arguments)

    async def _page(self, hits: list[Hit], top_k: int) -> tuple[list[Row], bool]:
        """Return the rows found, and whether all of them were still there to be read."""
        if not hits:
            return [], True
        if len(hits) > top_k:
            hits = await self._break_ties(hits, top_k)
        rows = await self.database.read(lambda c: self._read_rows(c, hits), rows=len(hits))
        rows.sort(key=lambda row: (-row["distance"], row["id"]))
        return rows, len(rows) == len(hits)

    async def _break_ties(self, hits: list[Hit], count: int) -> list[Hit]:
        """Of the rows that are as similar as the last one wanted, keep those with the lowest ids."""
        border = hits[-1].similarity
        tied = [hit for hit in hits if hit.similarity == border]
        statement = f"SELECT t.id, t.key FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.id = j.value"
        wanted = (int_list(hit.row_id for hit in tied),)
        keys = dict(await self.database.read(lambda c: c.execute(statement, wanted).fetchall(), rows=len(tied)))
        known = sorted((hit for hit in tied if hit.row_id in keys), key=lambda hit: keys[hit.row_id])
        return (hits[: len(hits) - len(tied)] + known)[:count]

    def _read_rows(self, connection: sqlite3.Connection, hits: Sequence[Hit]) -> list[Row]:
        statement = f"SELECT j.key, {_READ_T} FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.id = j.value"
        found = connection.execute(statement, (int_list(hit.row_id for hit in hits),)).fetchall()
        rows = []
        for position, *columns in found:
            row = self._row(columns)
            row["distance"] = hits[position].similarity
            rows.append(row)
        return rows

    async def similarities(self, ids: Sequence[str], query_embedding: np.ndarray) -> dict[str, float]:
        """Return the cosine similarity of the given rows to a vector; ids without a row are left out."""
        import numpy as np

        if not len(ids):
            return {}
        target = self._target(query_embedding)
        matrix = await self.database.loaded(self._matrix)
        row_ids = await self._row_ids(ids)
        while (state := matrix.state) is None or any(
            state.positions.get(row_id, 0) >= state.used for row_id in row_ids.values()
        ):
            matrix = await self.database.loaded(self._matrix)
        placed = {key: place for key, row in row_ids.items() if (place := state.positions.get(row)) is not None}
        positions = np.fromiter(placed.values(), dtype=np.int64, count=len(placed))
        return dict(zip(placed, exact_similarities(state, target, positions).tolist(), strict=True))

    def _target(self, vector: np.ndarray | Sequence[float]) -> NDArray[np.float32]:
        import numpy as np

        target = np.asarray(vector, dtype=np.float64)
        # As a table of one row; any other shape then has another width or too many dimensions.
        self._space.check_vectors(target[None, ...], "the query")
        unit: NDArray[np.float32] = normalised(target[None, :])[0]
        return unit

    # --- writing -----------------------------------------------------------------------------------------------

    async def upsert(self, data: Mapping[str, Row]) -> None:
        """Insert or replace rows; a row that does not change is not written.

        Raises:
            InputError: An id or field cannot be stored.
            EmbeddingMismatchError: A vector has the wrong dimension, or holds NaN or infinity; nothing was stored.
            StorageFullError: The disk is full. Nothing of ``data`` was stored.
        """
        if not data:
            return
        check_ids(data)
        now = int(time.time())
        prepared = [self._prepared(key, row, now) for key, row in data.items()]
        vectors = normalised(await self._vectors(data))
        rows = [
            (*columns, vector.tobytes(), content) for (*columns, content), vector in zip(prepared, vectors, strict=True)
        ]
        keys = json_list(list(data))
        space, statement, table, path = self._space, self._upsert_statement(), self._table, self.database.path
        matrix, database, rows_of = self._matrix, self.database, self._rows_of
        documents = [str(row.get("full_doc_id") or "") for row in data.values()]
        labels = [(self._key_of(row), str(row.get("tenant_tag") or "")) for row in data.values()]

        def write(connection: sqlite3.Connection) -> AfterCommit:
            space.check(connection, table, path)
            space.record(connection)
            numbers = intern_texts(connection, filter(None, documents))
            connection.executemany(
                statement, [(numbers.get(doc_id, 0), *row) for doc_id, row in zip(documents, rows, strict=True)]
            )
            stored = connection.execute(
                f"SELECT t.id FROM json_each(?) AS j CROSS JOIN {table} AS t ON t.key = j.value ORDER BY j.key", (keys,)
            ).fetchall()
            row_ids = [row_id for (row_id,) in stored]
            follow_labels = vectors_written(database.filters, connection, rows_of, row_ids, labels)

            def follow() -> None:
                matrix.put(row_ids, vectors)
                if follow_labels is not None:
                    follow_labels()

            return follow

        await database.write(write)

    def _prepared(self, key: str, row: Row, now: int) -> tuple[Any, ...]:
        """Return the columns of a row without its vector; the content is the last."""
        content = row.get("content")
        if not isinstance(content, str):
            raise InputError(f"row {key!r} needs a content of type str, not {content!r}")
        check_text(content, key)
        columns, rest = split(row)
        meta = {name: value for name, value in rest.items() if name in self.meta_fields and name not in _NOT_META}
        return (key, now, *columns, encode_json(meta, key), content)

    def _key_of(self, row: Row) -> str:
        """Return the document or object that a row will name once it is stored."""
        rows_of = self._rows_of
        stored = row if rows_of.kind is None else {name: row[name] for name in self.meta_fields if name in row}
        return rows_of.key_of(stored)

    async def _vectors(self, data: Mapping[str, Row]) -> NDArray[np.floating]:
        """Return the vectors of rows, shape ``(rows, dimension)``; those that rows do not bring are embedded."""
        size = max(1, int(self.global_config.get("embedding_batch_num", 10)))
        return await vectors_of_rows(data, self.embedding_func, batch_size=size, namespace=self.namespace)

    def _upsert_statement(self) -> str:
        changed = [name for name in _COLUMNS if name != "key"]
        compared = [name for name in reversed(changed) if name != "created_at"]
        return (
            f"INSERT INTO {self._table} ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
            f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in changed)} "
            f"WHERE ({', '.join(compared)}) IS NOT ({', '.join(f'excluded.{name}' for name in compared)})"
        )

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""
        if ids:
            await self._delete("key IN (SELECT value FROM json_each(?))", (json_list(ids),))

    async def delete_entity(self, entity_name: str) -> None:
        """Delete the row of an entity of the aggregate, by its name."""
        await self._delete("json_extract(meta, '$.entity_name') = ? AND tenant_tag = ''", (entity_name,))

    async def delete_entity_relation(self, entity_name: str) -> None:
        """Delete the rows of all relations of which ``entity_name`` is an end."""
        condition = "? IN (json_extract(meta, '$.src_id'), json_extract(meta, '$.tgt_id'))"
        await self._delete(condition, (entity_name,))

    async def _delete(self, condition: str, values: tuple[Any, ...]) -> None:
        table, matrix = self._table, self._matrix

        def write(connection: sqlite3.Connection) -> AfterCommit:
            found = connection.execute(f"SELECT id FROM {table} WHERE {condition}", values).fetchall()
            row_ids = [row_id for (row_id,) in found]
            connection.execute(
                f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?))", (int_list(row_ids),)
            )
            return lambda: matrix.remove(row_ids)

        await self.database.write(write)

    # --- reading -----------------------------------------------------------------------------------------------

    async def get_by_id(self, id: str) -> Row | None:
        """Return a row without its vector, or ``None``."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        """Return rows in the order of ``ids``, ``None`` where there is none."""
        found: list[Row | None] = [None] * len(ids)
        if not ids:
            return found
        statement = f"SELECT j.key, {_READ_T} FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.key = j.value"
        wanted = (json_list(ids),)
        rows = await self.database.read(lambda c: c.execute(statement, wanted).fetchall(), rows=len(ids))
        for position, *columns in rows:
            found[position] = self._row(columns)
        return found

    def _row(self, columns: Sequence[Any]) -> Row:
        key, created_at, content, meta, *filter_columns = columns
        row = joined(decode_object(meta), filter_columns)
        for name in FILTER_NAMES.difference(self.meta_fields).intersection(row):
            del row[name]
        row |= {"id": key, "content": content, "created_at": created_at}
        return row

    async def get_vectors_by_ids(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Return the stored vectors, of length 1 or 0, of those ids that exist."""
        import numpy as np

        if not ids:
            return {}
        statement = f"SELECT t.key, t.vector FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.key = j.value"
        wanted = (json_list(ids),)
        rows = await self.database.read(lambda c: c.execute(statement, wanted).fetchall(), rows=len(ids))
        return {key: np.frombuffer(blob, dtype="<f4").tolist() for key, blob in rows}

    async def _row_ids(self, ids: Sequence[str]) -> dict[str, int]:
        statement = f"SELECT t.key, t.id FROM json_each(?) AS j CROSS JOIN {self._table} AS t ON t.key = j.value"
        wanted = (json_list(ids),)
        return dict(await self.database.read(lambda c: c.execute(statement, wanted).fetchall(), rows=len(ids)))

    async def count(self) -> int:
        """Return how many rows are stored."""
        statement = f"SELECT count(*) FROM {self._table}"
        return int((await self.database.read(lambda c: c.execute(statement).fetchone()))[0])

    async def scan_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        """Return up to ``limit`` ids that sort after ``after``, sorted."""
        statement = f"SELECT key FROM {self._table} WHERE key > ? ORDER BY key LIMIT ?"
        rows = await self.database.read(lambda c: c.execute(statement, (after, limit)).fetchall(), rows=limit)
        return [key for (key,) in rows]


_READ_T = ", ".join(f"t.{name.strip()}" for name in _READ.split(","))
_NOT_META = frozenset({"id", "content", "vector", "created_at", "distance"})
