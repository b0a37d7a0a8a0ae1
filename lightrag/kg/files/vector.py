"""Vectors in the files of NanoVectorDB, searched in memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from lightrag.constants import VECTOR_ENTITIES, VECTOR_RELATIONSHIPS
from lightrag.contracts.vector import FILTER_FIELD_DEFAULTS, BaseVectorStorage, Row, check_filter_fields
from lightrag.exceptions import EmbeddingMismatchError, InputError
from lightrag.kg.files.eligibility import Eligibility
from lightrag.kg.files.json_file import encode
from lightrag.kg.files.kinds import VECTOR
from lightrag.kg.files.store import FileStore
from lightrag.kg.files.table import Change
from lightrag.kg.files.vector_table import VectorTable
from lightrag.kg.row_vectors import normalised, target_vector, vectors_of_rows
from lightrag.kg.sqlite.matrix import Hit, exact_similarities, search
from lightrag.kg.texts import check_ids, check_text, encode_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightrag.query_filters import VectorQueryFilter

# Multiplications from which a search is worth the way to a thread and back.
_THREAD_FROM = 4_000_000

# How often a search starts again because rows it had found were deleted before it could read them.
_ATTEMPTS = 3

_NOT_FIELDS = frozenset({"id", "content", "vector", "created_at", "distance"})


@dataclass(kw_only=True, eq=False)
class NanoVectorDBStorage(FileStore[VectorTable], BaseVectorStorage):
    """Embedded rows, in ``vdb_<namespace>.json``."""

    kind: ClassVar[str] = VECTOR

    supports_metadata_filters: bool = field(default=True, init=False)

    @property
    def filters_by_documents(self) -> bool:
        """Whether the stores that know documents, and for objects their evidence, are open in the same folder."""
        return self._folder is not None and Eligibility.is_possible(self._folder, evidence=self._holds_objects)

    @property
    def _holds_objects(self) -> bool:
        return self.namespace in (VECTOR_ENTITIES, VECTOR_RELATIONSHIPS)

    def _check(self, table: VectorTable) -> None:
        """Refuse to mix vectors of two models. A namespace without rows takes any."""
        dimension, model = self.embedding_func.embedding_dim, self.embedding_func.model_name or ""
        fits = dimension == table.dimension and (not table.model or not model or table.model == model)
        if table.rows and not fits:
            raise EmbeddingMismatchError(
                f"vectors {self.namespace!r} in {str(table.folder)!r} were made by "
                f"{table.model or 'an unnamed model'!r} with dimension {table.dimension}; the embedding function in "
                f"use is {model or 'an unnamed model'!r} with dimension {dimension}. Use the same model, or another "
                "working_dir or workspace"
            )

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
        if query_embedding is None and self.table.rows and top_k > 0:
            query_embedding = (await self.embedding_func([query], context="query"))[0]
        if query_embedding is None:
            return []
        target = self._target(query_embedding)
        rows: list[Row] = []
        for _ in range(_ATTEMPTS):
            hits = await self._search(target, top_k, metadata_filter, tenant_tag)
            rows, complete = self._read_hits(hits, top_k)
            if complete:
                break
        return rows

    async def _search(
        self, target: NDArray[np.float32], top_k: int, metadata_filter: VectorQueryFilter | None, tenant_tag: str | None
    ) -> list[Hit]:
        floor = self.cosine_better_than_threshold
        with self.folder.lock:
            state = self.table.state
            if state is None:
                return []
            eligible = Eligibility.of(self.folder).positions(self.table, state, metadata_filter, tenant_tag)
        if state.used * len(target) > _THREAD_FROM:
            return await self.folder.in_thread(search, state, target, top_k, floor, eligible)
        return search(state, target, top_k, floor, eligible)

    def _read_hits(self, hits: Sequence[Hit], count: int) -> tuple[list[Row], bool]:
        """Return the rows found, ties by id, and whether all of them were still there to be read."""
        with self.folder.lock:
            ids = self.table.ids
            found = [(hit.similarity, ids[hit.row_id]) for hit in hits if hit.row_id in ids]
            found.sort(key=lambda item: (-item[0], item[1]))
            rows = [{**self._row(row_id), "distance": similarity} for similarity, row_id in found[:count]]
        return rows, len(found) == len(hits)

    async def similarities(self, ids: Sequence[str], query_embedding: np.ndarray) -> dict[str, float]:
        """Return the cosine similarity of the given rows to a vector; ids without a row are left out."""
        import numpy as np

        if not len(ids):
            return {}
        target = self._target(query_embedding)
        with self.folder.lock:
            table, state = self.table, self.table.state
            placed = {key: state.positions[table.numbers[key]] for key in ids if state and key in table.numbers}
        if state is None:
            return {}
        positions = np.fromiter(placed.values(), dtype=np.int64, count=len(placed))
        return dict(zip(placed, exact_similarities(state, target, positions).tolist(), strict=True))

    def _target(self, vector: np.ndarray | Sequence[float]) -> NDArray[np.float32]:
        target = target_vector(vector, self.embedding_func.embedding_dim, self.namespace)
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
        fields = {key: self._prepared(key, row) for key, row in data.items()}
        size = max(1, int(self.global_config.get("embedding_batch_num", 10)))
        given = await vectors_of_rows(data, self.embedding_func, batch_size=size, namespace=self.namespace)
        vectors = normalised(given)
        table, model = self.table, self.embedding_func.model_name or ""

        def write(change: Change) -> None:
            self._check(table)
            changed = [
                position
                for position, (key, row) in enumerate(fields.items())
                if not _is_same(table, key, row, vectors[position])
            ]
            if table.model != model and (model or not table.rows):
                change.apply(table, ["model", model])
            if changed:
                keys = list(fields)
                rows = [(keys[place], encode({**fields[keys[place]], "created_at": now})) for place in changed]
                change.apply(table, table.put_operation(rows, vectors[changed]))

        await self.folder.write(write)

    def _prepared(self, key: str, row: Row) -> dict[str, Any]:
        """Return the fields of a row that are stored, after looking whether they can be."""
        content = row.get("content")
        if not isinstance(content, str):
            raise InputError(f"row {key!r} needs a content of type str, not {content!r}")
        check_text(content, key)
        check_filter_fields(row)
        known = self.meta_fields | FILTER_FIELD_DEFAULTS.keys()
        fields = {
            name: value
            for name, value in row.items()
            if name in known and name not in _NOT_FIELDS and not (value is None and name in FILTER_FIELD_DEFAULTS)
        }
        encode_json(fields, key)
        return {"content": content, **fields}

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""
        if ids:
            wanted = list(dict.fromkeys(ids))
            await self._delete(lambda table: [row_id for row_id in wanted if row_id in table.rows])

    async def delete_entity(self, entity_name: str) -> None:
        """Delete the row of an entity of the aggregate, by its name."""
        await self._delete(
            lambda table: _with_fields(
                table, lambda row: row.get("entity_name") == entity_name and not row.get("tenant_tag")
            )
        )

    async def delete_entity_relation(self, entity_name: str) -> None:
        """Delete the rows of all relations of which ``entity_name`` is an end."""
        await self._delete(
            lambda table: _with_fields(table, lambda row: entity_name in (row.get("src_id"), row.get("tgt_id")))
        )

    async def _delete(self, chosen: Callable[[VectorTable], list[str]]) -> None:
        table = self.table

        def write(change: Change) -> None:
            ids = chosen(table)
            if ids:
                change.apply(table, ["delete", ids])

        await self.folder.write(write)

    # --- reading -----------------------------------------------------------------------------------------------

    async def get_by_id(self, id: str) -> Row | None:
        """Return a row without its vector, or ``None``."""
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        """Return rows in the order of ``ids``, ``None`` where there is none."""
        with self.folder.lock:
            return [self._row(row_id) if row_id in self.table.rows else None for row_id in ids]

    def _row(self, row_id: str) -> Row:
        fields = self.table.fields(row_id)
        row = {name: value for name, value in fields.items() if name in self.meta_fields}
        row |= {"id": row_id, "content": fields["content"], "created_at": fields["created_at"]}
        return row

    async def get_vectors_by_ids(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Return the stored vectors, of length 1 or 0, of those ids that exist."""
        with self.folder.lock:
            found = {row_id: self.table.vector(row_id) for row_id in ids}
        return {row_id: vector.tolist() for row_id, vector in found.items() if vector is not None}

    async def count(self) -> int:
        """Return how many rows are stored."""
        return len(self.table.rows)

    async def scan_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        """Return up to ``limit`` ids that sort after ``after``, sorted."""
        with self.folder.lock:
            return self.table.page(after, limit)


def _is_same(table: VectorTable, row_id: str, fields: Mapping[str, Any], vector: NDArray[np.float32]) -> bool:
    if row_id not in table.rows:
        return False
    stored = table.fields(row_id)
    stored.pop("created_at", None)
    before = table.vector(row_id)
    return stored == fields and before is not None and bool((before == vector).all())


def _with_fields(table: VectorTable, wanted: Callable[[dict[str, Any]], bool]) -> list[str]:
    return [row_id for row_id in table.rows if wanted(table.fields(row_id))]
