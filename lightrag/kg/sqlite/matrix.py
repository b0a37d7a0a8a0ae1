"""All vectors of a namespace in memory, searched exactly.

The writer's thread changes the matrix, everybody else reads it without a lock: readers take the current
:class:`MatrixState` once and work on that. A state never changes. New rows go into free space behind the rows that a
state knows of; a replaced or deleted row stays where it is and is left out, until so many are dead that the rest is
copied.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightrag.exceptions import StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Positions = NDArray[np.int64]

# Share of dead rows from which the live ones are copied together.
_MAX_DEAD_SHARE = 0.25
_MIN_DEAD_ROWS = 256
_MIN_CAPACITY = 256
_LOAD_ROWS = 4096

# Similarities of the first pass are float32 and depend a little on where a row lies; candidates this near to the border
# are computed again in float64, row by row, so that the result depends on nothing but the vectors.
_ROUNDING = 2e-5
_EXACT_ROWS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class MatrixState:
    """What the matrix is after one commit.

    Attributes:
        vectors: Shape ``(capacity, dimension)``; rows from ``used`` on belong to later states.
        row_ids: Row of the table for each row of the matrix, shape ``(capacity,)``.
        used: Rows of this state, dead ones included.
        positions: Current position by row id. Shared with later states: a position may lie behind ``used``.
        dead: Positions that were replaced or deleted.
        zeros: Positions of zero vectors, which are similar to nothing.
    """

    vectors: Vectors
    row_ids: Positions
    used: int
    positions: dict[int, int]
    dead: Positions
    zeros: Positions

    @property
    def live(self) -> int:
        """Number of rows that are not dead."""
        return self.used - len(self.dead)


@dataclass(frozen=True, slots=True)
class Hit:
    """A row found.

    Attributes:
        row_id: Row of the table.
        similarity: Cosine similarity.
    """

    row_id: int
    similarity: float


class VectorMatrix:
    """Vectors of one table.

    Attributes:
        table: Name of the table.
        dimension: Of the vectors.
        state: Current state; ``None`` while nothing is loaded.
    """

    def __init__(self, table: str, dimension: int) -> None:
        """Start with nothing loaded."""
        self.table = table
        self.dimension = dimension
        self.state: MatrixState | None = None

    def forget(self) -> None:
        """Drop the vectors; they are loaded again when needed."""
        self.state = None

    def load(self, connection: sqlite3.Connection) -> None:
        """Read all vectors.

        Raises:
            StorageError: A stored vector has another length than the dimension says.
        """
        import numpy as np

        count = int(connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0])
        state = self._empty(count)
        filled = 0
        cursor = connection.execute(f"SELECT id, vector FROM {self.table} ORDER BY id")
        while rows := cursor.fetchmany(_LOAD_ROWS):
            ids, blobs = zip(*rows, strict=True)
            joined = b"".join(blobs)
            if len(joined) != len(rows) * self.dimension * 4:
                raise StorageError(f"table {self.table!r} holds a vector that has not {self.dimension} dimensions")
            end = filled + len(rows)
            state.vectors[filled:end] = np.frombuffer(joined, dtype="<f4").reshape(len(rows), self.dimension)
            state.row_ids[filled:end] = ids
            filled = end
        zeros = np.flatnonzero(~state.vectors[:filled].any(axis=1))
        positions = dict(zip(state.row_ids[:filled].tolist(), range(filled), strict=True))
        self.state = MatrixState(state.vectors, state.row_ids, filled, positions, state.dead, zeros)

    def clear(self) -> None:
        """Take all rows out, after a commit that deleted them all."""
        if self.state is not None:
            self.state = self._empty(0)

    def put(self, row_ids: Sequence[int], vectors: Vectors) -> None:
        """Add or replace rows, after the commit that stored them. The last of equal row ids counts.

        Args:
            row_ids: Rows of the table.
            vectors: Normalised or zero, shape ``(len(row_ids), dimension)``.
        """
        import numpy as np

        state = self.state
        if state is None or not len(row_ids):
            return
        last = {row_id: index for index, row_id in enumerate(row_ids)}
        known = [(index, state.positions[row_id]) for row_id, index in last.items() if row_id in state.positions]
        if known:
            indices, places = np.array(known, dtype=np.int64).T
            same = (state.vectors[places] == vectors[indices]).all(axis=1)
            for index in indices[same].tolist():
                del last[row_ids[index]]
            if not last:
                return
        state = self._with_room(state, len(last))
        start, end = state.used, state.used + len(last)
        taken = np.fromiter(last.values(), dtype=np.int64, count=len(last))
        state.vectors[start:end] = vectors[taken]
        state.row_ids[start:end] = list(last)
        replaced = [state.positions[row_id] for row_id in last if row_id in state.positions]
        zeros = start + np.flatnonzero(~state.vectors[start:end].any(axis=1))
        # The state is swapped first: a position that a reader finds is then never behind the state it reads next.
        self.state = MatrixState(
            state.vectors,
            state.row_ids,
            end,
            state.positions,
            np.concatenate([state.dead, np.array(replaced, dtype=np.int64)]),
            np.concatenate([state.zeros, zeros]),
        )
        state.positions.update(zip(last, range(start, end), strict=True))
        self._compact_if_due()

    def remove(self, row_ids: Sequence[int]) -> None:
        """Take rows out, after the commit that deleted them; unknown ones are passed over."""
        import numpy as np

        state = self.state
        if state is None:
            return
        gone = [position for row_id in row_ids if (position := state.positions.pop(row_id, None)) is not None]
        if not gone:
            return
        dead = np.concatenate([state.dead, np.array(gone, dtype=np.int64)])
        self.state = MatrixState(state.vectors, state.row_ids, state.used, state.positions, dead, state.zeros)
        self._compact_if_due()

    def _empty(self, rows: int) -> MatrixState:
        import numpy as np

        capacity = max(_MIN_CAPACITY, rows + rows // 4)
        none = np.empty(0, dtype=np.int64)
        vectors = np.empty((capacity, self.dimension), dtype=np.float32)
        return MatrixState(vectors, np.empty(capacity, dtype=np.int64), 0, {}, none, none)

    def _with_room(self, state: MatrixState, rows: int) -> MatrixState:
        """Return an equal state with space for more rows."""
        if state.used + rows <= len(state.vectors):
            return state
        larger = self._empty(2 * (state.used + rows))
        larger.vectors[: state.used] = state.vectors[: state.used]
        larger.row_ids[: state.used] = state.row_ids[: state.used]
        return MatrixState(larger.vectors, larger.row_ids, state.used, state.positions, state.dead, state.zeros)

    def _compact_if_due(self) -> None:
        import numpy as np

        state = self.state
        if state is None or len(state.dead) < max(_MIN_DEAD_ROWS, _MAX_DEAD_SHARE * state.used):
            return
        alive = np.ones(state.used, dtype=bool)
        alive[state.dead] = False
        kept = np.flatnonzero(alive)
        fresh = self._empty(len(kept))
        fresh.vectors[: len(kept)] = state.vectors[kept]
        fresh.row_ids[: len(kept)] = state.row_ids[kept]
        positions = dict(zip(fresh.row_ids[: len(kept)].tolist(), range(len(kept)), strict=True))
        zeros = np.flatnonzero(~fresh.vectors[: len(kept)].any(axis=1))
        self.state = MatrixState(fresh.vectors, fresh.row_ids, len(kept), positions, fresh.dead, zeros)


def search(
    state: MatrixState, target: Vectors, count: int, floor: float, eligible: Positions | None = None
) -> list[Hit]:
    """Return the ``count`` most similar rows at or above a floor, best first, and those that are equal to the last.

    Args:
        state: What to search.
        target: Normalised, shape ``(dimension,)``.
        count: How many rows are wanted; more come back only when several are equally similar to the last of them.
        floor: Least similarity, less the rounding of float32.
        eligible: Only the rows at these positions, none of them dead, ascending; ``None`` for all.
    """
    import numpy as np

    if count <= 0 or not state.used or not target.any():
        return []
    scores = _scores(state, target) if eligible is None else _scores_of(state, target, eligible)
    border = floor
    if count < len(scores):
        border = max(floor, float(np.partition(scores, len(scores) - count)[len(scores) - count]))
    found = np.flatnonzero(scores >= border - _ROUNDING)
    found = found[scores[found] > _LEFT_OUT]
    if eligible is not None:
        found = eligible[found]
    similarities = exact_similarities(state, target, found)
    order = np.argsort(-similarities, kind="stable")
    order = order[similarities[order] >= floor - 1e-6]
    if len(order) > count:
        order = order[similarities[order] >= similarities[order[count - 1]]]
    row_ids = state.row_ids[found[order]].tolist()
    return [Hit(row_id, value) for row_id, value in zip(row_ids, similarities[order].tolist(), strict=True)]


# Below every similarity; marks rows that are no candidates.
_LEFT_OUT = -2.0

# Share of the rows up to which the eligible ones are copied together and multiplied alone. Measured at 100,000 rows of
# 384 numbers: a third of them take as long either way. So few rows at a time stay in the cache of the processor.
_GATHERED_SHARE = 0.35
_GATHERED_ROWS = 256


def _products(rows: Vectors, target: Vectors, out: Vectors | None = None) -> Vectors:
    """Multiply rows with a vector in this thread alone.

    A library for matrices would call in threads that then spin for milliseconds, longer than most of these products
    take, and keep queries beside this one from the processor.
    """
    import numpy as np

    products: Vectors = np.einsum("ij,j->i", rows, target, out=out)
    return products


def _scores(state: MatrixState, target: Vectors) -> Vectors:
    scores = _products(state.vectors[: state.used], target)
    scores[state.dead] = _LEFT_OUT
    scores[state.zeros] = _LEFT_OUT
    return scores


def _scores_of(state: MatrixState, target: Vectors, eligible: Positions) -> Vectors:
    """Return the similarities of some rows, in their order."""
    import numpy as np

    if len(eligible) > _GATHERED_SHARE * state.used:
        every: Vectors = _scores(state, target)[eligible]
        return every
    scores: Vectors = np.empty(len(eligible), dtype=np.float32)
    gathered = np.empty((_GATHERED_ROWS, len(target)), dtype=np.float32)
    for start in range(0, len(eligible), _GATHERED_ROWS):
        part = eligible[start : start + _GATHERED_ROWS]
        rows = gathered[: len(part)]
        # Clipping, which changes no valid position, spares a copy of the result.
        np.take(state.vectors, part, axis=0, out=rows, mode="clip")
        _products(rows, target, out=scores[start : start + len(part)])
    if len(state.zeros):
        scores[np.isin(eligible, state.zeros)] = _LEFT_OUT
    return scores


def exact_similarities(state: MatrixState, target: Vectors, positions: Positions) -> NDArray[np.float64]:
    """Return the similarity of rows to a vector, each computed by itself, between -1 and 1.

    Args:
        state: Holds the rows.
        target: Normalised, shape ``(dimension,)``.
        positions: Which rows.
    """
    import numpy as np

    wide = target.astype(np.float64)
    similarities = np.empty(len(positions), dtype=np.float64)
    for start in range(0, len(positions), _EXACT_ROWS):
        part = positions[start : start + _EXACT_ROWS]
        similarities[start : start + len(part)] = (state.vectors[part].astype(np.float64) * wide).sum(axis=1)
    return np.clip(similarities, -1.0, 1.0)
