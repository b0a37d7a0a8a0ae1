"""Vectors searched by FAISS, in the folder and with the guarantees of the file storages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lightrag.kg.faiss.index import IndexOptions, driver
from lightrag.kg.faiss.table import FaissTable
from lightrag.kg.files.eligibility import Eligibility
from lightrag.kg.files.kinds import FAISS
from lightrag.kg.files.vector import NanoVectorDBStorage
from lightrag.kg.sqlite.matrix import Hit, search

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightrag.kg.sqlite.matrix import MatrixState
    from lightrag.query_filters import VectorQueryFilter

    Numbers = NDArray[np.int64]

# Share of the rows from which the eligible ones are said to the index as a bitmap. Measured one query at a time with
# 100,000 rows of 384 numbers: a bitmap costs 12 to 16 ms however few bits are set, where the product of a tenth of the
# rows takes 1.4 ms. From a third on, copying the rows together stops to pay, and the two differ by less than threefold.
_BITMAP_SHARE = 0.35

# Multiplications from which a search is worth the way to a thread and back.
_THREAD_FROM = 1_000_000


@dataclass(kw_only=True, eq=False)
class FaissVectorDBStorage(NanoVectorDBStorage):
    """Embedded rows, in ``faiss_<namespace>.jsonl``, searched by an index in memory.

    The index is exact unless ``vector_db_storage_cls_kwargs`` says ``{"faiss_index": "hnsw"}``; the other keys are
    those of :class:`lightrag.kg.faiss.index.IndexOptions`. Filtered searches are exact with either.
    """

    kind: ClassVar[str] = FAISS

    async def initialize(self) -> None:
        """Open the folder and read the file of the namespace.

        Raises:
            MissingDependencyError: FAISS is not installed.
            InputError: An option of the index has no meaning, or a name cannot be used.
            StorageError: The folder is in use by another process, or a file is damaged.
            EmbeddingMismatchError: It holds vectors of another model.
        """
        driver()
        _ = self._options
        await super().initialize()

    @property
    def _options(self) -> IndexOptions:
        return IndexOptions.of(self.global_config.get("vector_db_storage_cls_kwargs") or {})

    async def _search(
        self, target: NDArray[np.float32], top_k: int, metadata_filter: VectorQueryFilter | None, tenant_tag: str | None
    ) -> list[Hit]:
        with self.folder.lock:
            state = self.table.state
        if state is not None and (state.used * len(target) > _THREAD_FROM or not self._options.is_exact):
            return await self.folder.in_thread(self._find, target, top_k, metadata_filter, tenant_tag)
        return self._find(target, top_k, metadata_filter, tenant_tag)

    def _find(
        self, target: NDArray[np.float32], top_k: int, metadata_filter: VectorQueryFilter | None, tenant_tag: str | None
    ) -> list[Hit]:
        floor = self.cosine_better_than_threshold
        table, options = self.table, self._options
        assert isinstance(table, FaissTable)
        with table.searching:
            with self.folder.lock:
                state = table.state
                if state is None:
                    return []
                eligible = Eligibility.of(self.folder).positions(table, state, metadata_filter, tenant_tag)
                indexed = _is_for_index(state, eligible, options)
                index, changes = table.index_of(state, options) if indexed else (None, None)
            hits = None
            if index is not None:
                try:
                    if changes is None:
                        index.fill(state)
                    else:
                        index.follow(state, changes)
                    hits = index.search(target, top_k, floor, None if eligible is None else state.row_ids[eligible])
                except BaseException:
                    with self.folder.lock:
                        table.forget_index()
                    raise
        return search(state, target, top_k, floor, eligible) if hits is None else hits


def _is_for_index(state: MatrixState, eligible: Numbers | None, options: IndexOptions) -> bool:
    """Tell whether the index answers a search rather than a product with the eligible rows.

    Under a filter HNSW loses recall and may come back with too few rows, so it answers only unfiltered searches.
    """
    if eligible is None:
        return True
    return options.is_exact and len(eligible) > _BITMAP_SHARE * state.live
