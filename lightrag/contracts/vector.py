"""Vector stores: rows with an embedding, searched by cosine similarity."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightrag.contracts.storage import StorageNameSpace
from lightrag.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np

    from lightrag.contracts.models import EmbeddingFunc
    from lightrag.query_filters import VectorQueryFilter

Row = dict[str, Any]

# The fields of the normal form that every vector row can carry, with the value that stands for "not given".
FILTER_FIELD_DEFAULTS: dict[str, Any] = {
    "filter_tags": [],
    "filter_dated": False,
    "filter_start_ms": 0,
    "filter_start_us": 0,
    "filter_end_ms": 0,
    "filter_end_us": 0,
    "filter_start_date": "",
    "filter_end_date": "",
    "full_doc_id": "",
    "source_path": "",
    "doc_type": "",
    "modified_at": 0,
    "tenant_tag": "",
    "has_undated_evidence": False,
    "has_open_start": False,
    "has_open_end": False,
    "filter_doc_count": 0,
}


def check_filter_fields(row: Row) -> None:
    """Refuse filter fields of another type than their default; one that is missing or ``None`` is not given.

    Raises:
        InputError: A field has a value of another type.
    """
    for name in FILTER_FIELD_DEFAULTS.keys() & row.keys():
        value, default = row[name], FILTER_FIELD_DEFAULTS[name]
        if value is None:
            continue
        if isinstance(default, list):
            fits, wanted = isinstance(value, list | tuple) and all(isinstance(tag, str) for tag in value), "list of str"
        else:
            fits, wanted = type(value) is type(default), type(default).__name__
        if not fits:
            raise InputError(f"field {name!r} must be {wanted}, not {value!r}")


@dataclass(kw_only=True, eq=False)
class BaseVectorStorage(StorageNameSpace):
    """Embedded rows by string id.

    Attributes:
        embedding_func: Embeds ``content`` of rows that come without a vector, and queries that come as text.
        cosine_better_than_threshold: Similarity floor; rows below it are never returned.
        meta_fields: Fields of a row that are stored and returned; others are dropped. ``content`` is always stored.
    """

    embedding_func: EmbeddingFunc
    cosine_better_than_threshold: float = 0.2
    meta_fields: set[str] = field(default_factory=set)

    # The engine filters on fields stamped on its rows; used when pushdown is enabled, and gated afterwards.
    supports_metadata_filters: bool = field(default=False, init=False)

    @property
    def filters_by_documents(self) -> bool:
        """Whether the store knows the documents of its workspace and filters by them, exactly, without stamped fields.

        It depends on which stores are open together: vectors kept apart from the status of documents cannot.
        """
        return False

    @abstractmethod
    async def query(
        self,
        query: str,
        top_k: int,
        query_embedding: np.ndarray | Sequence[float] | None = None,
        *,
        metadata_filter: VectorQueryFilter | None = None,
        tenant_tag: str | None = None,
    ) -> list[Row]:
        """Return the ``top_k`` most similar rows at or above the similarity floor, best first.

        Args:
            query: Text, embedded unless ``query_embedding`` is given.
            top_k: How many rows at the most. Fewer come back only if fewer pass the floor and the filter.
            query_embedding: Vector of shape ``(dim,)``.
            metadata_filter: Only rows that it accepts. ``None`` leaves the search exactly as without filters.
            tenant_tag: Only rows of this scope, ``""`` for the aggregate; ``None`` where no scopes are kept.

        Returns:
            Rows with the meta fields, ``id``, ``distance`` (the cosine similarity, higher is nearer) and
            ``created_at`` (epoch seconds). Equal similarities are ordered by id.

        Raises:
            UnsupportedFilterError: The backend cannot express the filter. Raised before any search.
            EmbeddingMismatchError: The query vector has another dimension than the stored rows.
        """

    @abstractmethod
    async def upsert(self, data: Mapping[str, Row]) -> None:
        """Insert or replace rows ``{"content": str, **meta}``.

        A row may bring its own embedding as ``"vector"`` (1-D, ``float32``); the others are embedded in batches.

        Raises:
            EmbeddingMismatchError: A vector has the wrong dimension, or holds NaN or infinity.
        """

    @abstractmethod
    async def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; unknown ids are passed over."""

    @abstractmethod
    async def delete_entity(self, entity_name: str) -> None:
        """Delete the row of an entity of the aggregate, by its name."""

    @abstractmethod
    async def delete_entity_relation(self, entity_name: str) -> None:
        """Delete the rows of all relations of which ``entity_name`` is an end (fields ``src_id``/``tgt_id``)."""

    @abstractmethod
    async def get_by_id(self, id: str) -> Row | None:
        """Return a row without its vector, or ``None``."""

    @abstractmethod
    async def get_by_ids(self, ids: Sequence[str]) -> list[Row | None]:
        """Return rows in the order of ``ids``, ``None`` where there is none."""

    @abstractmethod
    async def get_vectors_by_ids(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Return the stored (normalised) vectors of those ids that exist."""

    async def similarities(self, ids: Sequence[str], query_embedding: np.ndarray) -> dict[str, float]:
        """Return the cosine similarity of the given rows to a vector; ids without a row are left out.

        A backend that holds its vectors in memory overrides this with one product.
        """
        import numpy as np

        stored = await self.get_vectors_by_ids(ids)
        if not stored:
            return {}
        matrix = np.asarray(list(stored.values()), dtype=np.float32)
        target = np.asarray(query_embedding, dtype=np.float32)
        norms = np.linalg.norm(matrix, axis=1) * float(np.linalg.norm(target))
        norms[norms == 0.0] = 1.0
        return dict(zip(stored, ((matrix @ target) / norms).tolist(), strict=True))

    @abstractmethod
    async def count(self) -> int:
        """Return how many rows are stored."""

    @abstractmethod
    async def scan_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        """Return up to ``limit`` ids that come after ``after``: one page of all ids, in an order of the store's own.

        The order never changes, so ``after`` may be an id that is no longer there; ``""`` comes before all. An engine
        that cannot sort by these ids pages in the order of its own keys, where those follow from the id.
        """
