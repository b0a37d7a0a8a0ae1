"""A FAISS index over the live rows of a vector table.

FAISS computes in ``float32`` and orders equal scores as it likes. So it is asked for some more rows than wanted, those
are computed again in ``float64``, and when the rows it returned do not reach past the border of the page, it says that
it cannot tell; the caller then searches exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lightrag.exceptions import InputError, MissingDependencyError
from lightrag.kg.growing import GrowingArray
from lightrag.kg.sqlite.matrix import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightrag.kg.sqlite.matrix import MatrixState

    Numbers = NDArray[np.int64]
    Vectors = NDArray[np.float32]

FLAT = "flat"
HNSW = "hnsw"

# Rows asked for beyond the page, so that its border is seen.
_SPARE = 16

# Scores of float32 this near to each other may be in the wrong order.
_ROUNDING = 2e-5

# HNSW cannot forget: outdated entries stay until there are so many that the index is built anew.
_MIN_STALE = 64
_MAX_STALE_SHARE = 0.05


def driver() -> Any:
    """Import and return ``faiss``.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        return import_module("faiss")
    except ModuleNotFoundError as error:
        raise MissingDependencyError("faiss", "faiss", "Storage 'FaissVectorDBStorage'") from error


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Which index is built; keys of ``vector_db_storage_cls_kwargs``.

    Attributes:
        faiss_index: ``"flat"``, which is exact, or ``"hnsw"``, whose unfiltered searches are fast and approximate.
        faiss_hnsw_m: Links of each row of an HNSW index.
        faiss_hnsw_ef_construction: Candidates looked at when a row is linked.
        faiss_hnsw_ef_search: Candidates looked at in a search, at the least.
    """

    faiss_index: str = FLAT
    faiss_hnsw_m: int = 32
    faiss_hnsw_ef_construction: int = 200
    faiss_hnsw_ef_search: int = 128

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> IndexOptions:
        """Return the options among others.

        Raises:
            InputError: One of them has no meaning.
        """
        options = cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})
        if options.faiss_index not in (FLAT, HNSW):
            raise InputError(f"faiss_index is {options.faiss_index!r}; allowed are {FLAT!r} and {HNSW!r}")
        least = {"faiss_hnsw_m": 2, "faiss_hnsw_ef_construction": 1, "faiss_hnsw_ef_search": 1}
        for name, lowest in least.items():
            value = getattr(options, name)
            if not isinstance(value, int) or value < lowest:
                raise InputError(f"{name} is {value!r}; allowed are whole numbers from {lowest}")
        return options

    @property
    def is_exact(self) -> bool:
        """Whether a search looks at every row."""
        return self.faiss_index == FLAT


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What an index has not seen yet.

    Attributes:
        numbers: Numbers of rows that were put.
        positions: Where each of them lies in the matrix.
        gone: Numbers of rows that are no more.
    """

    numbers: Numbers
    positions: Numbers
    gone: Numbers


class FaissIndex:
    """Inner products over rows of length 1. Zero rows are similar to nothing, so they are left out.

    Not safe for threads: whoever uses it holds a lock.
    """

    def __init__(self, dimension: int, options: IndexOptions) -> None:
        """Start empty.

        Raises:
            MissingDependencyError: FAISS is not installed.
        """
        self.dimension = dimension
        self.options = options
        self._faiss = driver()
        self._reset()

    def _reset(self) -> None:
        import numpy as np

        faiss, options = self._faiss, self.options
        if options.is_exact:
            inner = faiss.IndexFlatIP(self.dimension)
        else:
            inner = faiss.IndexHNSWFlat(self.dimension, options.faiss_hnsw_m, faiss.METRIC_INNER_PRODUCT)
            inner.hnsw.efConstruction = options.faiss_hnsw_ef_construction
        self._index = faiss.IndexIDMap2(inner)
        self._held = GrowingArray(np.bool_)
        self._stale = 0

    # --- following the table -----------------------------------------------------------------------------------

    def fill(self, state: MatrixState) -> None:
        """Hold the live rows of a matrix and nothing else."""
        import numpy as np

        alive = np.ones(state.used, dtype=np.bool_)
        alive[state.dead] = False
        self._reset()
        self._add(state.row_ids[: state.used][alive], state.vectors[: state.used][alive])

    def follow(self, state: MatrixState, changes: Changes) -> None:
        """Take changes over.

        Args:
            state: The matrix after them.
            changes: All since the last call.
        """
        if not len(changes.numbers) and not len(changes.gone):
            return
        numbers, vectors = changes.numbers, state.vectors[changes.positions]
        self._resize(numbers, changes.gone)
        replaced = self._held.values[numbers]
        same = replaced.copy()
        same[replaced] = (self._vectors(numbers[replaced]) == vectors[replaced]).all(axis=1)
        numbers, vectors, replaced = numbers[~same], vectors[~same], replaced[~same]
        gone = changes.gone[self._held.values[changes.gone]]
        if not self._forget(numbers[replaced], gone):
            self.fill(state)
            return
        self._add(numbers, vectors)

    def _resize(self, *numbers: Numbers) -> None:
        highest = max(int(part.max(initial=-1)) for part in numbers)
        self._held.resize(max(len(self._held), highest + 1))

    def _add(self, numbers: Numbers, vectors: Vectors) -> None:
        import numpy as np

        useful = vectors.any(axis=1)
        if useful.any():
            self._index.add_with_ids(np.ascontiguousarray(vectors[useful]), numbers[useful])
            self._held.put(numbers[useful], True)

    def _forget(self, *numbers: Numbers) -> bool:
        """Take rows out; ``False`` when the index should rather be built anew."""
        import numpy as np

        old = np.concatenate(numbers)
        if not len(old):
            return True
        if self.options.is_exact:
            self._index.remove_ids(old)
        else:
            # A search may still return them: those that are gone are not held, those replaced are computed again.
            self._stale += len(old)
            if self._stale > max(_MIN_STALE, _MAX_STALE_SHARE * self._index.ntotal):
                return False
        self._held.put(old, False)
        return True

    def _vectors(self, numbers: Numbers) -> Vectors:
        import numpy as np

        if not len(numbers):
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors: Vectors = self._index.reconstruct_batch(numbers)
        return vectors

    # --- searching ---------------------------------------------------------------------------------------------

    def search(self, target: Vectors, count: int, floor: float, allowed: Numbers | None = None) -> list[Hit] | None:
        """Return the ``count`` most similar rows at or above a floor, best first, and those equal to the last.

        Args:
            target: Normalised, shape ``(dimension,)``.
            count: How many rows are wanted.
            floor: Least similarity.
            allowed: Numbers of the only rows that may be returned; ``None`` for all.

        Returns:
            Rows by number; ``None`` when the index cannot tell which rows these are.
        """
        import numpy as np

        held = self._held.values
        candidates = held if allowed is None else self._mask(allowed)
        available = int(candidates.sum())
        if count <= 0 or not available or not target.any():
            return []
        asked = min(count + _SPARE + self._stale, self._index.ntotal)
        scores, found = self._index.search(target[None, :], asked, params=self._parameters(asked, allowed, candidates))
        valid = found[0] >= 0
        numbers = np.unique(found[0][valid])
        numbers = numbers[candidates[numbers]]
        if len(numbers) < min(count, available):
            return None
        wide = self._vectors(numbers).astype(np.float64) * target.astype(np.float64)
        similarities = np.clip(wide.sum(axis=1), -1.0, 1.0)
        order = np.argsort(-similarities, kind="stable")
        border = max(floor, float(similarities[order[min(count, len(order)) - 1]]))
        # A row that was not returned scores no more than the last one that was.
        if len(numbers) < available and float(scores[0][valid][-1]) >= border - _ROUNDING:
            return None
        order = order[similarities[order] >= max(floor - 1e-6, border if len(order) > count else -2.0)]
        return [Hit(int(numbers[place]), float(similarities[place])) for place in order]

    def _mask(self, allowed: Numbers) -> NDArray[np.bool_]:
        import numpy as np

        mask = np.zeros(len(self._held), dtype=np.bool_)
        mask[allowed[allowed < len(mask)]] = True
        mask &= self._held.values
        return mask

    def _parameters(self, asked: int, allowed: Numbers | None, candidates: NDArray[np.bool_]) -> Any:
        import numpy as np

        if not self.options.is_exact:
            return self._faiss.SearchParametersHNSW(efSearch=max(asked, self.options.faiss_hnsw_ef_search))
        if allowed is None:
            return None
        bitmap = np.packbits(candidates, bitorder="little")
        return self._faiss.SearchParameters(sel=self._faiss.IDSelectorBitmap(bitmap))
