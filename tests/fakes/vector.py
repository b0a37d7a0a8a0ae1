"""A vector store in memory, searched exactly, with filters."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lightrag.constants import VECTOR_CHUNKS
from lightrag.contracts.vector import BaseVectorStorage, Row
from lightrag.exceptions import EmbeddingMismatchError
from lightrag.predicates import Or, evaluate
from lightrag.query_filters import NOT_STAMPED, VectorQueryFilter, document_predicate, summary_predicate
from lightrag.runtime.hashing import compute_mdhash_id
from tests.fakes.base import InMemory, copied


@dataclass(kw_only=True, eq=False)
class FakeVectorStorage(InMemory, BaseVectorStorage):
    """Rows in ``rows``, normalised vectors in ``vectors``."""

    vectors: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.supports_metadata_filters = True

    def forget(self) -> None:
        self.rows.clear()
        self.vectors.clear()

    async def query(
        self,
        query: str,
        top_k: int,
        query_embedding: np.ndarray | Sequence[float] | None = None,
        *,
        metadata_filter: VectorQueryFilter | None = None,
    ) -> list[Row]:
        self.note("query")
        if query_embedding is None:
            query_embedding = (await self.embedding_func([query], context="query"))[0]
        target = self._checked(query_embedding, "query")
        ids = [key for key in self.rows if self._accepts(key, metadata_filter)]
        scored = [(key, float(self.vectors[key] @ target)) for key in ids]
        near = [item for item in scored if item[1] >= self.cosine_better_than_threshold]
        near.sort(key=lambda item: (-item[1], item[0]))
        return [{**copied(self.rows[key]), "id": key, "distance": score} for key, score in near[:top_k]]

    def _accepts(self, key: str, metadata_filter: VectorQueryFilter | None) -> bool:
        if metadata_filter is None:
            return True
        wanted = document_predicate if self.namespace == VECTOR_CHUNKS else summary_predicate
        # Rows without filter fields pass, as in every store; the gate judges them.
        return evaluate(Or((NOT_STAMPED, wanted(metadata_filter))), self.rows[key])

    def _checked(self, vector: np.ndarray | Sequence[float], name: str) -> np.ndarray:
        array = np.asarray(vector, dtype=np.float32)
        if array.shape != (self.embedding_func.embedding_dim,) or not np.isfinite(array).all():
            raise EmbeddingMismatchError(
                f"vector of {name!r} has shape {array.shape}; expected ({self.embedding_func.embedding_dim},), finite"
            )
        norm = float(np.linalg.norm(array))
        return array / norm if norm else array

    async def upsert(self, data: Mapping[str, Row]) -> None:
        missing = [key for key, row in data.items() if row.get("vector") is None]
        embedded: dict[str, np.ndarray] = {}
        if missing:
            made = await self.embedding_func([data[key]["content"] for key in missing])
            embedded = dict(zip(missing, made, strict=True))
        vectors = {key: self._checked(embedded.get(key, row.get("vector")), key) for key, row in data.items()}
        kept = {"content", *self.meta_fields}
        rows = {key: copied({name: row[name] for name in row if name in kept}) for key, row in data.items()}

        def write() -> None:
            now = int(time.time())
            for key, row in rows.items():
                created = self.rows.get(key, {}).get("created_at", now)
                self.rows[key] = {**row, "created_at": created}
            self.vectors.update(vectors)

        self.fake.write(write)

    async def delete(self, ids: Sequence[str]) -> None:
        gone = list(ids)

        def write() -> None:
            for key in gone:
                self.rows.pop(key, None)
                self.vectors.pop(key, None)

        self.fake.write(write)

    async def delete_entity(self, entity_name: str) -> None:
        await self.delete([compute_mdhash_id(entity_name, "ent-")])

    async def delete_entity_relation(self, entity_name: str) -> None:
        await self.delete(
            [key for key, row in self.rows.items() if entity_name in (row.get("src_id"), row.get("tgt_id"))]
        )

    async def get_by_id(self, id: str) -> Row | None:
        return (await self.get_by_ids([id]))[0]

    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        self.note("get_by_ids")
        return [{**copied(self.rows[key]), "id": key} if key in self.rows else None for key in ids]

    async def get_vectors_by_ids(self, ids: Sequence[str]) -> dict[str, list[float]]:
        self.note("get_vectors_by_ids")
        return {key: self.vectors[key].tolist() for key in ids if key in self.vectors}

    async def similarities(self, ids: Sequence[str], query_embedding: np.ndarray) -> dict[str, float]:
        self.note("similarities")
        target = self._checked(query_embedding, "query")
        return {key: float(self.vectors[key] @ target) for key in ids if key in self.vectors}

    async def count(self) -> int:
        return len(self.rows)

    async def scan_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        # In an order of its own, as an engine has that keys its rows by hashes of their ids.
        def place(key: str) -> str:
            return compute_mdhash_id(key) if key else ""

        return sorted((key for key in self.rows if place(key) > place(after)), key=place)[:limit]
